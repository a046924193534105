"""Recall at every cut-off k, read off the verdicts of one run: no judge is asked again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from ragcov.attribution import Verdict, smallest_cutoff, supporting_chunks
from ragcov.errors import UsageError
from ragcov.reports.text import printable
from ragcov.results import ItemResult, Mean, RunInfo, Tally, mean_of

__all__ = [
    "FULL_SHARE",
    "Curve",
    "CurveBuilder",
    "Point",
    "curve_lines",
    "curve_of",
    "redundant",
    "scorer_of_curve",
]

FULL_SHARE = 0.95
"""The share of full recall that `Curve.enough` reaches."""

_RECALL = "context-recall-scorer"
_BAR = 30


def redundant(verdict: Verdict) -> bool:
    """Whether the claim would still be supported with any one chunk taken away."""
    if not verdict.supported:
        return False
    groups: dict[int, set[int]] = {}
    ways: list[set[int]] = []
    for evidence in verdict.evidence:
        if evidence.group is None:
            ways.append({evidence.chunk})
        else:
            groups.setdefault(evidence.group, set()).add(evidence.chunk)
    ways += groups.values()
    return bool(ways) and all(any(chunk not in way for way in ways) for chunk in ways[0])


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """One cut-off.

    Attributes:
        k: How many chunks are kept, from 1.
        recall: Mean recall@k over the scored rows, on the scores' scale.
        gain: What the k-th chunk adds to the mean: recall@k - recall@(k-1).
        new_claims: Claims that k chunks support and k - 1 do not.
        chunks: Rows that have a k-th chunk.
        supporting: Rows whose k-th chunk supports a claim.
    """

    k: int
    recall: Mean
    gain: float
    new_claims: int
    chunks: int
    supporting: int


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """Recall at every cut-off, and what the retrieved chunks are worth.

    Attributes:
        scorer: The scorer whose verdicts it is read from.
        scale: The scores' upper end.
        rows: Scored rows.
        left_out: Rows that were not scorable or failed; they are in no number here.
        full: Mean recall with all chunks.
        points: One for each k, from 1 to the longest retrieval; empty when nothing was retrieved.
        enough: The smallest k that reaches 95 % of full recall; None when full recall is 0 or there is none.
        claims: Claims of the scored rows; without those of rows on which nothing was retrieved, which no judge was
            asked for.
        supported: Claims that all chunks together support.
        redundant: Claims that would still be supported with any one chunk taken away.
        chunks: Retrieved chunks of the scored rows.
        idle_chunks: Chunks that support no claim.
        empty_rows: Rows on which nothing was retrieved; they count as recall 0 at every k.
    """

    scorer: str
    scale: float
    rows: int
    left_out: int
    full: Mean
    points: tuple[Point, ...]
    enough: int | None
    claims: int
    supported: int
    redundant: int
    chunks: int
    idle_chunks: int
    empty_rows: int


class _Row(msgspec.Struct, frozen=True):
    """What the curve needs of a row: a few numbers, so that large runs fit in memory."""

    claims: int
    cutoffs: tuple[int, ...]
    scale: float

    def score(self, k: int) -> float:
        if not self.claims:
            return 0.0
        return Tally(sum(cutoff <= k for cutoff in self.cutoffs), self.claims).score(self.scale)


class CurveBuilder:
    """Reads the curve off rows that come one by one."""

    def __init__(self, scorer_id: str) -> None:
        self._scorer = scorer_id
        self._rows: list[_Row] = []
        self._left_out = self._redundant = self._empty = self._idle = 0
        self._scale = 1.0
        self._chunks_at: Counter[int] = Counter()
        self._supporting_at: Counter[int] = Counter()

    def add(self, item: ItemResult) -> None:
        """Counts one sample.

        Raises:
            UsageError: When the scorer keeps no verdicts on claims.
        """
        result = item.scorer_results.get(self._scorer)
        if result is None or result.state != "scored":
            self._left_out += 1
            return
        if not result.verdicts and any(chunk.strip() for chunk in item.sample.context or ()):
            raise UsageError(
                f"{self._scorer} keeps no verdicts on claims, so there is no curve to read off its results"
            )
        self._scale = result.scale
        cutoffs = [cutoff for v in result.verdicts if (cutoff := smallest_cutoff(v)) is not None]
        self._rows.append(_Row(len(result.verdicts), tuple(sorted(cutoffs)), result.scale))
        self._redundant += sum(redundant(verdict) for verdict in result.verdicts)
        self._empty += not result.verdicts
        supporting = {chunk for verdict in result.verdicts for chunk in supporting_chunks(verdict)}
        # The chunks of a scorer with a context of its own are not in the sample: those it quotes are known.
        chunks = max([len(item.sample.context or ()), *(chunk + 1 for chunk in supporting)])
        self._idle += chunks - len(supporting)
        self._chunks_at.update(range(1, chunks + 1))
        self._supporting_at.update(chunk + 1 for chunk in supporting)

    def curve(self) -> Curve:
        """The curve of what was added so far."""
        longest = max(self._chunks_at, default=0)
        points = tuple(self._points(longest))
        full = self._mean(longest)
        reached = FULL_SHARE * (full.value or 0) - 1e-9
        enough = next((point.k for point in points if (point.recall.value or 0) >= reached), None)
        return Curve(
            scorer=self._scorer,
            scale=self._scale,
            rows=len(self._rows),
            left_out=self._left_out,
            full=full,
            points=points,
            enough=enough if full.value else None,
            claims=sum(row.claims for row in self._rows),
            supported=sum(len(row.cutoffs) for row in self._rows),
            redundant=self._redundant,
            chunks=self._chunks_at.total(),
            idle_chunks=self._idle,
            empty_rows=self._empty,
        )

    def _mean(self, k: int) -> Mean:
        return mean_of([row.score(k) for row in self._rows], low=0, high=self._scale)

    def _points(self, longest: int) -> Iterator[Point]:
        new = Counter(cutoff for row in self._rows for cutoff in row.cutoffs)
        before = mean = mean_of([0.0] * len(self._rows), low=0, high=self._scale)
        for k in range(1, longest + 1):
            if new[k]:
                mean = self._mean(k)
            yield Point(
                k=k,
                recall=mean if k > 1 or new[k] else self._mean(k),
                gain=(mean.value or 0) - (before.value or 0),
                new_claims=new[k],
                chunks=self._chunks_at[k],
                supporting=self._supporting_at[k],
            )
            before = mean


def curve_of(items: Iterable[ItemResult], scorer_id: str = _RECALL) -> Curve:
    """The curve of some item results.

    Recall@k of a row counts the claims that its first k chunks support, alone or together; a row on which nothing was
    retrieved counts as 0. The numbers are those of scoring again with every context cut to k, provided the judge
    decides about a chunk without regard to the chunks after it.
    """
    builder = CurveBuilder(scorer_id)
    for item in items:
        builder.add(item)
    return builder.curve()


def scorer_of_curve(info: RunInfo, wanted: str | None = None) -> str:
    """The scorer of a run whose verdicts the curve is read from.

    Args:
        info: The run.
        wanted: What the user asked for, with or without "-scorer"; None for context recall, or else the run's only
            scorer.

    Raises:
        UsageError: When the run has no such scorer, or several of which none is context recall.
    """
    if wanted is not None:
        for name in (wanted, f"{wanted}-scorer"):
            if name in info.scorers:
                return name
        raise UsageError(f'the run has no scorer "{wanted}"; it has: {", ".join(info.scorers) or "none"}')
    if _RECALL in info.scorers:
        return _RECALL
    if len(info.scorers) == 1:
        return info.scorers[0]
    raise UsageError(
        f"--scorer must say which of the run's scorers to read: {', '.join(info.scorers) or 'it has none'}"
    )


def curve_lines(curve: Curve) -> Iterator[str]:
    """The curve as a table with bars, and what follows from it."""
    scale = "" if curve.scale == 1 else f" of {curve.scale:g}"
    rows = f"{curve.rows} scored rows" + (f", {curve.left_out} left out" if curve.left_out else "")
    yield f"{printable(curve.scorer)}: {rows}"
    if not curve.points:
        yield "nothing was retrieved on any scored row: there is no curve"
        return
    yield f"{'k':>4}  {'recall@k':>8}  {'95 % CI':<12}  {'gain':>6}  {'new claims':>10}  {'useful chunks':>13}"
    hidden = 0
    for point in curve.points:
        # A long tail that adds nothing says nothing, line by line.
        if point.k > 20 and not point.new_claims and point.k < len(curve.points):
            hidden += 1
            continue
        yield _point_line(point, curve.scale)
    if hidden:
        yield f"      ({hidden} ranks above 20 that add nothing are not listed)"
    yield ""
    full = f"{curve.full.value or 0:.2f}{scale}"
    if curve.enough is None:
        yield f"full recall: {full}"
    else:
        yield f"full recall: {full}; k = {curve.enough} is the smallest that reaches {FULL_SHARE:.0%} of it"
    yield f"claims: {curve.supported} of {curve.claims} supported, {curve.redundant} of them by more chunks than needed"
    yield f"chunks: {curve.idle_chunks} of {curve.chunks} support no claim"
    if curve.empty_rows:
        yield f"rows on which nothing was retrieved, recall 0 at every k: {curve.empty_rows}"


def _point_line(point: Point, scale: float) -> str:
    value, low, high = point.recall.value or 0.0, point.recall.low, point.recall.high
    interval = "" if low is None or high is None else f"{low:.2f} to {high:.2f}"
    bar = "█" * round(value / scale * _BAR)
    useful = f"{point.supporting}/{point.chunks}"
    return (
        f"{point.k:>4}  {value:>8.2f}  {interval:<12}  {point.gain:>+6.2f}  {point.new_claims:>10}  {useful:>13}  {bar}"
    ).rstrip()
