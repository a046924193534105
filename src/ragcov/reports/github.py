"""A run for GitHub Actions: a step summary in Markdown, and annotations."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType

import msgspec

from ragcov.errors import StoreError
from ragcov.reports.text import format_mean, printable
from ragcov.results import ItemResult, RunInfo, ScorerResult, Summary, Totals

__all__ = ["GithubReport"]

# GitHub shows ten annotations of a kind for each step, and drops the rest without a word.
_ANNOTATIONS = 10
_LISTED = 20
_CLAIMS = 5
_MARKUP = re.compile(r"([\\`*_\[\]#|~@:])")


class _Weak(msgspec.Struct, frozen=True):
    """A scored sample below the full score."""

    share: float
    index: int
    id: str
    scorer_id: str
    score: float
    missed: tuple[str, ...]


class GithubReport:
    """Takes a run row by row; when closed, appends the summary to the step's and prints the annotations.

    Args:
        info: What was run.
        fail_under: What each scorer's mean must reach; None for nothing.
        environment: Where GITHUB_STEP_SUMMARY names the file to append to.
        say: Prints an annotation; GitHub reads them off the output of a step.

    Raises:
        StoreError: When the summary can't be written.
    """

    def __init__(
        self,
        info: RunInfo,
        *,
        fail_under: float | None = None,
        environment: Mapping[str, str] = os.environ,
        say: Callable[[str], None] = print,
    ) -> None:
        self._info = info
        self._fail_under = fail_under
        self._path = environment.get("GITHUB_STEP_SUMMARY")
        self._say = say
        self._totals = Totals(info.scorers)
        self._failed: list[tuple[str, str]] = []
        self._failed_count = self._weak_count = 0
        self._weak: list[_Weak] = []
        self._stopped: str | None = None

    def write(self, item: ItemResult) -> None:
        """Adds the result of one sample."""
        self._totals.add(item)
        if item.failed:
            self._failed_count += 1
            failures = [item.error, *(result.error for result in item.scorer_results.values())]
            message = next(failure.message for failure in failures if failure is not None)
            if len(self._failed) < _LISTED:
                self._failed.append((item.sample.id, message))
        for result in item.scorer_results.values():
            if result.state == "scored" and result.score is not None and result.score < result.scale:
                self._weak_count += 1
                self._weak.append(_weak(item, result, result.score))
        if len(self._weak) > 20 * _LISTED:
            self._weak = self._worst()

    def close(self) -> None:
        """Writes the summary and prints the annotations."""
        summary = self._totals.summary()
        text = "\n".join(self._markdown(summary)) + "\n"
        if self._path:
            try:
                with Path(self._path).open("a", encoding="utf-8") as file:
                    file.write(text)
            except OSError as error:
                raise StoreError(f"GITHUB_STEP_SUMMARY {self._path} can't be written: {error.strerror}") from error
        else:
            print("ragcov: GITHUB_STEP_SUMMARY is not set: no step summary was written", file=sys.stderr)
        for line in self._annotations(summary):
            self._say(line)

    def __enter__(self) -> GithubReport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._stopped = f"The run stopped before its end: {error or kind.__name__}. Finished rows only."
        self.close()

    def _worst(self) -> list[_Weak]:
        return sorted(self._weak, key=lambda weak: (weak.share, weak.index))[:_LISTED]

    def _below(self, summary: Summary) -> Iterator[str]:
        for scorer_id, scorer in summary.scorers.items():
            mean = scorer.mean
            if self._fail_under is not None and mean.value is not None and mean.value < self._fail_under - 1e-9:
                yield f"{scorer_id}: mean {format_mean(mean)} is below {self._fail_under:g}"

    def _markdown(self, summary: Summary) -> Iterator[str]:
        yield "## ragcov: coverage of retrieval"
        yield ""
        about = [
            f"dataset {_md(self._info.dataset or 'given in memory')}",
            f"judge {_md(', '.join(self._info.judges) or 'none')}",
        ]
        yield ", ".join([*about, f"{summary.total_items} samples, {summary.failed_items} failed"])
        yield ""
        for problem in (self._stopped, *self._below(summary)):
            if problem:
                yield f"> **{_md(problem)}**"
                yield ""
        yield "| scorer | mean | scored | not scorable | failed | claims |"
        yield "| --- | --- | --: | --: | --: | --: |"
        for scorer_id, scorer in summary.scorers.items():
            claims = f"{scorer.tally.attributed} of {scorer.tally.total}" if scorer.tally else ""
            counts = f"{scorer.scored} | {scorer.not_scorable} | {scorer.failed}"
            yield f"| {_md(scorer_id)} | {format_mean(scorer.mean)} | {counts} | {claims} |"
        yield from self._failed_rows()
        yield from self._weak_rows()

    def _failed_rows(self) -> Iterator[str]:
        if not self._failed:
            return
        yield from ("", "### Failed samples", "", "| sample | error |", "| --- | --- |")
        for sample_id, message in self._failed:
            yield f"| {_md(sample_id, 60)} | {_md(message, 300)} |"
        if self._failed_count > len(self._failed):
            yield f"\n{self._failed_count - len(self._failed)} more failed samples are not listed."

    def _weak_rows(self) -> Iterator[str]:
        if not self._weak:
            return
        yield from ("", "### Below the full score, worst first", "")
        yield from ("| sample | scorer | score | missed claims |", "| --- | --- | --: | --- |")
        worst = self._worst()
        for weak in worst:
            missed = [_md(text, 200) for text in weak.missed[:_CLAIMS]]
            if len(weak.missed) > _CLAIMS:
                missed.append(f"and {len(weak.missed) - _CLAIMS} more")
            yield f"| {_md(weak.id, 60)} | {_md(weak.scorer_id)} | {weak.score:.2f} | {'<br>'.join(missed)} |"
        if self._weak_count > len(worst):
            yield f"\n{self._weak_count - len(worst)} more results below the full score are not listed."

    def _annotations(self, summary: Summary) -> Iterator[str]:
        errors = [("ragcov: the run stopped", self._stopped)] if self._stopped else []
        errors += [("ragcov: below the threshold", problem) for problem in self._below(summary)]
        errors += [(f"ragcov: {sample_id} failed", message) for sample_id, message in self._failed]
        total = len(errors) + self._failed_count - len(self._failed)
        yield from self._annotate("error", errors, total)
        warnings = [
            (f"ragcov: {weak.id} {weak.scorer_id} {weak.score:.2f}", "; ".join(f"missed: {t}" for t in weak.missed[:5]))
            for weak in self._worst()
        ]
        yield from self._annotate("warning", warnings, self._weak_count)

    def _annotate(self, kind: str, notes: list[tuple[str, str]], total: int) -> Iterator[str]:
        shown = notes if total <= _ANNOTATIONS else notes[: _ANNOTATIONS - 1]
        where = f"file={_property(self._info.dataset)}," if self._info.dataset else ""
        for title, message in shown:
            yield f"::{kind} {where}title={_property(title)}::{_data(message or title)}"
        if total > len(shown):
            yield f"::{kind} title=ragcov::{total - len(shown)} more of this kind; see the step summary and the results"


def _weak(item: ItemResult, result: ScorerResult, score: float) -> _Weak:
    missed = tuple(verdict.claim.text for verdict in result.verdicts if not verdict.supported)
    return _Weak(score / result.scale, item.index, item.sample.id, result.scorer_id, score, missed)


def _md(text: str, width: int | None = None) -> str:
    """Text that Markdown shows as it is, on one line: no markup, HTML, mention or link comes of it."""
    plain = printable(text, width).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKUP.sub(r"\\\1", plain)


def _data(text: str) -> str:
    return printable(text, 900).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
