"""run_evals: the only loop over samples."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from ragcov import __version__
from ragcov.concurrency import run_sync
from ragcov.database import Location
from ragcov.errors import DataError, FatalProviderError, RunInterrupted, UsageError, described
from ragcov.gates import Check, TurnVerdicts, check_totals, read_checks
from ragcov.judges.base import ConfiguredJudge
from ragcov.results import EvalsResult, ItemResult, RunInfo, Totals
from ragcov.rows import RowScorer
from ragcov.samples import Sample, count_samples, read_samples, sample_from
from ragcov.scorers.base import Scorer
from ragcov.store import RunRecorder, recorder_for

__all__ = ["Data", "run_evals", "run_evals_sync", "run_info"]

Data: TypeAlias = str | Path | Iterable[Mapping[str, Any] | Sample | DataError]
ScorerEntry: TypeAlias = Scorer | Mapping[str, Any]

# A row that hangs must not stop the others: so many later rows may be finished and wait for it, no more, so that
# memory stays flat.
_AHEAD = 1024
# While a row is being kept, others are judged in its place; so many rows may be on their way to the store.
_KEEPING = 128


async def run_evals(
    *,
    data: Data,
    scorers: Sequence[ScorerEntry],
    target: Any = None,
    gates: Sequence[ScorerEntry] = (),
    concurrency: int = 8,
    timeout: float | None = 120.0,
    on_item_complete: Callable[..., Any] | None = None,
    on_result: Callable[[ItemResult], None] | None = None,
    keep_items: bool = True,
    store: Location | RunRecorder | None = None,
    resume: str | None = None,
) -> EvalsResult:
    """Applies scorers to a dataset.

    One failing row never loses another: what the target or a scorer raises becomes that row's failure. Results
    come in the order of the data.

    Args:
        data: A file (JSONL, JSON, CSV, Parquet), or dicts, or samples, or a table of pandas, Polars or PyArrow. A
            file is checked to its end before the first row is judged. A dict that can't be read becomes a failed row,
            and so does what a generator raises, as the last one.
        scorers: Scorers, or `{"scorer": ..., "threshold": ...}`. A threshold is a number (the mean must reach it)
            or `{"min": ..., "max": ...}`.
        target: The system under test; None scores the outputs and contexts that the data brings. A function of
            the input, sync (runs in a thread) or async; an agent of pydantic-ai or the OpenAI Agents SDK; a chain,
            chat model or retriever of LangChain, a graph of LangGraph; an engine or retriever of LlamaIndex; or any
            object with generate, run, invoke, query, retrieve or chat. A sample of several turns is asked on one
            conversation, for which a function may take `history` or `conversation_id`.
        gates: Scorers that must be perfect (a mean of their full scale, on all rows), or reach their threshold.
        concurrency: How many rows at a time, 1 or more.
        timeout: Seconds that one row may take, target included, and then again its callback; None for no limit.
        on_item_complete: Called when a row ends, in the order of ending, with `item` (the sample),
            `target_result` and `scorer_results` (by scorer id); sync or async. What it raises is kept as a warning
            of the result.
        on_result: Called with each row's result, in the order of the data; what it raises ends the run.
        keep_items: False leaves `items` empty, for datasets larger than memory.
        store: Where to keep the run while it goes on: a directory (".ragcov") or a PostgreSQL database's URL. A row
            is on disk before anybody is told of it. None keeps nothing.
        resume: Id of a kept run to go on with, or "latest": rows that it has finished are not judged again, and
            `on_item_complete` is not called for them; failed ones are. Data and scorers must be the same. Without
            `store` it is looked for in the default place.

    Raises:
        UsageError: When an option can't work, or a run can't be resumed. Nothing was judged yet.
        DataError: When a file has a bad record. Nothing was judged yet; to keep the other records, read them with
            `read_samples(path, on_bad=...)`.
        FatalProviderError: When no row can succeed (wrong key, unknown model); its `result` holds the rows that
            had finished.
        StoreError: When the store can't be used. Rows that had finished are kept in it.
    """
    session = _Session(
        data=data,
        checks=[*read_checks(scorers, gate=False), *read_checks(gates, gate=True)],
        target=target,
        concurrency=concurrency,
        timeout=timeout,
        on_item_complete=on_item_complete,
        on_result=on_result,
        keep_items=keep_items,
        store=store,
        resume=resume,
    )
    return await session.run()


def run_evals_sync(
    *,
    data: Data,
    scorers: Sequence[ScorerEntry],
    target: Any = None,
    gates: Sequence[ScorerEntry] = (),
    concurrency: int = 8,
    timeout: float | None = 120.0,
    on_item_complete: Callable[..., Any] | None = None,
    on_result: Callable[[ItemResult], None] | None = None,
    keep_items: bool = True,
    store: Location | RunRecorder | None = None,
    resume: str | None = None,
) -> EvalsResult:
    """`run_evals` for synchronous code; works where an event loop is running, as in Jupyter.

    Raises:
        RunInterrupted: On Ctrl-C; its `result` holds the rows that had finished.
    """
    session = _Session(
        data=data,
        checks=[*read_checks(scorers, gate=False), *read_checks(gates, gate=True)],
        target=target,
        concurrency=concurrency,
        timeout=timeout,
        on_item_complete=on_item_complete,
        on_result=on_result,
        keep_items=keep_items,
        store=store,
        resume=resume,
    )
    try:
        return run_sync(session.run())
    except KeyboardInterrupt:
        result = session.result()
        done = result.summary.total_items
        raise RunInterrupted(f"interrupted: {done} rows had finished and are kept", result) from None


def run_info(scorers: Sequence[Scorer], *, dataset: str | None, timeout: float | None) -> RunInfo:
    """What a results file says of the run: everything that its scores depend on."""
    judges = {judge.id: judge for scorer in scorers for judge in scorer.judges}
    settings: dict[str, Any] = {"timeout": timeout, "scorers": {scorer.id: scorer.settings for scorer in scorers}}
    # What a judge's decisions depend on beside its id, where it says so: the versions of its prompts.
    if known := {name: judge.settings for name, judge in judges.items() if isinstance(judge, ConfiguredJudge)}:
        settings["judges"] = known
    return RunInfo(
        version=__version__,
        dataset=dataset,
        scorers=tuple(scorer.id for scorer in scorers),
        judges=tuple(judges),
        settings=settings,
    )


def _samples(data: Data) -> Iterator[Sample | DataError]:
    if isinstance(data, str | Path):
        # A bad record at the end must not cost the judging of all that stand before it.
        count_samples(data)
        yield from read_samples(data)
        return
    seen: set[str] = set()
    for index, record in enumerate(_to_its_end(data)):
        sample = record if isinstance(record, Sample | DataError) else _read(record, index)
        if isinstance(sample, Sample):
            if sample.id in seen:
                sample = DataError(f'the id "{sample.id}" was used before', line=index + 1, field="id")
            else:
                seen.add(sample.id)
        yield sample


def _to_its_end(data: Iterable[Any]) -> Iterator[Any]:
    """The records; where the data itself fails, an error in place of the rest, so that finished rows are not lost."""
    read = 0
    try:
        for record in data:
            read += 1
            yield record
    except DataError as error:
        yield error
    except Exception as error:  # noqa: BLE001 - whatever the user's generator raises is told as a failed row
        yield DataError(f"the data can't be read on from here: {described(error)}", line=read + 1)


def _records(data: Any) -> Data:
    """The data as something to go through: tables of pandas, Polars and PyArrow by their rows.

    Raises:
        UsageError: When it is no list of records.
    """
    if isinstance(data, str | Path):
        return data
    for rows in ("to_dicts", "to_pylist"):
        if callable(method := getattr(data, rows, None)):
            return cast("Data", method())
    if callable(method := getattr(data, "to_dict", None)) and hasattr(data, "columns"):
        return cast("Data", method("records"))
    if isinstance(data, Mapping):
        raise UsageError("data is one dict; give a list of records, one dict for each sample")
    if isinstance(data, bytes | bytearray) or not isinstance(data, Iterable):
        why = "; read an async source into a list first" if hasattr(data, "__aiter__") else ""
        raise UsageError(f"data must be a file name or a list of records, got {type(data).__name__}{why}")
    return cast("Data", data)


def _read(record: Mapping[str, Any], index: int) -> Sample | DataError:
    try:
        return sample_from(record, index=index)
    except DataError as error:
        return error


def _turns_among(data: Data) -> bool:
    """Whether a sample brings turns, which may have scorers of their own. Only what is in memory is looked at."""
    if not isinstance(data, list | tuple):
        return False
    return any(
        bool(record.turns) if isinstance(record, Sample) else isinstance(record, Mapping) and "turns" in record
        for record in data
    )


class _Session:
    """One run of run_evals: what has been asked of it, and what has come of it so far."""

    def __init__(
        self,
        *,
        data: Data,
        checks: list[Check],
        target: Any,
        concurrency: int,
        timeout: float | None,
        on_item_complete: Callable[..., Any] | None,
        on_result: Callable[[ItemResult], None] | None,
        keep_items: bool,
        store: Location | RunRecorder | None,
        resume: str | None,
    ) -> None:
        if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"concurrency must be a whole number of 1 or more, got {concurrency!r}")
        if timeout is not None and (
            isinstance(timeout, bool) or not isinstance(timeout, int | float) or not timeout > 0  # pyright: ignore[reportUnnecessaryIsInstance]
        ):
            raise UsageError(f"timeout must be above 0 seconds, or None, got {timeout!r}")
        if not checks and not _turns_among(data):
            raise UsageError("give at least one scorer")
        if on_item_complete is not None and not callable(on_item_complete):  # pyright: ignore[reportUnnecessaryComparison]
            raise UsageError(f"on_item_complete must be a function, got {type(on_item_complete).__name__}")
        ids = [check.scorer.id for check in checks]
        if twice := sorted({scorer_id for scorer_id in ids if ids.count(scorer_id) > 1}):
            raise UsageError(f"duplicate scorer name: {', '.join(twice)}. Give one of them another id=...")
        self._data = data = _records(data)
        self._dataset = str(data) if isinstance(data, str | Path) else None
        self._checks = checks
        self._concurrency = concurrency
        self._timeout = timeout
        self._on_result = on_result
        self._keep_items = keep_items
        self._store, self._resume = store, resume
        self._rows = RowScorer([check.scorer for check in checks], target, timeout, on_item_complete)
        self._totals = Totals(ids)
        self._turns = TurnVerdicts()
        self._items: list[ItemResult] = []
        self._waiting: deque[asyncio.Task[ItemResult]] = deque()
        self._ended: deque[asyncio.Task[ItemResult]] = deque()
        self._judging = 0
        self._progress = asyncio.Event()
        self._run_id: str | None = None

    async def run(self) -> EvalsResult:
        samples = None if isinstance(self._data, Iterator) else lambda: _samples(self._data)
        with recorder_for(self._store, self._info(), resume=self._resume, samples=samples) as recorder:
            self._run_id = None if recorder is None else recorder.run_id
            result = await self._judge(recorder)
            if recorder is not None:
                recorder.finish(result.summary)
        return result

    async def _judge(self, recorder: RunRecorder | None) -> EvalsResult:
        samples = enumerate(_samples(self._data))
        running: set[asyncio.Task[ItemResult]] = set()
        try:
            while True:
                self._start(samples, running, recorder)
                self._hand_out()
                if not running:
                    if not self._waiting:
                        return self.result()
                    continue
                await self._progress.wait()
                self._progress.clear()
                while self._ended:
                    running.discard(task := self._ended.popleft())
                    task.result()
        except FatalProviderError as error:
            error.result = self.result()
            raise
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _start(
        self,
        samples: Iterator[tuple[int, Sample | DataError]],
        running: set[asyncio.Task[ItemResult]],
        recorder: RunRecorder | None,
    ) -> None:
        while (
            self._judging < self._concurrency
            and len(running) < self._concurrency + _KEEPING
            and len(self._waiting) < self._concurrency + _AHEAD
        ):
            if (entry := next(samples, None)) is None:
                return
            earlier = None if recorder is None else recorder.earlier(*entry)
            self._judging += 1
            task = asyncio.create_task(self._row(*entry, recorder) if earlier is None else self._again(earlier))
            task.add_done_callback(self._end)
            running.add(task)
            self._waiting.append(task)

    async def _row(self, index: int, sample: Sample | DataError, recorder: RunRecorder | None) -> ItemResult:
        judging = True

        async def keep(item: ItemResult) -> None:
            nonlocal judging
            judging = False
            self._free()
            if recorder is not None:
                await recorder.keep(sample, item)

        try:
            return await self._rows.score(index, sample, None if recorder is None else keep)
        finally:
            if judging:
                self._free()

    async def _again(self, item: ItemResult) -> ItemResult:
        self._free()
        return item

    def _free(self) -> None:
        self._judging -= 1
        self._progress.set()

    def _end(self, task: asyncio.Task[ItemResult]) -> None:
        self._ended.append(task)
        self._progress.set()

    def _hand_out(self) -> None:
        while self._waiting and self._waiting[0].done():
            self._count(self._waiting.popleft().result())

    def _count(self, item: ItemResult) -> None:
        self._totals.add(item)
        self._turns.add(item)
        if self._keep_items:
            self._items.append(item)
        if self._on_result is not None:
            self._on_result(item)

    def result(self) -> EvalsResult:
        """What has finished so far, also rows that waited for an earlier one."""
        for task in self._waiting:
            if task.done() and not task.cancelled() and task.exception() is None:
                self._count(task.result())
        self._waiting.clear()
        summary = self._totals.summary()
        verdict, problems = self._turns.join(*check_totals(self._checks, summary))
        return EvalsResult(
            items=tuple(self._items),
            summary=summary,
            verdict=verdict,
            problems=problems,
            warnings=tuple(self._rows.warnings),
            info=self._info(),
            run_id=self._run_id,
        )

    def _info(self) -> RunInfo:
        return run_info([check.scorer for check in self._checks], dataset=self._dataset, timeout=self._timeout)
