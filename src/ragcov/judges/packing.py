"""Chunks into groups that fit a token budget; over-long chunks are cut into windows that overlap."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

__all__ = ["Piece", "estimate_tokens", "pack", "split_text"]

_NARROW = re.compile("[\x00-\u02ff]+")
_BREAK = re.compile(r"\n\s*|[.!?](?=\s)\s*|[。！？]|\s+")
_OVERLAP = 8


class Piece(msgspec.Struct, frozen=True):
    """A chunk, or a window of one: `chunks[chunk][start:end]`."""

    chunk: int
    start: int
    end: int


def estimate_tokens(text: str) -> int:
    """How many tokens a text is at most, roughly: no tokenizer is asked.

    A token is taken as 3 characters of Latin text (tokenizers need about 4) and as 1 of any other script (they need
    0.7 to 1 for each Chinese or Japanese character), so that real counts stay below.
    """
    wide = 0 if text.isascii() else len(_NARROW.sub("", text))
    return (len(text) - wide + 2) // 3 + wide


def pack(chunks: Sequence[str], budget: int) -> list[list[Piece]]:
    """Groups of pieces, in order, each of at most `budget` tokens.

    Every character of every chunk is in a piece. A chunk over the budget is cut into windows; neighbours share an
    eighth, so that a sentence at the cut is whole in one of them.
    """
    groups: list[list[Piece]] = []
    room = 0
    for index, text in enumerate(chunks):
        for piece in _windows(index, text, budget):
            size = estimate_tokens(text[piece.start : piece.end])
            if not groups or size > room:
                groups.append([])
                room = budget
            groups[-1].append(piece)
            room -= size
    return groups


def split_text(text: str, budget: int) -> list[tuple[int, int]]:
    """Consecutive spans of at most `budget` tokens that make up the text, cut where a sentence ends if one does."""
    spans: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = _cut(text, start, budget)
        spans.append((start, end))
        start = end
    return spans


def _windows(index: int, text: str, budget: int) -> list[Piece]:
    pieces: list[Piece] = []
    start = 0
    while True:
        end = _cut(text, start, budget)
        pieces.append(Piece(index, start, end))
        if end >= len(text):
            return pieces
        start = max(start + 1, end - (end - start) // _OVERLAP)


def _cut(text: str, start: int, budget: int) -> int:
    """The end of the longest part from `start` that fits, moved back to a good place in its last quarter."""
    end = min(len(text), start + 3 * budget)
    while end - start > 1 and (size := estimate_tokens(text[start:end])) > budget:
        end = start + max(1, min(end - start - 1, (end - start) * budget // size))
    if end < len(text):
        least = start + (end - start) * 3 // 4
        stops = [match for match in _BREAK.finditer(text, least, end) if match.end() <= end]
        best = [match for match in stops if match[0].strip() or "\n" in match[0]] or stops
        if best:
            end = best[-1].end()
    return end
