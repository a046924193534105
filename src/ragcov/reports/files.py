"""Results as files: JSONL that reads back to equal objects, and CSV for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ragcov.errors import DataError, StoreError, UsageError
from ragcov.plain import plain
from ragcov.results import ItemResult, RunInfo, ScorerResult
from ragcov.samples import clean, clean_text

__all__ = ["ResultsCsvWriter", "ResultsWriter", "read_results", "to_json", "write_csv", "write_results"]

_RUN = msgspec.json.Decoder(RunInfo)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ITEM = msgspec.json.Decoder(ItemResult)
# What a spreadsheet takes for the start of a formula, also in full-width form.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


class _RowFile:
    """A file that grows row by row; each row is on its way to the disk before the next one is made."""

    def __init__(self, path: str | Path, *, append: bool = False) -> None:
        self.path = Path(path)
        self._begun = append
        try:
            # Unbuffered, so that a row is one write and nothing is left over to fail when the file is closed.
            self._file = self.path.open("ab" if append else "wb", buffering=0)
        except OSError as error:
            raise StoreError(f"{path} can't be written: {_cause(error, self.path)}") from error

    def write(self, row: bytes) -> None:
        rest = memoryview(row)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.close()
            kept = "; the rows written before are kept" if self._begun else ""
            raise StoreError(f"{self.path} can't be written: {_cause(error, self.path)}{kept}") from error
        self._begun = True

    def close(self) -> None:
        self._file.close()


def _cause(error: OSError, path: Path) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no directory {path.parent}; make it first"
    if isinstance(error, PermissionError):
        return "no permission; choose another place or change its permissions"
    return f"{error.strerror or error}; choose another place, or make room"


class ResultsWriter:
    """Writes a run as JSONL while it goes on: a line for the run, then one for each sample.

    A row is on disk when `write` returns, so a run that is killed keeps the rows it finished. Text is UTF-8 with its
    characters unescaped, lone surrogates become U+FFFD, and NaN and infinity, which JSON doesn't have, null.

    Args:
        path: The file; what it held before is replaced.
        info: What is run.
        resume: Go on after the rows that the file holds, without a torn last line; `info` is written only
            when there is nothing yet.

    Raises:
        StoreError: When the file can't be written, from here and from `write`.
    """

    def __init__(self, path: str | Path, info: RunInfo, *, resume: bool = False) -> None:
        begun = resume and _mend_end(Path(path))
        self._file = _RowFile(path, append=begun)
        if not begun:
            self._line(info)

    def write(self, item: ItemResult) -> None:
        """Writes the result of one sample."""
        self._line(item)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> ResultsWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _line(self, value: RunInfo | ItemResult) -> None:
        self._file.write(to_json(value) + b"\n")


def to_json(value: Any) -> bytes:
    """A value as JSON on one line: what JSON has no form for as `plain` puts it, text without lone surrogates."""
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, RecursionError):
        return msgspec.json.encode(clean(plain(value)))


def write_results(path: str | Path, info: RunInfo, items: Iterable[ItemResult]) -> None:
    """Writes a whole run with `ResultsWriter`."""
    with ResultsWriter(path, info) as writer:
        for item in items:
            writer.write(item)


def _mend_end(path: Path) -> bool:
    """Ends a results file with a whole line, cutting off a torn one; whether anything is left."""
    end = 0
    try:
        with path.open("r+b") as file:
            for line in file:
                if line.endswith(b"\n"):
                    end += len(line)
                elif _whole(line):
                    file.seek(0, io.SEEK_END)
                    file.write(b"\n")
                    return True
            file.truncate(end)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise StoreError(f"{path} can't be written: {_cause(error, path)}") from error
    return end > 0


def _whole(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=RunInfo | ItemResult)
    except _UNREADABLE:
        return False
    return True


def read_results(
    path: str | Path, *, on_torn: Callable[[str], None] | None = None
) -> tuple[RunInfo, Iterator[ItemResult]]:
    """Reads results that `ResultsWriter` wrote, row by row.

    Args:
        path: The file.
        on_torn: Called with a sentence when the last line is torn, as a killed run leaves it; the rows before it are
            given. Without it a torn line raises.

    Raises:
        UsageError: At once when the file can't be opened.
        DataError: At once when it is no results file; with the row when a line is damaged.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            first = file.readline()
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror or error}") from error
    try:
        info = _RUN.decode(first)
    except _UNREADABLE as error:
        problem = f"not a results file of ragcov, which begins with the run's settings ({error})"
        raise DataError(f"{problem}; ragcov run DATASET --out FILE writes one", file=str(path), line=1) from None
    return info, _items(path, on_torn)


def _items(path: Path, on_torn: Callable[[str], None] | None) -> Iterator[ItemResult]:
    with path.open("rb") as file:
        file.readline()
        for number, line in enumerate(file, 2):
            if not line.strip():
                continue
            try:
                item = _ITEM.decode(line)
            except _UNREADABLE as error:
                torn = not line.endswith(b"\n")
                if torn and on_torn is not None:
                    on_torn(f"{path}, line {number}: the last row is torn, its sample has to be run again")
                    return
                what = "the last row is torn; resume the run to complete it" if torn else "not a result"
                raise DataError(f"{what}: {error}", file=str(path), line=number) from None
            yield item


class ResultsCsvWriter:
    """Writes a run as CSV while it goes on: a row a sample, for people and their spreadsheets.

    Columns: id, input, ground_truth, context (a JSON list), output, extra (JSON) and error; then for each scorer
    score, state, reason, attributed, total, missing (the unsupported claims, one a line), warnings and error, with
    the scorer's id before the name. The score is empty where it does not count, so a spreadsheet's mean is right.

    UTF-8 with a byte order mark, for Excel. Text that a spreadsheet would run as a formula (it begins with =, +, -, @,
    tab or carriage return) gets an apostrophe before it. Exact text is in the JSONL.

    Args:
        path: The file; what it held before is replaced.
        info: What is run; `scorers` are the columns.

    Raises:
        StoreError: When the file can't be written, from here and from `write`.
    """

    def __init__(self, path: str | Path, info: RunInfo) -> None:
        self._scorers = info.scorers
        self._file = _RowFile(path)
        columns = ["id", "input", "ground_truth", "context", "output", "extra", "error"]
        for scorer_id in self._scorers:
            columns += [f"{scorer_id} {name}" for name in _scorer_cells(None)]
        self._row(columns, mark="\ufeff")

    def write(self, item: ItemResult) -> None:
        """Writes the result of one sample."""
        sample = item.sample
        cells: list[Any] = [
            sample.id,
            sample.input,
            sample.ground_truth,
            sample.context,
            sample.output,
            sample.extra or None,
            item.error.message if item.error else None,
        ]
        for scorer_id in self._scorers:
            cells += _scorer_cells(item.scorer_results.get(scorer_id)).values()
        self._row([_cell(cell) for cell in cells])

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> ResultsCsvWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _row(self, cells: list[Any], mark: str = "") -> None:
        row = io.StringIO(newline="")
        csv.writer(row).writerow(cells)
        self._file.write((mark + row.getvalue()).encode())


def write_csv(path: str | Path, info: RunInfo, items: Iterable[ItemResult]) -> None:
    """Writes a whole run with `ResultsCsvWriter`."""
    with ResultsCsvWriter(path, info) as writer:
        for item in items:
            writer.write(item)


def _scorer_cells(result: ScorerResult | None) -> dict[str, Any]:
    tally = result.tally if result else None
    return {
        "score": result.score if result and result.scored else None,
        "state": result.state if result else None,
        "reason": result.reason if result else None,
        "attributed": tally.attributed if tally else None,
        "total": tally.total if tally else None,
        "missing": "\n".join(v.claim.text for v in result.verdicts if not v.supported) if result else None,
        "warnings": "\n".join(result.warnings) if result else None,
        "error": result.error.message if result and result.error else None,
    }


def _cell(value: Any) -> str:
    """A cell: numbers and text as they are, anything else as JSON, formulas defused."""
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return repr(value)
    text = value if isinstance(value, str) else msgspec.json.encode(clean(plain(value))).decode()
    text = clean_text(text)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text
