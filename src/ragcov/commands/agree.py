"""`ragcov agree`: can the judge be trusted?"""

from __future__ import annotations

import argparse

from ragcov.commands import EXIT_OK
from ragcov.reports.agreement import agree, read_labels
from ragcov.reports.agreement_text import agreement_lines
from ragcov.store import open_run

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    labels = read_labels(options.labels)
    for line in agreement_lines(agree(open_run(options.run, store=options.store), labels)):
        print(line)
    return EXIT_OK
