"""Context recall: states, scale, reasons, contexts."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov import FROM_SAMPLE, Scorer, create_context_recall_scorer
from ragcov.errors import RagcovError, ScorerRunError, UsageError
from ragcov.testing import ScriptedJudge

EINSTEIN = "Einstein was born in 1879. He developed relativity. He won the Nobel Prize."
CHUNKS = [
    "Document 1: Einstein was born on 14 March 1879 in Ulm, Germany.",
    "Document 2: Einstein published the theory of special relativity in 1905.",
    "Document 3: Einstein moved to the United States in 1933.",
]


def scorer(judge: Any = "offline", **options: Any) -> Scorer:
    return create_context_recall_scorer(model=judge, **{"context": CHUNKS, **options})


async def test_worked_example_of_einstein() -> None:
    result = await scorer().run(ground_truth=EINSTEIN)
    assert result.score == 0.67
    assert result.tally is not None
    assert (result.tally.attributed, result.tally.total) == (2, 3)
    born, relativity, nobel = result.verdicts
    assert [e.chunk for e in born.evidence] == [0]
    assert [e.chunk for e in relativity.evidence] == [1]
    assert not nobel.supported
    assert "Nobel Prize" in nobel.claim.text
    assert "2 of 3" in result.reason
    assert "Nobel Prize" in result.reason.partition("Missing:")[2]
    assert result.preprocess_result == result.claims
    assert result.analyze_result == result.verdicts


async def test_evidence_quotes_the_chunk() -> None:
    result = await scorer().run(ground_truth=EINSTEIN)
    for verdict in result.verdicts:
        for evidence in verdict.evidence:
            start, end = evidence.span
            assert CHUNKS[evidence.chunk][start:end] == evidence.quote


@pytest.mark.parametrize("scale", [10, 100, 0.5, 1e6])
async def test_score_is_multiplied_by_the_scale(scale: float) -> None:
    result = await scorer(scale=scale).run(ground_truth=EINSTEIN)
    assert result.score == pytest.approx(2 / 3 * scale, abs=0.005)
    assert result.tally is not None
    assert result.tally.total == 3


@pytest.mark.parametrize("scale", [0, -1, math.nan, math.inf, "1", None, True])
def test_scales_that_can_not_work_are_refused(scale: Any) -> None:
    with pytest.raises(UsageError, match="scale"):
        scorer(scale=scale)


async def test_without_ground_truth_not_scorable_and_no_call() -> None:
    for ground_truth in (None, "", "  \n"):
        judge = ScriptedJudge()
        result = await scorer(judge).run(input="Who was Einstein?", ground_truth=ground_truth)
        assert (result.state, result.score, judge.calls) == ("not_scorable", 0.0, 0)
        assert "ground truth" in result.reason
        assert result.warnings


@pytest.mark.parametrize("context", [[], [""], ["  ", "\n\t", "\u3000"]])
async def test_empty_retrieval_scores_zero_without_a_call(context: list[str]) -> None:
    judge = ScriptedJudge()
    result = await scorer(judge).run(ground_truth=EINSTEIN, context=context)
    assert (result.state, result.score, judge.calls) == ("scored", 0.0, 0)
    assert "context" in result.reason


async def test_a_sample_without_context_is_not_scorable() -> None:
    judge = ScriptedJudge()
    result = await scorer(judge, context=FROM_SAMPLE).run(ground_truth=EINSTEIN)
    assert (result.state, result.score, judge.calls) == ("not_scorable", 0.0, 0)


async def test_no_claim_is_not_scorable_after_one_call() -> None:
    judge = ScriptedJudge(claims=[])
    result = await scorer(judge).run(ground_truth="Well, hello there!")
    assert (result.state, judge.calls) == ("not_scorable", 1)
    assert result.tally is None


async def test_two_calls_a_row() -> None:
    judge = ScriptedJudge()
    result = await scorer(judge).run(ground_truth=EINSTEIN)
    assert judge.calls == 2
    assert result.usage.calls == 2
    assert result.judge == "scripted"


async def test_output_and_order_of_chunks_do_not_matter() -> None:
    results = [
        await scorer().run(ground_truth=EINSTEIN, output=output, context=chunks)
        for output in (None, "He won the Nobel Prize.", "")
        for chunks in (CHUNKS, CHUNKS[::-1])
    ]
    assert {result.score for result in results} == {0.67}


@pytest.mark.parametrize(
    ("ground_truth", "words"),
    [
        ("長橋建於1934年。設計者是林嵐。", ["項陳述", "缺少"]),
        ("长桥建于1934年。设计者是林岚。", ["条陈述", "缺少"]),
        ("長橋は1934年に建てられた。設計者は林さんです。", ["件の主張", "欠けている"]),
        ("The bridge opened in 1934. Ada designed it.", ["of 2 claims", "Missing"]),
    ],
)
async def test_reason_in_the_language_of_the_ground_truth(ground_truth: str, words: list[str]) -> None:
    judge = ScriptedJudge(verdicts=["yes", "no"])
    result = await scorer(judge, context=[ground_truth]).run(ground_truth=ground_truth)
    assert result.score == 0.5
    for word in words:
        assert word in result.reason
    for verdict in result.verdicts:
        assert verdict.claim.text.rstrip(".。") in result.reason


async def test_contradicted_claims_are_named_apart() -> None:
    judge = ScriptedJudge(verdicts=["contradicted", "no", "yes"])
    result = await scorer(judge).run(ground_truth=EINSTEIN)
    assert result.score == 0.33
    assert "born" in result.reason.partition("Contradicted:")[2]


class TestContext:
    def test_one_must_be_given(self) -> None:
        with pytest.raises(UsageError, match="context"):
            create_context_recall_scorer(model="offline")

    def test_an_empty_list_is_refused(self) -> None:
        with pytest.raises(UsageError, match="empty"):
            scorer(context=[])

    def test_a_text_is_refused(self) -> None:
        with pytest.raises(UsageError, match="list"):
            scorer(context="one text")

    @pytest.mark.parametrize("kind", ["sync", "async"])
    async def test_extractor(self, kind: str) -> None:
        def sync_extractor(input: Any, output: Any) -> list[str]:
            return [f"{input} {output}"]

        async def async_extractor(input: Any, output: Any) -> list[str]:
            return sync_extractor(input, output)

        extractor = sync_extractor if kind == "sync" else async_extractor
        made = create_context_recall_scorer(model=ScriptedJudge(), context_extractor=extractor)
        result = await made.run(input="Dogs", output="travel free.", ground_truth="Dogs travel free.")
        assert result.score == 1

    async def test_with_both_the_extractor_serves_agent_shaped_runs_only(self) -> None:
        made = create_context_recall_scorer(
            model=ScriptedJudge(), context=["Cats pay."], context_extractor=lambda i, o: ["Dogs travel free."]
        )
        plain = await made.run(input="?", output="!", ground_truth="Cats pay.")
        agent = await made.run(
            input={"inputMessages": [{"role": "user", "content": "?"}]},
            output=[{"id": "1", "role": "assistant", "content": {"parts": [{"type": "text", "text": "!"}]}}],
            ground_truth="Dogs travel free.",
        )
        assert (plain.score, agent.score) == (1, 1)

    async def test_run_context_comes_first(self) -> None:
        result = await scorer(ScriptedJudge()).run(ground_truth="Cats pay.", context=["Cats pay."])
        assert result.score == 1

    async def test_an_extractor_that_finds_nothing_warns(self) -> None:
        made = create_context_recall_scorer(model="offline", context_extractor=lambda i, o: None)
        result = await made.run(ground_truth=EINSTEIN)
        assert (result.state, result.score) == ("scored", 0.0)
        assert any("context" in warning for warning in result.warnings)

    async def test_an_extractor_that_raises_names_the_step(self) -> None:
        def extractor(input: Any, output: Any) -> list[str]:
            raise ConnectionError("vector store is down")

        made = create_context_recall_scorer(model="offline", context_extractor=extractor)
        with pytest.raises(ScorerRunError, match="vector store is down") as caught:
            await made.run(ground_truth=EINSTEIN)
        assert caught.value.failed_step == "prepare_run"

    async def test_documents_are_read(self) -> None:
        documents = [{"page_content": "Cats pay."}, {"text": "Dogs travel free."}]
        result = await scorer(ScriptedJudge(), context=documents).run(ground_truth="Cats pay. Dogs travel free.")
        assert result.score == 1


class TestPhrasedReason:
    def test_needs_an_llm(self) -> None:
        with pytest.raises(UsageError, match="LLM"):
            scorer(reason="llm")

    async def test_used_when_its_numbers_are_right(self) -> None:
        judge = ScriptedJudge(replies={"score": 0.67, "reason": "Two of three are there, 2 of 3 (0.67)."})
        result = await scorer(judge, reason="llm").run(ground_truth=EINSTEIN, context=[*CHUNKS, EINSTEIN[:40]])
        assert judge.calls == 3
        assert result.score in (0.33, 0.67)

    @pytest.mark.parametrize(
        "reply",
        [
            {"score": 1.0, "reason": "All is there."},
            {"score": 0.33, "reason": "The score is 0.9, so all is well."},
            {"score": 0.33, "reason": "It covers 2 of 3 claims, 3 of 3 in fact."},
            {"score": 0.33, "reason": " "},
        ],
    )
    async def test_refused_with_a_warning_when_a_number_is_wrong(self, reply: dict[str, Any]) -> None:
        judge = ScriptedJudge(verdicts=["yes", "no", "no"], replies=reply)
        result = await scorer(judge, reason="llm").run(ground_truth=EINSTEIN)
        assert result.score == 0.33
        assert result.reason.startswith("1 of 3")
        assert any("phrasing" in warning for warning in result.warnings)


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.randoms())
def test_one_verdict_a_claim_and_a_score_from_the_counts(words: list[bool], random: Any) -> None:
    claims = [f"Claim number {number} holds." for number in range(len(words))]
    judge = ScriptedJudge(claims=claims, verdicts=words)
    result = scorer(judge).run_sync(ground_truth="\n".join(claims))
    assert [v.claim for v in result.verdicts] == list(result.claims)
    assert len({claim.id for claim in result.claims}) == len(words)
    assert result.tally is not None
    assert (result.tally.attributed, result.tally.total) == (sum(words), len(words))
    assert result.score == pytest.approx(sum(words) / len(words), abs=0.00501)


def test_run_sync_inside_a_running_loop() -> None:
    import asyncio

    async def notebook_cell() -> float | None:
        return scorer().run_sync(ground_truth=EINSTEIN).score

    assert asyncio.run(notebook_cell()) == 0.67


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=4))
def test_any_text_is_scored_or_not_scorable(ground_truth: str, context: list[str]) -> None:
    made = scorer(context=FROM_SAMPLE)
    try:
        result = made.run_sync(ground_truth=ground_truth, context=context)
    except RagcovError as error:  # pragma: no cover
        raise AssertionError(error) from error
    assert result.state in ("scored", "not_scorable")
    assert result.score is not None
    assert 0 <= result.score <= 1
