"""`ragcov compare`: is a run really better than another?"""

from __future__ import annotations

import argparse
import string

from ragcov.commands import EXIT_BELOW, EXIT_OK
from ragcov.errors import UsageError
from ragcov.reports.compare import compare_runs, load_run
from ragcov.reports.compare_text import comparison_lines, run_lines, statement
from ragcov.store import open_run

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    labels = string.ascii_uppercase
    if not 2 <= len(options.runs) <= len(labels):
        raise UsageError(f"compare takes from 2 to {len(labels)} runs, got {len(options.runs)}")
    opened = [open_run(ref, store=options.store) for ref in options.runs]
    runs = [load_run(label, found.name, found.info, found) for label, found in zip(labels, opened, strict=False)]
    comparisons = compare_runs(runs, options.scorer or ())
    for line in run_lines(runs):
        print(line)
    for comparison in comparisons:
        print()
        for line in comparison_lines(comparison, several=len(runs) > 2):
            print(line)
    worse = [comparison for comparison in comparisons if comparison.a == "A" and comparison.decision == "worse"]
    if not options.fail_if_worse or not worse:
        return EXIT_OK
    print()
    for comparison in worse:
        print(f"not met: {comparison.scorer_id}: {statement(comparison)}")
    return EXIT_BELOW
