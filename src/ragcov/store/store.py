"""A store: runs and their rows in a database."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ragcov.database import Location, create_tables, default_location, describe, is_url, open_engine, translated
from ragcov.errors import DataError, StoreError, UsageError
from ragcov.reports.files import to_json
from ragcov.results import ItemResult, RunInfo, Summary
from ragcov.samples import Sample
from ragcov.settings import differences
from ragcov.store.digests import DataDigest, sample_digest
from ragcov.store.ids import new_id
from ragcov.store.locks import DatabaseLock, FileLock, Lock
from ragcov.store.paging import item_of, stored_rows
from ragcov.store.recording import RunRecorder
from ragcov.store.tables import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["RunEntry", "Store", "recorder_for"]

_CHOOSE = "; choose another place with --store or RAGCOV_CACHE, or make this one writable"


@dataclass(frozen=True)
class RunEntry:
    """A run as the list of runs shows it.

    Attributes:
        id: The run's id.
        created: When it began, in seconds since 1970.
        state: "finished", "running" (a process is working on it), or "stopped" before its end.
        info: What was run.
        total: How many samples the data has; None when that was not known beforehand.
        rows: How many rows are kept.
        failed: How many of them failed.
        summary: The run in numbers; None unless it is finished.
    """

    id: str
    created: float
    state: str
    info: RunInfo
    total: int | None
    rows: int
    failed: int
    summary: Summary | None


class Store:
    """Runs in a database; made when it isn't there yet.

    Args:
        location: A directory, or a PostgreSQL database's URL.

    Raises:
        StoreError: When it can't be opened or written.
        UsageError: When the URL can't work.
    """

    def __init__(self, location: Location) -> None:
        self.location = location
        with translated(location, doing="opened", advice=_CHOOSE):
            self._engine = open_engine(location, durable=True)
            create_tables(self._engine, tables().runs, tables().rows)

    def close(self) -> None:
        """Closes its connections."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, info: RunInfo, data: DataDigest | None = None) -> RunRecorder:
        """Begins a run.

        Args:
            info: What is run.
            data: On which data; None when the data can be read only once.

        Raises:
            StoreError: When it can't be written.
        """
        from sqlalchemy.exc import IntegrityError

        runs = tables().runs
        while True:
            run_id = new_id()
            row = {
                "id": run_id,
                "created": time.time(),
                "total": None if data is None else data.total,
                "digest": None if data is None else data.value,
                "info": to_json(info),
            }
            try:
                with translated(self.location, doing="written", advice=_CHOOSE), self._engine.begin() as connection:
                    connection.execute(runs.insert().values(row))
            except StoreError as error:
                if isinstance(error.__cause__, IntegrityError):
                    continue
                raise
            return self._record(run_id, info, resumed=False)

    def resume(
        self,
        ref: str,
        info: RunInfo,
        data: DataDigest | None = None,
        samples: Callable[[], Iterable[Sample | DataError]] | None = None,
    ) -> RunRecorder:
        """Goes on with a run that was stopped, or whose rows failed.

        Args:
            ref: The run.
            info: What is to be run; must be what was run.
            data: On which data; must be the same.
            samples: Gives that data again, to name the sample that has changed.

        Raises:
            UsageError: There is no such run, it was one of other data or settings, or a process is working on it.
            StoreError: When the store can't be read or written.
        """
        runs = tables().runs
        stored = self._find(ref)
        before = _info(stored.info)
        if changed := differences(before, info):
            raise UsageError(
                f"run {stored.id} can't be resumed with other settings: {'; '.join(changed)}. "
                "Use those of the run, or start a new one"
            )
        if data is not None and stored.digest is not None and data.value != stored.digest:
            what = self._changed(stored, data, samples() if samples is not None else ())
            raise UsageError(f"run {stored.id} can't be resumed with other data: {what}. Start a new run")
        recorder = self._record(stored.id, before, resumed=True)
        reopened = runs.update().where(runs.c.id == stored.id).values(finished=None, summary=None)
        with translated(self.location, doing="written"), self._engine.begin() as connection:
            connection.execute(reopened)
        return recorder

    def runs(self) -> list[RunEntry]:
        """All runs, the latest first.

        Raises:
            StoreError: When they can't be read.
        """
        from sqlalchemy import Integer, cast, func, select

        runs, rows = tables().runs, tables().rows
        failed = func.coalesce(func.sum(cast(rows.c.failed, Integer)), 0).label("failed")
        counts = select(rows.c.run, func.count().label("kept"), failed).group_by(rows.c.run).subquery()
        query = (
            select(runs, counts.c.kept, counts.c.failed)
            .outerjoin(counts, counts.c.run == runs.c.id)
            .order_by(runs.c.created.desc(), runs.c.id)
        )
        with translated(self.location, doing="read"), self._engine.connect() as connection:
            found = connection.execute(query).all()
        return [
            RunEntry(
                id=row.id,
                created=row.created,
                state="finished" if row.finished is not None else "running" if self._busy(row.id) else "stopped",
                info=_info(row.info),
                total=row.total,
                rows=row.kept or 0,
                failed=row.failed or 0,
                summary=None if row.summary is None else msgspec.json.decode(row.summary, type=Summary),
            )
            for row in found
        ]

    def find(self, ref: str) -> tuple[str, RunInfo]:
        """Id and settings of a run.

        Args:
            ref: Its id, the beginning of one that no other run shares, or "latest".

        Raises:
            UsageError: When there is no such run, or more than one.
            StoreError: When the store can't be read.
        """
        found = self._find(ref)
        return found.id, _info(found.info)

    def items(self, run_id: str) -> Iterator[ItemResult]:
        """The rows of a run that are kept, in the order of the data.

        Raises:
            StoreError: With the row that can't be read.
        """
        for row in stored_rows(self._engine, self.location, run_id):
            yield item_of(row, run_id, self.location)

    def _find(self, ref: str) -> Any:
        from sqlalchemy import select

        runs = tables().runs
        query = select(runs).order_by(runs.c.created.desc(), runs.c.id)
        if ref != "latest":
            query = query.where(runs.c.id.startswith(ref, autoescape=True))
        with translated(self.location, doing="read"), self._engine.connect() as connection:
            found = connection.execute(query.limit(6)).all()
        exact = [row for row in found if row.id == ref] or (found[:1] if ref == "latest" else found)
        if not exact or not ref:
            raise UsageError(
                f'there is no run "{ref}" in {describe(self.location)}, and no such results file; '
                "`ragcov runs` lists the runs"
            )
        if len(exact) > 1:
            raise UsageError(f'"{ref}" could be {", ".join(row.id for row in exact[:5])}: give more of the id')
        return exact[0]

    def _record(self, run_id: str, info: RunInfo, *, resumed: bool) -> RunRecorder:
        with translated(self.location, doing="written", advice=_CHOOSE):
            connection = self._engine.connect()
            lock = self._lock(run_id, connection)
            if not lock.acquire():
                connection.close()
                raise UsageError(f"another process is working on run {run_id}: wait for it to end, or stop it")
            return RunRecorder(
                run_id,
                info,
                engine=self._engine,
                connection=connection,
                location=self.location,
                lock=lock,
                resumed=resumed,
            )

    def _lock(self, run_id: str, connection: Connection) -> Lock:
        if is_url(self.location):
            return DatabaseLock(connection, run_id)
        return FileLock(Path(self.location) / f"{run_id}.lock")

    def _busy(self, run_id: str) -> bool:
        with translated(self.location, doing="read"), self._engine.connect() as connection:
            lock = self._lock(run_id, connection)
            free = lock.acquire()
            lock.release()
        return not free

    def _changed(self, stored: Any, data: DataDigest, samples: Iterable[Sample | DataError]) -> str:
        kept = stored_rows(self._engine, self.location, stored.id)
        row = next(kept, None)
        for position, sample in enumerate(samples):
            if row is not None and row.position == position:
                if row.digest != sample_digest(sample):
                    name = f' ("{sample.id}")' if isinstance(sample, Sample) else ""
                    return f"sample {position + 1}{name} has changed since it was judged"
                row = next(kept, None)
        if data.total != stored.total:
            return f"there were {stored.total} samples, there are {data.total} now"
        return "samples that were still to be judged have changed"


def _info(content: bytes) -> RunInfo:
    try:
        return msgspec.json.decode(content, type=RunInfo)
    except msgspec.DecodeError as error:
        raise StoreError(f"a run that this version of ragcov can't read: {error}") from None


@contextmanager
def recorder_for(
    store: Location | RunRecorder | None,
    info: RunInfo,
    *,
    resume: str | None = None,
    samples: Callable[[], Iterable[Sample | DataError]] | None = None,
) -> Generator[RunRecorder | None]:
    """A recorder for as long as the block lasts.

    Args:
        store: Where to keep the run; or a recorder, which stays open; None keeps nothing, unless `resume` is given.
        info: What is run.
        resume: The run to go on with.
        samples: Gives the data, as often as it is called; None when that can't be.
    """
    if isinstance(store, RunRecorder):
        yield store
        return
    if store is None and resume is not None:
        store = default_location()
        if store is None:
            raise UsageError("a run can't be resumed: RAGCOV_CACHE says that nothing is kept")
    if store is None:
        yield None
        return
    with Store(store) as opened:
        data = None if samples is None else DataDigest.of(samples())
        recorder = opened.begin(info, data) if resume is None else opened.resume(resume, info, data, samples)
        with recorder:
            yield recorder
