"""What `ragcov run` and the commands that show a run again have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

from ragcov.reports.files import ResultsCsvWriter, ResultsWriter
from ragcov.reports.text import ItemLines, summary_lines
from ragcov.results import EvalsResult, ItemResult, RunInfo, Totals

__all__ = ["judge_line", "open_writers", "print_rows", "print_summary"]


def judge_line(judge_id: str, *, chosen: bool = True) -> str:
    """Says who judges, and what the offline judge can't do."""
    if not judge_id.startswith("offline"):
        return f"judge: {judge_id}"
    why = "" if chosen else "; no --judge was given"
    return f"judge: {judge_id} (no key, no network, deterministic; compares wording and numbers, can't reason{why})"


def open_writers(stack: ExitStack, options: argparse.Namespace, info: RunInfo) -> list[Any]:
    """The files that `--out` and `--csv` ask for; closed with the stack."""
    writers: list[Any] = []
    if options.out:
        writers.append(stack.enter_context(ResultsWriter(options.out, info)))
    if options.csv:
        writers.append(stack.enter_context(ResultsCsvWriter(options.csv, info)))
    return writers


def print_rows(
    info: RunInfo, items: Iterable[ItemResult], *, quiet: bool, on_item: Callable[[ItemResult], None] | None = None
) -> Totals:
    """Prints the judge and the rows; returns their totals."""
    for judge_id in info.judges:
        print(judge_line(judge_id))
    lines = None if quiet else ItemLines(several_scorers=len(info.scorers) > 1)
    if lines is not None:
        print(lines.heading())
    totals = Totals(info.scorers)
    for item in items:
        totals.add(item)
        if on_item is not None:
            on_item(item)
        for line in lines.of(item) if lines is not None else ():
            print(line)
    return totals


def print_summary(info: RunInfo, totals: Totals) -> None:
    """Prints the totals."""
    print()
    for line in summary_lines(EvalsResult(items=(), summary=totals.summary(), info=info)):
        print(line)
