"""Finding a judge's quote in the text that it claims to quote."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property, lru_cache

from ragcov.language import fold_han

__all__ = ["Haystack", "find_quote", "shares_content"]

_CLOSE_ENOUGH = 0.9
_SHORTEST_FUZZY = 12
_RUN = 3
_UNBROKEN = re.compile(r"\S+")
_ELLIPSIS = re.compile(r"\s*(?:\[\s*)?(?:\.{3,}|…+)(?:\s*\])?\s*")
_LONGEST_GAP = 1000
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_NOT = re.compile(
    r"\b(?:not|no|never|none|nor|neither|nobody|nothing|without|cannot|\w+n['’]t)\b|[不没沒未無无非否勿莫]|ない|なかっ|ません|なく|ずに|せず",
    re.IGNORECASE,
)
_SAME = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-"})
_EDGES = " \"'`*_.,;:。、，；：「」『』()[]"
_STOP = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be been but by for from had has have he her his in is it its not of on or she that the"
        " their they this to was were which who will with all any every",
    )
)
_ORDERS = frozenset(("mark", "claim", "claims", "chunk", "yes", "true", "verdi", "suppo", "state"))
_LONG_NUMBER = re.compile(r"\d{3,}")


class Haystack:
    """A text to find quotes in; what the search needs is worked out once."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def normal(self) -> tuple[str, Sequence[int]]:
        """The text in one form of writing, and for each of its characters the place in the original."""
        return _normalise(self.text)


def find_quote(quote: str, haystack: Haystack) -> tuple[int, int] | None:
    """Where a quote stands in a text: start and end (exclusive) in characters; None when it doesn't.

    Differences of case, white space, quotation marks, dashes, width, invisible characters and Chinese character
    forms don't matter. An ellipsis stands for at most 1,000 characters. Else at most a tenth may differ, never a
    number, a negation, a capitalised word or a Chinese or Japanese character of the quote.
    """
    verbatim = quote.strip()
    if not any(char.isalnum() for char in verbatim):
        return None
    if (found := _exact(verbatim, haystack.text, 0)) is not None:
        return found
    body, places = haystack.normal
    parts = [part for raw in _ELLIPSIS.split(verbatim) if (part := _normalise(raw)[0].strip(_EDGES))]
    start = end = -1
    for number, part in enumerate(parts):
        found = _exact(part, body, max(end, 0))
        if found is None and len(parts) == 1:
            found = _close(part, body, verbatim)
        if found is None or (number and found[0] - end > _LONGEST_GAP):
            return None
        start, end = (found[0] if start < 0 else start), found[1]
    return (places[start], places[end - 1] + 1) if end > start else None


def shares_content(claim: str, passage: str) -> bool:
    """Whether a passage can speak of a claim at all: they share a number, a content word, or two characters.

    An order such as "mark every claim yes" speaks of no claim. Texts in different scripts share little and may still
    say the same: there only a number of three or more digits must come back.
    """
    first, second = _content(claim), _content(passage)
    if bool(_WIDE.search(claim)) != bool(_WIDE.search(passage)) and not _LONG_NUMBER.search(claim):
        return True
    return not first or not (first - _ORDERS or first).isdisjoint(second)


def _normalise(text: str) -> tuple[str, Sequence[int]]:
    core = text.strip()
    if text.isascii() and " ".join(core.split()) == core:
        start = text.index(core)
        return core.lower(), range(start, start + len(core))
    simple = text if text.isascii() else fold_han(text.translate(_SAME))
    chars: list[str] = []
    places: list[int] = []
    last = ""
    for match in _UNBROKEN.finditer(simple):
        start, token = match.start(), match[0]
        forms, at = (token.lower(), range(start, match.end())) if token.isascii() else _spell(token, start)
        if not forms:
            continue
        # Between Chinese or Japanese characters a space means nothing.
        if last and not (_WIDE.match(last) or _WIDE.match(forms)):
            chars.append(" ")
            places.append(start - 1)
        chars.append(forms)
        places.extend(at)
        last = forms[-1]
    return "".join(chars), places


def _spell(token: str, start: int) -> tuple[str, list[int]]:
    forms = [char.lower() if char.isascii() else _forms(char) for char in token]
    return "".join(forms), [start + place for place, form in enumerate(forms) for _ in form]


def _forms(char: str) -> str:
    if unicodedata.category(char) == "Cf":
        return ""
    return unicodedata.normalize("NFKC", char).translate(_SAME).casefold()


def _exact(part: str, body: str, start: int) -> tuple[int, int] | None:
    while (at := body.find(part, start)) >= 0:
        end = at + len(part)
        # "5" is not in "1905", nor "art" in "party".
        if not (_joined(body, at) or _joined(body, end)):
            return at, end
        start = at + 1
    return None


def _joined(body: str, place: int) -> bool:
    if not 0 < place < len(body):
        return False
    before, after = body[place - 1], body[place]
    return before.isalnum() and after.isalnum() and not (_WIDE.match(before) or _WIDE.match(after))


def _close(part: str, body: str, quote: str) -> tuple[int, int] | None:
    if len(part) < _SHORTEST_FUZZY:
        return None
    from rapidfuzz import fuzz
    from rapidfuzz.distance import Indel

    near = fuzz.partial_ratio_alignment(part, body, score_cutoff=100 * (_CLOSE_ENOUGH - 0.1))
    if near is None or len(part) > len(body) * 1.2:
        return None
    margin = len(part) // 4
    low, high = max(0, near.dest_start - margin), min(len(body), near.dest_end + margin)
    while low > 0 and _joined(body, low):
        low -= 1
    while high < len(body) and _joined(body, high):
        high += 1
    runs = [op for op in Indel.opcodes(part, body[low:high]) if op.tag == "equal" and op.src_end - op.src_start >= _RUN]
    if not runs:
        return None
    # Single characters match by chance; what lies outside the first and last real match is taken as it stands.
    start = max(0, low + runs[0].dest_start - runs[0].src_start)
    end = min(len(body), low + runs[-1].dest_end + len(part) - runs[-1].src_end)
    window = body[start:end]
    if Indel.normalized_similarity(part, window) < _CLOSE_ENOUGH or not _same_sense(part, window, quote):
        return None
    return start, end


def _same_sense(part: str, window: str, quote: str) -> bool:
    """Whether nothing that changes the meaning differs."""
    from rapidfuzz.distance import LCSseq

    if _NUMBER.findall(part) != _NUMBER.findall(window) or len(_NOT.findall(part)) != len(_NOT.findall(window)):
        return False
    if _WIDE.search(part):
        wide_part, wide_window = "".join(_WIDE.findall(part)), "".join(_WIDE.findall(window))
        return LCSseq.similarity(wide_part, wide_window) == len(wide_part)
    words = set(_WORD.findall(window))
    names = (word for word in _WORD.findall(quote) if word[0].isupper())
    return all(_normalise(name)[0] in words for name in names)


@lru_cache(maxsize=1024)
def _content(text: str) -> frozenset[str]:
    body = _normalise(text)[0]
    wide = "".join(char if _WIDE.match(char) else " " for char in body).split()
    words = (word for word in _WORD.findall(body) if not _WIDE.search(word))
    return frozenset(
        (
            *_NUMBER.findall(body),
            *(word[:5] for word in words if word not in _STOP and len(word) > 2),
            *(run[i : i + 2] for run in wide for i in range(len(run) - 1)),
        )
    )
