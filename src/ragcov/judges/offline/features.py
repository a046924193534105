"""What an alignment looks like in numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from ragcov.judges.offline.align import ClaimWords, Match, covered, match_passage, union
from ragcov.judges.offline.passages import Passage

__all__ = ["NAMES", "Anchor", "features", "read_chunk"]

NAMES = (
    "window", "chunk_gain", "rest_gain", "numbers_missing", "numbers_share", "names_missing", "names_share",
    "heaviest_missing", "missing", "covered_all", "continuity", "order", "exact", "density", "tail", "kana",
    "lost_runs", "longest_run", "negation", "negations", "antonym", "number_conflict", "substitutions", "rival",
    "short_missing",
)  # fmt: skip
"""The features, in order."""

_WINDOW = 3
# In a claim of so few words every one counts; in one of so many, one more or less can be wording.
_SHORT, _LONG = 4, 7
# Below this share of the claim, a sentence is not about the same, so it contradicts nothing.
_CLOSE = 0.6
Conflict = tuple[int, tuple[int, int]]


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
    conflict: Conflict | None
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
    negation = _negation(claim, main)
    antonym = _antonym(claim, main)
    number = _number(claim, window, found)
    size = sum(len(match.passage.forms) for match in window)
    rivals = _rivals(claim, main)
    fixed = {
        "window": covered(claim, found),
        "tail": _tail(claim, main),
        "kana": _kana(claim, main),
        "continuity": _continuity(claim, window),
        "negation": float(negation is not None),
        "antonym": float(antonym is not None),
        "number_conflict": float(number is not None),
        "substitutions": float(min(3, _substitutions(claim, main))),
        "rival": float(bool(rivals)),
        "order": _order(main),
        "exact": sum(found.values()) / len(found) if found else 0.0,
        "negations": float(min(2, abs(claim.passage.negations - main.passage.negations))),
        "density": sum(len(match.found) for match in window) / max(1, size),
    }
    conflict, kind = next(
        ((c, k) for c, k in ((negation, "negation"), (antonym, "antonym"), (number, "number")) if c), (None, "")
    )
    marks = frozenset(
        form
        for passage in passages
        for form, weight, kind_ in zip(passage.forms, passage.weights, passage.kinds, strict=True)
        if kind_ == "n" or (weight >= 0.85 and kind_ in "wk")
    )
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
    runs = _runs(own, chunk)
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
        "heaviest_missing": max((own.weights[i] for i in missing), default=0.0),
        "missing": math.log1p(len(missing)),
        "covered_all": float(not missing),
        "lost_runs": math.log1p(len(runs)),
        "longest_run": max(runs, default=0.0),
        "short_missing": _short_missing(own, missing),
    }
    return [values[name] for name in NAMES]


def _short_missing(own: Passage, missing: Sequence[int]) -> float:
    """How much (0 to 1) a missing word weighs more because the claim has few: a short claim says one thing.

    A Chinese or Japanese character counts as half a word.
    """
    sizes = [0.5 if kind in "hjk" else 1.0 for kind in own.kinds]
    length = sum(size for size, weight in zip(sizes, own.weights, strict=True) if weight > 0.2)
    brevity = max(0.0, min(1.0, (_LONG - length) / (_LONG - _SHORT)))
    return brevity * min(1.0, sum(sizes[i] for i in missing))


def _negation(claim: ClaimWords, match: Match) -> Conflict | None:
    """A found word that one of the two negates, when no word is negated in both."""
    negated = claim.passage.negated
    where: Conflict | None = None
    for i, at in match.places.items():
        if claim.passage.weights[i] < 0.2:
            continue
        if (i in negated) != (at in match.passage.negated):
            where = where or (i, match.passage.spans[at])
        elif i in negated:
            return None
    return where if where and covered(claim, match.found) >= _CLOSE else None


def _runs(own: Passage, found: dict[int, float]) -> list[float]:
    """The weights of the stretches of the claim that are not found."""
    runs: list[float] = []
    open_ = False
    for i, weight in enumerate(own.weights):
        if weight <= 0.2:
            continue
        if found.get(i, 0.0) < 0.5:
            if open_:
                runs[-1] += weight
            else:
                runs.append(weight)
            open_ = True
        else:
            open_ = False
    return runs


def _tail(claim: ClaimWords, match: Match) -> float:
    """Whether the last heavy word of the claim, in Japanese its predicate, is found."""
    heavy = [i for i, weight in enumerate(claim.passage.weights) if weight > 0.2][-2:]
    return sum(match.found.get(i, 0.0) for i in heavy) / len(heavy) if heavy else 1.0


def _kana(claim: ClaimWords, match: Match) -> float:
    """The share of hiragana found."""
    positions = [i for i, kind in enumerate(claim.passage.kinds) if kind == "j"]
    return sum(match.found.get(i, 0.0) for i in positions) / len(positions) if positions else 1.0


def _beside(match: Match, i: int, at: int) -> bool:
    """Whether a neighbour of claim position i is found beside sentence position `at`."""
    places = match.places
    return any(abs(places.get(i + step, -99) - at) <= 2 for step in (-2, -1, 1, 2))


def _antonym(claim: ClaimWords, match: Match) -> Conflict | None:
    """A word of the claim whose opposite stands in its place."""
    opposites = claim.opposites
    if not opposites or covered(claim, match.found) < _CLOSE:
        return None
    for at, form in enumerate(match.passage.forms):
        i = opposites.get(form)
        if i is None or match.found.get(i, 0.0) >= 0.5 or not _beside(match, i, at):
            continue
        if (i in claim.passage.negated) == (at in match.passage.negated):
            return i, match.passage.spans[at]
    return None


def _number(claim: ClaimWords, window: Sequence[Match], found: dict[int, float]) -> Conflict | None:
    """A number of the claim in whose place the window has another."""
    for i, claimed in islice(claim.passage.numbers.items(), 100):
        if claimed.weak or found.get(i, 0.0) >= 0.5:
            continue
        for match in window:
            taken = set(match.places.values())
            for at, stated in islice(match.passage.numbers.items(), 100):
                if at not in taken and stated.kind == claimed.kind and _beside(match, i, at):
                    return i, match.passage.spans[at]
    return None


def _continuity(claim: ClaimWords, window: Sequence[Match]) -> float:
    """The share of neighbours in the claim that stand near each other in one sentence too."""
    count = len(claim.passage.forms) - 1
    if count < 1:
        return 1.0
    best = 0
    near: set[int] = set()
    for match in window:
        places = match.places
        near.update(i for i, at in places.items() if abs(places.get(i + 1, at + 99) - at) <= 2)
    best = len(near)
    return best / count


def _substitutions(claim: ClaimWords, match: Match) -> int:
    """Words of the claim between two found neighbours where the sentence has another word in that place."""
    places, taken = match.places, set(match.places.values())
    count = 0
    for i in range(1, len(claim.passage.forms) - 1):
        if i in places or claim.passage.weights[i] < 0.2:
            continue
        left, right = places.get(i - 1), places.get(i + 1)
        if left is not None and right is not None and 2 <= right - left <= 3:
            count += any(at not in taken for at in range(left + 1, right))
    return count


def _order(match: Match) -> float:
    """The share of found neighbours that keep their order (role swaps break it)."""
    ordered = [at for _, at in sorted(match.places.items())]
    if len(ordered) < 2:
        return 1.0
    return sum(1 for a, b in pairwise(ordered) if a <= b) / (len(ordered) - 1)


def _rivals(claim: ClaimWords, match: Match) -> frozenset[str]:
    """The sentence's own subject, when neither it nor the claim's subject is shared."""
    topic = match.passage.topic
    if not topic or claim.passage.topic == 0:
        return frozenset()
    taken = set(match.places.values())
    if any(at in taken for at in range(topic)):
        return frozenset()
    if any(i in match.places for i in range(claim.passage.topic)):
        return frozenset()
    return frozenset(match.passage.forms[:topic])
