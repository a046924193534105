"""Cases from real bug reports, run as data.

`RAGCOV_CASES=FILE` runs another file in the same vocabulary. What an expectation or a setup holds and the runner does
not know is never passed silently: the rest is asserted and the case is then skipped, naming it.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from casekit.datasets import run_dataset
from casekit.expect import Check, UnknownKeyError, check
from casekit.files import run_file
from casekit.outcome import Outcome
from casekit.rows import contexts_of, run_row, scorer_name, unknown_options
from ragcov.scorers.registry import SCORERS

PATH = Path(os.environ.get("RAGCOV_CASES") or Path(__file__).parent / "cases" / "open.jsonl")
CASES: list[dict[str, Any]] = [
    json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines() if line.strip()
]
ROW_SETUP = {"options"}
FIELDS = {
    "id", "from", "kind", "needs", "scorer", "input", "ground_truth", "contexts", "output", "outputs", "contexts_gen",
    "context_from", "file", "dataset", "judge_script", "setup", "expect", "note",
}  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
async def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    if scorer_name(case) not in SCORERS:
        pytest.skip(f"no scorer {scorer_name(case)}")
    run: Callable[..., Awaitable[set[str]]]
    run = run_file if "file" in case else run_dataset if "dataset" in case else _run_rows
    unknown = {f"field: {key}" for key in case.keys() - FIELDS}
    try:
        unknown |= await run(case, tmp_path)
    except UnknownKeyError as error:
        unknown.add(str(error))
    except AssertionError as error:
        if case["needs"] == "good-judge":
            pytest.xfail(f"the offline judge misses it: {error}")
        raise
    if unknown:
        pytest.skip(f"asserted but for what the runner does not know: {', '.join(sorted(unknown))}")


async def _run_rows(case: dict[str, Any], _: Path) -> set[str]:
    setup = case.get("setup") or {}
    unknown = {f"setup: {key}" for key in setup.keys() - ROW_SETUP}
    unknown |= {f"option: {key}" for key in unknown_options(case)}
    if case.get("context_from") not in (None, "tool results in output"):
        unknown.add(f"context_from: {case['context_from']}")
    outputs = case.get("outputs") or [case.get("output")]
    outcomes = [await run_row(case, output=output) for output in outputs]
    variants = {
        "same_result_if_contexts": lambda value: run_row(case, output=outputs[0], contexts=value),
        "same_result_if_repeated": lambda _: run_row(case, output=outputs[0]),
        "same_result_on_repeat": lambda _: run_row(case, output=outputs[0]),
        "same_result_if_contexts_shuffled": lambda _: run_row(
            case, output=outputs[0], contexts=_shuffled(contexts_of(case))
        ),
        "same_result_if_contexts_duplicated": lambda _: run_row(
            case, output=outputs[0], contexts=contexts_of(case) * 2
        ),
        "same_result_if_contexts_reversed": lambda _: run_row(
            case, output=outputs[0], contexts=contexts_of(case)[::-1]
        ),
    }
    further: dict[str, Check] = {}

    def same_for_all(_: Outcome, _value: bool, _expect: dict[str, Any]) -> None:
        assert len({outcome.comparable() for outcome in outcomes}) == 1

    further["same_result_for_all_outputs"] = same_for_all
    for key, vary in variants.items():
        if key in case["expect"]:
            varied = await vary(case["expect"][key])
            further[key] = lambda o, _v, _e, other=varied: _assert_same(o, other)
    if "less_than_if_contexts_reversed" in case["expect"]:
        reversed_outcome = await run_row(case, output=outputs[0], contexts=contexts_of(case)[::-1])

        def less(o: Outcome, _value: bool, _expect: dict[str, Any]) -> None:
            assert o.score is not None and reversed_outcome.score is not None
            assert o.score < reversed_outcome.score

        further["less_than_if_contexts_reversed"] = less
    for outcome in outcomes:
        unknown |= check(case["expect"], outcome, further)
    return unknown


def _shuffled(contexts: list[str]) -> list[str]:
    return random.Random(1).sample(contexts, len(contexts))


def _assert_same(outcome: Outcome, other: Outcome) -> None:
    assert outcome.comparable() == other.comparable()
