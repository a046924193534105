"""One row: ask the target, then apply the scorers. Whatever fails, fails this row alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragcov.concurrency import call
from ragcov.errors import DataError, RowTimeoutError, ScorerRunError, TargetError
from ragcov.judges import Judge, Ledger
from ragcov.judges.sharing import SharedJudge
from ragcov.results import Failure, ItemResult, ScorerResult
from ragcov.samples import Sample
from ragcov.scorers.base import Run, Scorer, claims_among
from ragcov.targets import answer, check_target

__all__ = ["RowScorer"]


class RowScorer:
    """What is the same for every row of a run.

    Attributes:
        warnings: What went wrong beside the rows: the callback's faults.
    """

    def __init__(
        self,
        scorers: Sequence[Scorer],
        target: Any,
        timeout: float | None,
        on_item_complete: Callable[..., Any] | None,
    ) -> None:
        self._scorers = scorers
        self._target = None if target is None else check_target(target)
        self._timeout = timeout
        self._on_item_complete = on_item_complete
        self.warnings: list[str] = []

    async def score(self, index: int, sample: Sample | DataError) -> ItemResult:
        """The row's result, whatever happens, within the timeout.

        Raises:
            FatalProviderError: When no row can succeed.
        """
        if isinstance(sample, DataError):
            return ItemResult(index=index, sample=Sample(id=str(index + 1)), error=_failure(sample, "read"))
        results: dict[str, ScorerResult] = {}
        ledgers = {scorer.id: Ledger() for scorer in self._scorers}
        error: Failure | None = None
        returned: Any = None
        answered = self._target is None
        try:
            async with asyncio.timeout(self._timeout):
                if self._target is not None:
                    sample, returned = await answer(self._target, sample)
                    answered = True
                await self._apply_scorers(sample, results, ledgers)
        except TargetError as problem:
            error = _failure(problem, "target")
        except TimeoutError:
            late = RowTimeoutError(f"timed out: the row took longer than {self._timeout:g} s")
            if answered:
                for scorer in self._scorers:
                    if scorer.id not in results:
                        results[scorer.id] = _failed(scorer, _failure(late, None), ledgers[scorer.id])
            else:
                error = _failure(late, "target")
        item = ItemResult(index=index, sample=sample, scorer_results=results, error=error)
        await self._report(item, returned)
        return item

    async def _apply_scorers(
        self, sample: Sample, results: dict[str, ScorerResult], ledgers: Mapping[str, Ledger]
    ) -> None:
        run = Run(
            input=sample.input,
            output=sample.output,
            ground_truth=sample.ground_truth,
            context=sample.context,
            id=sample.id,
        )
        shared: dict[Judge, Judge] = {}
        for scorer in self._scorers:
            judge = scorer.judge
            if judge is not None:
                judge = shared.setdefault(judge, SharedJudge(judge))
            ledger = ledgers[scorer.id]
            try:
                results[scorer.id] = await scorer.score(run, judge=judge, ledger=ledger)
            except ScorerRunError as error:
                failure = _failure(error.__cause__ or error, error.failed_step)
                results[scorer.id] = _failed(scorer, failure, ledger, error.completed_steps)

    async def _report(self, item: ItemResult, returned: Any) -> None:
        if self._on_item_complete is None:
            return
        try:
            await call(
                self._on_item_complete,
                item=item.sample,
                target_result=returned,
                scorer_results=item.scorer_results,
            )
        except Exception as error:  # noqa: BLE001 - reported in the result; it must cost no finished row
            problem = f"on_item_complete raised {type(error).__name__}: {error} (sample {item.sample.id})"
            self.warnings.append(problem)


def _failure(error: BaseException, step: str | None) -> Failure:
    return Failure(type(error).__name__, str(error) or type(error).__name__, step)


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
        judge=None if scorer.judge is None else scorer.judge.id,
        error=failure,
    )
