"""A run as text, for a terminal or a log. Everything that came from data is made safe to print."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size

from ragcov.results import EvalsResult, ItemResult, Mean, ScorerResult, ScorerSummary

__all__ = ["ItemLines", "format_mean", "printable", "summary_lines"]


def printable(text: str, width: int | None = None) -> str:
    """One line that is safe on a terminal: no control, bidi or invisible characters, white space folded.

    Args:
        text: Any text.
        width: The longest it may get, in terminal cells; an ellipsis marks what was cut. None for no limit.
    """
    folded = " ".join(text.split())
    clean = "".join(char if unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co") else "\ufffd" for char in folded)
    return clean if width is None else _cut(clean, width)


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…"


def _pad(text: str, width: int) -> str:
    return text + " " * max(0, width - cell_len(text))


def format_mean(mean: Mean) -> str:
    """ "0.78 (95 % CI 0.66 to 0.90, n = 16)"; says so when there is no score or no interval."""
    if mean.value is None:
        return "no score (n = 0)"
    if mean.low is None or mean.high is None:
        return f"{mean.value:.2f} (n = {mean.n}, too few for an interval)"
    return f"{mean.value:.2f} (95 % CI {mean.low:.2f} to {mean.high:.2f}, n = {mean.n})"


class ItemLines:
    """Formats rows one by one: a row for each sample and scorer, and what was missed under it."""

    def __init__(self, *, several_scorers: bool) -> None:
        self._several = several_scorers

    def heading(self) -> str:
        """The heading of the rows."""
        return f"{_pad('sample', 22)} {'score':>6}  {'claims':>7}  " + ("scorer" if self._several else "input")

    def of(self, item: ItemResult) -> Iterator[str]:
        """The lines of a sample."""
        if item.error is not None:
            name = _pad(printable(item.sample.id, 22), 22)
            yield f"{name} failed  ({item.error.step}) {printable(item.error.message)}"
            return
        for scorer_id, result in item.scorer_results.items():
            yield self._row(item, scorer_id, result)
            yield from _notes(result)

    def _row(self, item: ItemResult, scorer_id: str, result: ScorerResult) -> str:
        name = _pad(printable(item.sample.id, 22), 22)
        if result.state == "failed" and result.error is not None:
            step = f" ({result.error.step})" if result.error.step else ""
            return f"{name} failed  {scorer_id}{step}: {printable(result.error.message)}"
        if result.state == "not_scorable":
            scorer = f"{scorer_id}: " if self._several else ""
            return f"{name}      –  {scorer}{printable(result.reason)}"
        claims = "" if result.tally is None else f"{result.tally.attributed}/{result.tally.total}"
        about = scorer_id if self._several else _question(item)
        return f"{name} {result.score:>6.2f}  {claims:>7}  {about}".rstrip()


def _question(item: ItemResult) -> str:
    return printable(item.sample.input, 46) if isinstance(item.sample.input, str) else ""


def _notes(result: ScorerResult) -> Iterator[str]:
    for verdict in result.verdicts:
        if not verdict.supported:
            kind = "contradicted" if verdict.contradicted else "missed"
            reason = f" – {printable(verdict.reason)}" if verdict.reason else ""
            yield f"    {kind}: {printable(verdict.claim.text)}{reason}"
    if result.state == "scored" and result.tally is None and not result.verdicts and result.reason:
        yield f"    {printable(result.reason)}"
    for warning in result.warnings:
        if result.state == "scored":
            yield f"    warning: {printable(warning)}"


def summary_lines(result: EvalsResult) -> Iterator[str]:
    """Totals with their n, the judge, the cost, and what the verdict rests on."""
    summary = result.summary
    for scorer_id, scorer in summary.scorers.items():
        yield from _scorer_lines(scorer_id, scorer)
    usage = summary.usage
    if usage.calls or usage.cached_calls:
        yield (
            f"judge calls: {usage.calls} ({usage.cached_calls} more from the cache), "
            f"tokens: {usage.input_tokens} in, {usage.output_tokens} out"
        )
    for warning in result.warnings:
        yield f"warning: {printable(warning)}"
    for problem in result.problems:
        yield f"not met: {printable(problem)}"


def _scorer_lines(scorer_id: str, scorer: ScorerSummary) -> Iterator[str]:
    scale = "" if scorer.scale == 1 else f" of {scorer.scale:g}"
    yield f"{scorer_id}: mean {format_mean(scorer.mean)}{scale}"
    states = [f"{scorer.scored} scored", f"{scorer.not_scorable} not scorable", f"{scorer.failed} failed"]
    yield f"  samples: {', '.join(states)}"
    if scorer.tally is not None and scorer.tally.total:
        samples = "a sample" if scorer.untallied == 1 else f"{scorer.untallied} samples"
        left_out = f", not counting those of {samples} without context (score 0)" if scorer.untallied else ""
        yield f"  claims: {scorer.tally.attributed} of {scorer.tally.total} supported{left_out}"
    if scorer.judge is not None:
        yield f"  judge: {scorer.judge}"
