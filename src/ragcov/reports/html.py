"""The coverage report: HTML files that need nothing but a browser.

Rows are spooled to a temporary file as they come, since the worst stand first and only the end tells which those are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType

from ragcov.errors import StoreError, UsageError
from ragcov.messages import input_text
from ragcov.reports.curve import CurveBuilder
from ragcov.reports.files import to_json
from ragcov.reports.html_pages import Entry, PageWriter, Spool
from ragcov.results import ItemResult, RunInfo, Totals

__all__ = ["HtmlReport", "write_html"]

_RECALL = "context-recall-scorer"
_NOT_RECALL = ("context-precision-scorer", "context-relevance-scorer", "faithfulness-scorer")


class HtmlReport:
    """Takes a run row by row and writes its report when closed.

    One file when it stays under 1 MB; a run of up to 200 samples is made to fit, if need be, by showing less of long
    texts, with a note wherever something is left out. Else the file holds the totals and the index, and the samples
    stand in further files beside it: report.html, report-2.html, ... The same rows give the same bytes.

    Args:
        path: The file; what it held before is replaced.
        info: What was run.
        notes: Sentences to show at the top.

    Raises:
        StoreError: When the file can't be written, at once and when closed.
    """

    def __init__(self, path: str | Path, info: RunInfo, *, notes: Sequence[str] = ()) -> None:
        self._path = Path(path)
        self._info = info
        self._notes = list(notes)
        try:
            self._path.open("ab").close()
        except OSError as error:
            raise StoreError(f"{path} can't be written: {error.strerror or error}") from error
        self._totals = Totals(info.scorers)
        self._scores: dict[str, list[float]] = {scorer_id: [] for scorer_id in info.scorers}
        self._curve = _curve_builder(info)
        self._entries: list[Entry] = []
        self._spool = Spool()

    def write(self, item: ItemResult) -> None:
        """Adds the result of one sample."""
        self._totals.add(item)
        for scorer_id, result in item.scorer_results.items():
            if result.state == "scored" and result.score is not None:
                self._scores[scorer_id].append(result.score)
        if self._curve is not None:
            try:
                self._curve.add(item)
            except UsageError:
                # A scorer of the user's own that keeps no verdicts: the report then has no curve.
                self._curve = None
        self._entries.append(_entry(item, self._info.scorers, self._spool.put(to_json(item))))

    def close(self) -> None:
        """Writes the report."""
        try:
            self._entries.sort(key=lambda entry: entry.order)
            curve = self._curve.curve() if self._curve is not None else None
            writer = PageWriter(self._path, self._info, self._notes, self._totals.summary(), self._scores, curve)
            writer.write(self._entries, self._spool)
        except OSError as error:
            raise StoreError(f"{self._path} can't be written: {error.strerror or error}") from error
        finally:
            self._spool.close()

    def __enter__(self) -> HtmlReport:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._notes.append(f"The run stopped before its end: {error or kind.__name__}. Finished rows only.")
        self.close()


def write_html(path: str | Path, info: RunInfo, items: Iterable[ItemResult]) -> None:
    """Writes the report of a whole run with `HtmlReport`."""
    with HtmlReport(path, info) as report:
        for item in items:
            report.write(item)


def _curve_builder(info: RunInfo) -> CurveBuilder | None:
    if _RECALL in info.scorers:
        return CurveBuilder(_RECALL)
    own = [scorer_id for scorer_id in info.scorers if scorer_id not in _NOT_RECALL]
    return CurveBuilder(own[0]) if len(own) == 1 else None


def _entry(item: ItemResult, scorers: Sequence[str], place: tuple[int, int]) -> Entry:
    results = [item.scorer_results[scorer_id] for scorer_id in scorers if scorer_id in item.scorer_results]
    state = "failed" if item.failed or not results else results[0].state
    verdicts = results[0].verdicts if results else ()
    first = results[0].score if results and state == "scored" else None
    below = first is not None and first < results[0].scale
    by_id = item.scorer_results
    scores = [by_id[s].score if s in by_id and by_id[s].scored else None for s in scorers]
    question = item.sample.input if isinstance(item.sample.input, str) else input_text(item.sample.input)
    return Entry(
        order=(("failed", "scored", "not_scorable").index(state), first or 0.0, item.index),
        index=item.index,
        id=item.sample.id,
        question=question if len(question) <= 160 else question[:159] + "…",
        state=state,
        kind=("missing" if below else "covered") if state == "scored" else state,
        scores=scores,
        attributed=sum(verdict.supported for verdict in verdicts),
        total=len(verdicts),
        place=place,
    )
