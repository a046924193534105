"""`ragcov run`: score a dataset."""

from __future__ import annotations

import argparse
import importlib
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ragcov.commands import EXIT_BELOW, EXIT_FAILED, EXIT_OK
from ragcov.errors import DataError, FatalProviderError, UsageError
from ragcov.evals import run_evals_sync, run_info
from ragcov.judges import Judge, load_judge
from ragcov.reports.files import ResultsCsvWriter, ResultsWriter
from ragcov.reports.progress import Progress
from ragcov.reports.text import ItemLines, printable, summary_lines
from ragcov.results import EvalsResult, ItemResult, RunInfo
from ragcov.samples import count_samples, read_samples
from ragcov.scorers.registry import make_scorer

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    judge = load_judge(options.judge or "offline")
    scorers = [make_scorer(name, model=judge, scale=options.scale) for name in options.scorer or ["context-recall"]]
    target = _load_target(options.target) if options.target else None
    if options.fail_under is not None and not 0 <= options.fail_under <= options.scale:
        raise UsageError(f"--fail-under must be from 0 to the scale {options.scale:g}, got {options.fail_under:g}")
    mapping = _read_mapping(options.map)
    bad: list[DataError] = []
    total = count_samples(options.data, mapping=mapping, on_bad=bad.append if options.skip_bad else None)
    for error in bad:
        print(f"ragcov: skipped: {printable(str(error))}", file=sys.stderr)
    info = run_info(scorers, dataset=options.data, timeout=options.timeout)
    print(_judge_line(judge, chosen=options.judge is not None))
    with ExitStack() as stack:
        result = _evaluate(
            data=read_samples(options.data, mapping=mapping, on_bad=_told_already if bad else None),
            scorers=scorers,
            target=target,
            concurrency=options.concurrency,
            timeout=options.timeout,
            on_result=_Output(stack, options, info, total, several_scorers=len(scorers) > 1),
            keep_items=False,
        )
    print()
    for line in summary_lines(result):
        print(line)
    if bad:
        print(f"skipped {len(bad)} of {total + len(bad)} records that could not be read (named above)")
    return _exit_code(result, options.fail_under)


def _evaluate(**options: Any) -> EvalsResult:
    try:
        return run_evals_sync(**options)
    except FatalProviderError as error:
        if error.result.summary.total_items:
            print(f"ragcov: {error.result.summary.total_items} rows had finished and are kept", file=sys.stderr)
        raise


def _told_already(_: DataError) -> None:
    """Bad records were named when the file was checked."""


class _Output:
    """Takes each row as it is ready: prints it, and writes it to the files asked for."""

    def __init__(
        self, stack: ExitStack, options: argparse.Namespace, info: RunInfo, total: int, *, several_scorers: bool
    ) -> None:
        self._writers: list[Any] = []
        if options.out:
            self._writers.append(stack.enter_context(ResultsWriter(options.out, info)))
        if options.csv:
            self._writers.append(stack.enter_context(ResultsCsvWriter(options.csv, info)))
        self._progress = stack.enter_context(Progress(total))
        self._lines = None if options.quiet else ItemLines(several_scorers=several_scorers)
        if self._lines is not None:
            self._progress.print(self._lines.heading())

    def __call__(self, item: ItemResult) -> None:
        for writer in self._writers:
            writer.write(item)
        if self._lines is not None:
            for line in self._lines.of(item):
                self._progress.print(line)
        self._progress.advance()


def _judge_line(judge: Judge, *, chosen: bool) -> str:
    if not judge.id.startswith("offline"):
        return f"judge: {judge.id}"
    why = "" if chosen else "; no --judge was given"
    return f"judge: {judge.id} (no key, no network, deterministic; compares wording and numbers, can't reason{why})"


def _load_target(name: str) -> Any:
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise UsageError(f"--target takes module:name, got {name!r}")
    sys.path.insert(0, str(Path.cwd()))
    try:
        value: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise UsageError(f"--target {name}: can't import {module_name}: {error}") from error
    for part in attribute.split("."):
        if not hasattr(value, part):
            raise UsageError(f"--target {name}: {module_name} has no {attribute}")
        value = getattr(value, part)
    return value


def _read_mapping(pairs: list[str]) -> dict[str, str] | None:
    mapping: dict[str, str] = {}
    for pair in pairs:
        field, equals, column = pair.partition("=")
        if not equals or not field.strip() or not column.strip():
            raise UsageError(f"--map takes FIELD=COLUMN, got {pair!r}")
        mapping[field.strip()] = column.strip()
    return mapping or None


def _exit_code(result: EvalsResult, fail_under: float | None) -> int:
    scorers = result.summary.scorers
    if result.summary.failed_items:
        return EXIT_FAILED
    if not any(summary.scored for summary in scorers.values()):
        print("ragcov: no row could be scored", file=sys.stderr)
        return EXIT_FAILED
    if fail_under is None:
        return EXIT_OK
    below = [name for name, s in scorers.items() if s.mean.value is None or s.mean.value < fail_under - 1e-9]
    for name in below:
        print(f"under the threshold: {name} is below {fail_under:g}")
    return EXIT_BELOW if below else EXIT_OK
