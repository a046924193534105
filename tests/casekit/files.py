"""Cases with a file: what reading it gives, and what a run over it says of each row."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from casekit.expect import Check, check
from casekit.outcome import Outcome
from ragcov import FROM_SAMPLE, create_context_recall_scorer, run_evals
from ragcov.errors import DataError, RagcovError
from ragcov.reports.files import read_results, write_csv, write_results
from ragcov.samples import read_samples

FIELDS = {"question": "input", "contexts": "context", "answer": "output", "reference": "ground_truth"}
SETUP = {"environments", "skip_bad", "map", "interface"}


def write_file(spec: dict[str, Any], folder: Path) -> Path:
    path = folder / spec["name"]
    if "table" in spec:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = spec["table"]
        pq.write_table(pa.table(table) if isinstance(table, dict) else pa.Table.from_pylist(table), path)
    elif "base64" in spec:
        import base64

        path.write_bytes(base64.b64decode(spec["base64"]))
    else:
        path.write_bytes(spec["content"].encode(spec.get("encoding", "utf-8")))
    return path


async def run_file(case: dict[str, Any], folder: Path) -> set[str]:
    """Asserts the case's expectations; returns the keys that are not known."""
    path = write_file(case["file"], folder)
    setup = case.get("setup") or {}
    outcome = await _read_and_run(path, setup)
    if case["expect"].get("error_contains_all") or case["expect"].get("error_contains_any"):
        await _assert_rest_is_kept(path, setup)

    def same_in_all_environments(_: Outcome, _value: Any, expect: dict[str, Any]) -> None:
        outputs = [_run_in(environment, path, folder) for environment in setup["environments"]]
        assert len(set(outputs)) == 1, outputs
        outcome.extra["output_file"] = outputs[0].decode("utf-8")

    def contains_literal(o: Outcome, words: list[str], _: dict[str, Any]) -> None:
        text = o.extra.get("output_file") or _run_in({}, path, folder).decode("utf-8")
        assert all(word in text for word in words), text

    def lacks(o: Outcome, words: list[str], _: dict[str, Any]) -> None:
        text = o.extra.get("output_file") or _run_in({}, path, folder).decode("utf-8")
        assert not any(word in text for word in words), text

    def round_trip(o: Outcome, _value: bool, _: dict[str, Any]) -> None:
        _assert_round_trip(o, folder)

    further: dict[str, Check] = {
        **CHECKS,
        "same_result_in_all_environments": same_in_all_environments,
        "output_file_contains_literal": contains_literal,
        "output_file_lacks": lacks,
        "round_trip_identical": round_trip,
    }
    return check(case["expect"], outcome, further) | {f"setup: {key}" for key in set(setup) - SETUP}


async def _read_and_run(path: Path, setup: dict[str, Any]) -> Outcome:
    bad: list[DataError] = []
    try:
        mapping = setup.get("map")
        samples = list(read_samples(path, mapping=mapping, on_bad=bad.append if setup.get("skip_bad") else None))
        scorer = create_context_recall_scorer(model="offline", context=FROM_SAMPLE)
        run = await run_evals(data=samples, scorers=[scorer]) if samples else None
    except RagcovError as error:
        return Outcome(error=error)
    single = run.items[0].scorer_results if run and len(run.items) == 1 else {}
    return Outcome(samples=samples, run=run, result=next(iter(single.values()), None))


async def _assert_rest_is_kept(path: Path, setup: dict[str, Any]) -> None:
    """A mode that keeps the good rows still reports each bad one."""
    bad: list[DataError] = []
    try:
        list(read_samples(path, mapping=setup.get("map"), on_bad=bad.append))
    except RagcovError:
        return
    assert bad, "a file that is refused must name its bad records when they are skipped"


def _run_in(environment: dict[str, str], path: Path, folder: Path) -> bytes:
    out = folder / "results.jsonl"
    command = [sys.executable, "-m", "ragcov.cli", "run", str(path), "--out", str(out)]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode("utf-8")
    return out.read_bytes()


def _assert_round_trip(outcome: Outcome, folder: Path) -> None:
    assert outcome.run is not None
    path = folder / "round.jsonl"
    write_results(path, outcome.run.info, outcome.run.items)
    info, items = read_results(path)
    assert info == outcome.run.info
    assert tuple(items) == outcome.run.items
    write_csv(folder / "round.csv", outcome.run.info, outcome.run.items)
    text = (folder / "round.csv").read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    for row, item in zip(rows, outcome.run.items, strict=True):
        assert json.loads(row["context"]) == item.sample.context


def _samples(outcome: Outcome) -> list[Any]:
    assert outcome.samples is not None, outcome.error_text
    return outcome.samples


def _rows(outcome: Outcome, value: int, _: dict[str, Any]) -> None:
    assert len(_samples(outcome)) == value


def _contexts_count(outcome: Outcome, value: Any, _: dict[str, Any]) -> None:
    counts = [len(sample.context or []) for sample in _samples(outcome)]
    if isinstance(value, dict):
        assert all(counts[int(row)] == count for row, count in value.items()), counts
    else:
        assert counts == (value if isinstance(value, list) else [value]), counts


def _contexts_equal(outcome: Outcome, value: dict[str, list[str]], _: dict[str, Any]) -> None:
    for row, chunks in value.items():
        assert _samples(outcome)[int(row)].context == chunks


def _field_values(outcome: Outcome, value: dict[str, dict[str, Any]], _: dict[str, Any]) -> None:
    for row, fields in value.items():
        sample = _samples(outcome)[int(row)]
        for name, expected in fields.items():
            own = FIELDS.get(name, name)
            found = getattr(sample, own) if hasattr(sample, own) else sample.extra.get(name)
            assert found == expected, (name, found)


def _rows_flagged(outcome: Outcome, value: list[int], _: dict[str, Any]) -> None:
    assert outcome.run is not None
    flagged = [
        item.index
        for item in outcome.run.items
        if item.failed or any(result.state == "not_scorable" for result in item.scorer_results.values())
    ]
    assert flagged == value
    for row in value:
        for result in outcome.run.items[row].scorer_results.values():
            assert result.reason


def _row_scores(outcome: Outcome, value: dict[str, float], _: dict[str, Any]) -> None:
    assert outcome.run is not None, outcome.error_text
    for row, score in value.items():
        for result in outcome.run.items[int(row)].scorer_results.values():
            assert result.score is not None and abs(result.score - score) <= 0.01, result


def _blank_lines_ignored(outcome: Outcome, _value: bool, _: dict[str, Any]) -> None:
    assert "blank" not in outcome.error_text.casefold()


CHECKS: dict[str, Check] = {
    "blank_lines_ignored": _blank_lines_ignored,
    "contexts_count": _contexts_count,
    "contexts_equal": _contexts_equal,
    "field_values": _field_values,
    "row_scores": _row_scores,
    "rows": _rows,
    "rows_flagged": _rows_flagged,
}
