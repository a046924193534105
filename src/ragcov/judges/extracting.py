"""From a reply with claims to claims that are placed in the text they were taken from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from ragcov.claims import Claim, number_claims
from ragcov.judges.quotes import Haystack, find_quote
from ragcov.judges.replies import UnreadableError, read_json

__all__ = ["place_claims", "read_claims", "sentences"]

_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?](?!\s|$)[^.!?。！？\n]*)*[.!?。！？]*")
_ALIKE = 50


def read_claims(reply: str, text: str) -> list[Claim]:
    """Reads `{"claims": ["...", ...]}`; claims that say the same twice are kept once.

    Raises:
        UnreadableError: No such JSON, or a claim that isn't a text.
    """
    items = read_json(reply, lambda value: "claims" in value, [text])["claims"]
    if not isinstance(items, list) or not all(isinstance(item, str) for item in cast("list[object]", items)):
        raise UnreadableError('"claims" is not a list of texts')
    statements = (" ".join(item.split()) for item in cast("list[str]", items))
    unique = dict.fromkeys(statement for statement in statements if any(char.isalnum() for char in statement))
    return number_claims(Claim(statement) for statement in unique)


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a text, roughly: ended by a full stop, question or exclamation mark, or a line."""
    spans: list[tuple[int, int]] = []
    for match in _SENTENCE.finditer(text):
        if body := match[0].strip():
            start = match.start() + match[0].index(body)
            spans.append((start, start + len(body)))
    return spans


def place_claims(claims: Sequence[Claim], text: str, span: tuple[int, int]) -> list[Claim]:
    """Gives each claim the span of the passage that states it: its own words, else the most similar sentence.

    Args:
        claims: Claims taken from `text[span[0]:span[1]]`, in its order.
        text: The whole text; spans count from its beginning.
        span: The part that the claims were taken from.
    """
    from rapidfuzz import fuzz

    offset = span[0]
    part = text[span[0] : span[1]]
    haystack = Haystack(part)
    candidates = sentences(part)
    placed: list[Claim] = []
    for claim in claims:
        found = find_quote(claim.text, haystack)
        if found is None and candidates:
            scores = [fuzz.token_set_ratio(claim.text, part[start:end]) for start, end in candidates]
            scores = [
                max(score, fuzz.partial_ratio(claim.text, part[start:end])) if not part.isascii() else score
                for score, (start, end) in zip(scores, candidates, strict=True)
            ]
            best = max(range(len(scores)), key=scores.__getitem__)
            found = candidates[best] if scores[best] >= _ALIKE else None
        placed.append(Claim(claim.text, found and (found[0] + offset, found[1] + offset), claim.id))
    return placed
