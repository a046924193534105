"""A run as JUnit XML, which CI systems show as test results."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from types import TracebackType

from ragcov.errors import StoreError
from ragcov.reports.text import format_mean
from ragcov.results import ItemResult, RunInfo, ScorerResult, Totals

__all__ = ["JunitWriter"]

# What XML 1.0 can't hold.
_INVALID = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class JunitWriter:
    """Takes a run row by row and writes it when closed: a suite a scorer, a case a sample, and a case for the mean.

    A sample that failed is an error, one that is not scorable is skipped, and any scored one passes: the threshold is
    for the mean, so its case alone can be a failure. Without failures and errors the run's exit code is 0.

    Args:
        path: The file; what it held before is replaced.
        info: What was run.
        fail_under: What each scorer's mean must reach; None for nothing.

    Raises:
        StoreError: When the file can't be written, at once and when closed.
    """

    def __init__(self, path: str | Path, info: RunInfo, *, fail_under: float | None = None) -> None:
        self._path = Path(path)
        self._info = info
        self._fail_under = fail_under
        self._totals = Totals(info.scorers)
        self._suites = {scorer_id: ET.Element("testsuite", name=_xml(scorer_id)) for scorer_id in info.scorers}
        for scorer_id, suite in self._suites.items():
            properties = ET.SubElement(suite, "properties")
            for name, value in (("dataset", info.dataset), ("judges", ", ".join(info.judges)), ("scorer", scorer_id)):
                ET.SubElement(properties, "property", name=name, value=_xml(value or ""))
        self._save(b"")

    def write(self, item: ItemResult) -> None:
        """Adds the result of one sample."""
        self._totals.add(item)
        for scorer_id, suite in self._suites.items():
            case = ET.SubElement(suite, "testcase", classname=_xml(scorer_id), name=_xml(item.sample.id))
            result = item.scorer_results.get(scorer_id)
            failure = item.error or (result.error if result else None)
            if failure is not None:
                ET.SubElement(case, "error", type=_xml(failure.type), message=_xml(failure.message))
            elif result is not None and result.state == "not_scorable":
                ET.SubElement(case, "skipped", message=_xml(result.reason))
            elif result is not None:
                ET.SubElement(case, "system-out").text = _xml("\n".join(_lines(result)))

    def close(self) -> None:
        """Writes the file."""
        root = ET.Element("testsuites", name="ragcov")
        for scorer_id, scorer in self._totals.summary().scorers.items():
            suite = self._suites[scorer_id]
            case = ET.SubElement(suite, "testcase", classname=_xml(scorer_id), name="mean of all samples")
            mean = scorer.mean
            if mean.value is None:
                ET.SubElement(case, "error", type="NoScore", message="no row could be scored")
            elif self._fail_under is not None and mean.value < self._fail_under - 1e-9:
                said = f"mean {format_mean(mean)} is below {self._fail_under:g}"
                ET.SubElement(case, "failure", type="BelowThreshold", message=said)
            else:
                ET.SubElement(case, "system-out").text = f"mean {format_mean(mean)}"
            root.append(suite)
        for element in (*self._suites.values(), root):
            for name, tag in (("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped",) * 2):
                element.set(name, str(sum(1 for _ in element.iter(tag))))
        ET.indent(root)
        self._save(ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n")

    def _save(self, content: bytes) -> None:
        try:
            self._path.write_bytes(content)
        except OSError as error:
            raise StoreError(f"{self._path} can't be written: {error.strerror or error}") from error

    def __enter__(self) -> JunitWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            for suite in self._suites.values():
                case = ET.SubElement(suite, "testcase", classname=suite.get("name", ""), name="the run")
                ET.SubElement(case, "error", type=kind.__name__, message=_xml(f"stopped before its end: {error}"))
        self.close()


def _lines(result: ScorerResult) -> list[str]:
    claims = f", {result.tally.attributed} of {result.tally.total} claims" if result.tally else ""
    lines = [f"score {result.score or 0:.2f} of {result.scale:g}{claims}"]
    for verdict in result.verdicts:
        if not verdict.supported:
            kind = "contradicted" if verdict.contradicted else "missed"
            lines.append(f"{kind}: {verdict.claim.text}" + (f" - {verdict.reason}" if verdict.reason else ""))
    return lines + [f"warning: {warning}" for warning in result.warnings]


def _xml(text: str) -> str:
    return _INVALID.sub("\ufffd", text)
