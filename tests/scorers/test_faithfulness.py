"""Faithfulness: the output's claims against the context or the tool results."""

from __future__ import annotations

from typing import Any

import pytest

from ragcov import FROM_SAMPLE, Scorer, Tally, create_context_recall_scorer, create_faithfulness_scorer
from ragcov.testing import ScriptedJudge

OUTPUT = "The bridge opened in 1934. It is 90 metres long. Ada Brook designed it."
CHUNKS = ["The bridge opened in 1935.", "It is 90 metres long."]


def scorer(judge: Any = None, **options: Any) -> Scorer:
    return create_faithfulness_scorer(model=judge or ScriptedJudge(), **options)


def agent_output(*results: dict[str, Any]) -> list[dict[str, Any]]:
    parts = [{"type": "tool-invocation", "toolInvocation": result} for result in results]
    text = {"type": "text", "text": "Dogs travel free. Cats pay."}
    return [{"id": "1", "role": "assistant", "content": {"format": 2, "parts": [*parts, text]}}]


def tool(state: str, result: Any = None, name: str = "search") -> dict[str, Any]:
    call = {"toolCallId": f"{name}-{state}", "toolName": name, "args": {}, "state": state}
    return call if result is None else {**call, "result": result}


async def test_supported_contradicted_and_unsure_are_kept_apart_and_only_supported_counts() -> None:
    judge = ScriptedJudge(verdicts=["contradicted", "yes", "no"])
    result = await scorer(judge).run(output=OUTPUT, context=CHUNKS)
    assert (result.score, result.tally) == (0.33, Tally(1, 3))
    assert [(v.supported, v.contradicted) for v in result.verdicts] == [(False, True), (True, False), (False, False)]
    assert "1 of 3" in result.reason
    assert "1934" in result.reason.partition("Contradicted:")[2]
    assert "Ada" in result.reason.partition("Not stated in the context:")[2].partition("Contradicted:")[0]


async def test_offline() -> None:
    result = await scorer("offline").run(output=OUTPUT, context=CHUNKS)
    assert result.tally == Tally(1, 3)
    assert [v.contradicted for v in result.verdicts] == [True, False, False]


async def test_is_recall_with_the_output_in_place_of_the_ground_truth() -> None:
    recall = create_context_recall_scorer(model="offline", context=FROM_SAMPLE)
    by_recall = await recall.run(ground_truth=OUTPUT, context=CHUNKS)
    by_faithfulness = await scorer("offline").run(output=OUTPUT, context=CHUNKS)
    assert by_recall.verdicts == by_faithfulness.verdicts
    assert (by_recall.score, by_recall.tally) == (by_faithfulness.score, by_faithfulness.tally)


async def test_ground_truth_does_not_matter() -> None:
    results = [
        await scorer().run(output=OUTPUT, context=CHUNKS, ground_truth=truth) for truth in (None, "Cats pay.", OUTPUT)
    ]
    assert len({result.score for result in results}) == 1


class TestToolResults:
    async def test_stand_in_for_the_context(self) -> None:
        output = agent_output(tool("result", {"text": "Dogs travel free."}))
        result = await scorer().run(input="Who pays?", output=output)
        assert result.tally == Tally(1, 2)

    async def test_but_not_when_there_is_one(self) -> None:
        output = agent_output(tool("result", {"text": "Dogs travel free."}))
        for result in (
            await scorer().run(output=output, context=["Cats pay."]),
            await scorer(context=["Cats pay."]).run(output=output),
        ):
            assert [v.supported for v in result.verdicts] == [False, True]

    async def test_calls_that_all_failed_support_nothing(self) -> None:
        result = await scorer().run(output=agent_output(tool("call")))
        assert (result.state, result.tally) == ("scored", Tally(0, 2))

    async def test_without_any_call_there_is_nothing_to_check_against(self) -> None:
        judge = ScriptedJudge()
        result = await scorer(judge).run(output=agent_output())
        assert (result.state, judge.calls) == ("not_scorable", 0)
        assert "context" in result.reason


class TestNotScorable:
    @pytest.mark.parametrize("output", [None, "", "  "])
    async def test_without_output(self, output: str | None) -> None:
        judge = ScriptedJudge()
        result = await scorer(judge).run(input="Who pays?", output=output, context=CHUNKS)
        assert (result.state, judge.calls) == ("not_scorable", 0)
        assert "output" in result.reason

    async def test_without_context(self) -> None:
        judge = ScriptedJudge()
        result = await scorer(judge).run(output=OUTPUT)
        assert (result.state, judge.calls) == ("not_scorable", 0)

    async def test_a_refusal_has_no_claims(self) -> None:
        result = await scorer("offline").run(output="I could not find that in the documents.", context=CHUNKS)
        assert result.state == "not_scorable"
        assert "output" in result.reason


async def test_nothing_retrieved_supports_nothing() -> None:
    judge = ScriptedJudge()
    result = await scorer(judge).run(output=OUTPUT, context=[])
    assert (result.state, result.score, result.tally, judge.calls) == ("scored", 0.0, Tally(0, 3), 1)


@pytest.mark.parametrize(
    ("output", "word"),
    [
        ("長橋建於1934年。", "context 未提及："),
        ("长桥建于1934年。", "context 未提及："),
        ("長橋は1934年にできた。", "記載のない主張"),
    ],
)
async def test_reason_in_the_language_of_the_output(output: str, word: str) -> None:
    result = await scorer(ScriptedJudge(verdicts=["no"])).run(output=output, context=["x"])
    assert word in result.reason
