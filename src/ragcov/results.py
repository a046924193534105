"""What scorers and runs return: plain data and arithmetic, no I/O."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from ragcov.attribution import Verdict
from ragcov.claims import Claim
from ragcov.errors import UsageError
from ragcov.samples import Sample

__all__ = [
    "EvalsResult",
    "Failure",
    "ItemResult",
    "Mean",
    "RunInfo",
    "ScorerResult",
    "ScorerSummary",
    "Summary",
    "Tally",
    "TurnResult",
    "Usage",
    "check_scale",
    "interval_of_share",
    "mean_of",
    "round_score",
    "t_quantile",
]

State = Literal["scored", "not_scorable", "failed"]
RunVerdict = Literal["passed", "scored", "failed"]


# Squares of scores and their sums must still be finite.
LARGEST = 1e100


def is_number(value: object) -> bool:
    """Whether it is a number; True and False are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_scale(scale: float) -> float:
    """Returns the scale; raises `UsageError` unless it is a finite number above 0."""
    if not is_number(scale) or not 0 < scale < math.inf:
        raise UsageError(f"scale must be a finite number above 0, got {scale!r}")
    if scale > LARGEST:
        raise UsageError(f"scale must be {LARGEST:g} at most")
    return scale


# From here on floats have no decimals.
_WHOLE = 2.0**52


def round_score(score: float) -> float:
    """Rounds to two decimals, halves away from zero in decimal notation (0.125 -> 0.13)."""
    if abs(score) >= _WHOLE:
        return score
    return math.floor(abs(score) * 100 + 0.5 + 1e-9) / 100 * (1 if score >= 0 else -1)


class Tally(msgspec.Struct, frozen=True):
    """Counts; ratios are derived from them, so tallies can be added. Empty: `Tally(0, 0)`."""

    attributed: int
    total: int

    def __post_init__(self) -> None:
        if not 0 <= self.attributed <= self.total:
            raise ValueError(f"a tally needs 0 <= attributed <= total, got {self.attributed} of {self.total}")

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.attributed + other.attributed, self.total + other.total)

    @property
    def ratio(self) -> float | None:
        """attributed / total (0 to 1); None when total is 0."""
        return self.attributed / self.total if self.total else None

    def score(self, scale: float = 1) -> float:
        """attributed / total x scale, rounded to two decimals.

        Raises:
            ValueError: When total is 0: nothing can be said about nothing.
        """
        if not self.total:
            raise ValueError("an empty tally has no score")
        return round_score(self.attributed / self.total * scale)


class Usage(msgspec.Struct, frozen=True):
    """What judging cost: requests to a provider, answers taken from the cache instead, and tokens."""

    calls: int = 0
    cached_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.cached_calls + other.cached_calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


class Failure(msgspec.Struct, frozen=True):
    """Why a row failed.

    Attributes:
        type: Name of the exception's class.
        message: What was wrong and what to do.
        step: "target", or the scorer's step; None when no step had begun.
    """

    type: str
    message: str
    step: str | None = None


class ScorerResult(msgspec.Struct, frozen=True, kw_only=True):
    """One scorer applied to one input/output pair.

    Attributes:
        scorer_id: The scorer.
        state: "scored"; "not_scorable" (nothing to measure, `reason` says why; means leave it out); or
            "failed" (`error` says why; means leave it out and the run exits with 3).
        score: 0 to `scale`. 0.0 when not scorable, None when failed; look at `state` first.
        scale: The score's upper end.
        reason: Why the score is what it is.
        tally: The exact counts; None for scorers that don't count.
        claims: The claims that were judged, in the order of the text.
        verdicts: One a claim, in the same order.
        warnings: What a reader should know before trusting the score.
        usage: What judging this pair cost.
        judge: The judge's id, or None when none was needed.
        step_results: What custom steps returned, by step name ("preprocess", "analyze").
        error: Set when `state` is "failed".
    """

    scorer_id: str
    state: State
    score: float | None
    scale: float = 1
    reason: str = ""
    tally: Tally | None = None
    claims: tuple[Claim, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    warnings: tuple[str, ...] = ()
    usage: Usage = Usage()
    judge: str | None = None
    step_results: dict[str, Any] = {}
    error: Failure | None = None

    @property
    def scored(self) -> bool:
        """Whether the score counts."""
        return self.state == "scored"

    @property
    def preprocess_result(self) -> Any:
        """What the preprocess step returned: for scorers that extract claims, the claims."""
        return self.step_results.get("preprocess", self.claims)

    @property
    def analyze_result(self) -> Any:
        """What the analyze step returned: for scorers that attribute claims, the verdicts."""
        return self.step_results.get("analyze", self.verdicts)


class TurnResult(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a conversation, as its own scorers and gates saw it.

    Attributes:
        scorer_results: One for each of the turn's scorers and gates, by scorer id.
        error: Set when the target failed in this turn; the conversation ended there.
        verdict: "failed" when a gate did not pass; "scored" when a threshold was not met; "passed" when all were;
            None when the turn has neither gate nor threshold.
        problems: What the verdict rests on, one sentence for each gate or threshold not met.
    """

    scorer_results: dict[str, ScorerResult] = {}
    error: Failure | None = None
    verdict: RunVerdict | None = None
    problems: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the target or any scorer failed in this turn."""
        return self.error is not None or any(r.state == "failed" for r in self.scorer_results.values())


class ItemResult(msgspec.Struct, frozen=True, kw_only=True, tag="item", tag_field="kind"):
    """One sample of a run.

    Attributes:
        index: Position in the dataset, from 0.
        sample: The sample as it was scored, with the target's output and the context that was used.
        scorer_results: One for each scorer, by scorer id.
        error: Set when the target failed or the record could not be read; the scorers then did not run.
        turn_results: Of a conversation, one for each turn that was begun, in order; empty for other samples.
    """

    index: int
    sample: Sample
    scorer_results: dict[str, ScorerResult] = {}
    error: Failure | None = None
    turn_results: tuple[TurnResult, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the target or any scorer failed on this sample, or in one of its turns."""
        own = self.error is not None or any(r.state == "failed" for r in self.scorer_results.values())
        return own or any(turn.failed for turn in self.turn_results)


class Mean(msgspec.Struct, frozen=True):
    """A mean with its n and a 95 % confidence interval.

    Attributes:
        value: None when n is 0.
        n: How many scores.
        low: Lower end; None when n is below 2, where no interval can be given.
        high: Upper end.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None


def t_quantile(df: int, p: float = 0.975) -> float:
    """Quantile of Student's t by the expansion 26.7.5 of Abramowitz and Stegun; exact for 1 and 2 df."""
    if df == 1:
        return math.tan(math.pi * (p - 0.5))
    if df == 2:
        return (2 * p - 1) / math.sqrt(2 * p * (1 - p))
    z = statistics.NormalDist().inv_cdf(p)
    g1 = (z**3 + z) / 4
    g2 = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    g3 = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    g4 = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
    return z + g1 / df + g2 / df**2 + g3 / df**3 + g4 / df**4


def mean_of(scores: Sequence[float], *, low: float | None = None, high: float | None = None) -> Mean:
    """The mean with its 95 % interval.

    Scores within [low, high] get Wilson's interval for an effective sample size (Wilson 1927, JASA 22; the effective
    size as in Dean and Pagano 2015, Journal of Survey Statistics and Methodology 3): n times what the variance of 0/1
    scores with this mean would be, divided by the variance of the scores, where one further score of that largest
    variance is counted in. Student's t interval would claim certainty for a few perfect scores. Unbounded scores get
    Student's t interval.

    Args:
        scores: Finite numbers.
        low: The lowest score there can be; None when there is no such bound.
        high: The highest score there can be; both bounds or none count.
    """
    n = len(scores)
    if n == 0:
        return Mean(None, 0)
    value = math.fsum(scores) / n
    if n == 1:
        return Mean(value, 1)
    t = t_quantile(n - 1)
    if low is None or high is None:
        half = t * statistics.stdev(scores, value) / math.sqrt(n)
        return Mean(value, n, value - half, value + half)
    width = high - low
    share = min(1.0, max(0.0, (value - low) / width))
    largest = share * (1 - share) * n / (n - 1)
    ratio = statistics.variance(scores, value) / width**2 / largest if largest > 1e-12 else 1.0
    bottom, top = interval_of_share(share, t, n / ((ratio * n + 1) / (n + 1)))
    return Mean(value, n, low + width * bottom, low + width * top)


def interval_of_share(share: float, quantile: float, n: float) -> tuple[float, float]:
    """Wilson's interval of a share (0 to 1) of n (above 0, not always whole), for a quantile such as 1.96.

    It always holds the share, and is never empty, also at 0 and 1.
    """
    z2 = quantile**2 / n
    middle = (share + z2 / 2) / (1 + z2)
    half = math.sqrt(z2 * share * (1 - share) + z2**2 / 4) / (1 + z2)
    return min(share, max(0.0, middle - half)), max(share, min(1.0, middle + half))


class ScorerSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One scorer over a run.

    Attributes:
        mean: Mean of the scored rows, from 0 to `scale`.
        scale: The scores' upper end.
        scored: How many rows were scored.
        not_scorable: How many had nothing to measure.
        failed: How many failed.
        tally: Sum of the tallies of the scored rows; None for scorers that don't count.
        untallied: How many scored rows the tally leaves out, for a scorer that counts: nothing was retrieved for
            them, so their claims were never extracted.
        judge: The judge's id; None when none was asked.
    """

    mean: Mean
    scale: float
    scored: int
    not_scorable: int
    failed: int
    tally: Tally | None = None
    untallied: int = 0
    judge: str | None = None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A run in numbers.

    Attributes:
        total_items: Samples read, those that could not be read included.
        failed_items: Samples on which the target, a scorer or the reading failed.
        scorers: By scorer id.
        usage: What judging cost, all in all.
    """

    total_items: int
    failed_items: int
    scorers: dict[str, ScorerSummary]
    usage: Usage


class RunInfo(msgspec.Struct, frozen=True, kw_only=True, tag="run", tag_field="kind"):
    """The first line of a results file: what was run, with which settings."""

    version: str
    dataset: str | None = None
    scorers: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    settings: dict[str, Any] = {}


class EvalsResult(msgspec.Struct, frozen=True, kw_only=True):
    """What `run_evals` returns.

    Attributes:
        items: One for each sample, in the order of the data; empty when the run was told not to keep them.
        summary: The run in numbers.
        verdict: "failed" when a gate did not pass; "scored" when a threshold was not met; "passed" when all
            were; None when there was neither gate nor threshold.
        problems: What the verdict rests on, one sentence for each gate or threshold not met.
        warnings: What went wrong beside the rows, for instance in a callback.
        info: What was run.
        run_id: What the store calls the run; None when it was not kept.
    """

    items: tuple[ItemResult, ...]
    summary: Summary
    verdict: RunVerdict | None = None
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    info: RunInfo
    run_id: str | None = None

    @property
    def scores(self) -> dict[str, float | None]:
        """Mean score by scorer id, unrounded; None where no row was scored."""
        return {scorer_id: summary.mean.value for scorer_id, summary in self.summary.scorers.items()}


class Totals:
    """Adds up item results one by one, so that a summary needs no list of items."""

    def __init__(self, scorer_ids: Iterable[str]) -> None:
        self._scores: dict[str, list[float]] = {scorer_id: [] for scorer_id in scorer_ids}
        self._states: dict[str, dict[State, int]] = {
            scorer_id: {"scored": 0, "not_scorable": 0, "failed": 0} for scorer_id in self._scores
        }
        self._tallies: dict[str, Tally] = {}
        self._tallied: Counter[str] = Counter()
        self._scales: dict[str, float] = {}
        self._judges: dict[str, str] = {}
        self._items = self._failed = 0
        self._usage = Usage()

    def add(self, item: ItemResult) -> None:
        """Counts one sample. Where the target failed, or the reading, every scorer that did not run has failed."""
        self._items += 1
        self._failed += item.failed
        if item.error is not None:
            for scorer_id in self._states.keys() - item.scorer_results.keys():
                self._states[scorer_id]["failed"] += 1
        for turn in item.turn_results:
            self._usage = sum((result.usage for result in turn.scorer_results.values()), self._usage)
        for scorer_id, result in item.scorer_results.items():
            self._states[scorer_id][result.state] += 1
            self._scales[scorer_id] = result.scale
            self._usage = self._usage + result.usage
            if result.judge is not None:
                self._judges[scorer_id] = result.judge
            if result.state == "scored" and result.score is not None:
                self._scores[scorer_id].append(result.score)
                if result.tally is not None:
                    self._tallied[scorer_id] += 1
                    self._tallies[scorer_id] = self._tallies.get(scorer_id, Tally(0, 0)) + result.tally

    def summary(self) -> Summary:
        """The summary of what was added so far."""
        scorers: dict[str, ScorerSummary] = {}
        for scorer_id, scores in self._scores.items():
            scale = self._scales.get(scorer_id, 1)
            states = self._states[scorer_id]
            tallied = self._tallied[scorer_id]
            scorers[scorer_id] = ScorerSummary(
                mean=mean_of(scores, low=0, high=scale) if _within(scores, scale) else mean_of(scores),
                scale=scale,
                tally=self._tallies.get(scorer_id),
                untallied=states["scored"] - tallied if tallied else 0,
                judge=self._judges.get(scorer_id),
                scored=states["scored"],
                not_scorable=states["not_scorable"],
                failed=states["failed"],
            )
        return Summary(total_items=self._items, failed_items=self._failed, scorers=scorers, usage=self._usage)


def _within(scores: Sequence[float], scale: float) -> bool:
    """False when a custom scorer's score lies outside 0 to its scale, which then is no bound."""
    return all(0 <= score <= scale for score in scores)
