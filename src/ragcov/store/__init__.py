"""Runs that were kept: in a store, or as results files."""

from ragcov.store.reading import StoredRun, open_run

__all__ = ["StoredRun", "open_run"]
