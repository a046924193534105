"""`ragcov export`: write a run to files."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from ragcov.commands import EXIT_OK
from ragcov.commands.printing import open_writers
from ragcov.errors import UsageError
from ragcov.store import open_run

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if not options.out and not options.csv:
        raise UsageError("say what to write: --out FILE for JSONL, --csv FILE for a table")
    stored = open_run(options.run, store=options.store)
    with ExitStack() as stack:
        writers = open_writers(stack, options, stored.info)
        rows = 0
        for item in stored:
            for writer in writers:
                writer.write(item)
            rows += 1
    print(f"{stored.name}: {rows} rows written")
    return EXIT_OK
