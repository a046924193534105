"""`ragcov run`: score a dataset."""

from __future__ import annotations

import argparse
import importlib
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any

import msgspec

from ragcov.commands import EXIT_BELOW, EXIT_FAILED, EXIT_OK
from ragcov.commands.dataset import Dataset
from ragcov.commands.keeping import keep_run, say_how_to_resume
from ragcov.commands.printing import judge_line, open_writers
from ragcov.errors import FatalProviderError, StoreError, UsageError, described
from ragcov.evals import run_evals_sync, run_info
from ragcov.judges import load_judge
from ragcov.reports.progress import Progress
from ragcov.reports.summary import summary_json
from ragcov.reports.text import ItemLines, printable, summary_lines
from ragcov.results import EvalsResult, ItemResult, RunInfo
from ragcov.scorers.registry import make_scorer
from ragcov.store import RunRecorder

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    # With --json standard output belongs to programs: what people read goes to standard error.
    with redirect_stdout(sys.stderr) if options.json else nullcontext():
        code, document = _run(options)
    if options.json:
        print(document)
    return code


def _run(options: argparse.Namespace) -> tuple[int, str]:
    judge = load_judge(options.judge or "offline", cache=options.store)
    scorers = [make_scorer(name, model=judge, scale=options.scale) for name in options.scorer or ["context-recall"]]
    target = _load_target(options.target) if options.target else None
    if options.fail_under is not None and not 0 <= options.fail_under <= options.scale:
        raise UsageError(f"--fail-under must be from 0 to the scale {options.scale:g}, got {options.fail_under:g}")
    dataset = Dataset(options.data, options.map, skip_bad=options.skip_bad)
    for hint in dataset.hints(_needed(options)):
        print(f"ragcov: hint: {printable(hint)}", file=sys.stderr)
    info = run_info(scorers, dataset=options.data, timeout=options.timeout)
    if options.target:
        info = msgspec.structs.replace(info, settings={**info.settings, "target": options.target})

    with ExitStack() as stack:
        recorder = keep_run(stack, options, info, dataset.data, lambda: dataset)
        if recorder is not None:
            info = recorder.info
        print(judge_line(judge.id, chosen=options.judge is not None))
        result = _evaluate(
            recorder,
            data=dataset,
            scorers=scorers,
            target=target,
            concurrency=options.concurrency,
            timeout=options.timeout,
            on_result=_Output(stack, options, info, dataset.data.total, several_scorers=len(scorers) > 1),
            keep_items=False,
        )
    print()
    for line in summary_lines(result):
        print(line)
    if dataset.skipped:
        records = dataset.data.total + dataset.skipped
        print(f"skipped {dataset.skipped} of {records} records that could not be read (named above)")
    code = _exit_code(result, options.fail_under)
    document = summary_json(result, info, exit_code=code, fail_under=options.fail_under, skipped=dataset.skipped)
    return code, document


def _needed(options: argparse.Namespace) -> list[str]:
    """The fields of a sample without which this run scores nothing."""
    scorers = {name.removesuffix("-scorer") for name in options.scorer or ["context-recall"]}
    needed = ["input"] if options.target else []
    if "context-recall" in scorers:
        needed.append("ground_truth")
    if not options.target:
        needed += ["context"] if scorers - {"faithfulness"} else []
        needed += ["output"] if "faithfulness" in scorers else []
    return needed


def _evaluate(recorder: RunRecorder | None, **options: Any) -> EvalsResult:
    try:
        result = run_evals_sync(store=recorder, **options)
    except (FatalProviderError, KeyboardInterrupt, StoreError) as error:
        if isinstance(error, FatalProviderError) and error.result.summary.total_items:
            print(f"ragcov: {error.result.summary.total_items} rows had finished and are kept", file=sys.stderr)
        say_how_to_resume(recorder)
        raise
    if result.summary.failed_items:
        say_how_to_resume(recorder, "try the failed rows again")
    return result


class _Output:
    """Takes each row as it is ready: prints it, and writes it to the files asked for."""

    def __init__(
        self, stack: ExitStack, options: argparse.Namespace, info: RunInfo, total: int, *, several_scorers: bool
    ) -> None:
        self._writers = open_writers(stack, options, info)
        self._writers += [stack.enter_context(report) for report in _reports(options, info)]
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


def _reports(options: argparse.Namespace, info: RunInfo) -> Iterator[Any]:
    """The reports that are made of the rows when the run ends; also of those that finished when it stops early."""
    if options.html:
        from ragcov.reports.html import HtmlReport

        yield HtmlReport(options.html, info)
    if options.junit:
        from ragcov.reports.junit import JunitWriter

        yield JunitWriter(options.junit, info, fail_under=options.fail_under)
    if options.github:
        from ragcov.reports.github import GithubReport

        yield GithubReport(info, fail_under=options.fail_under)


def _load_target(name: str) -> Any:
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise UsageError(f"--target takes module:name, got {name!r}")
    if module_name.endswith(".py"):
        module = ".".join(Path(module_name).with_suffix("").parts)
        raise UsageError(f"--target takes the name of a module, not of a file: {module}:{attribute}")
    sys.path.insert(0, str(Path.cwd()))
    try:
        value: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise UsageError(f"--target {name}: can't import {module_name}: {error}") from error
    except (Exception, SystemExit) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        # A syntax error has its own place, and no frame in the file.
        where = "" if place.filename.startswith("<") else f" ({place.filename}, line {place.lineno})"
        raise UsageError(f"--target {name}: importing {module_name} raised {described(error)}{where}") from error
    for part in attribute.split("."):
        if not hasattr(value, part):
            raise UsageError(f"--target {name}: {module_name} has no {attribute}")
        value = getattr(value, part)
    return value


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
