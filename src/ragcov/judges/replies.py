"""Reading a judge's reply: JSON in whatever wrapping, then exactly one answer for each claim."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeAlias, cast

import msgspec

__all__ = ["Answer", "Quote", "Reading", "UnreadableError", "Word", "read_json", "read_verdicts", "read_word"]

Word: TypeAlias = Literal["yes", "no", "contradicted"]

Accepts: TypeAlias = Callable[[dict[str, Any]], bool]

_WORD = re.compile(r"(yes|no|contradicted)(?![^\W_])", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s*_`\"']*(?:$|[.,;:!()\[\]\n\u2013\u2014-])")
_THINKING_OPEN = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_THINKING_CLOSE = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_LONE_COMMAND = re.compile(r"(?<!\\)\\([A-Za-z]+)")
_ID = re.compile(r"\W{0,2}[A-Za-z]?\W?(\d{1,9})\W{0,2}")


class UnreadableError(ValueError):
    """A reply that can't be read; the message says why."""


class Quote(msgspec.Struct, frozen=True):
    """A passage as the judge quoted it: not yet found in any chunk."""

    chunk: int
    text: str
    enough: bool = True


class Answer(msgspec.Struct, frozen=True):
    """What a reply says about one claim."""

    word: Word
    reason: str = ""
    quotes: tuple[Quote, ...] = ()


class Reading(msgspec.Struct, frozen=True):
    """What a reply says, by the number of the claim in the request.

    Attributes:
        answers: The claims with exactly one readable verdict.
        problems: Every other claim of the request, with what is wrong with its verdict.
    """

    answers: dict[int, Answer]
    problems: dict[int, str]


def read_word(word: object) -> Word | None:
    """The verdict that a word states, or None when it states none.

    Case, invisible characters, emphasis and what follows after punctuation don't matter: "Yes.", "**yes**" and
    "No - no year is given" are read. "Yes and no", "maybe" and a bare `true` are not.
    """
    if not isinstance(word, str):
        return None
    visible = "".join(c for c in unicodedata.normalize("NFKC", word) if unicodedata.category(c) != "Cf")
    bare = visible.strip().lstrip("*_`\"'“”‘’「」([#> \t")
    match = _WORD.match(bare)
    if match is None:
        return None
    rest = bare[match.end() :].lstrip("”’」")
    if not _SEPARATOR.match(rest):
        return None
    verdict = match[1].lower()
    following = _WORD.match(rest.lstrip(" \t\r\n*_`\"'.,;:!()[]\u2013\u2014-"))
    if following is not None and following[1].lower() != verdict:
        return None
    return cast(Word, verdict)


def read_json(text: str, fits: Accepts, sources: Iterable[str] = ()) -> dict[str, Any]:
    """The JSON object of a reply that is the answer.

    Thinking blocks are not part of the answer. Code fences, words before it and trailing commas are tolerated; a
    reply that breaks off is not, because what is missing from it can't be told.

    Args:
        text: The reply.
        fits: Whether an object can be the answer.
        sources: The texts that the judge was given: where they hold LaTeX commands, a single backslash in the
            reply stands for itself and is not an escape (`\\frac` must not become a form feed).

    Raises:
        UnreadableError: No such object, a broken one, or several that differ.
    """
    text = _escape_backslashes(_without_thinking(text), sources)
    fenced = _FENCE.findall(text)
    for read in (_strict, _repaired):
        found = [value for part in fenced or [text] for value in read(part, fits)]
        if len(found) > 1 and any(value != found[0] for value in found):
            raise UnreadableError("the reply holds several answers that differ")
        if found:
            return found[0]
    raise UnreadableError(_why_unreadable(text))


def read_verdicts(text: str, count: int, sources: Iterable[str] = ()) -> Reading:
    """Reads a reply to a request about claims 0 to `count` - 1.

    Never raises: a reply that can't be read at all is a problem of every claim. Verdicts for claims that were not
    asked about are dropped; a claim with two verdicts that differ has none.
    """
    try:
        reply = read_json(text, lambda value: "verdicts" in value, sources)
    except UnreadableError as error:
        return Reading({}, dict.fromkeys(range(count), str(error)))
    answers: dict[int, Answer] = {}
    problems: dict[int, str] = {}
    quotes = _quotes(reply.get("evidence"))
    for entry in _entries(reply["verdicts"]):
        number = _number(entry.get("id"))
        if number is None or not 0 <= number < count:
            continue
        word = read_word(entry.get("verdict"))
        if word is None:
            problems.setdefault(number, f"unreadable verdict {_short(entry.get('verdict'))}")
        elif number in answers and answers[number].word != word:
            problems[number] = f'two verdicts, "{answers[number].word}" and "{word}"'
        elif number not in answers:
            answers[number] = Answer(word, _line(entry.get("reason")), tuple(quotes.get(number, ())))
    for number in range(count):
        if number not in answers:
            problems.setdefault(number, "no verdict")
    return Reading({n: answer for n, answer in answers.items() if n not in problems}, problems)


def _without_thinking(text: str) -> str:
    # Only tags before the answer count: one inside it is quoted text, perhaps put there to hide the answer.
    while (opened := _THINKING_OPEN.search(text)) and (opened.start() < text.find("{") or "{" not in text):
        closed = _THINKING_CLOSE.search(text, opened.end())
        text = text[: opened.start()] + (text[closed.end() :] if closed else "")
    return text


def _escape_backslashes(text: str, sources: Iterable[str]) -> str:
    if "\\" not in text:
        return text
    commands = {command for source in sources if "\\" in source for command in _COMMAND.findall(source)}

    def double(match: re.Match[str]) -> str:
        letters = match[1]
        stands_for_itself = letters in commands or letters[0] not in "bfnrtu"
        return ("\\\\" if stands_for_itself else "\\") + letters

    return _LONE_COMMAND.sub(double, text)


def _strict(text: str, fits: Accepts) -> list[dict[str, Any]]:
    decoder = json.JSONDecoder(strict=False)
    found: list[dict[str, Any]] = []
    end = 0
    while (position := text.find("{", end)) >= 0:
        if _THINKING_CLOSE.search(text, end, position):
            # Some chat templates put the opening tag into the prompt: what came before was thinking.
            found.clear()
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            # An object inside a broken one is a part of an answer, and not the answer.
            return []
        if isinstance(value, dict) and fits(cast("dict[str, Any]", value)):
            found.append(cast("dict[str, Any]", value))
    return found


def _repaired(text: str, fits: Accepts) -> list[dict[str, Any]]:
    start = text.find("{")
    body = text[start:].strip() if start >= 0 else ""
    if not body.endswith(("}", "]")):
        return []
    import json_repair

    try:
        value: Any = json_repair.loads(body, skip_json_loads=True)
    except (ValueError, RecursionError):
        return []
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [item for item in _entries(values) if fits(item)]


def _why_unreadable(text: str) -> str:
    if not text.strip():
        return "the reply is empty"
    if "{" not in text:
        return "the reply holds no JSON"
    return "the reply holds no complete JSON object of the form that was asked for"


def _entries(value: object) -> list[dict[str, Any]]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", item) for item in items if isinstance(item, dict)]


def _quotes(value: object) -> dict[int, list[Quote]]:
    quotes: dict[int, list[Quote]] = {}
    for entry in _entries(value):
        number, chunk, text = _number(entry.get("id")), _number(entry.get("chunk")), entry.get("quote")
        if number is not None and isinstance(text, str) and text.strip():
            quote = Quote(chunk if chunk is not None else -1, text, entry.get("enough") is not False)
            if quote not in quotes.setdefault(number, []):
                quotes[number].append(quote)
    return quotes


def _number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and (match := _ID.fullmatch(value.strip())):
        return int(match[1])
    return None


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:59] + "…"
