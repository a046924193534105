"""`ragcov show`: print a run again."""

from __future__ import annotations

import argparse

from ragcov.commands import EXIT_OK
from ragcov.commands.printing import print_rows, print_summary
from ragcov.store import open_run

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    stored = open_run(options.run, store=options.store)
    print_summary(stored.info, print_rows(stored.info, stored, quiet=options.quiet))
    return EXIT_OK
