"""The rows of a file, one at a time, with the physical lines on which they stand."""

from __future__ import annotations

import csv
import importlib
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, cast

from ragcov.errors import DataError, UsageError
from ragcov.samples.json_stream import json_rows
from ragcov.samples.text_files import check_bytes, open_text
from ragcov.samples.values import describe

__all__ = ["Row", "rows_of"]


class Row(NamedTuple):
    """A row: its physical line or record number (from 1), and the record, or why it can't be read.

    `cells` says that values are untyped cells; `columns` names the columns of a table.
    """

    line: int | None
    record: Any
    cells: bool = False
    columns: tuple[str, ...] | None = None


_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
}
_DECODER = json.JSONDecoder(strict=False)
_SEPARATOR = re.compile(r'"?sep=([,;\t|])"?', re.IGNORECASE)
_LARGEST_CELL = 2**31 - 1


def rows_of(path: Path) -> Iterator[Row]:
    """The rows of a file, by its suffix.

    Raises:
        UsageError: When the file is missing, its format unknown, or the extra for Parquet isn't installed.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    kind = _SUFFIXES.get(suffixes[-1] if suffixes else "")
    if kind is None or (kind == "parquet" and path.suffix.lower() == ".gz"):
        raise UsageError(
            f"{path}: unknown format; known are {', '.join(_SUFFIXES)}, and the text formats compressed as .gz"
        )
    if not path.exists():
        raise UsageError(f"{path}: there is no such file")
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file in it")
    if kind == "parquet":
        return _parquet_rows(path, _pyarrow_parquet(path))
    read = {"jsonl": _jsonl_rows, "json": _json_rows, "csv": _csv_rows}[kind]
    return _whole(path, read(path))


def _whole(path: Path, rows: Iterator[Row]) -> Iterator[Row]:
    """The rows, and where the file itself fails an error in place of the rest."""
    line = 1
    try:
        for row in rows:
            line = row.line or line
            yield row
    except UnicodeDecodeError as error:
        yield Row(line, DataError(f"not {error.encoding} after this line: {error.reason}", file=str(path), line=line))
    except (OSError, EOFError, zlib.error) as error:
        yield Row(line, DataError(f"the file can't be read on from here: {error}", file=str(path), line=line))


def _placed(error: DataError, path: Path, line: int) -> Row:
    return Row(line, DataError(error.problem, file=str(path), line=line, field=error.field))


def _jsonl_rows(path: Path) -> Iterator[Row]:
    with open_text(path, "\n") as lines:
        for number, line in enumerate(lines, 1):
            bare = line.strip().lstrip("\ufeff")
            if not bare:
                continue
            try:
                check_bytes(bare)
                yield Row(number, _json_object(bare))
            except DataError as error:
                yield _placed(error, path, number)


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise DataError(f"not valid JSON: {error.msg} at character {error.pos + 1}") from None
    except RecursionError:
        raise DataError("nested too deeply to be read") from None
    except ValueError as error:
        raise DataError(f"not valid JSON: {error}") from None
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    hint = "; name a file that holds one JSON list .json" if isinstance(value, list) else ""
    raise DataError(f"expected an object with named fields, got {describe(value)}{hint}")


def _json_rows(path: Path) -> Iterator[Row]:
    with open_text(path, "\n") as text:
        for line, value in json_rows(text):
            if isinstance(value, DataError):
                yield _placed(value, path, line)
            else:
                yield Row(line, value)


def _csv_rows(path: Path) -> Iterator[Row]:
    # The limit is the csv module's own global; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), _LARGEST_CELL))
    with open_text(path, "") as lines:
        first = next(lines, "")
        # Excel's own first line, "sep=;", which names the delimiter and is no row.
        told = _SEPARATOR.fullmatch(first.rstrip("\r\n"))
        if told:
            first = next(lines, "")
        before = 1 if told else 0
        delimiter = told[1] if told else _delimiter(path, first)
        reader = csv.reader(_again(first, lines), delimiter=delimiter, strict=True)
        columns: tuple[str, ...] | None = None
        while True:
            start = before + reader.line_num + 1
            try:
                cells = next(reader, None)
                if cells is None:
                    return
                if columns is None:
                    columns = _header(cells) or None
                elif any(cells):
                    record = _record(columns, cells)
                    yield Row(start, record, cells=True, columns=columns)
            except (csv.Error, DataError) as error:
                bad = _placed(_csv_problem(error), path, start)
                if columns is None:
                    raise bad.record from None
                yield bad


def _csv_problem(error: csv.Error | DataError) -> DataError:
    if isinstance(error, DataError):
        return error
    if str(error) == "unexpected end of data":
        return DataError("not valid CSV: a quote that opens in this record is never closed")
    return DataError(f"not valid CSV: {error}; quotes within text are written twice")


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _delimiter(path: Path, header: str) -> str:
    """Tab for .tsv; else a comma, unless the header has none and is divided by semicolons (Excel in much of
    Europe) or tabs."""
    if ".tsv" in [suffix.lower() for suffix in path.suffixes[-2:]]:
        return "\t"
    return next((mark for mark in ",;\t" if mark in header), ",")


def _header(cells: list[str]) -> tuple[str, ...]:
    columns = tuple(cell.strip() for cell in cells)
    for column in columns:
        check_bytes(column)
        if column and columns.count(column) > 1:
            raise DataError(f'the column "{column}" is there more than once')
    return columns


def _record(columns: tuple[str, ...], cells: list[str]) -> dict[str, str]:
    if len(cells) > len(columns):
        raise DataError(
            f"expected {len(columns)} cells, as in the header, got {len(cells)}; text with a delimiter needs quotes"
        )
    record: dict[str, str] = {}
    for number, (column, cell) in enumerate(zip(columns, cells, strict=False), 1):
        check_bytes(cell)
        if column or cell:
            record[column or f"column {number}"] = cell
    return record


def _pyarrow_parquet(path: Path) -> Any:
    try:
        return importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(f'{path}: reading Parquet needs pyarrow: pip install "ragcov[parquet]"') from error


def _parquet_rows(path: Path, parquet: Any) -> Iterator[Row]:
    number = 0
    failures = (OSError, importlib.import_module("pyarrow").ArrowException)
    try:
        with parquet.ParquetFile(path) as file:
            columns = tuple(cast("list[str]", file.schema_arrow.names))
            for batch in file.iter_batches(batch_size=256):
                for record in batch.to_pylist():
                    number += 1
                    yield Row(number, record, columns=columns)
    except failures as error:
        yield _placed(DataError(f"not readable as Parquet: {error}"), path, number + 1)
