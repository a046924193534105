"""From an alignment to a probability that a chunk supports a claim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ragcov.judges.offline.align import ClaimWords, Match, covered, match_passage, union
from ragcov.judges.offline.passages import Passage

__all__ = ["THRESHOLD", "Reading", "read_chunk", "score"]

THRESHOLD = 0.5
_WINDOW = 3


class Reading(NamedTuple):
    """What one chunk says about one claim.

    Attributes:
        probability: That the chunk supports the claim by itself (0 to 1).
        contradicted: Whether the chunk states the opposite.
        found: What of the claim its best window bears out, by position in the claim.
        everywhere: What of the claim the whole chunk bears out.
        start: Where the best window begins in the chunk.
        end: Where it ends (exclusive); equal to `start` when nothing fits.
        conflict: The claim's position, and the chunk's span, of what contradicts; None without contradiction.
    """

    probability: float
    contradicted: bool
    found: dict[int, float]
    everywhere: dict[int, float]
    start: int
    end: int
    conflict: tuple[int, tuple[int, int]] | None = None


_NOTHING = Reading(0.0, False, {}, {}, 0, 0)


def read_chunk(claim: ClaimWords, passages: Sequence[Passage]) -> Reading:
    """Reads one chunk for a claim: the best window of one to three sentences."""
    matches = [match_passage(claim, passage) for passage in passages]
    everywhere = union([match.found for match in matches])
    best = _NOTHING
    value = -1.0
    for first in range(len(matches)):
        if not matches[first].found:
            continue
        for last in range(first, min(first + _WINDOW, len(matches))):
            window = matches[first : last + 1]
            found = union([match.found for match in window])
            share = covered(claim, found) - 0.02 * (last - first)
            if share > value:
                value = share
                best = _judge(claim, window, found, everywhere)
    return best


def _judge(
    claim: ClaimWords, window: Sequence[Match], found: dict[int, float], everywhere: dict[int, float]
) -> Reading:
    negation = _negation_conflict(claim, window)
    number = None if negation else _number_conflict(claim, window, found)
    probability = score(claim, found, everywhere, conflict=bool(negation or number))
    share = covered(claim, found)
    contradicted = bool(negation or number) and share >= 0.45
    return Reading(
        probability,
        contradicted,
        found,
        everywhere,
        window[0].passage.start,
        window[-1].passage.end,
        negation or number,
    )


def score(claim: ClaimWords, found: dict[int, float], everywhere: dict[int, float], *, conflict: bool) -> float:
    """The probability that what is found amounts to support."""
    share = 0.75 * covered(claim, found) + 0.25 * covered(claim, union([found, everywhere]))
    missing_numbers = sum(
        1
        for i, number in claim.passage.numbers.items()
        if not number.weak and found.get(i, 0.0) < 0.5 and everywhere.get(i, 0.0) < 0.5
    )
    missing_names = sum(1 for i, kind in enumerate(claim.passage.kinds) if kind == "n" and everywhere.get(i, 0.0) < 0.5)
    z = 12 * (share - 0.69) - 3 * missing_numbers - 0.8 * missing_names - (4 if conflict else 0)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def _negation_conflict(claim: ClaimWords, window: Sequence[Match]) -> tuple[int, tuple[int, int]] | None:
    negated = claim.passage.negated
    same = conflict = 0
    where: tuple[int, tuple[int, int]] | None = None
    for match in window:
        for i, at in match.places.items():
            if claim.passage.weights[i] < 0.2:
                continue
            if (i in negated) != (at in match.passage.negated):
                conflict += 1
                where = where or (i, match.passage.spans[at])
            elif i in negated:
                same += 1
    return where if conflict and not same else None


def _number_conflict(
    claim: ClaimWords, window: Sequence[Match], found: dict[int, float]
) -> tuple[int, tuple[int, int]] | None:
    for i, claimed in claim.passage.numbers.items():
        if claimed.weak or found.get(i, 0.0) >= 0.5:
            continue
        for match in window:
            taken = set(match.places.values())
            for at, stated in match.passage.numbers.items():
                if at not in taken and stated.kind == claimed.kind:
                    return i, match.passage.spans[at]
    return None
