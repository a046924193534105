"""Where a sentence that is about the same says something else."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise

from ragcov.judges.offline.align import ClaimWords, Match, covered
from ragcov.judges.offline.passages import Passage
from ragcov.judges.offline.words import stem

__all__ = ["Conflict", "antonym", "negation", "number", "order", "rivals", "roles", "substituted", "substitutions"]

Conflict = tuple[int, tuple[int, int]]
"""A position in the claim, and the span in the chunk of what contradicts it."""

# Below this share of the claim, a sentence is not about the same, so it contradicts nothing.
_CLOSE = 0.6
_SAME = 0.5
_SYMMETRIC = frozenset(stem(word) for word in ("meet", "marry", "border", "join", "face", "resemble", "play"))


def negation(claim: ClaimWords, match: Match) -> Conflict | None:
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


def _beside(match: Match, i: int, at: int) -> bool:
    """Whether a neighbour of claim position i is found beside sentence position `at`."""
    places = match.places
    return any(abs(places.get(i + step, -99) - at) <= 2 for step in (-2, -1, 1, 2))


def antonym(claim: ClaimWords, match: Match) -> Conflict | None:
    """A word of the claim whose opposite stands in its place."""
    opposites = claim.opposites
    if match.opposed is not None and covered(claim, match.found) >= _CLOSE - 0.2:
        i, at = match.opposed
        return i, match.passage.spans[at]
    if not opposites or covered(claim, match.found) < _CLOSE:
        return None
    for at, form in enumerate(match.passage.forms):
        i = opposites.get(form)
        if i is None or match.found.get(i, 0.0) >= 0.5 or not _beside(match, i, at):
            continue
        if (i in claim.passage.negated) == (at in match.passage.negated):
            return i, match.passage.spans[at]
    return None


def number(claim: ClaimWords, window: Sequence[Match], found: dict[int, float]) -> Conflict | None:
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


def roles(claim: ClaimWords, match: Match) -> Conflict | None:
    """Two names that have changed sides: "A bought B" where the sentence says "B bought A"."""
    own, places = claim.passage, match.places
    # A lone name at the beginning is known for one by how the sentence writes it.
    first = own.topic or int(match.passage.kinds[places.get(0, 0)] == "n")
    second = next((i for i in range(first + 1, len(own.kinds)) if first and own.kinds[i] == "n"), None)
    if second is None or any(i not in places for i in (*range(first), second)):
        return None
    acts = [i for i in range(first, second) if own.kinds[i] == "w" and i in places]
    if not acts or own.forms[acts[0]] in _SYMMETRIC:
        return None
    subject, act, other = places[0], places[acts[0]], places[second]
    if not other < act < subject:
        return None
    if _passive(own, acts[0], second) != _passive(match.passage, act, subject):
        return None
    return second, match.passage.spans[other]


def _passive(passage: Passage, first: int, last: int) -> bool:
    """Whether "by" stands between two words."""
    start, end = passage.spans[first][1] - passage.start, passage.spans[last][0] - passage.start
    return " by " in f" {passage.folded[start:end]} ".lower()


def substitutions(claim: ClaimWords, match: Match) -> int:
    """Single words of the claim between two found neighbours where the sentence has another in that place."""
    places, taken = match.places, set(match.places.values())
    count = 0
    for i in range(1, len(claim.passage.forms) - 1):
        if i in places or claim.passage.weights[i] < 0.2:
            continue
        left, right = places.get(i - 1), places.get(i + 1)
        if left is not None and right is not None and 2 <= right - left <= 3:
            count += any(at not in taken for at in range(left + 1, right))
    return count


def substituted(claim: ClaimWords, match: Match) -> float:
    """The weight of words between found neighbours where the sentence has others in their place, as a share.

    At the end of the claim one neighbour is enough. Numbers are compared elsewhere, and so are subjects.
    """
    if covered(claim, match.found) < _SAME:
        return 0.0
    places, taken = match.places, set(match.places.values())
    own, size = claim.passage, len(match.passage.forms)
    # Also a common verb is another when another stands in its place.
    least = 0.0 if claim.characters else 0.7
    lost = 0.0
    for first, last in _gaps(own, match.found):
        left = places.get(first - 1)
        right = places.get(last, size if last == len(own.forms) else None)
        if left is None or right is None:
            continue
        between = range(left + 1, right)
        if 0 < len(between) <= last - first + 1 and all(at not in taken for at in between):
            lost += sum(max(own.weights[i], least) for i in range(first, last) if own.kinds[i] != "#")
        elif last == len(own.forms) and left + 1 < size and left + 1 not in taken:
            lost += sum(max(own.weights[i], least) for i in range(first, last) if own.kinds[i] != "#") / 2
    return lost / claim.total if claim.total else 0.0


def _gaps(own: Passage, found: dict[int, float]) -> list[tuple[int, int]]:
    """The stretches of the claim, from and to, that are not found."""
    gaps: list[tuple[int, int]] = []
    for i in range(len(own.forms)):
        if found.get(i, 0.0) < 0.5:
            if gaps and gaps[-1][1] == i:
                gaps[-1] = (gaps[-1][0], i + 1)
            else:
                gaps.append((i, i + 1))
    return gaps


def order(match: Match) -> float:
    """The share of found neighbours that keep their order (role swaps break it)."""
    ordered = [at for _, at in sorted(match.places.items())]
    if len(ordered) < 2:
        return 1.0
    return sum(1 for a, b in pairwise(ordered) if a <= b) / (len(ordered) - 1)


def rivals(claim: ClaimWords, match: Match) -> frozenset[str]:
    """The sentence's own subject, when neither it nor the claim's subject is shared."""
    topic = match.passage.topic
    if not topic or claim.passage.topic == 0:
        return frozenset()
    taken = set(match.places.values())
    if any(at in taken for at in range(topic)):
        return frozenset()
    if any(i in match.places for i in range(claim.passage.topic)):
        return frozenset()
    return frozenset(match.passage.marks(topic))
