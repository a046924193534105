"""The dataset of `ragcov run`: read once to its end before anything is judged, so that what is wrong is said first."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ragcov.errors import DataError, UsageError
from ragcov.reports.text import printable
from ragcov.samples import Sample, read_samples
from ragcov.store import DataDigest

__all__ = ["Dataset"]

_NEEDS = {
    "ground_truth": "the right answer",
    "context": "the retrieved chunks",
    "input": "the question",
    "output": "the answer",
}
_TABLES = (".csv", ".tsv")


class Dataset:
    """A file of samples that has been checked.

    Args:
        path: The file, as the user named it.
        pairs: What `--map` gave, each `FIELD=COLUMN`.
        skip_bad: Leave out records that can't be read, naming each on standard error.

    Attributes:
        data: Number and digest of the samples.
        skipped: How many records were left out.

    Raises:
        UsageError: The file can't be read as a dataset.
        DataError: A record can't be read, or there is none.
    """

    def __init__(self, path: str, pairs: list[str], *, skip_bad: bool) -> None:
        self._path = path
        self._mapping = _read_mapping(pairs)
        self._look = _Look()
        bad: list[DataError] = []
        samples = read_samples(path, mapping=self._mapping, on_bad=bad.append if skip_bad else None)
        self.data = DataDigest.of(self._look.over(samples))
        self.skipped = len(bad)
        for error in bad:
            print(f"ragcov: skipped: {printable(str(error))}", file=sys.stderr)
        if not self.data.total:
            raise DataError(
                f"none of its {len(bad)} records can be read" if bad else "there is no sample in it", file=path
            )

    def __iter__(self) -> Iterator[Sample]:
        return read_samples(self._path, mapping=self._mapping, on_bad=_named_already if self.skipped else None)

    def hints(self, fields: Sequence[str]) -> Iterator[str]:
        """What looks like a mistake in the whole dataset.

        Args:
            fields: The fields of a sample that this run cannot do without.
        """
        for field in fields:
            if not self._look.filled[field]:
                yield f"no sample has {_NEEDS[field]} ({field})" + self._look.way_out(field)
        suffixes = {suffix.lower() for suffix in Path(self._path).suffixes}
        if suffixes.intersection(_TABLES) and self._look.piped and not self._look.listed:
            yield (
                "each cell of context was read as one chunk, and some hold ' | '; for several chunks write a JSON "
                'list into the cell: ["first chunk", "second chunk"]'
            )


class _Look:
    """Counts, as the samples go by, which fields are filled and which columns no field took."""

    def __init__(self) -> None:
        self.filled: Counter[str] = Counter()
        self.extra: dict[str, None] = {}
        self.piped = 0
        self.listed = 0

    def over(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        for sample in samples:
            for part in (sample, *sample.turns):
                self.filled.update(field for field in _NEEDS if getattr(part, field))
            if len(self.extra) < 20:
                self.extra.update(dict.fromkeys(sample.extra))
            chunks = sample.context or ()
            self.listed += len(chunks) > 1
            self.piped += len(chunks) == 1 and " | " in chunks[0]
            yield sample

    def way_out(self, field: str) -> str:
        if not self.extra:
            return ""
        names = list(self.extra)
        return (
            f"; if a column of another name holds it, say so: --map {field}=COLUMN (not recognised: {', '.join(names)})"
        )


def _named_already(_: DataError) -> None:
    """Bad records were named when the file was checked."""


def _read_mapping(pairs: list[str]) -> dict[str, str] | None:
    mapping: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals or not field.strip() or not column.strip():
            raise UsageError(f"--map takes FIELD=COLUMN, got {pair!r}")
        mapping[field.strip()] = column.strip()
    return mapping or None
