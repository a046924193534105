"""Scorers applied to one pair: each one's result, whatever happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragcov.errors import RowTimeoutError, ScorerRunError, message_of
from ragcov.judges import Judge, Ledger
from ragcov.judges.sharing import SharedJudge
from ragcov.results import Failure, ScorerResult
from ragcov.scorers.base import Run, Scorer, claims_among

__all__ = ["Scoring", "failure_of"]


class Scoring:
    """One pair, and what its scorers have found so far.

    Attributes:
        results: By scorer id; those of the scorers that have finished.
    """

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self._scorers = scorers
        self._ledgers = {scorer.id: Ledger() for scorer in scorers}
        self.results: dict[str, ScorerResult] = {}

    async def apply(self, run: Run) -> None:
        """Applies all scorers, which share what their judges find.

        Raises:
            FatalProviderError: When no row can succeed.
        """
        shared: dict[Judge, Judge] = {}
        for scorer in self._scorers:
            judge = scorer.judge
            if judge is not None:
                judge = shared.setdefault(judge, SharedJudge(judge))
            ledger = self._ledgers[scorer.id]
            try:
                self.results[scorer.id] = await scorer.score(run, judge=judge, ledger=ledger)
            except ScorerRunError as error:
                failure = failure_of(error.__cause__ or error, error.failed_step)
                self.results[scorer.id] = _failed(scorer, failure, ledger, error.completed_steps)

    def fail_rest(self, late: RowTimeoutError) -> None:
        """Marks the scorers that did not finish in time as failed."""
        for scorer in self._scorers:
            if scorer.id not in self.results:
                self.results[scorer.id] = _failed(scorer, failure_of(late, None), self._ledgers[scorer.id])


def failure_of(error: BaseException, step: str | None) -> Failure:
    """The failure that an exception is."""
    return Failure(type(error).__name__, message_of(error), step)


def _failed(
    scorer: Scorer, failure: Failure, ledger: Ledger, completed: Mapping[str, Any] | None = None
) -> ScorerResult:
    preprocess = (completed or {}).get("preprocess")
    return ScorerResult(
        scorer_id=scorer.id,
        state="failed",
        score=None,
        scale=scorer.scale,
        reason=f"failed: {failure.message}",
        claims=tuple(claims_among(preprocess)),
        warnings=tuple(ledger.warnings),
        usage=ledger.usage,
        judge=scorer.judge_id,
        error=failure,
    )
