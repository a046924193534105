"""One row: ask the target, then apply the scorers. Whatever fails, fails this row alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from ragcov.concurrency import call, is_fault
from ragcov.conversations import Conversation
from ragcov.errors import DataError, RowTimeoutError, TargetError, described
from ragcov.results import Failure, ItemResult
from ragcov.samples import Sample
from ragcov.scorers.base import Run, Scorer
from ragcov.scoring import Scoring, failure_of
from ragcov.targets import fill, read_target

__all__ = ["RowScorer"]


class RowScorer:
    """What is the same for every row of a run.

    Attributes:
        warnings: What went wrong beside the rows: the callback's faults, a target that can't hold a conversation.
    """

    def __init__(
        self,
        scorers: Sequence[Scorer],
        target: Any,
        timeout: float | None,
        on_item_complete: Callable[..., Any] | None,
    ) -> None:
        self._scorers = scorers
        self._target = None if target is None else read_target(target)
        self._timeout = timeout
        self._on_item_complete = on_item_complete
        self.warnings: list[str] = []

    async def score(
        self, index: int, sample: Sample | DataError, keep: Callable[[ItemResult], Awaitable[None]] | None = None
    ) -> ItemResult:
        """The row's result, whatever happens, within the timeout.

        Args:
            index: Position in the data.
            sample: What stands there.
            keep: Keeps the result before anybody is told of it.

        Raises:
            FatalProviderError: When no row can succeed.
            StoreError: When the row can't be kept.
        """
        item, returned, reported = await self._row(index, sample)
        if keep is not None:
            await keep(item)
        if reported:
            await self._report(item, returned)
        return item

    async def _row(self, index: int, sample: Sample | DataError) -> tuple[ItemResult, Any, bool]:
        """The result, what the target returned, and whether the callback is told: not of what could not be read."""
        if isinstance(sample, DataError):
            unread, error = Sample(id=str(index + 1)), sample
        elif not sample.turns:
            return *await self._single(index, sample), True
        else:
            try:
                conversation = Conversation(sample, self._scorers)
            except DataError as problem:
                unread, error = Sample(id=sample.id, input=sample.input), problem
            else:
                return *await self._conversation(index, conversation), True
        return ItemResult(index=index, sample=unread, error=failure_of(error, "read")), None, False

    async def _single(self, index: int, sample: Sample) -> tuple[ItemResult, Any]:
        scoring = Scoring(self._scorers)
        error: Failure | None = None
        returned: Any = None
        answered = self._target is None
        try:
            async with asyncio.timeout(self._timeout):
                if self._target is not None:
                    reply = await self._target.answer(sample.input)
                    sample, returned, answered = fill(sample, reply), reply.returned, True
                await scoring.apply(_run_of(sample))
        except TargetError as problem:
            error = failure_of(problem, "target")
        except TimeoutError:
            if answered:
                scoring.fail_rest(self._late())
            else:
                error = failure_of(self._late(), "target")
        return ItemResult(index=index, sample=sample, scorer_results=scoring.results, error=error), returned

    async def _conversation(self, index: int, conversation: Conversation) -> tuple[ItemResult, Any]:
        self._warn_of_forgetting()
        scoring = Scoring(self._scorers)
        error: Failure | None = None
        try:
            async with asyncio.timeout(self._timeout):
                await conversation.run(self._target)
                await scoring.apply(_run_of(conversation.sample))
        except TargetError as problem:
            error = failure_of(problem, "target")
        except TimeoutError:
            if conversation.unfinished:
                error = failure_of(conversation.end(self._late()), "target")
            else:
                scoring.fail_rest(self._late())
        item = ItemResult(
            index=index,
            sample=conversation.sample,
            scorer_results=scoring.results,
            error=error,
            turn_results=tuple(conversation.results),
        )
        return item, conversation.returned

    def _late(self) -> RowTimeoutError:
        return RowTimeoutError(f"timed out: the row took longer than {self._timeout:g} s")

    def _warn_of_forgetting(self) -> None:
        problem = (
            "the target takes neither history nor conversation_id: it was asked the turns of a conversation one by "
            "one, and remembers the earlier ones only if it does so by itself"
        )
        if self._target is not None and not self._target.remembers and problem not in self.warnings:
            self.warnings.append(problem)

    async def _report(self, item: ItemResult, returned: Any) -> None:
        if self._on_item_complete is None:
            return
        sample_id = item.sample.id
        limit = asyncio.timeout(self._timeout)
        try:
            async with limit:
                await call(
                    self._on_item_complete,
                    item=item.sample,
                    target_result=returned,
                    scorer_results=item.scorer_results,
                )
        except BaseException as error:
            if limit.expired():
                problem = f"on_item_complete took longer than {self._timeout:g} s and was given up (sample {sample_id})"
                self.warnings.append(problem)
                return
            if not is_fault(error):
                raise
            self.warnings.append(f"on_item_complete raised {described(error)} (sample {sample_id})")


def _run_of(sample: Sample) -> Run:
    return Run(
        input=sample.input,
        output=sample.output,
        ground_truth=sample.ground_truth,
        context=sample.context,
        id=sample.id,
    )
