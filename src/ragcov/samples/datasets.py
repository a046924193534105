"""Reading and writing datasets: one sample at a time, so that memory doesn't grow with the rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from ragcov.errors import DataError, StoreError
from ragcov.messages.texts import plain_fields
from ragcov.samples.fields import check_mapping, known_columns, sample_from, unrecognised
from ragcov.samples.formats import Row, rows_of
from ragcov.samples.ids import SeenIds
from ragcov.samples.sample import Sample, clean

__all__ = ["count_samples", "iter_samples", "read_samples", "samples_from", "write_samples"]

# How many records are looked at before a mapped column counts as absent from the data.
_LOOK_AHEAD = 50


def read_samples(
    source: str | Path,
    *,
    mapping: Mapping[str, str] | None = None,
    on_bad: Callable[[DataError], None] | None = None,
) -> Iterator[Sample]:
    """Reads a dataset lazily: JSONL (.jsonl, .ndjson), JSON, CSV, TSV or Parquet, the text formats also as .gz.

    Field names are those of `sample_from`. Text is UTF-8 whatever the locale, with or without a byte order mark;
    UTF-16 is read when it has one. In CSV and TSV an empty cell is a missing value and any other cell is text;
    a cell with a list written as JSON or Python literal is a list of chunks. JSON is a list of objects, an object
    that holds the list (under "data", "samples", "test_cases", ...), or objects one after another.

    Args:
        source: The file; its suffix tells the format.
        mapping: Our field name to the file's column name, as for `sample_from`.
        on_bad: Called with each record that can't be read; the rest go on. Without it the first one raises.

    Raises:
        UsageError: At once when the file is missing or its format unknown, or Parquet's extra isn't installed; with
            the first sample when a mapped column isn't in the data.
        DataError: When a record can't be read, or an id comes twice: file, physical line, field, what was expected.
    """
    return _good(iter_samples(source, mapping=mapping), on_bad)


def iter_samples(source: str | Path, *, mapping: Mapping[str, str] | None = None) -> Iterator[Sample | DataError]:
    """As `read_samples`, but yields the error of a record that can't be read in its place."""
    check_mapping(mapping)
    return _samples(rows_of(Path(source)), mapping, str(source))


def count_samples(
    source: str | Path,
    *,
    mapping: Mapping[str, str] | None = None,
    on_bad: Callable[[DataError], None] | None = None,
) -> int:
    """Reads a dataset to its end, so that every record is checked; returns how many samples it holds.

    Arguments and errors are those of `read_samples`.
    """
    return sum(1 for _ in read_samples(source, mapping=mapping, on_bad=on_bad))


def samples_from(
    records: Iterable[Mapping[str, Any] | Sample],
    *,
    mapping: Mapping[str, str] | None = None,
    on_bad: Callable[[DataError], None] | None = None,
) -> Iterator[Sample]:
    """As `read_samples`, for dicts and samples in memory."""
    check_mapping(mapping)
    rows = (Row(None, record) for record in records)
    return _good(_samples(rows, mapping, None), on_bad)


def write_samples(path: str | Path, samples: Iterable[Sample]) -> None:
    """Writes samples as JSONL; `read_samples` gives equal ones back.

    Raises:
        StoreError: When the file can't be written.
    """
    try:
        with Path(path).open("wb") as file:
            for sample in samples:
                record = msgspec.to_builtins(sample, str_keys=True, enc_hook=plain_fields)
                for name in ("extra", "turns"):
                    if not record[name]:
                        del record[name]
                file.write(msgspec.json.encode(clean(record)) + b"\n")
    except OSError as error:
        raise StoreError(f"{path} can't be written: {error.strerror or error}") from error


def _good(samples: Iterable[Sample | DataError], on_bad: Callable[[DataError], None] | None) -> Iterator[Sample]:
    for sample in samples:
        if isinstance(sample, Sample):
            yield sample
        elif on_bad is None:
            raise sample
        else:
            on_bad(sample)


def _samples(rows: Iterator[Row], mapping: Mapping[str, str] | None, file: str | None) -> Iterator[Sample | DataError]:
    head = list(itertools.islice(rows, _LOOK_AHEAD))
    _check_columns(head, mapping, file)
    seen = SeenIds()
    for index, row in enumerate(itertools.chain(head, rows)):
        if isinstance(row.record, DataError):
            yield row.record
            continue
        try:
            if isinstance(row.record, Sample):
                sample = row.record
            else:
                sample = sample_from(
                    row.record, index=index, file=file, line=row.line, mapping=mapping, cells=row.cells
                )
            first = seen.add(sample.id, index + 1, row.line)
        except DataError as error:
            yield error
            continue
        if first is not None:
            problem = f'"{sample.id}" is the id of {first} already; ids must be unique'
            yield DataError(problem, file=file, line=row.line or index + 1, field="id")
        else:
            yield sample


def _check_columns(head: list[Row], mapping: Mapping[str, str] | None, file: str | None) -> None:
    """Refuses data whose columns can't be what was meant, before any of it is used."""
    columns: dict[str, None] = {}
    for row in head:
        record = row.record
        if isinstance(record, Mapping):
            columns.update(dict.fromkeys(map(str, cast("Mapping[str, Any]", record))))
    if columns:
        check_mapping(mapping, columns)
    table = bool(head) and head[0].columns is not None
    if table and not mapping and not known_columns(columns):
        raise DataError(unrecognised(columns), file=file, line=1)
