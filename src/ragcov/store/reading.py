"""From what a user calls a run to its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ragcov.database import Location, default_location, is_url
from ragcov.errors import UsageError
from ragcov.reports.files import read_results
from ragcov.results import ItemResult, RunInfo
from ragcov.store.store import Store

__all__ = ["StoredRun", "open_run", "open_store"]


@dataclass(frozen=True)
class StoredRun:
    """A run that was kept. Iterating gives its rows in the order of the data, from the disk, anew for each loop.

    Attributes:
        name: What to call it in messages: its id, or the file's name.
        info: What was run, with which settings.
    """

    name: str
    info: RunInfo
    _rows: Callable[[], Iterator[ItemResult]]

    def __iter__(self) -> Iterator[ItemResult]:
        return self._rows()


def open_run(ref: str | Path, *, store: Location | None = None) -> StoredRun:
    """Finds a run.

    Args:
        ref: A results file (`--out`); or a run's id, the beginning of one that no other run shares, or "latest".
        store: Where runs are kept; None for the default place.

    Raises:
        UsageError: When there is no such run.
        StoreError: When it can't be read, at once or with the row that can't.
    """
    path = Path(ref)
    if path.is_file():
        info, _ = read_results(path)
        return StoredRun(str(ref), info, lambda: read_results(path)[1])
    found = open_store(store, missing=f'there is no run and no results file "{ref}"')
    run_id, info = found.find(str(ref))
    return StoredRun(run_id, info, lambda: found.items(run_id))


def open_store(location: Location | None, *, missing: str = "no runs are kept") -> Store:
    """The store at a location, None for the default one, which must be there already.

    Raises:
        UsageError: There is none; begins with `missing`.
        StoreError: It can't be opened.
    """
    location = location or default_location()
    if location is None:
        raise UsageError(f"{missing}: RAGCOV_CACHE says that nothing is kept")
    if not is_url(location) and not (Path(location) / "ragcov.sqlite3").is_file():
        raise UsageError(f"{missing}: no run has been kept in {location}")
    return Store(location)
