"""Whether and where a command keeps its run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack

from ragcov.database import default_location
from ragcov.errors import DataError, StoreError, UsageError
from ragcov.reports.text import printable
from ragcov.results import RunInfo
from ragcov.samples import Sample
from ragcov.store import DataDigest, RunRecorder, Store

__all__ = ["keep_run", "say_how_to_resume"]


def keep_run(
    stack: ExitStack,
    options: argparse.Namespace,
    info: RunInfo,
    data: DataDigest,
    samples: Callable[[], Iterable[Sample | DataError]] | None = None,
) -> RunRecorder | None:
    """The recorder of a run, closed with the stack; None when the run is not kept.

    A store that nobody asked for and that can't be used costs a warning, not the run.

    Raises:
        UsageError: The run to resume isn't there, or was another.
        StoreError: The store that was asked for can't be used.
    """
    resume: str | None = getattr(options, "resume", None)
    location = None if options.no_store else options.store or default_location()
    if location is None:
        if resume is not None:
            raise UsageError("--resume needs a store, and --no-store or RAGCOV_CACHE says that nothing is kept")
        return None
    try:
        store = stack.enter_context(Store(location))
        recorder = store.begin(info, data) if resume is None else store.resume(resume, info, data, samples)
        stack.enter_context(recorder)
    except StoreError as error:
        if options.store or resume is not None:
            raise
        print(f"ragcov: the run is not kept, and can't be resumed: {printable(str(error))}", file=sys.stderr)
        return None
    if resume is not None:
        done = f"{recorder.kept_before} of {data.total} rows are there already"
        print(f"ragcov: going on with run {recorder.run_id}: {done}", file=sys.stderr)
    elif sys.stderr.isatty():
        print(f"ragcov: run {recorder.run_id}", file=sys.stderr)
    return recorder


def say_how_to_resume(recorder: RunRecorder | None, what: str = "go on") -> None:
    """Tells what to call to go on with a run that has stopped; nothing when it is not kept."""
    if recorder is not None:
        print(f"ragcov: to {what}, give the same command with --resume {recorder.run_id}", file=sys.stderr)
