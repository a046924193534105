"""Digests of samples, by which a run that is resumed knows its data again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from ragcov.errors import DataError
from ragcov.reports.files import to_json
from ragcov.samples import Sample

__all__ = ["DataDigest", "sample_digest"]


def sample_digest(sample: Sample | DataError) -> str:
    """A digest of a sample as it was read, whatever kind of file it came from."""
    content = to_json(sample) if isinstance(sample, Sample) else f"unreadable: {sample.problem}".encode()
    return hashlib.blake2b(content, digest_size=12).hexdigest()


@dataclass(frozen=True)
class DataDigest:
    """A dataset in short.

    Attributes:
        total: How many samples.
        value: Digest of all of them in their order.
    """

    total: int
    value: str

    @classmethod
    def of(cls, samples: Iterable[Sample | DataError]) -> DataDigest:
        """The digest of some samples; reads them to their end."""
        total, digest = 0, hashlib.blake2b(digest_size=16)
        for sample in samples:
            total += 1
            digest.update(sample_digest(sample).encode())
        return cls(total, digest.hexdigest())
