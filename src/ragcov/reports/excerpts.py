"""Long texts in part, with passages marked: what a report shows of a chunk and says it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import msgspec

__all__ = ["Excerpt", "Kind", "Mark", "Piece", "excerpt"]

Kind: TypeAlias = Literal["found", "missed", "contradicted", "near", "mixed"]

_AROUND = 160
_LONG_MARK = 600


class Mark(NamedTuple):
    """A passage to mark.

    Attributes:
        start: Its first character.
        end: After its last character.
        number: Of the claim it belongs to.
        kind: What became of that claim.
        anchor: The name by which links find the passage; empty for none.
    """

    start: int
    end: int
    number: int
    kind: Kind
    anchor: str = ""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A run of text that is marked alike.

    Attributes:
        text: The text.
        kind: How it is marked; "mixed" when claims of different fates share it; None when it is not.
        anchors: Names of the marks that begin here.
        ends: Marks that end here.
        left_out: So many characters are left out in place of this piece; its text is then empty.
    """

    text: str = ""
    kind: Kind | None = None
    anchors: tuple[str, ...] = ()
    ends: tuple[Mark, ...] = ()
    left_out: int = 0


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """A text, whole or in part.

    Attributes:
        pieces: In order; they and what is left out make the text.
        length: Characters of the whole text.
        shown: Characters of the pieces.
    """

    pieces: tuple[Piece, ...]
    length: int
    shown: int

    @property
    def left_out(self) -> int:
        """Characters that are not shown."""
        return self.length - self.shown

    @property
    def anchors(self) -> frozenset[str]:
        """The names that links can point to."""
        return frozenset(anchor for piece in self.pieces for anchor in piece.anchors)


def excerpt(text: str, marks: Iterable[Mark] = (), *, limit: int) -> Excerpt:
    """Cuts a text down to about `limit` characters: its beginning, and the marked passages with what is around them.

    Marks that don't fit in the text are dropped; a long one is shown with its beginning and end. When the marked
    passages alone are longer than four times the limit, the later ones are left out.
    """
    fitting = sorted(mark for mark in marks if 0 <= mark.start < mark.end <= len(text))
    ranges = [(0, len(text))] if len(text) <= limit else _ranges(len(text), fitting, limit)
    pieces: list[Piece] = []
    at = 0
    for start, end in ranges:
        if start > at:
            pieces.append(Piece(left_out=start - at))
        pieces += _pieces(text, start, end, fitting)
        at = end
    if at < len(text):
        pieces.append(Piece(left_out=len(text) - at))
    return Excerpt(pieces=tuple(pieces), length=len(text), shown=sum(end - start for start, end in ranges))


def _ranges(length: int, marks: Sequence[Mark], limit: int) -> list[tuple[int, int]]:
    wanted = [(0, min(length, max(limit // 3, limit - sum(m.end - m.start + 2 * _AROUND for m in marks))))]
    for mark in marks:
        if mark.end - mark.start <= _LONG_MARK:
            wanted.append((mark.start - _AROUND, mark.end + _AROUND))
        else:
            wanted.append((mark.start - _AROUND, mark.start + _LONG_MARK // 2))
            wanted.append((mark.end - _LONG_MARK // 2, mark.end + _AROUND))
    merged: list[tuple[int, int]] = []
    shown = 0
    for start, end in sorted((max(0, start), min(length, end)) for start, end in wanted):
        if shown > 4 * limit:
            break
        # A gap of a few words is not worth a note on what is left out.
        if merged and start <= merged[-1][1] + _AROUND // 2:
            first, last = merged.pop()
            shown -= last - first
            start, end = first, max(last, end)
        merged.append((start, end))
        shown += end - start
    return merged


def _pieces(text: str, start: int, end: int, marks: Sequence[Mark]) -> Iterator[Piece]:
    inside = [mark for mark in marks if mark.start < end and mark.end > start]
    cuts = {start, end} | {mark.start for mark in inside} | {mark.end for mark in inside}
    places = sorted(cut for cut in cuts if start <= cut <= end)
    for left, right in pairwise(places):
        covering = [mark for mark in inside if mark.start <= left and mark.end >= right]
        kinds: set[Kind] = {mark.kind for mark in covering}
        kind: Kind | None = None if not kinds else "mixed" if len(kinds) > 1 else kinds.pop()
        yield Piece(
            text=text[left:right],
            kind=kind,
            anchors=tuple(mark.anchor for mark in covering if mark.start == left and mark.anchor),
            ends=tuple(mark for mark in covering if mark.end == right),
        )
