"""Runs that were kept: in a store, or as results files.

`open_run` finds one; `Store` lists them; `run_evals(..., store=...)` and `ragcov run` keep them.
"""

from ragcov.store.digests import DataDigest
from ragcov.store.reading import StoredRun, open_run, open_store
from ragcov.store.recording import RunRecorder
from ragcov.store.store import RunEntry, Store, recorder_for

__all__ = ["DataDigest", "RunEntry", "RunRecorder", "Store", "StoredRun", "open_run", "open_store", "recorder_for"]
