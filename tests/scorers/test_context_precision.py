"""Context precision: the formula, what makes a chunk relevant, states, reasons."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov import FROM_SAMPLE, Scorer, create_context_precision_scorer
from ragcov.errors import RagcovError, UsageError
from ragcov.scorers.context_precision import average_precision
from ragcov.testing import ScriptedJudge

TRUTH = "Cats pay. Dogs travel free."


def scorer(judge: Any = None, **options: Any) -> Scorer:
    return create_context_precision_scorer(model=judge or ScriptedJudge(), **{"context": FROM_SAMPLE, **options})


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        ([1, 0, 1, 0], (Fraction(1) + Fraction(2, 3)) / 2),
        ([1], 1),
        ([1, 1, 1], 1),
        ([0], 0),
        ([], 0),
        ([0, 0, 0], 0),
        ([0, 1], Fraction(1, 2)),
        ([1, 0], 1),
        ([0, 0, 1], Fraction(1, 3)),
        ([0, 1, 1], (Fraction(1, 2) + Fraction(2, 3)) / 2),
        ([1, 1, 0, 0, 1], (1 + 1 + Fraction(3, 5)) / 3),
    ],
)
def test_average_precision_by_hand(relevant: list[int], expected: Fraction) -> None:
    assert average_precision([bool(one) for one in relevant]) == expected


@given(st.lists(st.booleans(), max_size=40))
def test_average_precision_is_1_only_when_all_relevant_come_first(relevant: list[bool]) -> None:
    value = average_precision(relevant)
    assert 0 <= value <= 1
    assert (value == 0) == (not any(relevant))
    assert (value == 1) == (any(relevant) and relevant == sorted(relevant, reverse=True))


@given(st.lists(st.booleans(), min_size=2, max_size=20), st.data())
def test_moving_a_relevant_chunk_forward_never_costs(relevant: list[bool], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(relevant) - 2))
    better = list(relevant)
    better[place : place + 2] = sorted(relevant[place : place + 2], reverse=True)
    assert average_precision(better) >= average_precision(relevant)


@pytest.mark.parametrize(
    ("context", "score"),
    [
        (["Cats pay.", "Tea is served.", "Dogs travel free.", "It rains."], 0.83),
        (["Tea is served.", "Cats pay. Dogs travel free."], 0.5),
        (["Cats pay.", "Dogs travel free.", "Tea is served."], 1.0),
        (["Tea is served.", "It rains."], 0.0),
        (["", "Cats pay."], 0.5),
    ],
)
async def test_score(context: list[str], score: float) -> None:
    result = await scorer().run(ground_truth=TRUTH, context=context)
    assert result.score == score
    assert result.state == "scored"


@pytest.mark.parametrize("scale", [10, 100, 0.5])
async def test_scale(scale: float) -> None:
    context = ["Cats pay.", "Tea is served.", "Dogs travel free.", "It rains."]
    result = await scorer(scale=scale).run(ground_truth=TRUTH, context=context)
    assert result.score == pytest.approx(5 / 6 * scale, abs=0.005)
    perfect = await scorer(scale=scale).run(ground_truth=TRUTH, context=context[:1])
    assert perfect.score == scale


async def test_chunks_that_support_a_claim_only_together_are_relevant() -> None:
    evidence = [
        {"id": 0, "chunk": 1, "quote": "The pass is for students.", "enough": False},
        {"id": 0, "chunk": 2, "quote": "The pass costs 9 euros.", "enough": False},
    ]
    raw = json.dumps({"evidence": evidence, "verdicts": [{"id": 0, "verdict": "yes"}]})
    chunks = ["Tea is served.", "The pass is for students.", "The pass costs 9 euros."]
    result = await scorer(ScriptedJudge(raw=raw)).run(ground_truth="Students pay 9 euros.", context=chunks)
    assert [chunk["relevant"] for chunk in result.analyze_result] == [False, True, True]
    assert result.score == 0.58  # (1/2 + 2/3) / 2


async def test_contradicting_chunks_are_not_relevant() -> None:
    judge = ScriptedJudge(verdicts=["contradicted", "no"])
    result = await scorer(judge).run(ground_truth=TRUTH, context=["Cats pay nothing."])
    assert result.score == 0


async def test_order_of_verdicts_in_the_reply_does_not_matter() -> None:
    entries = [{"id": 0, "verdict": "yes"}, {"id": 1, "verdict": "no"}]
    quotes = [{"id": 0, "chunk": 1, "quote": "Cats pay.", "enough": True}]
    results = [
        await scorer(ScriptedJudge(raw=json.dumps({"evidence": quotes, "verdicts": order}))).run(
            ground_truth=TRUTH, context=["Tea is served.", "Cats pay."]
        )
        for order in (entries, entries[::-1])
    ]
    assert results[0].analyze_result == results[1].analyze_result
    assert {result.score for result in results} == {0.5}


async def test_output_stands_in_for_the_ground_truth() -> None:
    context = ["Tea is served.", "Cats pay."]
    by_output = await scorer().run(output="Cats pay.", context=context)
    by_truth = await scorer().run(output="Tea is served.", ground_truth="Cats pay.", context=context)
    assert (by_output.score, by_truth.score) == (0.5, 0.5)
    assert "(output)" in by_output.reason
    assert "(ground truth)" in by_truth.reason


class TestCopies:
    async def test_take_no_rank(self) -> None:
        context = ["Tea is served.", "Tea is served.", " Tea is served.\n", "Cats pay.", "Cats pay."]
        result = await scorer().run(ground_truth="Cats pay.", context=context)
        assert result.score == 0.5
        assert [chunk["copy_of"] for chunk in result.analyze_result] == [None, 0, 0, None, 3]
        assert any("3 of 5 chunks" in warning for warning in result.warnings)
        assert "chunk 4 repeats chunk 3" in result.reason

    @given(st.lists(st.sampled_from(["Cats pay.", "Tea is served.", "Dogs travel free."]), min_size=1, max_size=8))
    def test_never_change_the_score(self, context: list[str]) -> None:
        distinct = list(dict.fromkeys(context))
        scores = {scorer().run_sync(ground_truth=TRUTH, context=chunks).score for chunks in (context, distinct)}
        assert len(scores) == 1

    async def test_a_verdict_for_a_copy_counts_for_the_text(self) -> None:
        quotes = [{"id": 0, "chunk": 1, "quote": "Cats pay.", "enough": True}]
        raw = json.dumps({"evidence": quotes, "verdicts": [{"id": 0, "verdict": "yes"}]})
        result = await scorer(ScriptedJudge(raw=raw)).run(ground_truth="Cats pay.", context=["Cats pay."] * 2)
        assert result.score == 1


class TestNotScorable:
    @pytest.mark.parametrize(
        ("fields", "word", "calls"),
        [
            ({"context": ["Cats pay."]}, "neither", 0),
            ({"context": ["Cats pay."], "ground_truth": " ", "output": ""}, "neither", 0),
            ({"ground_truth": TRUTH}, "context", 0),
            ({"ground_truth": TRUTH, "context": []}, "nothing was retrieved", 0),
            ({"ground_truth": TRUTH, "context": ["", " \n"]}, "nothing was retrieved", 0),
        ],
    )
    async def test_without_what_it_needs(self, fields: dict[str, Any], word: str, calls: int) -> None:
        judge = ScriptedJudge()
        result = await scorer(judge).run(**fields)
        assert (result.state, result.score, judge.calls) == ("not_scorable", 0.0, calls)
        assert word in result.reason
        assert result.warnings

    async def test_without_a_claim(self) -> None:
        judge = ScriptedJudge(claims=[])
        result = await scorer(judge).run(ground_truth="Hello!", context=["Cats pay."])
        assert (result.state, judge.calls) == ("not_scorable", 1)

    def test_an_empty_list_is_refused(self) -> None:
        with pytest.raises(UsageError, match="empty"):
            scorer(context=[])
        with pytest.raises(UsageError, match="context"):
            create_context_precision_scorer(model="offline")


async def test_reason_shows_the_sum_and_every_rank() -> None:
    context = ["Cats pay.", "Tea is served.", "Dogs travel free.", "It rains."]
    result = await scorer(scale=10).run(ground_truth=TRUTH, context=context)
    assert "2 of 4 chunks" in result.reason
    assert "(1/1 + 2/3) / 2 = 0.83; × 10 = 8.33" in result.reason
    assert "Chunk 0 is relevant: it supports “Cats pay”" in result.reason
    assert "chunk 1 is not relevant" in result.reason


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ("長橋建於1934年。", ["1 個 chunk 中有 1 個", "支持「長橋建於1934年」"]),
        ("长桥建于1934年。", ["1 个 chunk 中有 1 个", "支持“长桥建于1934年”"]),
        ("長橋は1934年に建てられた。", ["1 個のチャンクのうち 1 個", "「長橋は1934年に建てられた」"]),
    ],
)
async def test_reason_in_the_language_of_the_text(truth: str, words: list[str]) -> None:
    result = await scorer().run(ground_truth=truth, context=[truth])
    for word in words:
        assert word in result.reason


async def test_braces_in_texts_stay_as_they_are() -> None:
    result = await scorer().run(ground_truth="Use {chunk} and {0} here.", context=["Use {chunk} and {0} here."])
    assert "“Use {chunk} and {0} here”" in result.reason


@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_any_text_is_scored_or_not_scorable(truth: str, context: list[str]) -> None:
    try:
        result = scorer("offline").run_sync(ground_truth=truth, context=context)
    except RagcovError as error:  # pragma: no cover
        raise AssertionError(error) from error
    assert result.state in ("scored", "not_scorable")
    assert result.score is not None
    assert 0 <= result.score <= 1
