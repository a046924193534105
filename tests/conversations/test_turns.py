"""Samples of several turns: reading them, their own scorers and gates, and what is kept when one fails."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ragcov import FROM_SAMPLE, ItemResult, Sample, create_context_recall_scorer, create_scorer, run_evals
from ragcov.errors import DataError
from ragcov.messages import output_text
from ragcov.reports.files import read_results, write_results
from ragcov.samples import read_samples, sample_from, write_samples
from ragcov.testing import ScriptedJudge

WHOLE = create_scorer(id="whole", generate_score=lambda step: 1.0)


def says(text: str, **options: Any) -> Any:
    """A scorer of a turn: whether the output holds the text."""
    return create_scorer(id=f"says {text}", generate_score=lambda step: float(text in step.run.output), **options)


def echo(input: str, history: list[Any]) -> dict[str, Any]:
    if input == "fail":
        raise ValueError("index is missing")
    return {"output": f"{input} after {len(history)}", "context": [f"about {input}"]}


async def test_turns_have_scorers_and_gates_of_their_own() -> None:
    data = [
        {
            "id": "talk",
            "turns": [
                {"input": "one", "scorers": [says("one")], "gates": [says("after 0")]},
                {"input": "two", "scorers": [{"scorer": says("three"), "threshold": 0.5}]},
                "thanks",
            ],
        }
    ]
    result = await run_evals(data=data, scorers=[WHOLE], target=echo)
    (item,) = result.items
    one, two, thanks = item.turn_results
    assert {name: found.score for name, found in one.scorer_results.items()} == {"says one": 1, "says after 0": 1}
    assert (one.verdict, two.verdict, thanks.verdict) == ("passed", "scored", None)
    assert two.problems == ("threshold says three: 0 is below 0.5",)
    assert result.verdict == "scored"
    assert result.problems == ("threshold says three: 0 is below 0.5 (turn 2 of sample talk)",)
    assert item.scorer_results["whole"].score == 1
    assert [turn.scorers for turn in item.sample.turns] == [
        ["says one"],
        [{"scorer": "says three", "threshold": 0.5}],
        [],
    ]


async def test_the_whole_is_scored_as_one_pair() -> None:
    seen: list[Any] = []
    scorer = create_scorer(id="look", generate_score=lambda step: seen.append(step.run) or 1.0)
    await run_evals(data=[{"inputs": ["one", "two", "one"], "ground_truth": "G."}], scorers=[scorer], target=echo)
    (run,) = seen
    assert [message["content"] for message in run.input] == ["one", "two", "one"]
    assert [message["content"] for message in run.output] == [
        "one",
        "one after 0",
        "two",
        "two after 2",
        "one",
        "one after 4",
    ]
    assert output_text(run.output) == "one after 4"
    assert run.context == ["about one", "about two"]


async def test_a_turn_has_ground_truth_and_context_of_its_own() -> None:
    recall = create_context_recall_scorer(model=ScriptedJudge(), context=FROM_SAMPLE)
    turns = [
        {"input": "one", "ground_truth": "about one", "scorers": [recall.id]},
        {"input": "two", "ground_truth": "about three", "scorers": [recall.id]},
    ]
    result = await run_evals(data=[{"turns": turns, "ground_truth": "about two"}], scorers=[recall], target=echo)
    (item,) = result.items
    assert [turn.scorer_results[recall.id].score for turn in item.turn_results] == [1, 0]
    assert item.scorer_results[recall.id].score == 1
    assert result.summary.scorers[recall.id].mean.n == 1
    assert result.summary.usage.calls == 6


async def test_a_gate_of_a_turn_fails_the_run() -> None:
    rows = [{"id": f"r{n}", "turns": [{"input": "one", "gates": [says("two")]}]} for n in range(3)]
    result = await run_evals(data=rows, scorers=[], target=echo)
    assert result.verdict == "failed"
    assert result.problems == ("gate says two: 0 is below 1 (turn 1 of sample r0, and 2 more)",)


async def test_a_turn_that_fails_ends_its_conversation_and_costs_nothing_that_was_done() -> None:
    turns = [{"input": "one", "scorers": [says("one")]}, {"input": "fail", "gates": [says("x")]}, {"input": "three"}]
    result = await run_evals(
        data=[{"id": "a", "turns": turns}, {"id": "b", "input": "x"}], scorers=[WHOLE], target=echo
    )
    item, other = result.items
    assert item.error is not None
    assert item.error.message == "turn 2 of 3: the target raised ValueError: index is missing"
    assert item.error.step == "target"
    first, second = item.turn_results
    assert first.scorer_results["says one"].score == 1
    assert (second.error, second.verdict) == (item.error, "failed")
    assert item.scorer_results == {}
    assert other.scorer_results["whole"].score == 1
    assert result.summary.failed_items == 1


@pytest.mark.parametrize("slow", ["target", "scorer"])
async def test_a_turn_that_takes_too_long(slow: str) -> None:
    async def target(input: str, history: list[Any]) -> str:
        if input == "two" and slow == "target":
            await asyncio.Event().wait()
        return "fine"

    async def score(step: Any) -> float:
        if slow == "scorer":
            await asyncio.Event().wait()
        return 1.0

    hanging = create_scorer(id="hanging", generate_score=score)
    data = [{"turns": [{"input": "one", "scorers": [says("fine")]}, {"input": "two", "scorers": [hanging]}]}]
    (item,) = (await run_evals(data=data, scorers=[WHOLE], target=target, timeout=0.3)).items
    assert item.error is not None
    assert "turn 2 of 2: timed out" in item.error.message
    assert item.turn_results[0].scorer_results["says fine"].score == 1
    assert item.turn_results[1].failed


async def test_a_scorer_that_fails_in_a_turn() -> None:
    def broken(step: Any) -> float:
        raise ValueError(f"broken at {step.run.id}")

    data = [{"id": "talk", "turns": [{"input": "one", "scorers": [create_scorer(id="b", generate_score=broken)]}]}]
    result = await run_evals(data=data, scorers=[WHOLE], target=echo)
    (item,) = result.items
    failed = item.turn_results[0].scorer_results["b"]
    assert failed.error is not None
    assert failed.error.message == "broken at talk, turn 1 of 1"
    assert (item.failed, result.summary.failed_items) == (True, 1)
    assert item.scorer_results["whole"].score == 1


async def test_outputs_that_the_data_brings() -> None:
    data = [
        {
            "turns": [
                {"input": "one", "output": "first", "scorers": [says("first")]},
                {"input": "two", "output": "second"},
            ]
        }
    ]
    (item,) = (await run_evals(data=data, scorers=[WHOLE])).items
    assert item.turn_results[0].scorer_results["says first"].score == 1
    assert output_text(item.sample.output) == "second"


async def test_results_read_back(tmp_path: Path) -> None:
    data = [{"id": "a", "turns": [{"input": "一", "scorers": [says("一")], "note": 5}, {"input": "fail"}]}]
    result = await run_evals(data=data, scorers=[WHOLE], target=echo)
    write_results(tmp_path / "r.jsonl", result.info, result.items)
    _, items = read_results(tmp_path / "r.jsonl")
    assert list(items) == list(result.items)
    assert msgspec.json.decode(msgspec.json.encode(result.items[0]), type=ItemResult) == result.items[0]


@pytest.mark.parametrize(
    ("turns", "problem"),
    [
        ([{"input": "x", "scorers": ["unknown"]}], '"unknown" is none of the run\'s scorers (whole)'),
        ([{"input": "x", "gates": [5]}], "a gate must be a scorer"),
        ([{"input": "x", "scorers": [WHOLE], "gates": ["whole"]}], "duplicate scorer name: whole"),
        ([{"input": "x", "scorers": "whole"}], "expected a list"),
        ([{"input": "x"}, {"ground_truth": "y"}], "turns[1]"),
        ([{"input": "x"}, 5], "turns[1]"),
    ],
)
async def test_turns_that_can_not_be_read_fail_their_row_alone(turns: Any, problem: str) -> None:
    result = await run_evals(data=[{"turns": turns}, {"input": "x"}], scorers=[WHOLE], target=echo)
    bad, good = result.items
    assert bad.error is not None
    assert problem in bad.error.message
    assert bad.error.step == "read"
    assert good.error is None


class TestReading:
    def test_inputs_are_turns(self) -> None:
        assert [turn.input for turn in sample_from({"inputs": ["a", "b"]}, index=0).turns] == ["a", "b"]

    def test_messages_are_one_input(self) -> None:
        messages = [{"role": "user", "content": "a"}]
        assert sample_from({"inputs": messages}, index=0) == Sample(id="1", input=messages)

    def test_other_fields_named_turns_are_carried_along(self) -> None:
        assert sample_from({"input": "a", "turns": 3}, index=0).extra == {"turns": 3}

    def test_both_are_refused(self) -> None:
        with pytest.raises(DataError, match="not both"):
            sample_from({"inputs": ["a"], "turns": ["b"]}, index=0)
        with pytest.raises(DataError, match="leave input out"):
            sample_from({"input": "c", "turns": ["b"]}, index=0)

    def test_files(self, tmp_path: Path) -> None:
        samples = [sample_from({"turns": [{"input": "問い", "ground_truth": "答え", "gates": ["g"]}, "次"]}, index=0)]
        write_samples(tmp_path / "d.jsonl", samples)
        assert list(read_samples(tmp_path / "d.jsonl")) == samples
        (tmp_path / "d.csv").write_text('id,turns\n1,"[""a"", ""b""]"\n', encoding="utf-8")
        assert [turn.input for turn in next(read_samples(tmp_path / "d.csv")).turns] == ["a", "b"]
