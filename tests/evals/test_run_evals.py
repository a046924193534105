"""run_evals: order, isolation, thresholds, targets, timeouts."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ragcov import FROM_SAMPLE, Sample, create_context_recall_scorer, create_scorer, run_evals, run_evals_sync
from ragcov.errors import DataError, FatalProviderError, RunInterrupted, UsageError
from ragcov.testing import ScriptedJudge


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"r{number}",
            "input": f"q{number}",
            "ground_truth": f"Fact {number} holds.",
            "context": [f"Fact {number} holds."],
        }
        for number in range(count)
    ]


def recall(judge: Any = None, **options: Any) -> Any:
    return create_context_recall_scorer(model=judge or ScriptedJudge(), context=FROM_SAMPLE, **options)


async def test_order_and_ids_are_those_of_the_data() -> None:
    judge = ScriptedJudge(delays={f"Fact {n} holds": 0.05 if n % 3 == 0 else 0.0 for n in range(12)})
    result = await run_evals(data=rows(12), scorers=[recall(judge)], concurrency=4)
    assert [item.sample.id for item in result.items] == [f"r{n}" for n in range(12)]
    assert [item.index for item in result.items] == list(range(12))
    assert judge.concurrency == 4
    assert result.summary.total_items == 12
    assert result.scores == {"context-recall-scorer": 1.0}
    assert result.verdict is None


async def test_one_failing_row_loses_no_other() -> None:
    judge = ScriptedJudge(faults={"Fact 1 holds": RuntimeError("quota gone")})
    result = await run_evals(data=rows(3), scorers=[recall(judge)])
    first, second, third = (item.scorer_results["context-recall-scorer"] for item in result.items)
    assert (first.score, third.score) == (1, 1)
    assert second.state == "failed"
    assert second.score is None
    assert second.error is not None
    assert (second.error.type, second.error.message, second.error.step) == ("RuntimeError", "quota gone", "preprocess")
    summary = result.summary.scorers["context-recall-scorer"]
    assert (summary.scored, summary.failed, summary.mean.n, summary.mean.value) == (2, 1, 2, 1.0)


async def test_a_failed_row_keeps_what_it_cost_and_what_was_found() -> None:
    broken = ScriptedJudge(verdicts=[])
    hanging = ScriptedJudge(verdicts=lambda claim, chunks: "yes", delays={"Fact 0 holds.": 0.15})
    data = [{"id": "r0", "ground_truth": "Fact 0 holds.", "context": ["x"]}]
    failed = (await run_evals(data=data, scorers=[recall(broken)])).items[0].scorer_results["context-recall-scorer"]
    late = await run_evals(data=data, scorers=[recall(hanging)], timeout=0.2)
    assert failed.error is not None
    assert failed.error.step == "analyze"
    assert [claim.text for claim in failed.claims] == ["Fact 0 holds."]
    assert failed.usage.calls == broken.calls == 4
    assert late.summary.usage.calls == hanging.calls == 2


async def test_the_three_states_are_counted_apart() -> None:
    data = [*rows(2), {"id": "none", "context": ["x"]}, {"id": "empty", "ground_truth": "Fact.", "context": []}]
    result = await run_evals(data=data, scorers=[recall()])
    summary = result.summary.scorers["context-recall-scorer"]
    assert (summary.scored, summary.not_scorable, summary.failed) == (3, 1, 0)
    assert summary.mean.value == pytest.approx(2 / 3)


async def test_a_record_that_can_not_be_read_fails_alone() -> None:
    data: list[Any] = [rows(1)[0], {"id": "bad", "ground_truth": "Fact.", "context": 5}, DataError("torn", line=3)]
    result = await run_evals(data=data, scorers=[recall()])
    assert [item.failed for item in result.items] == [False, True, True]
    assert result.items[1].error is not None
    assert "context" in result.items[1].error.message


async def test_ids_used_twice_fail() -> None:
    result = await run_evals(data=[*rows(1), *rows(1)], scorers=[recall()])
    assert [item.failed for item in result.items] == [False, True]


async def test_a_file_with_a_bad_record_is_refused_before_anything_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"ground_truth": "Fact.", "context": ["Fact."]}\n{"ground_truth":\n', encoding="utf-8")
    judge = ScriptedJudge()
    with pytest.raises(DataError, match=r"data\.jsonl, line 2"):
        await run_evals(data=path, scorers=[recall(judge)])
    assert judge.calls == 0


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, True])
async def test_concurrency_below_one_is_refused(concurrency: Any) -> None:
    with pytest.raises(UsageError, match="concurrency"):
        await run_evals(data=rows(1), scorers=[recall()], concurrency=concurrency)


async def test_duplicate_names_are_refused() -> None:
    with pytest.raises(UsageError, match="duplicate scorer name: context-recall-scorer"):
        await run_evals(data=rows(1), scorers=[recall(), recall(scale=10)])


@pytest.mark.parametrize("scorers", [[], ["context-recall"], [{"scorer": "x"}], [{"scorer": None, "threshold": 1}]])
async def test_what_is_no_scorer_is_refused(scorers: Any) -> None:
    with pytest.raises(UsageError):
        await run_evals(data=rows(1), scorers=scorers)


class TestVerdict:
    @pytest.mark.parametrize(
        ("threshold", "verdict"),
        [(0.5, "passed"), (0.6, "scored"), ({"min": 0.2, "max": 0.5}, "passed"), ({"max": 0.4}, "scored")],
    )
    async def test_thresholds(self, threshold: Any, verdict: str) -> None:
        judge = ScriptedJudge(verdicts={"Fact 0": "yes", "Fact 1": "no"})
        result = await run_evals(data=rows(2), scorers=[{"scorer": recall(judge), "threshold": threshold}])
        assert result.verdict == verdict
        assert bool(result.problems) == (verdict == "scored")

    async def test_gates(self) -> None:
        perfect = create_scorer(id="perfect", generate_score=lambda _: 1)
        half = create_scorer(id="half", generate_score=lambda step: float(step.run.id == "r0"))
        passed = await run_evals(data=rows(2), scorers=[recall()], gates=[perfect])
        failed = await run_evals(data=rows(2), scorers=[recall()], gates=[perfect, half])
        lower = await run_evals(data=rows(2), scorers=[recall()], gates=[{"scorer": half, "threshold": 0.5}])
        assert (passed.verdict, failed.verdict, lower.verdict) == ("passed", "failed", "passed")
        assert "half" in failed.problems[0]

    async def test_rows_whose_target_failed_pass_no_gate(self) -> None:
        def target(input: str) -> str:
            if input == "q1":
                raise ConnectionError("down")
            return "fine"

        result = await run_evals(data=rows(2), scorers=[], gates=[recall()], target=target)
        assert result.verdict == "failed"
        summary = result.summary.scorers["context-recall-scorer"]
        assert (summary.scored, summary.failed) == (1, 1)

    async def test_rows_without_a_score_pass_no_gate(self) -> None:
        judge = ScriptedJudge(faults={"Fact 1": RuntimeError("gone")})
        result = await run_evals(data=rows(2), scorers=[], gates=[recall(judge)])
        assert result.verdict == "failed"

    @pytest.mark.parametrize("threshold", ["high", True, float("nan"), 2, {}, {"low": 1}, {"min": 1, "max": 0}])
    async def test_bad_thresholds_are_refused(self, threshold: Any) -> None:
        with pytest.raises(UsageError, match="threshold"):
            await run_evals(data=rows(1), scorers=[{"scorer": recall(), "threshold": threshold}])


class TestTarget:
    async def test_sync_ones_run_in_threads(self) -> None:
        names: set[str] = set()

        def target(input: str) -> dict[str, Any]:
            names.add(threading.current_thread().name)
            return {"output": "an answer", "context": [f"Fact {input[1:]} holds."]}

        result = await run_evals(data=rows(3), scorers=[recall()], target=target)
        assert result.scores == {"context-recall-scorer": 1.0}
        assert result.items[0].sample.output == "an answer"
        assert threading.main_thread().name not in names

    async def test_retrievers_give_the_context(self) -> None:
        class Retriever:
            def retrieve(self, query: str) -> list[Any]:
                return [{"text": "nothing"}, f"Fact {query[1:]} holds."]

        result = await run_evals(data=rows(2), scorers=[recall()], target=Retriever())
        assert result.items[1].sample.context == ["nothing", "Fact 1 holds."]

    @pytest.mark.parametrize("name", ["generate", "run", "invoke"])
    async def test_objects(self, name: str) -> None:
        async def method(input: str) -> str:
            return f"answer to {input}"

        target = type("Agent", (), {name: staticmethod(method)})()
        result = await run_evals(data=rows(1), scorers=[recall()], target=target)
        assert result.items[0].sample.output == "answer to q0"

    async def test_what_it_raises_or_leaves_out_fails_the_row(self) -> None:
        def target(input: str) -> str | None:
            if input == "q0":
                raise ValueError("index is missing")
            return None if input == "q1" else "fine"

        result = await run_evals(data=rows(3), scorers=[recall()], target=target)
        errors = [item.error for item in result.items]
        assert errors[0] is not None
        assert (errors[0].step, errors[0].type) == ("target", "TargetError")
        assert "index is missing" in errors[0].message
        assert errors[1] is not None
        assert "None" in errors[1].message
        assert errors[2] is None

    async def test_what_can_not_be_called_is_refused(self) -> None:
        with pytest.raises(UsageError, match="target"):
            await run_evals(data=rows(1), scorers=[recall()], target=object())


class TestTimeout:
    async def test_a_judge_that_hangs(self) -> None:
        judge = ScriptedJudge(faults={"Fact 1": "hang"})
        result = await run_evals(data=rows(3), scorers=[recall(judge)], timeout=0.2)
        second = result.items[1].scorer_results["context-recall-scorer"]
        assert second.error is not None
        assert second.error.type == "RowTimeoutError"
        assert "timed out" in second.error.message
        assert result.summary.scorers["context-recall-scorer"].scored == 2

    async def test_a_sync_target_that_hangs(self) -> None:
        release = threading.Event()

        def target(input: str) -> str:
            if input == "q1":
                release.wait(30)
            return "fine"

        result = await run_evals(data=rows(3), scorers=[recall()], target=target, timeout=0.3)
        release.set()
        assert result.items[1].error is not None
        assert (result.items[1].error.step, result.items[1].error.type) == ("target", "RowTimeoutError")
        assert not result.items[2].failed

    @pytest.mark.parametrize("timeout", [0, -1])
    async def test_refused(self, timeout: float) -> None:
        with pytest.raises(UsageError, match="timeout"):
            await run_evals(data=rows(1), scorers=[recall()], timeout=timeout)


class TestCallbacks:
    async def test_on_item_complete(self) -> None:
        seen: list[tuple[str, Any, float | None]] = []

        async def on_item_complete(*, item: Sample, target_result: Any, scorer_results: Any) -> None:
            seen.append((item.id, target_result, scorer_results["context-recall-scorer"].score))

        await run_evals(data=rows(2), scorers=[recall()], target=lambda q: f"a{q}", on_item_complete=on_item_complete)
        assert sorted(seen) == [("r0", "aq0", 1.0), ("r1", "aq1", 1.0)]

    async def test_its_faults_cost_no_row(self) -> None:
        def on_item_complete(**_: Any) -> None:
            raise ValueError("boom")

        result = await run_evals(data=rows(2), scorers=[recall()], on_item_complete=on_item_complete)
        assert len(result.items) == 2
        assert "boom" in result.warnings[0]

    async def test_on_result_comes_in_order(self) -> None:
        order: list[str] = []
        judge = ScriptedJudge(delays={"Fact 0 holds": 0.1})
        result = await run_evals(
            data=rows(4), scorers=[recall(judge)], on_result=lambda item: order.append(item.sample.id), keep_items=False
        )
        assert order == ["r0", "r1", "r2", "r3"]
        assert result.items == ()
        assert result.summary.total_items == 4


async def test_a_fatal_error_stops_the_run_and_keeps_finished_rows() -> None:
    judge = ScriptedJudge(faults={"Fact 2": FatalProviderError("401: wrong key", status=401)}, delay=0.01)
    with pytest.raises(FatalProviderError, match="wrong key") as caught:
        await run_evals(data=rows(100), scorers=[recall(judge)], concurrency=1)
    assert [item.sample.id for item in caught.value.result.items] == ["r0", "r1"]
    assert judge.calls < 10


async def test_scorers_that_share_a_judge_ask_it_once() -> None:
    judge = ScriptedJudge()
    result = await run_evals(data=rows(3), scorers=[recall(judge), recall(judge, scale=10, id="ten")])
    assert judge.calls == 6
    assert result.scores == {"context-recall-scorer": 1.0, "ten": 10.0}


def test_sync_inside_a_running_loop() -> None:
    async def notebook_cell() -> dict[str, float | None]:
        return run_evals_sync(data=rows(2), scorers=[recall("offline")]).scores

    assert asyncio.run(notebook_cell()) == {"context-recall-scorer": 1.0}


def test_interrupted_keeps_finished_rows() -> None:
    import os
    import signal

    judge = ScriptedJudge(faults={"Fact 3": "hang"})

    def on_result(item: Any) -> None:
        if item.sample.id == "r2":
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(RunInterrupted, match="3 rows had finished") as caught:
        run_evals_sync(data=rows(10), scorers=[recall(judge)], concurrency=1, on_result=on_result)
    assert [item.sample.id for item in caught.value.result.items] == ["r0", "r1", "r2"]


async def test_data_is_read_as_it_is_needed() -> None:
    read = 0

    def data() -> Any:
        nonlocal read
        for row in rows(500):
            read += 1
            yield row

    judge = ScriptedJudge(faults={"Fact 5 ": FatalProviderError("stop")})
    with pytest.raises(FatalProviderError):
        await run_evals(data=data(), scorers=[recall(judge)], concurrency=2)
    assert read < 60


async def test_summary_of_no_rows() -> None:
    result = await run_evals(data=[], scorers=[recall()])
    assert result.summary.total_items == 0
    assert result.scores == {"context-recall-scorer": None}


def test_a_hung_target_does_not_keep_the_process_alive(tmp_path: Path) -> None:
    import subprocess
    import sys

    script = tmp_path / "hang.py"
    script.write_text(
        "import time, ragcov\n"
        "scorer = ragcov.create_context_recall_scorer(model='offline', context=ragcov.FROM_SAMPLE)\n"
        "r = ragcov.run_evals_sync(data=[{'input': 'q', 'ground_truth': 'A.'}], scorers=[scorer],\n"
        "    target=lambda q: time.sleep(600), timeout=0.2)\n"
        "print(r.items[0].error.type)\n",
        encoding="utf-8",
    )
    started = time.monotonic()
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "RowTimeoutError"
    assert time.monotonic() - started < 50
