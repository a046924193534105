"""Judges: what extracts claims and attributes them."""

from ragcov.judges.base import Judge, Ledger, keep_ledger, record_usage, record_warning
from ragcov.judges.registry import JudgeConfig, load_judge

__all__ = [
    "Judge",
    "JudgeConfig",
    "Ledger",
    "keep_ledger",
    "load_judge",
    "record_usage",
    "record_warning",
]
