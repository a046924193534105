"""`ragcov curve`: recall at every cut-off k, from one run."""

from __future__ import annotations

import argparse

from ragcov.commands import EXIT_FAILED, EXIT_OK
from ragcov.reports.curve import curve_lines, curve_of, scorer_of_curve
from ragcov.store import open_run

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    stored = open_run(options.run, store=options.store)
    curve = curve_of(stored, scorer_of_curve(stored.info, options.scorer))
    if options.json:
        import msgspec

        print(msgspec.json.format(msgspec.json.encode(curve)).decode())
    else:
        for line in curve_lines(curve):
            print(line)
    return EXIT_OK if curve.rows else EXIT_FAILED
