"""The pytest plugin: coverage of retrieval as tests.

    @pytest.mark.ragcov(dataset="qa.jsonl", min_score=0.8, target=retrieve)
    def test_mean_recall(): ...

    @pytest.mark.ragcov(dataset="qa.jsonl", min_score=0.5)
    def test_each_question(ragcov, ragcov_sample):
        ragcov.check(ragcov_sample, context=retrieve(ragcov_sample.input))

    def test_one_question(ragcov):
        ragcov.check(input="...", ground_truth="...", context=retrieve("..."), min_recall=0.8)

Nothing of ragcov is loaded until a test asks for it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ragcov.results import EvalsResult, ScorerResult
    from ragcov.samples import Sample
    from ragcov.scorers.base import Scorer

__all__ = ["Ragcov"]

_MARKER = (
    "ragcov(dataset, min_score=None, target=None, judge=None, scorer='context-recall'): scores a dataset; the mean "
    "must reach min_score, or with the fixture ragcov_sample each sample's score"
)
_OPTIONS = frozenset({"dataset", "min_score", "target", "judge", "scorer"})
_FIELDS = frozenset({"id", "input", "ground_truth", "context", "output"})
_ROWS = "ragcov_rows"
_LISTED, _CLAIMS = 30, 10


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --ragcov-judge and the ini option ragcov_judge."""
    parser.getgroup("ragcov", "coverage of retrieval").addoption(
        "--ragcov-judge", metavar="MODEL", help='the judge: "offline" (the default) or "provider/model"'
    )
    parser.addini("ragcov_judge", 'the judge: "offline" or "provider/model"', default="offline")


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line("markers", _MARKER)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Makes a test of each sample where a test takes `ragcov_sample`."""
    if "ragcov_sample" not in metafunc.fixturenames:
        return
    options = _options(metafunc.definition)
    if "dataset" not in options:
        pytest.fail("ragcov_sample needs @pytest.mark.ragcov(dataset=...) on the test", pytrace=False)
    samples = _read(options["dataset"], metafunc.definition)
    metafunc.parametrize("ragcov_sample", samples, ids=[sample.id for sample in samples])


@pytest.fixture
def ragcov(request: pytest.FixtureRequest) -> Ragcov:
    """Checks what a retriever brought back: `ragcov.check(...)`, `ragcov.evaluate(...)`."""
    return _of(request.node)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Makes the check of a marked test that made none itself."""
    outcome = yield
    if item.get_closest_marker("ragcov") is not None:
        _of(item).finish()
    return outcome


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    """Sends what was checked along with the test's report, from xdist's workers as well."""
    report = yield
    checks = item.stash.get(_CHECKS, None)
    if checks is not None and call.when == "call" and checks.rows:
        setattr(report, _ROWS, checks.rows)
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Prints a table of what was checked, if anything was."""
    reports = [report for found in terminalreporter.stats.values() for report in found]
    rows = [row for report in reports for row in getattr(report, _ROWS, ())]
    if rows:
        terminalreporter.section("ragcov: coverage of retrieval")
        for line in _summary(rows):
            terminalreporter.write_line(line)


class Ragcov:
    """What the fixture `ragcov` gives a test.

    Attributes:
        rows: What was checked so far, as plain data for the summary.
    """

    def __init__(self, item: pytest.Item) -> None:
        self._item = item
        self._options = _options(item)
        self._checked = False
        self.rows: list[dict[str, Any]] = []

    def check(
        self, sample: Sample | Mapping[str, Any] | None = None, *, min_recall: float | None = None, **fields: Any
    ) -> ScorerResult:
        """Asserts that the context of one sample covers its ground truth.

        Args:
            sample: A sample, or a dict with its fields; None for the test's `ragcov_sample`, if it has one.
            min_recall: What the score must reach, 0 to 1. Without it the marker's `min_score`, or else 1: every claim.
            fields: `input`, `ground_truth`, `context`, `output`, in place of the sample's.

        Raises:
            AssertionError: When the score is lower, naming the missed claims, or when there is nothing to score.
        """
        __tracebackhide__ = True
        self._checked = True
        least = _least(self._options.get("min_score", 1) if min_recall is None else min_recall, "min_recall")
        row = self._sample(sample, fields)
        result = self._scorer().run_sync(
            input=row.input, output=row.output, ground_truth=row.ground_truth, context=row.context, id=row.id
        )
        self._keep(row.id, result, least)
        if problem := _shortfall(row.id, result, least):
            raise AssertionError(problem)
        return result

    def evaluate(
        self,
        dataset: str | Path | Sequence[Sample | Mapping[str, Any]] | None = None,
        *,
        target: Any = None,
        min_score: float | None = None,
    ) -> EvalsResult:
        """Asserts that the mean score over a dataset is high enough.

        Args:
            dataset: A file, or samples; None for the marker's.
            target: The system under test, as for `run_evals`; None for the marker's, or else none.
            min_score: What the mean must reach, 0 to 1; None for the marker's, or else no threshold: the check then
                fails for failed rows alone.

        Raises:
            AssertionError: When the mean is lower, naming the worst samples with their missed claims, when no row
                could be scored, or when rows failed.
        """
        __tracebackhide__ = True
        from ragcov.evals import run_evals_sync

        self._checked = True
        data = self._options.get("dataset") if dataset is None else dataset
        if data is None:
            pytest.fail("evaluate needs a dataset, from its argument or the marker", pytrace=False)
        least = self._options.get("min_score") if min_score is None else min_score
        least = None if least is None else _least(least, "min_score")
        scorer = self._scorer()
        result = run_evals_sync(
            data=_read(data, self._item) if isinstance(data, str | Path) else data,
            scorers=[scorer],
            target=target if target is not None else self._options.get("target"),
        )
        for item in result.items:
            if item.error is not None:
                self.rows.append({"sample": item.sample.id, "scorer": scorer.id, "failed": item.error.message})
            else:
                self._keep(item.sample.id, item.scorer_results[scorer.id], None)
        if problem := _mean_shortfall(result, scorer.id, least):
            raise AssertionError(problem)
        return result

    def finish(self) -> None:
        """Makes the marker's check, if the test made none."""
        __tracebackhide__ = True
        if self._checked:
            return
        sample = self._own_sample()
        self.evaluate([sample] if sample is not None else None)

    def _own_sample(self) -> Any:
        callspec: Any = getattr(self._item, "callspec", None)
        return callspec.params.get("ragcov_sample") if callspec is not None else None

    def _sample(self, sample: Sample | Mapping[str, Any] | None, fields: dict[str, Any]) -> Sample:
        import msgspec

        from ragcov.errors import UsageError
        from ragcov.samples import Sample, sample_from

        if unknown := set(fields) - _FIELDS:
            raise UsageError(f"check got unknown fields: {', '.join(sorted(unknown))}")
        if isinstance(fields.get("context"), str):
            raise UsageError("context must be a list of chunks, got one text: wrap it in a list")
        sample = self._own_sample() if sample is None else sample
        if isinstance(sample, Sample):
            return msgspec.structs.replace(sample, **fields)
        record = {**(sample or {}), **fields}
        return sample_from({"id": self._item.name, **record}, index=0)

    def _scorer(self) -> Scorer:
        from ragcov.judges import load_judge
        from ragcov.scorers.registry import make_scorer

        config = self._item.config
        judge = self._options.get("judge") or config.getoption("--ragcov-judge") or config.getini("ragcov_judge")
        judges = config.stash.setdefault(_JUDGES, {})
        if not isinstance(judge, str):
            return make_scorer(self._options.get("scorer", "context-recall"), model=judge)
        if judge not in judges:
            judges[judge] = load_judge(judge)
        return make_scorer(self._options.get("scorer", "context-recall"), model=judges[judge])

    def _keep(self, sample_id: str, result: ScorerResult, least: float | None) -> None:
        row: dict[str, Any] = {"sample": sample_id, "scorer": result.scorer_id, "least": least}
        if result.error is not None:
            row["failed"] = result.error.message
        elif not result.scored:
            row["left_out"] = result.reason
        else:
            row["score"] = result.score
            row["claims"] = [result.tally.attributed, result.tally.total] if result.tally else None
            row["missed"] = [verdict.claim.text for verdict in result.verdicts if not verdict.supported]
        self.rows.append(row)


_CHECKS = pytest.StashKey[Ragcov]()
_JUDGES = pytest.StashKey[dict[str, Any]]()


def _of(item: pytest.Item) -> Ragcov:
    if _CHECKS not in item.stash:
        item.stash[_CHECKS] = Ragcov(item)
    return item.stash[_CHECKS]


def _options(item: pytest.Item) -> dict[str, Any]:
    marker = item.get_closest_marker("ragcov")
    if marker is None:
        return {}
    options = dict(marker.kwargs)
    if len(marker.args) == 1 and "dataset" not in options:
        options["dataset"] = marker.args[0]
    elif marker.args:
        pytest.fail("@pytest.mark.ragcov takes its options by name, the dataset alone without one", pytrace=False)
    if unknown := set(options) - _OPTIONS:
        known = ", ".join(sorted(_OPTIONS))
        pytest.fail(f"@pytest.mark.ragcov has no option {', '.join(sorted(unknown))}; it takes {known}", pytrace=False)
    return options


def _read(dataset: str | Path, item: pytest.Item) -> list[Sample]:
    """The samples of a file, named relative to the test's directory or to the root directory."""
    from ragcov.errors import DataError
    from ragcov.samples import read_samples

    places = [item.path.parent / dataset, item.config.rootpath / dataset]
    path = next((place for place in places if place.exists()), None)
    if path is None:
        looked = " and ".join(str(place) for place in dict.fromkeys(places))
        pytest.fail(f"there is no dataset {dataset}; looked for {looked}", pytrace=False)
    try:
        return list(read_samples(path))
    except DataError as error:
        pytest.fail(str(error), pytrace=False)


def _least(value: Any, name: str) -> float:
    from ragcov.errors import UsageError

    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UsageError(f"{name} must be a number from 0 to 1, got {value!r}")
    return float(value)


def _shortfall(sample_id: str, result: ScorerResult, least: float) -> str | None:
    if not result.scored or result.score is None:
        return f'sample "{sample_id}": {result.reason}'
    if result.score >= least - 1e-9:
        return None
    claims = f"{result.tally.attributed} of {result.tally.total} claims supported, " if result.tally else ""
    name = result.scorer_id.removesuffix("-scorer").replace("-", " ")
    head = f'{name} {result.score:.2f} is below {least:g} ({claims}sample "{sample_id}", judge {result.judge})'
    return "\n".join([head, *_missed_lines(result)] if result.verdicts else [head, f"  {result.reason}"])


def _missed_lines(result: ScorerResult) -> list[str]:
    lines: list[str] = []
    for verdict in result.verdicts:
        if not verdict.supported:
            kind = "contradicted" if verdict.contradicted else "missed"
            lines.append(f"  {kind}: {verdict.claim.text}" + (f" – {verdict.reason}" if verdict.reason else ""))
    return lines


def _mean_shortfall(result: EvalsResult, scorer_id: str, least: float | None) -> str | None:
    from ragcov.reports.text import format_mean

    summary = result.summary.scorers[scorer_id]
    problems: list[str] = []
    if result.summary.failed_items:
        problems.append(f"{result.summary.failed_items} of {result.summary.total_items} samples failed")
    if summary.mean.value is None:
        problems.append("no sample could be scored")
    elif least is not None and summary.mean.value < least - 1e-9:
        problems.append(f"{scorer_id}: mean {format_mean(summary.mean)} is below {least:g}")
    if not problems:
        return None
    rows: list[tuple[float, str]] = []
    for item in result.items:
        found = item.scorer_results.get(scorer_id)
        failure = item.error or (found.error if found else None)
        if failure is not None:
            rows.append((-1, f'sample "{item.sample.id}" failed: {failure.message}'))
        elif found is not None and (problem := _shortfall(item.sample.id, found, found.scale)):
            rows.append((found.score or 0, problem))
    rows.sort(key=lambda row: row[0])
    problems += [text for _, text in rows[:_CLAIMS]]
    if len(rows) > _CLAIMS:
        problems.append(f"and {len(rows) - _CLAIMS} more samples below the full score")
    return "\n".join(problems)


def _summary(rows: Sequence[Mapping[str, Any]]) -> Generator[str]:
    from ragcov.reports.text import format_mean, printable
    from ragcov.results import mean_of

    for scorer_id in sorted({row["scorer"] for row in rows}):
        own = [row for row in rows if row["scorer"] == scorer_id]
        scored = sorted((row for row in own if "score" in row), key=lambda row: (row["score"], row["sample"]))
        mean = mean_of([row["score"] for row in scored], low=0, high=1)
        left_out = sum("left_out" in row for row in own)
        failed = [row for row in own if "failed" in row]
        yield f"{scorer_id}: mean {format_mean(mean)}; {left_out} not scorable, {len(failed)} failed"
        for row in failed[:_LISTED]:
            yield f"  {printable(row['sample'], 40):<40} failed: {printable(row['failed'], 200)}"
        below = [row for row in scored if row["score"] < 1]
        if below:
            yield f"  {'sample':<40} {'score':>6} {'least':>6}  {'claims':>7}  first missed claim"
        for row in below[:_LISTED]:
            claims = "{}/{}".format(*row["claims"]) if row["claims"] else ""
            least = "" if row["least"] is None else f"{row['least']:.2f}"
            missed = printable(row["missed"][0], 60) if row["missed"] else ""
            name = printable(row["sample"], 40)
            yield f"  {name:<40} {row['score']:>6.2f} {least:>6}  {claims:>7}  {missed}".rstrip()
        hidden = max(0, len(below) - _LISTED) + max(0, len(failed) - _LISTED)
        if hidden:
            yield f"  and {hidden} more below the full score or failed"
        if full := len(scored) - len(below):
            yield f"  {full} at the full score"
