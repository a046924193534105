"""Cases with a dataset: batch runs, with faults, delays, thresholds and interfaces."""

from __future__ import annotations

import asyncio
import builtins
import io
import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from casekit.expect import Check, UnknownKeyError, check
from casekit.outcome import Outcome
from ragcov import FROM_SAMPLE, Scorer, create_context_recall_scorer, create_scorer, run_evals, run_evals_sync
from ragcov.cli import main
from ragcov.errors import RagcovError
from ragcov.evals import run_info
from ragcov.reports.files import ResultsWriter
from ragcov.reports.progress import Progress
from ragcov.results import EvalsResult, ItemResult, ScorerResult
from ragcov.testing import ScriptedJudge

SETUP = {
    "concurrency", "concurrency_values", "delays_ms", "fault", "faults", "interface", "run_with", "scorers",
    "thresholds", "timeout_s",
}  # fmt: skip


async def run_dataset(case: dict[str, Any], folder: Path) -> set[str]:
    """Asserts the case's expectations; returns the keys that are not known."""
    setup, expect = case.get("setup") or {}, case["expect"]
    started = time.monotonic()
    unknown = {f"setup: {key}" for key in set(setup) - SETUP}
    further: dict[str, Check] = {**CHECKS, **_cli_checks(case, folder)}

    def finishes_within(_: Outcome, seconds: float, _expect: dict[str, Any]) -> None:
        assert time.monotonic() - started < seconds

    further["finishes_within_s"] = finishes_within
    for outcome in await _outcomes(case, folder):
        unknown |= check(expect, outcome, further)
    return unknown


async def _outcomes(case: dict[str, Any], folder: Path) -> list[Outcome]:
    setup = case.get("setup") or {}
    interface = setup.get("interface")
    if interface == "cli":
        return [Outcome()]
    if interface not in (None, "async", "sync", "sync in a running loop"):
        raise UnknownKeyError(f"interface: {interface}")
    if "concurrency_values" in setup:
        return [await _run(case, folder, concurrency=value) for value in setup["concurrency_values"]]
    modes = setup.get("run_with") or ["progress off"]
    return [await _run(case, folder, progress="on" in mode.split()) for mode in modes]


async def _run(
    case: dict[str, Any], folder: Path, *, concurrency: int | None = None, progress: bool = False
) -> Outcome:
    setup, rows = case.get("setup") or {}, case["dataset"]
    judge = _judge(rows, setup)
    path = folder / "results.jsonl"
    on_disk: dict[str, set[str]] = {}
    try:
        scorers = _scorers(setup.get("scorers"), judge)
        info = run_info(scorers, dataset=None, timeout=None)
        with ResultsWriter(path, info) as writer, pytest.MonkeyPatch.context() as patch:
            if progress:
                patch.setattr(sys, "stdout", _Terminal())
            with Progress(len(rows)) as bar:

                def on_result(item: ItemResult) -> None:
                    writer.write(item)
                    bar.advance()

                def on_item_complete(*, item: Any, target_result: Any, scorer_results: Any) -> None:
                    on_disk[item.id] = _ids_on_disk(path)

                options: dict[str, Any] = {
                    "data": rows,
                    "scorers": scorers,
                    "concurrency": setup.get("concurrency", 4) if concurrency is None else concurrency,
                    "timeout": setup.get("timeout_s", 120),
                    "on_item_complete": on_item_complete,
                    "on_result": on_result,
                }
                interface = setup.get("interface")
                if interface == "sync":
                    run = await asyncio.to_thread(run_evals_sync, **options)
                else:
                    run = (
                        run_evals_sync(**options)
                        if interface == "sync in a running loop"
                        else await run_evals(**options)
                    )
    except RagcovError as error:
        return Outcome(error=error)
    extra = {"on_disk": on_disk, "output_file": path.read_text(encoding="utf-8"), "hanging": _hanging(setup)}
    return Outcome(run=run, extra=extra)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def _ids_on_disk(path: Path) -> set[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {json.loads(line)["sample"]["id"] for line in lines[1:]}


def _faults(setup: dict[str, Any]) -> list[dict[str, Any]]:
    return [*setup.get("faults", []), *([setup["fault"]] if "fault" in setup else [])]


def _hanging(setup: dict[str, Any]) -> list[str]:
    return [fault["row"] for fault in _faults(setup) if fault.get("hang")]


def _judge(rows: list[dict[str, Any]], setup: dict[str, Any]) -> ScriptedJudge:
    texts = {row["id"]: row["ground_truth"] for row in rows}
    faults: dict[str, Any] = {}
    for fault in _faults(setup):
        if unknown := fault.keys() - {"row", "raise", "hang", "always"}:
            raise UnknownKeyError(f"fault: {', '.join(sorted(unknown))}")
        for row in texts if fault["row"] == "all" else [fault["row"]]:
            if fault.get("hang"):
                faults[texts[row]] = "hang"
            else:
                name, _, message = fault["raise"].partition(": ")
                faults[texts[row]] = getattr(builtins, name, RuntimeError)(message)
    delays = {texts[row]: ms / 1000 for row, ms in (setup.get("delays_ms") or {}).items()}
    return ScriptedJudge(faults=faults, delays=delays)


def _scorers(names: list[str] | None, judge: ScriptedJudge) -> list[Scorer]:
    if names is None:
        return [create_context_recall_scorer(model=judge, context=FROM_SAMPLE)]
    return [_scorer(name, judge) for name in names]


def _scorer(name: str, judge: ScriptedJudge) -> Scorer:
    if match := re.fullmatch(r"context_recall(?: scale (\d+(?:\.\d+)?))?", name):
        return create_context_recall_scorer(model=judge, context=FROM_SAMPLE, scale=float(match[1] or 1))
    match = re.search(r"raises (\w+)\('(.*)'\) on (\w+)", name)
    if match is None:
        raise UnknownKeyError(f"scorer: {name}")

    def generate_score(step: Any) -> float:
        if step.run.id == match[3]:
            raise getattr(builtins, match[1])(match[2])
        return 1.0

    return create_scorer(id="custom", generate_score=generate_score)


def _recall(item: ItemResult) -> ScorerResult:
    return next(iter(item.scorer_results.values()))


def _run_of(outcome: Outcome) -> EvalsResult:
    assert outcome.run is not None, outcome.error_text
    return outcome.run


def _by_id(outcome: Outcome) -> dict[str, ItemResult]:
    return {item.sample.id: item for item in _run_of(outcome).items}


def _row_ids_in_order(outcome: Outcome, value: list[str], _: dict[str, Any]) -> None:
    assert [item.sample.id for item in _run_of(outcome).items] == value


def _row_scores(outcome: Outcome, value: dict[str, float], _: dict[str, Any]) -> None:
    for row, score in value.items():
        assert _recall(_by_id(outcome)[row]).score == pytest.approx(score, abs=0.01)


def _row_errors(outcome: Outcome, value: dict[str, list[str]], _: dict[str, Any]) -> None:
    failed = {row: item for row, item in _by_id(outcome).items() if item.failed}
    assert set(failed) == set(value)
    for row, words in value.items():
        error = failed[row].error or _recall(failed[row]).error
        assert error is not None
        assert any(word.casefold() in error.message.casefold() for word in words), error


def _summary(outcome: Outcome, value: dict[str, Any], _: dict[str, Any]) -> None:
    run = _run_of(outcome).summary
    summary = next(iter(run.scorers.values()))
    known = {
        "ok": summary.scored,
        "scored": summary.scored,
        "n": summary.mean.n,
        "failed": summary.failed,
        "skipped": summary.not_scorable,
        "not_scorable": summary.not_scorable,
        "total": run.total_items,
        "mean": summary.mean.value,
    }
    for key in value.keys() & known.keys():
        if value[key] is None:
            assert known[key] is None, key
        else:
            assert known[key] == pytest.approx(value[key], abs=value.get("tolerance", 0.005)), key
    if unknown := value.keys() - known.keys() - {"tolerance"}:
        raise UnknownKeyError(", ".join(sorted(unknown)))


def _results_on_disk(outcome: Outcome, _value: bool, _: dict[str, Any]) -> None:
    for hanging in outcome.extra["hanging"]:
        finished = list(_by_id(outcome)).index(hanging)
        before = set(list(_by_id(outcome))[:finished])
        assert outcome.extra["on_disk"][hanging] == before


def _distinct_columns(outcome: Outcome, value: int, _: dict[str, Any]) -> None:
    columns = {name for item in _run_of(outcome).items for name in item.scorer_results if "recall" in name}
    assert len(columns) == value


def _custom_error_isolated(outcome: Outcome, _value: bool, _: dict[str, Any]) -> None:
    """Holds of the scorers that can run together: the duplicate was refused before anything ran."""
    assert "duplicate" in outcome.error_text
    judge = ScriptedJudge()
    scorers = [
        create_context_recall_scorer(model=judge, context=FROM_SAMPLE),
        create_context_recall_scorer(model=judge, context=FROM_SAMPLE, scale=10, id="recall-of-ten"),
        _scorer("custom scorer that raises ValueError('boom') on r2", judge),
    ]
    data = [{"id": row, "ground_truth": "Dogs travel free.", "contexts": ["Dogs travel free."]} for row in ("r1", "r2")]
    run = run_evals_sync(data=data, scorers=scorers)
    first, second = run.items
    assert not first.failed
    assert first.scorer_results["recall-of-ten"].score == 10
    assert second.scorer_results["custom"].state == "failed"
    assert "boom" in second.scorer_results["custom"].reason
    assert second.scorer_results["context-recall-scorer"].score == 1


CHECKS: dict[str, Check] = {
    "custom_scorer_error_isolated": _custom_error_isolated,
    "distinct_result_columns": _distinct_columns,
    "results_on_disk_before_end": _results_on_disk,
    "row_errors": _row_errors,
    "row_ids_in_order": _row_ids_in_order,
    "row_scores": _row_scores,
    "summary": _summary,
}


def _cli_checks(case: dict[str, Any], folder: Path) -> dict[str, Check]:
    setup: dict[str, Any] = case.get("setup") or {}

    def exit_code(*arguments: str) -> int:
        path = folder / "dataset.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in case["dataset"]), encoding="utf-8")
        if _faults(setup):
            # A judge with faults can't be named on a command line; the command runs here, with that judge in place.
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("ragcov.commands.run.load_judge", lambda *_, **__: _judge(case["dataset"], setup))
                timeout = ("--timeout", str(setup["timeout_s"])) if "timeout_s" in setup else ()
                return main(["run", str(path), "--no-store", *timeout, *arguments])
        command = [sys.executable, "-m", "ragcov.cli", "run", str(path), *arguments]
        return subprocess.run(command, capture_output=True, check=False).returncode

    def code_of(name: str) -> int:
        if match := re.fullmatch(r"threshold (\d+(?:\.\d+)?)", name):
            return exit_code("--fail-under", match[1])
        known = {"below threshold": ("--fail-under", "1"), "bad usage": ("--no-such-option",)}
        if name not in known:
            raise UnknownKeyError(name)
        return exit_code(*known[name])

    def exit_codes(_: Outcome, value: dict[str, str], _expect: dict[str, Any]) -> None:
        for name, wanted in value.items():
            code = code_of(name)
            assert code != 0 if wanted == "non-zero" else code == int(wanted), (name, code)

    def single_code(outcome: Outcome, value: Any, expect: dict[str, Any]) -> None:
        code = exit_code(*(("--fail-under", str(thresholds[0])) if thresholds else ()))
        assert code != 0 if value == "non-zero" else code == int(value), code

    def codes_differ(_: Outcome, value: list[str], _expect: dict[str, Any]) -> None:
        codes = [code_of(name) for name in value]
        assert len(set(codes)) == len(codes), codes

    thresholds = setup.get("thresholds") or []
    return {"exit_code": single_code, "exit_codes": exit_codes, "codes_differ_between": codes_differ}
