"""From what a user calls a run to its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ragcov.errors import UsageError
from ragcov.reports.files import read_results
from ragcov.results import ItemResult, RunInfo

__all__ = ["StoredRun", "open_run"]


@dataclass(frozen=True)
class StoredRun:
    """A run that was kept. Iterating gives its rows in the order of the data, again for each loop, from the disk.

    Attributes:
        name: What to call it in messages: its id, or the file's name.
        info: What was run, with which settings.
    """

    name: str
    info: RunInfo
    _rows: Callable[[], Iterator[ItemResult]]

    def __iter__(self) -> Iterator[ItemResult]:
        return self._rows()


def open_run(ref: str | Path, *, store: str | Path | None = None) -> StoredRun:
    """Finds a run.

    Args:
        ref: A run's id, the beginning of one that no other run shares, "latest", or a results file (`--out`).
        store: Where runs are kept; None for the default place.

    Raises:
        UsageError: When there is no such run.
        StoreError: When it can't be read, at once or with the row that can't.
    """
    path = Path(ref)
    if path.is_file():
        info, _ = read_results(path)
        return StoredRun(str(ref), info, lambda: read_results(path)[1])
    raise UsageError(f'there is no run and no results file "{ref}"')
