"""What an alignment looks like in numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ragcov.judges.offline import conflicts
from ragcov.judges.offline.align import ClaimWords, Match, covered, match_passage, union
from ragcov.judges.offline.passages import Passage, is_doubtful, quantifiers

__all__ = ["NAMES", "Anchor", "features", "read_chunk"]

NAMES = (
    "window", "chunk_gain", "rest_gain", "covered_all", "missing", "gap", "numbers_missing",
    "numbers_share", "names_missing", "names_share", "order", "kana", "negation", "negations",
    "antonym", "number_conflict", "substitutions", "substituted", "roles", "rival", "stronger", "weaker",
)  # fmt: skip
"""The features, in order."""

_WINDOW = 3
# What is missing counts by its share of the claim beyond this, so that one word of a short claim does.
_SMALL = 0.15
# Weights of a short and of a long claim, in words and in characters, between which single words lose their import.
_GAP_MATTERS = ((3.5, 6.0), (3.0, 4.0))
_SUBSTITUTES_MATTER = ((3.0, 4.5), (3.0, 4.0))


class Anchor(NamedTuple):
    """The best window of one chunk for a claim.

    Attributes:
        found: What of the claim the window bears out: how well (0 to 1), by position in the claim.
        everywhere: The same for the whole chunk.
        start: Where the window begins in the chunk.
        end: Where it ends (exclusive).
        fixed: The features that the window alone decides, by name.
        conflict: Position in the claim, and span in the chunk, of what contradicts.
        contradiction: What kind of contradiction it is; empty when there is none.
        rivals: Forms of the window's own subject, when the window is about something else than the claim.
        marks: Rare forms and names of the whole chunk, by which other chunks can be seen to speak of the same.
    """

    found: dict[int, float]
    everywhere: dict[int, float]
    start: int
    end: int
    fixed: dict[str, float]
    conflict: conflicts.Conflict | None
    contradiction: str
    rivals: frozenset[str]
    marks: frozenset[str]


def read_chunk(claim: ClaimWords, passages: Sequence[Passage]) -> Anchor | None:
    """The best window of one to three sentences; None when nothing of the claim is there."""
    matches = [match_passage(claim, passage) for passage in passages]
    best: tuple[float, int, int] | None = None
    for first, match in enumerate(matches):
        if not match.found:
            continue
        found = match.found
        for last in range(first, min(first + _WINDOW, len(matches))):
            if last > first:
                if not matches[last].found:
                    break
                found = union([found, matches[last].found])
            value = covered(claim, found) - 0.03 * (last - first)
            if best is None or value > best[0] + 1e-9:
                best = (value, first, last)
    if best is None:
        return None
    window = matches[best[1] : best[2] + 1]
    return _anchor(claim, window, union([match.found for match in matches]), passages)


def _anchor(
    claim: ClaimWords, window: Sequence[Match], everywhere: dict[int, float], passages: Sequence[Passage]
) -> Anchor:
    found = union([match.found for match in window])
    main = max(window, key=lambda match: covered(claim, match.found))
    negated = conflicts.negation(claim, main)
    opposite = conflicts.antonym(claim, main)
    other = conflicts.number(claim, window, found)
    swapped = conflicts.roles(claim, main)
    rivals = conflicts.rivals(claim, main)
    brief = _brevity(claim, *_SUBSTITUTES_MATTER[claim.characters])
    stated = frozenset[str]().union(*(quantifiers(match.passage.folded) for match in window))
    doubted = is_doubtful(main.passage.folded) and not claim.hedged
    stronger = (1 + 3 * brief) * min(2, len(claim.quantifiers - stated)) + 4 * brief * doubted
    fixed = {
        "window": covered(claim, found),
        "stronger": stronger,
        "weaker": float(claim.hedged or bool(stated - claim.quantifiers)),
        "kana": _kana(claim, main),
        "negation": float(negated is not None),
        "antonym": float(opposite is not None),
        "roles": float(swapped is not None),
        "number_conflict": float(other is not None),
        "substitutions": float(min(3, conflicts.substitutions(claim, main))),
        "substituted": brief * conflicts.substituted(claim, main),
        "rival": float(bool(rivals)),
        "order": conflicts.order(main),
        "negations": float(min(2, abs(claim.passage.negations - main.passage.negations))),
    }
    conflict, kind = next(
        ((c, k) for c, k in ((negated, "negation"), (opposite, "antonym"), (other, "number"), (swapped, "roles")) if c),
        (None, ""),
    )
    marks = frozenset(mark for passage in passages for mark in passage.marks())
    return Anchor(
        found,
        everywhere,
        window[0].passage.start,
        window[-1].passage.end,
        fixed,
        conflict,
        kind,
        rivals,
        marks,
    )


def features(claim: ClaimWords, anchor: Anchor, rest: dict[int, float]) -> list[float]:
    """The features of an anchor, given what other chunks bear out; in the order of `NAMES`."""
    own = claim.passage
    chunk = anchor.everywhere
    together = union([chunk, rest]) if rest else chunk
    window_share = anchor.fixed["window"]
    chunk_share = covered(claim, chunk)
    all_share = covered(claim, together) if rest else chunk_share
    numbers = [i for i, number in own.numbers.items() if not number.weak]
    names = [i for i, kind in enumerate(own.kinds) if kind == "n"]

    def absent(found: dict[int, float], positions: Sequence[int]) -> int:
        return sum(1 for i in positions if found.get(i, 0.0) < 0.5)

    missing = [i for i, w in enumerate(own.weights) if w > 0.2 and together.get(i, 0.0) < 0.5]
    lost = max((own.weights[i] for i in missing), default=0.0) / (claim.total or 1.0)
    numbers_missing = absent(together, numbers)
    names_missing = absent(together, names)
    values = {
        **anchor.fixed,
        "chunk_gain": chunk_share - window_share,
        "rest_gain": all_share - chunk_share,
        "numbers_missing": float(min(3, numbers_missing)),
        "numbers_share": numbers_missing / len(numbers) if numbers else 0.0,
        "names_missing": float(min(4, names_missing)),
        "names_share": names_missing / len(names) if names else 0.0,
        "gap": _brevity(claim, *_GAP_MATTERS[claim.characters]) * max(0.0, lost - _SMALL),
        "missing": math.log1p(len(missing)),
        "covered_all": float(not missing),
    }
    return [values[name] for name in NAMES]


def _kana(claim: ClaimWords, match: Match) -> float:
    """The share of hiragana found."""
    positions = [i for i, kind in enumerate(claim.passage.kinds) if kind == "j"]
    return sum(match.found.get(i, 0.0) for i in positions) / len(positions) if positions else 1.0


def _brevity(claim: ClaimWords, short: float, long: float) -> float:
    """1 for a claim of few words, where each one counts, down to 0 for a long one, where paraphrase is likelier."""
    return max(0.0, min(1.0, (long - claim.total) / (long - short)))
