"""A sample, and datasets of them: reading and writing."""

from __future__ import annotations

from ragcov.samples.datasets import count_samples, iter_samples, read_samples, samples_from, write_samples
from ragcov.samples.fields import ALIASES, sample_from
from ragcov.samples.sample import Sample, Turn, clean, clean_text

__all__ = [
    "ALIASES",
    "Sample",
    "Turn",
    "clean",
    "clean_text",
    "count_samples",
    "iter_samples",
    "read_samples",
    "sample_from",
    "samples_from",
    "write_samples",
]
