"""`ragcov runs`: list the runs that are kept."""

from __future__ import annotations

import argparse
import time

from ragcov.commands import EXIT_OK
from ragcov.reports.text import printable
from ragcov.store import RunEntry, open_store

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    with open_store(options.store) as store:
        entries = store.runs()
    if not entries:
        print("no runs")
        return EXIT_OK
    print(f"{'run':10} {'begun':16}  {'state':8}  {'rows':>9}  {'failed':>6}  data, judge, means")
    for entry in entries:
        print(_line(entry))
    return EXIT_OK


def _line(entry: RunEntry) -> str:
    begun = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.created))
    rows = f"{entry.rows}/{entry.total}" if entry.total is not None else str(entry.rows)
    about = [entry.info.dataset or "data in memory", *entry.info.judges, *_means(entry)]
    words = printable(", ".join(about))
    return f"{entry.id:10} {begun:16}  {entry.state:8}  {rows:>9}  {entry.failed:>6}  {words}"


def _means(entry: RunEntry) -> list[str]:
    if entry.summary is None:
        return []
    return [
        f"{scorer_id} {'–' if summary.mean.value is None else format(summary.mean.value, '.2f')} (n = {summary.mean.n})"
        for scorer_id, summary in entry.summary.scorers.items()
    ]
