"""From alignments to a decision about one claim."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from operator import mul
from typing import NamedTuple

from ragcov.judges.offline.align import ClaimWords, union
from ragcov.judges.offline.features import NAMES, Anchor, features, read_chunk
from ragcov.judges.offline.passages import Passage, passages_of

__all__ = ["THRESHOLD", "Decision", "decide", "linked", "probability"]

THRESHOLD = 1 / 3
"""The confidence from which on a claim counts as supported. Confidence is the probability among claims of which a
third is supported, as in the data that it was fitted on; so this is where both kinds of error weigh the same."""

# A chunk that says less than this about the claim is no anchor for others to add to.
_ANCHOR = 0.02


class Decision(NamedTuple):
    """What the chunks say about one claim.

    Attributes:
        words: The claim, made ready.
        anchors: By chunk: its best window; None where nothing of the claim is found.
        confidence: Probability (0 to 1) that the chunks support the claim.
        alone: The chunks that support it by themselves, in rank order.
        group: Chunks that support it together only; empty unless they come before the first of `alone`.
        nearest: The chunk that says most about the claim, a contradicting one first; None when none says anything.
        found: What of the claim is found anywhere, by position.
    """

    words: ClaimWords
    anchors: list[Anchor | None]
    confidence: float
    alone: list[int]
    group: list[int]
    nearest: int | None
    found: dict[int, float]

    @property
    def supported(self) -> bool:
        """Whether the chunks support the claim."""
        return bool(self.alone or self.group)


@lru_cache(maxsize=1)
def _models() -> dict[str, tuple[float, list[float]]]:
    text = resources.files("ragcov").joinpath("data", "offline_weights.json").read_text(encoding="utf-8")
    models: dict[str, tuple[float, list[float]]] = {}
    for name, model in json.loads(text)["models"].items():
        models[name] = (model["bias"], [model["weights"].get(feature, 0.0) for feature in NAMES])
    return models


def probability(claim: ClaimWords, anchor: Anchor, rest: dict[int, float] | None = None) -> float:
    """The probability (0 to 1) that a chunk, with what others add to it, supports the claim."""
    bias, weights = _models()["characters" if claim.characters else "words"]
    z = bias + sum(map(mul, weights, features(claim, anchor, rest or {})))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def linked(anchor: Anchor, other: Anchor) -> bool:
    """Whether another chunk may speak of the same as the anchor.

    They share a name or a rare word; and when one's sentence has a subject of its own, which is not the claim's,
    the other must know that subject ("X works for Y" bridges to "Y has its seat in Z").
    """
    if anchor.rivals and anchor.rivals.isdisjoint(other.marks):
        return False
    if other.rivals and other.rivals.isdisjoint(anchor.marks):
        return False
    return not anchor.marks.isdisjoint(other.marks)


def rest_of(anchors: Sequence[Anchor | None], at: int, among: Sequence[int]) -> dict[int, float]:
    """What the chunks `among` add to the anchor of chunk `at`."""
    anchor = anchors[at]
    if anchor is None:
        return {}
    rest: dict[int, float] = {}
    for i in among:
        other = anchors[i]
        # A passage that contradicts the claim bears nothing out.
        if other is None or other.conflict is not None:
            continue
        if i == at or other is anchor or other.everywhere.keys() <= anchor.everywhere.keys():
            continue
        if linked(anchor, other):
            rest = union([rest, other.everywhere]) if rest else other.everywhere
    return rest


def decide(
    words: ClaimWords, chunks: Sequence[str], passages: Mapping[str, Sequence[Passage]] | None = None
) -> Decision:
    """Decides about one claim; `passages` holds the chunks made ready, for calls with many claims."""
    read: dict[str, Anchor | None] = {}
    for chunk in chunks:
        if chunk not in read:
            read[chunk] = read_chunk(words, passages[chunk] if passages else passages_of(chunk))
    anchors = [read[chunk] for chunk in chunks]
    own = [probability(words, anchor) if anchor else 0.0 for anchor in anchors]
    alone = [i for i, value in enumerate(own) if value >= THRESHOLD]
    # Of equal chunks the first stands for all.
    first = list({chunk: i for i, chunk in reversed(list(enumerate(chunks)))}.values())
    useful = sorted(i for i in first if own[i] >= _ANCHOR)
    distinct = sorted(i for i in first if anchors[i] is not None)
    joint = _joint(words, anchors, useful, distinct)
    limit = alone[0] if alone else len(chunks)
    group = _group(words, anchors, useful, [i for i in distinct if i < limit]) if joint >= THRESHOLD else []
    nearest = max(distinct, key=lambda i: (_contradicts(anchors[i]), own[i], -i), default=None)
    found = union([anchor.everywhere for anchor in anchors if anchor])
    return Decision(words, anchors, max([joint, *own]), alone, group, nearest, found)


def _contradicts(anchor: Anchor | None) -> bool:
    return anchor is not None and anchor.conflict is not None


def _joint(words: ClaimWords, anchors: Sequence[Anchor | None], useful: Sequence[int], among: Sequence[int]) -> float:
    """The highest probability that an anchor reaches with what the others add."""
    best = 0.0
    for i in useful:
        anchor = anchors[i]
        if anchor is None or anchor.conflict is not None:
            continue
        if rest := rest_of(anchors, i, among):
            best = max(best, probability(words, anchor, rest))
    return best


def _group(words: ClaimWords, anchors: Sequence[Anchor | None], useful: Sequence[int], among: list[int]) -> list[int]:
    """The chunks that support the claim together only, with the smallest last rank; empty when none do."""

    def enough(members: Sequence[int]) -> bool:
        return _joint(words, anchors, [i for i in useful if i in members], members) >= THRESHOLD

    if not enough(among):
        return []
    low, high = 1, len(among)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(among[:middle]) else (middle + 1, high)
    members = among[:low]
    for i in reversed(among[: low - 1]):
        fewer = [member for member in members if member != i]
        if enough(fewer):
            members = fewer
    return members
