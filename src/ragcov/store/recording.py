"""Keeping a run while it goes on."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragcov.database import Location, insert_into, translated
from ragcov.errors import DataError, StoreError, UsageError
from ragcov.reports.files import to_json
from ragcov.results import ItemResult, RunInfo, Summary
from ragcov.samples import Sample
from ragcov.store.digests import sample_digest
from ragcov.store.locks import Lock
from ragcov.store.paging import StoredRow, item_of, stored_rows
from ragcov.store.tables import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

__all__ = ["RunRecorder"]

# Seconds for which a row waits for others, to be committed together, and how many at most.
_WINDOW = 0.02
_MOST_AT_ONCE = 500
_KEPT = "; the rows that had finished are kept. Make room, then resume the run"


class RunRecorder:
    """Keeps the rows of one run, and knows those that an earlier attempt has finished.

    Attributes:
        run_id: The run's id.
        info: What is run, as it was when the run began.
        kept_before: How many rows of an earlier attempt are there and need no judge.
    """

    def __init__(
        self,
        run_id: str,
        info: RunInfo,
        *,
        engine: Engine,
        connection: Connection,
        location: Location,
        lock: Lock,
        resumed: bool,
    ) -> None:
        from sqlalchemy import func, select

        self.run_id = run_id
        self.info = info
        self._lock = lock
        self._location = location
        self._connection = connection
        self._earlier: Iterator[StoredRow] = iter(())
        self._next: StoredRow | None = None
        self.kept_before = 0
        if resumed:
            rows = tables().rows
            count = select(func.count()).select_from(rows).where(rows.c.run == run_id, ~rows.c.failed)
            with connection.begin():
                self.kept_before = connection.execute(count).scalar_one()
            self._earlier = stored_rows(engine, location, run_id, failed=False)
            self._next = next(self._earlier, None)
        self._writer = _Writer(engine, connection, location)

    def earlier(self, index: int, sample: Sample | DataError) -> ItemResult | None:
        """The result of a row that an earlier attempt has finished; None when it is to be judged.

        Args:
            index: Position in the data; must grow from call to call.
            sample: What stands there now.

        Raises:
            UsageError: The sample isn't the one that was judged.
            StoreError: The stored row can't be read.
        """
        while self._next is not None and self._next.position < index:
            self._next = next(self._earlier, None)
        found = self._next
        if found is None or found.position != index:
            return None
        if found.digest != sample_digest(sample):
            raise UsageError(f"run {self.run_id} can't be resumed: sample {index + 1} of the data has changed since")
        return item_of(found, self.run_id, self._location)

    async def keep(self, sample: Sample | DataError, item: ItemResult) -> None:
        """Keeps a row; it is on disk when this returns.

        Args:
            sample: The sample as it was read.
            item: The row's result.

        Raises:
            StoreError: When it can't be written; rows that were kept before are safe.
        """
        row = {
            "run": self.run_id,
            "position": item.index,
            "digest": sample_digest(sample),
            "failed": item.failed,
            "item": to_json(item),
        }
        await self._writer.put(row)

    def finish(self, summary: Summary) -> None:
        """Says that the run went to its end.

        Raises:
            StoreError: When that can't be written.
        """
        runs = tables().runs
        self._writer.stop()
        done = runs.update().where(runs.c.id == self.run_id).values(finished=time.time(), summary=to_json(summary))
        with translated(self._location, doing="written"), self._connection.begin():
            self._connection.execute(done)

    def close(self) -> None:
        """Lets another process work on the run."""
        self._writer.stop()
        with translated(self._location, doing="closed"):
            self._lock.release()
        self._connection.close()

    def __enter__(self) -> RunRecorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class _Waiting:
    row: dict[str, Any]
    loop: asyncio.AbstractEventLoop
    written: asyncio.Future[None]


def _tell(batch: list[_Waiting], error: StoreError | None) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for waiting in batch:
        by_loop.setdefault(waiting.loop, []).append(waiting.written)
    for loop, futures in by_loop.items():
        # The loop may have ended while its rows were being written.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(_settle, futures, error)


def _settle(futures: list[asyncio.Future[None]], error: StoreError | None) -> None:
    for written in futures:
        if written.done():
            continue
        if error is None:
            written.set_result(None)
        else:
            written.set_exception(error)


class _Writer:
    """Commits rows in a thread of its own, many at a time: a commit costs as much as several rows."""

    def __init__(self, engine: Engine, connection: Connection, location: Location) -> None:
        rows = tables().rows
        insert = insert_into(engine, rows)
        changed = {name: insert.excluded[name] for name in ("digest", "failed", "item")}
        self._insert = insert.on_conflict_do_update(index_elements=[rows.c.run, rows.c.position], set_=changed)
        self._connection = connection
        self._location = location
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._error: StoreError | None = None
        self._thread = threading.Thread(target=self._work, name="ragcov-store", daemon=True)
        self._thread.start()

    async def put(self, row: dict[str, Any]) -> None:
        """Returns when the row has been committed."""
        loop = asyncio.get_running_loop()
        waiting = _Waiting(row, loop, loop.create_future())
        self._queue.put(waiting)
        await waiting.written

    def stop(self) -> None:
        """Ends the thread after it has written what is waiting."""
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        going_on = True
        while going_on:
            batch: list[_Waiting] = []
            entry = self._queue.get()
            while entry is not None:
                if not batch:
                    time.sleep(_WINDOW)
                batch.append(entry)
                if len(batch) >= _MOST_AT_ONCE or self._queue.empty():
                    break
                entry = self._queue.get()
            going_on = entry is not None
            if batch:
                self._commit(batch)

    def _commit(self, batch: list[_Waiting]) -> None:
        # After one failure nothing more is tried: a full disk doesn't fill the log with the same words.
        if self._error is None:
            try:
                with translated(self._location, doing="written", advice=_KEPT), self._connection.begin():
                    self._connection.execute(self._insert, [waiting.row for waiting in batch])
            except StoreError as error:
                self._error = error
        _tell(batch, self._error)
