"""Aligning a claim with the sentences of a chunk."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from ragcov.judges.offline.numbers import satisfies
from ragcov.judges.offline.passages import Passage, is_hedged, quantifiers, read_passage
from ragcov.judges.offline.words import related, terms

__all__ = ["ClaimWords", "Match", "covered", "match_passage", "read_claim", "union"]

_PREFIX = 5
# A claim is one sentence; of a text that is no claim at all, the beginning is judged, so that time stays linear.
_LONGEST = 3000
_REPEATS = 12
_NUMBERS = 100


class ClaimWords:
    """A claim made ready: one passage, and where each form that its words accept leads.

    Attributes:
        passage: The whole claim, read as one sentence.
        total: The sum of the weights.
        accepts: By form: positions in the claim that it bears out, and how well (0 to 1).
        opposites: By form: the position in the claim that it contradicts.
        prefixes: By the first letters of long words: their positions.
        terms: Chinese and Japanese words of the claim: positions from and to, what bears them out, what opposes.
        quantifiers: The kinds of words in it that make it stronger.
        hedged: Whether it says "may", "some" or the like.
        characters: Whether the claim is written in Chinese or Japanese characters mostly.
    """

    __slots__ = ("accepts", "characters", "hedged", "opposites", "passage", "prefixes", "quantifiers", "terms", "total")

    def __init__(self, text: str) -> None:
        self.passage = read_passage(text, 0, min(len(text), _LONGEST))
        self.total = sum(self.passage.weights)
        self.accepts: dict[str, list[tuple[int, float]]] = {}
        self.prefixes: dict[str, list[int]] = {}
        self.opposites: dict[str, int] = {}
        for i, (form, kind) in enumerate(zip(self.passage.forms, self.passage.kinds, strict=True)):
            self.accepts.setdefault(form, []).append((i, 1.0))
            if kind in "wn" and len(form) > _PREFIX:
                self.prefixes.setdefault(form[:_PREFIX], []).append(i)
            if kind in "wn":
                same, opposite = related(form)
                for other, how in same:
                    self.accepts.setdefault(other, []).append((i, how))
                for other in opposite:
                    self.opposites.setdefault(other, i)
        self.terms = () if self.passage.folded.isascii() else _terms(self.passage)
        self.quantifiers = quantifiers(self.passage.folded)
        self.hedged = is_hedged(self.passage.folded)
        for form in self.passage.forms:
            self.opposites.pop(form, None)
        for form in [form for form, positions in self.accepts.items() if len(positions) > _REPEATS]:
            self.accepts[form] = self.accepts[form][:_REPEATS]
        written = sum(kind in "hjk" for kind in self.passage.kinds)
        self.characters = 2 * written > len(self.passage.kinds)


Term = tuple[int, int, frozenset[str], frozenset[str]]


def _terms(passage: Passage) -> tuple[Term, ...]:
    known = terms()
    starts = [span[0] - passage.start for span in passage.spans]
    return tuple(
        (
            bisect_left(starts, match.start()),
            bisect_left(starts, match.end()),
            known.same.get(match.group(), frozenset()),
            known.opposite.get(match.group(), frozenset()),
        )
        for match in islice(known.pattern.finditer(passage.folded), 200)
    )


@lru_cache(maxsize=1024)
def read_claim(text: str) -> ClaimWords:
    """The claim made ready."""
    return ClaimWords(text)


class Match:
    """How one sentence bears out a claim.

    Attributes:
        passage: The sentence.
        found: By position in the claim: how well the sentence bears it out (0 to 1).
        places: By position in the claim: the position in the sentence.
        opposed: Position in the claim, and in the sentence, of words with opposite meaning; None without any.
    """

    __slots__ = ("found", "opposed", "passage", "places")

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self.found: dict[int, float] = {}
        self.places: dict[int, int] = {}
        self.opposed: tuple[int, int] | None = None


def match_passage(claim: ClaimWords, passage: Passage) -> Match:
    """Looks for every word of the claim in one sentence."""
    match = Match(passage)
    accepts, prefixes = claim.accepts, claim.prefixes
    found, places = match.found, match.places
    for at, form in enumerate(passage.forms):
        for i, how in accepts.get(form, ()):
            if how > found.get(i, 0.0):
                found[i] = how
                places[i] = at
        if prefixes and len(form) > _PREFIX and form[:_PREFIX] in prefixes:
            for i in prefixes[form[:_PREFIX]]:
                if found.get(i, 0.0) < 0.8:
                    found[i] = 0.8
                    places[i] = at
    _numbers(claim, match)
    _characters(claim, match)
    if claim.terms and passage.folded:
        _related_terms(claim, match)
    return match


def _related_terms(claim: ClaimWords, match: Match) -> None:
    """A Chinese or Japanese word is found when one that means the same, or is narrower, stands in the sentence."""
    text = match.passage.folded
    for first, last, same, opposite in claim.terms:
        if last <= first or all(match.found.get(i, 0.0) >= 0.8 for i in range(first, last)):
            continue
        other = next((word for word in same if word in text), None)
        if other is None:
            against = next((word for word in opposite if word in text), None)
            if against is not None and match.opposed is None:
                match.opposed = (first, _position(match.passage, text.index(against)))
            continue
        at = _position(match.passage, text.index(other))
        for i in range(first, last):
            if match.found.get(i, 0.0) < 0.8:
                match.found[i] = 0.8
                match.places[i] = at


def _position(passage: Passage, offset: int) -> int:
    starts = [span[0] - passage.start for span in passage.spans]
    return min(bisect_left(starts, offset), len(starts) - 1)


def _numbers(claim: ClaimWords, match: Match) -> None:
    """Exact forms are aligned already; limits, ranges and times need to be compared."""
    stated = match.passage.numbers
    for i, claimed in islice(claim.passage.numbers.items(), _NUMBERS):
        best = match.places.get(i)
        if best is not None and best in stated and satisfies(claimed, stated[best]):
            continue
        match.found.pop(i, None)
        for at, number in islice(stated.items(), _NUMBERS):
            if satisfies(claimed, number):
                match.found[i] = 1.0
                match.places[i] = at
                break


def _characters(claim: ClaimWords, match: Match) -> None:
    """A Chinese character found without a neighbour of its own counts half."""
    kinds = claim.passage.kinds
    forms = match.passage.forms
    pairs: set[tuple[str, str]] | None = None
    for i in list(match.found):
        if kinds[i] not in "hj":
            continue
        if pairs is None:
            pairs = set(itertools.pairwise(forms))
        own = claim.passage.forms
        left = i > 0 and (own[i - 1], own[i]) in pairs
        right = i + 1 < len(own) and (own[i], own[i + 1]) in pairs
        if not (left or right):
            match.found[i] *= 0.5


def covered(claim: ClaimWords, found: dict[int, float]) -> float:
    """The weighted share of the claim that is found (0 to 1); 0 for a claim without content."""
    if not claim.total:
        return 0.0
    weights = claim.passage.weights
    return sum(weights[i] * how for i, how in found.items()) / claim.total


def union(founds: Sequence[dict[int, float]]) -> dict[int, float]:
    """The best of several matches, position by position."""
    merged: dict[int, float] = {}
    for found in founds:
        for i, how in found.items():
            if how > merged.get(i, 0.0):
                merged[i] = how
    return merged
