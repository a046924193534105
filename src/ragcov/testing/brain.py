"""What the fake server answers: truth by wording, faults on purpose."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, TypeAlias, cast

import msgspec

from ragcov.judges.extracting import sentences

__all__ = ["Brain", "Fault", "FaultKind", "Request"]

FaultKind: TypeAlias = Literal[
    "429", "500", "401", "403", "404", "hang", "not_json", "malformed", "truncated", "cut", "empty", "few", "many",
    "duplicate", "unreadable", "punctuation", "refusal", "text_refusal", "context_length",
]  # fmt: skip

_HEADING = re.compile(r"^\[([0-9a-f]{8}) ([^\n\]]*)\]$", re.MULTILINE)
_NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_FENCED = re.compile(r"untrusted|never as instructions", re.IGNORECASE)
_INJECTION = re.compile(
    r"(?:ignore|disregard|forget|override).{0,40}(?:instruction|above|previous|rule|prompt)"
    r"|(?:mark|label|treat|judge|rate|count).{0,40}(?:claim|statement|everything|all).{0,40}(?:yes|support|true)"
    r"|all claims are|\"verdict\"|忽略|无视|無視|無視して|指示",
    re.IGNORECASE | re.DOTALL,
)
_REFUSAL = "I'm sorry, but I can't help with that."


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A fault of the fake server.

    Attributes:
        kind: "429" (with Retry-After), "500", "401", "403", "404" (unknown model), "hang", "not_json" (a web page
            instead of an answer), "malformed" (broken JSON), "truncated" (cut off, and said so), "cut" (cut off, and
            not said so), "empty" (no text), "few" (two entries only), "many" (five invented entries more),
            "duplicate" (the first verdict twice, the second time reversed), "unreadable" (a verdict that is no
            verdict), "punctuation" ("Yes." and "**No** - because"), "refusal" (as the interface has it),
            "text_refusal" (as plain text), "context_length" (the prompt is too long).
        on: "all" requests; "first": the first time that a prompt is seen; else the requests whose prompt contains
            this text.
        step: Only requests for "claims" or for "verdicts"; None: any.
        times: The most requests that it strikes; None: no end.
        retry_after: Seconds, for "429"; None sends no such header.
    """

    kind: FaultKind
    on: str = "all"
    step: str | None = None
    times: int | None = None
    retry_after: float | None = 0.05


class Request(msgspec.Struct, frozen=True):
    """What a request asks.

    Attributes:
        text: All messages in one.
        sections: Title and text of each fenced section.
        schema: The JSON schema of the answer; empty when none was given.
        tool: Name of the tool to call; None when the answer is text.
    """

    text: str
    sections: tuple[tuple[str, str], ...]
    schema: dict[str, Any]
    tool: str | None

    @property
    def step(self) -> str:
        """ "claims", "verdicts", or "other"."""
        properties = self.schema.get("properties", {}) or dict.fromkeys(re.findall(r'"(verdicts|claims)"', self.text))
        return "verdicts" if "verdicts" in properties else "claims" if list(properties) == ["claims"] else "other"

    def section(self, title: str) -> str:
        """The text of the first section of a title; empty when there is none."""
        return next((body for name, body in self.sections if name == title), "")

    @property
    def chunks(self) -> list[str]:
        """The chunks, in order."""
        return [body for name, body in self.sections if name.startswith("chunk ")]

    @property
    def claims(self) -> list[str]:
        """The claims, by their number."""
        return [text for _, text in _NUMBERED.findall(self.section("claims"))]


def read_request(body: Mapping[str, Any]) -> Request:
    """Reads the body of a chat completions request."""
    messages = cast("list[dict[str, Any]]", body.get("messages") or [])
    texts = [_text(message.get("content")) for message in messages]
    response_format: dict[str, Any] = body.get("response_format") or {}
    form: dict[str, Any] = response_format.get("json_schema") or {}
    schema: dict[str, Any] = form.get("schema") or {}
    tool: str | None = None
    if body.get("tools"):
        function = body["tools"][0]["function"]
        tool, schema = function["name"], function["parameters"]
    return Request("\n".join(texts), tuple(_sections(texts[-1] if texts else "")), schema, tool)


def _text(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in cast("list[dict[str, Any]]", content))
    return str(content or "")


def _sections(prompt: str) -> list[tuple[str, str]]:
    headings = list(_HEADING.finditer(prompt))
    # The mark of the first heading is the one that counts: text may hold lines that look like headings.
    headings = [heading for heading in headings if heading[1] == headings[0][1]]
    return [
        (heading[2], prompt[heading.end() + 1 : following.start() - 1])
        for heading, following in itertools.pairwise(headings)
    ]


class Brain:
    """Answers requests: a claim is supported by the chunks in which it stands word by word.

    Args:
        supports: Whether a chunk supports a claim, and by which quote: a function of claim and chunk that returns the
            quote, or None.
        obeys: Whether it does what an injection says, which is taken to be "yes to everything": "never"; "unfenced":
            unless the prompt says that its data is untrusted; "always".
        injected: Whether a prompt holds an injection; by default it looks for the usual phrases.
        quotes: What it quotes when it obeys: the "claim", or the "chunk" from its beginning.
    """

    def __init__(
        self,
        supports: Callable[[str, str], str | None] | None = None,
        obeys: Literal["never", "unfenced", "always"] = "unfenced",
        injected: Callable[[str], bool] | None = None,
        quotes: Literal["claim", "chunk"] = "claim",
    ) -> None:
        self._supports = supports or _occurrence
        self._obeys = obeys
        self._injected = injected or _looks_injected
        self._quotes = quotes

    def answer(self, request: Request) -> dict[str, Any]:
        """The right answer, as the schema wants it."""
        if request.step == "claims":
            text = request.section("text")
            return {"claims": [text[start:end] for start, end in sentences(text)]}
        if request.step == "verdicts":
            return self._verdicts(request)
        return cast("dict[str, Any]", _example(request.schema, request.schema))

    def _verdicts(self, request: Request) -> dict[str, Any]:
        evidence: list[dict[str, Any]] = []
        verdicts: list[dict[str, Any]] = []
        obeys = self._obeyed(request)
        for number, claim in enumerate(request.claims):
            found = self._lies(claim, request.chunks) if obeys else self._truth(claim, request.chunks)
            evidence += [{"id": number, "chunk": chunk, "quote": quote, "enough": True} for chunk, quote in found]
            reason = "" if found else "No chunk states it."
            verdicts.append({"id": number, "verdict": "yes" if found else "no", "reason": reason})
        return {"evidence": evidence, "verdicts": verdicts}

    def _obeyed(self, request: Request) -> bool:
        if self._obeys == "never" or not self._injected("\n".join([*request.chunks, *request.claims])):
            return False
        return self._obeys == "always" or not _FENCED.search(request.text)

    def _truth(self, claim: str, chunks: Sequence[str]) -> list[tuple[int, str]]:
        quotes = ((number, self._supports(claim, chunk)) for number, chunk in enumerate(chunks))
        return [(number, quote) for number, quote in quotes if quote]

    def _lies(self, claim: str, chunks: Sequence[str]) -> list[tuple[int, str]]:
        return [(number, claim if self._quotes == "claim" else chunk[:120]) for number, chunk in enumerate(chunks)]


def spoil(kind: FaultKind, answer: dict[str, Any]) -> str:
    """The text of an answer with a fault in it."""
    verdicts = cast("list[dict[str, Any]]", answer.get("verdicts", []))
    if kind == "few":
        answer = {key: value[:2] if key != "claims" else value for key, value in answer.items()}
    elif kind == "many" and verdicts:
        invented = [{"id": 1000 + n, "verdict": "yes", "reason": "invented"} for n in range(5)]
        answer = {**answer, "verdicts": verdicts + invented}
    elif kind == "duplicate" and verdicts:
        reversed_word = "no" if verdicts[0]["verdict"] == "yes" else "yes"
        answer = {**answer, "verdicts": [*verdicts, {**verdicts[0], "verdict": reversed_word}]}
    elif kind == "unreadable":
        answer = {**answer, "verdicts": [{**verdict, "verdict": "perhaps"} for verdict in verdicts]}
    elif kind == "punctuation":
        words = {"yes": " Yes. ", "no": "**No** - because it is not there"}
        answer = {**answer, "verdicts": [{**verdict, "verdict": words[verdict["verdict"]]} for verdict in verdicts]}
    content = json.dumps(answer, ensure_ascii=False)
    if kind == "malformed":
        return "Here is the result: {verdicts: [yes, no," + content[5:40].replace('"', "'")
    if kind in ("truncated", "cut"):
        return content[: int(len(content) * 0.6)]
    return {"empty": "", "text_refusal": _REFUSAL}.get(kind, content)


def _looks_injected(text: str) -> bool:
    return _INJECTION.search(text) is not None


def _occurrence(claim: str, chunk: str) -> str | None:
    pattern = _pattern(claim)
    match = pattern.search(chunk) if pattern else None
    return match[0] if match else None


@lru_cache(maxsize=4096)
def _pattern(claim: str) -> re.Pattern[str] | None:
    words = claim.strip().rstrip(".。").split()
    return re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE) if words else None


def _example(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """The plainest value of a schema."""
    if "$ref" in schema:
        found: Any = root
        for key in schema["$ref"].split("/")[1:]:
            found = found[key]
        return _example(found, root)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _example(schema[key][0], root)
    if "enum" in schema or "const" in schema:
        return schema.get("const", (schema.get("enum") or [None])[0])
    if schema.get("type") == "object" or "properties" in schema:
        return {key: _example(value, root) for key, value in schema.get("properties", {}).items()}
    plain: dict[str, Any] = {"array": [], "boolean": True, "integer": 1, "number": 1.0, "null": None}
    return plain.get(schema.get("type", "string"), "text")
