"""Thresholds and gates: what a run must reach."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ragcov.errors import UsageError
from ragcov.results import ItemResult, RunVerdict, ScorerResult, ScorerSummary, Summary
from ragcov.scorers.base import Scorer

__all__ = ["Check", "TurnVerdicts", "check_totals", "read_checks", "verdict_of"]

_WORST_FIRST: tuple[RunVerdict, ...] = ("failed", "scored", "passed")


@dataclass(frozen=True)
class Check:
    """A scorer and what its mean must reach.

    Attributes:
        scorer: The scorer.
        low: The mean must be at least this; None for no lower end.
        high: The mean must be at most this; None for no upper end.
        gate: Whether missing it fails the run, rather than leaving it merely scored.
    """

    scorer: Scorer
    low: float | None = None
    high: float | None = None
    gate: bool = False

    def problem(self, summary: ScorerSummary) -> str | None:
        """What keeps the check from passing, in one sentence; None when it passes.

        A run without a scored row passes nothing, and a gate wants every row scored.
        """
        if self.low is None and self.high is None:
            return None
        kind, name, mean = ("gate" if self.gate else "threshold"), self.scorer.id, summary.mean.value
        if mean is None:
            return f"{kind} {name}: no row was scored"
        # A mean is a sum of decimals divided by n: 0.1 short of nothing must not count as short.
        if self.low is not None and mean < self.low - 1e-9:
            return f"{kind} {name}: mean {mean:.4g} is below {self.low:g} (n = {summary.mean.n})"
        if self.high is not None and mean > self.high + 1e-9:
            return f"{kind} {name}: mean {mean:.4g} is above {self.high:g} (n = {summary.mean.n})"
        if self.gate and (left_out := summary.failed + summary.not_scorable):
            return f"{kind} {name}: {left_out} rows were not scored"
        return None

    def problem_of(self, result: ScorerResult | None) -> str | None:
        """As `problem`, for one result."""
        if self.low is None and self.high is None:
            return None
        kind, name = ("gate" if self.gate else "threshold"), self.scorer.id
        if result is None or not result.scored or result.score is None:
            return f"{kind} {name}: not scored"
        if self.low is not None and result.score < self.low - 1e-9:
            return f"{kind} {name}: {result.score:.4g} is below {self.low:g}"
        if self.high is not None and result.score > self.high + 1e-9:
            return f"{kind} {name}: {result.score:.4g} is above {self.high:g}"
        return None


def read_checks(entries: Sequence[Scorer | Mapping[str, Any]], *, gate: bool) -> list[Check]:
    """Reads what `run_evals` was given as scorers or gates.

    Raises:
        UsageError: For an entry that is neither a scorer nor `{"scorer": ..., "threshold": ...}`.
    """
    if isinstance(entries, str | Mapping | Scorer) or not isinstance(entries, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        kind = "gates" if gate else "scorers"
        raise UsageError(f"{kind} must be a list, got {type(entries).__name__}")
    return [_read_check(entry, gate=gate) for entry in entries]


def _read_check(entry: Scorer | Mapping[str, Any], *, gate: bool) -> Check:
    kind = "gate" if gate else "scorer"
    if isinstance(entry, Scorer):
        return Check(entry, low=entry.scale if gate else None, gate=gate)
    if not isinstance(entry, Mapping) or not isinstance(entry.get("scorer"), Scorer):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f'a {kind} must be a scorer or {{"scorer": ..., "threshold": ...}}, got {entry!r}')
    if unknown := set(entry) - {"scorer", "threshold"}:
        raise UsageError(f"unknown keys of a {kind}: {', '.join(sorted(unknown))}")
    scorer: Scorer = entry["scorer"]
    threshold = entry.get("threshold")
    if threshold is None:
        return Check(scorer, low=scorer.scale if gate else None, gate=gate)
    if not isinstance(threshold, Mapping):
        return Check(scorer, low=_number(threshold, scorer), gate=gate)
    bounds = cast("Mapping[str, Any]", threshold)
    if not bounds or set(bounds) - {"min", "max"}:
        raise UsageError(f"the threshold of {scorer.id} takes min and max, got {dict(bounds)!r}")
    low, high = (_number(bounds[end], scorer) if end in bounds else None for end in ("min", "max"))
    if low is not None and high is not None and low > high:
        raise UsageError(f"the threshold of {scorer.id} has min {low:g} above max {high:g}")
    return Check(scorer, low=low, high=high, gate=gate)


def _number(value: Any, scorer: Scorer) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"the threshold of {scorer.id} must be a finite number, got {value!r}")
    if not 0 <= value <= scorer.scale:
        raise UsageError(f"the threshold of {scorer.id} must be from 0 to its scale {scorer.scale:g}, got {value:g}")
    return float(value)


def check_totals(checks: Sequence[Check], summary: Summary) -> tuple[RunVerdict | None, tuple[str, ...]]:
    """The run's verdict and the problems it rests on.

    Returns:
        "failed" when a gate did not pass, else "scored" when a threshold was not met, else "passed"; None when
        there is neither.
    """
    return _verdict(checks, [check.problem(summary.scorers[check.scorer.id]) for check in checks])


def verdict_of(
    checks: Sequence[Check], results: Mapping[str, ScorerResult]
) -> tuple[RunVerdict | None, tuple[str, ...]]:
    """As `check_totals`, for the results of one turn."""
    return _verdict(checks, [check.problem_of(results.get(check.scorer.id)) for check in checks])


def _verdict(checks: Sequence[Check], outcomes: Sequence[str | None]) -> tuple[RunVerdict | None, tuple[str, ...]]:
    if all(check.low is None and check.high is None for check in checks):
        return None, ()
    found = list(zip(checks, outcomes, strict=True))
    problems = tuple(problem for _, problem in found if problem is not None)
    if any(problem is not None and check.gate for check, problem in found):
        return "failed", problems
    return ("scored" if problems else "passed"), problems


class TurnVerdicts:
    """What the gates and thresholds of single turns add to a run's verdict, in little memory whatever the rows."""

    def __init__(self) -> None:
        self._verdicts: set[RunVerdict] = set()
        # By kind and scorer, as "gate includes": the first problem with its place, and how many there are.
        self._problems: dict[str, tuple[str, int]] = {}

    def add(self, item: ItemResult) -> None:
        """Counts one sample."""
        for number, turn in enumerate(item.turn_results, 1):
            if turn.verdict is not None:
                self._verdicts.add(turn.verdict)
            for problem in turn.problems:
                kind = problem.partition(":")[0]
                first, count = self._problems.get(kind, (f"{problem} (turn {number} of sample {item.sample.id}", 0))
                self._problems[kind] = (first, count + 1)

    def join(self, verdict: RunVerdict | None, problems: Sequence[str]) -> tuple[RunVerdict | None, tuple[str, ...]]:
        """The run's verdict and problems, with those of the turns added."""
        found = {verdict, *self._verdicts}
        worst: RunVerdict | None = next((name for name in _WORST_FIRST if name in found), None)
        told = (
            f"{first}, and {count - 1} more)" if count > 1 else f"{first})" for first, count in self._problems.values()
        )
        return worst, (*problems, *told)
