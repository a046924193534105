"""The LLM judge over real HTTP, against the fake provider."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from ragcov import Claim
from ragcov.errors import (
    ContextLengthError,
    FatalProviderError,
    ProviderError,
    RefusalError,
    UnreadableReplyError,
    UsageError,
)
from ragcov.judges import Judge, keep_ledger, load_judge
from ragcov.judges.base import AskingJudge
from ragcov.judges.llm import LLMJudge
from ragcov.results import Usage
from ragcov.testing import FakeServer, Fault

TRUTH = "Einstein was born in 1879. He developed relativity. He won the Nobel Prize."
CHUNKS = ["Einstein was born in 1879. Ulm is in Germany.", "It is said that he developed relativity.", "Blank walls."]


def judge_of(server: FakeServer, **settings: Any) -> LLMJudge:
    return LLMJudge(server.config, **{"cache": False, "retry_delay": 0.001, **settings})


def claims_of(*texts: str) -> list[Claim]:
    return [Claim(text, id=f"c{number}") for number, text in enumerate(texts, 1)]


async def test_claims_and_verdicts() -> None:
    async with FakeServer() as server:
        judge = judge_of(server)
        with keep_ledger() as ledger:
            claims = await judge.extract_claims(TRUTH, question="Who was Einstein?")
            verdicts = await judge.attribute(claims, CHUNKS)
    assert [claim.id for claim in claims] == ["c1", "c2", "c3"]
    assert [TRUTH[slice(*claim.span)] for claim in claims if claim.span] == [claim.text for claim in claims]
    assert [verdict.supported for verdict in verdicts] == [True, True, False]
    evidence = [(e.chunk, e.quote) for verdict in verdicts for e in verdict.evidence]
    assert evidence == [(0, "Einstein was born in 1879"), (1, "he developed relativity")]
    assert all(CHUNKS[e.chunk][slice(*e.span)] == e.quote for verdict in verdicts for e in verdict.evidence)
    assert verdicts[2].reason
    assert ledger.warnings == []
    assert ledger.usage == Usage(2, 0, server.input_tokens, server.output_tokens)


async def test_what_needs_no_answer_is_not_asked() -> None:
    async with FakeServer() as server:
        judge = judge_of(server)
        assert await judge.extract_claims(" \n") == []
        assert await judge.attribute([], CHUNKS) == []
        for chunks in ([], ["", " \t\n", "\u3000"]):
            verdicts = await judge.attribute(claims_of("One."), chunks)
            assert [(v.supported, v.evidence) for v in verdicts] == [(False, ())]
        assert server.calls == 0


async def test_the_judge_is_what_the_protocols_say() -> None:
    async with FakeServer() as server:
        judge = load_judge(server.config)
        assert isinstance(judge, LLMJudge)
        assert isinstance(judge, Judge)
        assert isinstance(judge, AskingJudge)
        assert judge.id == "fake-model"


async def test_prompts_are_the_same_each_time_and_share_their_beginning() -> None:
    async with FakeServer() as server:
        for chunk in ("First chunk.", "First chunk.", "Second chunk."):
            await judge_of(server).attribute(claims_of("One claim."), [chunk])
        first, second, third = server.prompts
        assert first == second != third
        shared = next(n for n, (a, b) in enumerate(zip(first, third, strict=False)) if a != b)
        assert shared > 600
        assert server.bodies[0]["temperature"] == 0
        assert server.bodies[0]["response_format"]["type"] == "json_schema"


async def test_text_is_sent_as_it_is() -> None:
    text = "爱因斯坦「1879」\\frac{1}{2} {curly} <b>&amp;</b> \u200b é"
    async with FakeServer() as server:
        await judge_of(server).attribute(claims_of("愛因斯坦。"), [text])
        assert text in server.prompts[0]


async def test_identical_chunks_are_sent_once_and_all_are_evidence() -> None:
    async with FakeServer() as server:
        chunks = ["", "A rose is red.", "Filler.", "A rose is red.", "Well: A rose is red."]
        [verdict] = await judge_of(server).attribute(claims_of("A rose is red."), chunks)
        assert [evidence.chunk for evidence in verdict.evidence] == [1, 3, 4]
        assert server.prompts[0].count("A rose is red.\n") == 3  # two texts of chunks, and the claim


async def test_the_same_passage_in_a_chunk_that_was_not_quoted_is_evidence() -> None:
    passage = "The Orlan bridge was opened to traffic in 1934."
    async with FakeServer(supports=lambda claim, chunk: passage if chunk.startswith("A") else None) as server:
        [verdict] = await judge_of(server).attribute(claims_of(passage), [f"Before. {passage}", f"A. {passage}"])
        assert [evidence.chunk for evidence in verdict.evidence] == [0, 1]


async def test_two_thousand_claims() -> None:
    claims = claims_of(*(f"Unit {number} runs." for number in range(2000)))
    chunks = [" ".join(f"Unit {number + n} runs." for n in range(0, 20, 2)) for number in range(0, 2000, 20)]
    async with FakeServer() as server:
        verdicts = await judge_of(server).attribute(claims, chunks)
        assert [verdict.supported for verdict in verdicts] == [number % 2 == 0 for number in range(2000)]
        assert [v.evidence[0].chunk for v in verdicts if v.supported] == [n // 10 for n in range(1000)]
        assert server.calls == 100
        assert server.most_open <= 64


async def test_a_chunk_of_200000_characters() -> None:
    fact = "The Orlan bridge was opened in 1934."
    chunk = "Filler words stand here. " * 4000 + fact + " " + "Filler words stand here. " * 4000
    assert len(chunk) > 200_000
    async with FakeServer() as server:
        [verdict] = await judge_of(server).attribute(claims_of(fact), ["Other.", chunk])
        assert verdict.supported
        assert [(e.chunk, e.quote) for e in verdict.evidence] == [(1, fact.rstrip("."))]
        assert chunk[slice(*verdict.evidence[0].span)] == fact.rstrip(".")
        assert 3 <= server.calls <= 5


async def test_a_long_text_is_extracted_in_parts() -> None:
    text = "\n".join(f"第{number}號機組於{1900 + number % 100}年投產。" for number in range(400))
    async with FakeServer() as server:
        claims = await judge_of(server).extract_claims(text)
        assert len(claims) == 400
        assert [claim.id for claim in claims][-1] == "c400"
        assert all(claim.span and text[slice(*claim.span)] == claim.text for claim in claims)
        assert server.calls > 1


async def test_claims_said_twice_are_one() -> None:
    async with FakeServer() as server:
        assert len(await judge_of(server).extract_claims("A rose is red. A rose is red. A rose is red.")) == 1


async def test_a_claim_in_other_words_is_placed_at_its_sentence() -> None:
    text = "Ada Brandt drew the plans. The Orlan bridge, which she designed, opened in 1934. It is red."
    from ragcov.judges.extracting import place_claims

    [claim] = place_claims([Claim("Ada Brandt designed the Orlan bridge, opened in 1934.")], text, (0, len(text)))
    assert claim.span
    assert text[slice(*claim.span)] == "The Orlan bridge, which she designed, opened in 1934."


class Grade(BaseModel):
    grade: int
    why: str


async def test_ask_gives_an_instance_of_the_schema() -> None:
    async with FakeServer([Fault(kind="malformed", on="first")]) as server:
        assert await judge_of(server).ask("Grade it.", "The essay.", Grade) == Grade(grade=1, why="text")
        assert server.calls == 2
    async with FakeServer([Fault(kind="malformed")]) as server:
        with pytest.raises(UnreadableReplyError, match="Grade"):
            await judge_of(server).ask("Grade it.", "The essay.", Grade)


async def test_support_without_a_quote_is_asked_again_and_then_counts_as_none() -> None:
    async with FakeServer(obeys="always", injected=lambda text: True) as server:
        with keep_ledger() as ledger:
            verdicts = await judge_of(server).attribute(claims_of("The moon is green."), ["The sun is hot."])
        assert not verdicts[0].supported
        assert server.calls == 2
        assert len(ledger.warnings) == 1
        assert "c1" in ledger.warnings[0]
        assert "The moon is green." in ledger.warnings[0]


async def test_a_quote_in_another_chunk_than_the_named_one_is_found() -> None:
    async with FakeServer(supports=lambda claim, chunk: "A rose is red") as server:
        [verdict] = await judge_of(server).attribute(claims_of("A rose is red."), ["Filler.", "Yes: A rose is red."])
        assert [(e.chunk, e.span) for e in verdict.evidence] == [(1, (5, 18))]


async def test_replies_that_stay_unreadable_name_the_claims_and_the_way_out() -> None:
    async with FakeServer([Fault(kind="unreadable")]) as server:
        with pytest.raises(UnreadableReplyError) as caught:
            await judge_of(server).attribute(claims_of("One claim.", "Two claims."), ["One claim."])
        message = str(caught.value)
        for part in ("c1", "c2", "perhaps", "asked 3 times", "finish reason: stop", "claims_per_batch"):
            assert part in message
        assert server.calls == 3


async def test_only_the_missing_claims_are_asked_about_again() -> None:
    claims = claims_of(*(f"Claim number {number} holds." for number in range(5)))
    async with FakeServer([Fault(kind="few", on="first", times=1)]) as server:
        verdicts = await judge_of(server).attribute(claims, [" ".join(c.text for c in claims[::2])])
        assert [verdict.supported for verdict in verdicts] == [True, False, True, False, True]
        assert server.calls == 2
        assert "Claim number 1 holds." not in server.prompts[1].split("claims]")[-1]


async def test_a_reply_at_the_output_limit_halves_the_batch() -> None:
    claims = claims_of(*(f"Claim number {number} holds." for number in range(8)))
    async with FakeServer([Fault(kind="truncated", on="7. Claim")]) as server:
        verdicts = await judge_of(server).attribute(claims, [claim.text for claim in claims])
        assert all(verdict.supported for verdict in verdicts)
        assert server.calls == 3


async def test_a_prompt_that_is_too_long_halves_the_budget_for_all() -> None:
    chunks = [f"Chunk {number} says that unit {number} runs. " + "Filler words. " * 50 for number in range(40)]
    claims = claims_of(*(f"Unit {number} runs." for number in range(40)))
    async with FakeServer(max_prompt_chars=9000) as server:
        judge = judge_of(server)
        verdicts = await judge.attribute(claims, chunks)
        assert [v.evidence[0].chunk for v in verdicts if v.supported] == list(range(40))
        first = server.calls
        await judge.attribute(claims, chunks)
        assert server.calls - first < first


async def test_a_prompt_that_can_not_be_made_shorter_fails_the_row() -> None:
    async with FakeServer([Fault(kind="context_length")]) as server:
        with pytest.raises(ContextLengthError):
            await judge_of(server).attribute(claims_of("One."), ["One. " * 2000])


async def test_a_refusal_is_asked_about_once_more() -> None:
    for kind in ("refusal", "text_refusal"):
        async with FakeServer([Fault(kind=kind, on="first")]) as server:
            assert (await judge_of(server).attribute(claims_of("A rose."), ["A rose."]))[0].supported
        async with FakeServer([Fault(kind=kind)]) as server:
            with pytest.raises(RefusalError, match="I'm sorry, but I can't help with that"):
                await judge_of(server).extract_claims(TRUTH)
            assert server.calls == 2


@pytest.mark.parametrize("kind", ["401", "403", "404"])
async def test_a_wrong_key_or_model_is_fatal_at_once(kind: Any) -> None:
    async with FakeServer([Fault(kind=kind)]) as server:
        judge = judge_of(server)
        with pytest.raises(FatalProviderError, match=f"HTTP {kind}"):
            await judge.extract_claims(TRUTH)
        with pytest.raises(FatalProviderError):
            await judge.extract_claims("Another text.")
        assert server.calls == 1


async def test_retries_are_bounded_and_counted() -> None:
    async with FakeServer([Fault(kind="500")]) as server:
        with keep_ledger() as ledger, pytest.raises(ProviderError, match=r"The server had an error \(HTTP 500\)"):
            await judge_of(server, retries=2).extract_claims(TRUTH)
        assert server.calls == ledger.usage.calls == 3


async def test_retry_after_is_honoured_by_all_and_the_limit_recovers() -> None:
    async with FakeServer([Fault(kind="429", times=1, retry_after=0.4)], latency=0.01) as server:
        judge = judge_of(server, concurrency=8)
        texts = [f"Text number {number}." for number in range(40)]
        await asyncio.gather(*(judge.extract_claims(text) for text in texts))
        assert server.calls == 41
        paused = [later - earlier for earlier, later in zip(server.times, server.times[1:], strict=False)]
        assert max(paused) > 0.3
        limit = judge._asker._sessions[asyncio.get_running_loop()].limit  # pyright: ignore[reportPrivateUsage]
        assert limit.limit > 4


async def test_a_request_that_hangs_is_given_up_and_repeated() -> None:
    async with FakeServer([Fault(kind="hang", on="first", times=1)]) as server:
        assert await judge_of(server, timeout=0.3).extract_claims("A rose is red.")
        assert server.calls == 2
    async with FakeServer([Fault(kind="hang")]) as server:
        with pytest.raises(ProviderError, match="no answer within"):
            await judge_of(server, timeout=0.1, retries=1).extract_claims("A rose is red.")


async def test_an_endpoint_without_structured_output_is_asked_another_way() -> None:
    async with FakeServer(structured=False) as server:
        judge = judge_of(server)
        assert len(await judge.extract_claims(TRUTH)) == 3
        assert (await judge.attribute(claims_of("A rose."), ["A rose."]))[0].supported
        assert server.calls == 3
        assert "tools" in server.bodies[-1]


async def test_the_next_model_is_asked_when_one_fails() -> None:
    async with FakeServer([Fault(kind="401")]) as broken, FakeServer() as sound:
        judge = LLMJudge([broken.config, {**sound.config, "id": "second"}], cache=False)
        assert judge.id == "fake-model | second"
        with keep_ledger() as ledger:
            assert len(await judge.extract_claims(TRUTH)) == 3
            assert len(await judge.extract_claims("Another text.")) == 1
        assert (broken.calls, sound.calls) == (1, 2)
        assert "second was asked instead" in ledger.warnings[0]


async def test_a_model_of_the_llm_library_is_used_as_it_is() -> None:
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart('```json\n{"claims": ["A rose is red.",]}\n```')])

    judge = LLMJudge(FunctionModel(answer), cache=False)
    assert [claim.text for claim in await judge.extract_claims("A rose is red.")] == ["A rose is red."]


async def test_secrets_are_in_no_message() -> None:
    from ragcov.judges.failures import classify

    async with FakeServer([Fault(kind="401")]) as server:
        judge = LLMJudge({**server.config, "api_key": "planted-secret-value"}, cache=False)
        with pytest.raises(FatalProviderError) as caught:
            await judge.extract_claims(TRUTH)
        assert "planted-secret-value" not in str(caught.value)
    from pydantic_ai.exceptions import ModelHTTPError

    body = {"error": {"message": "Key planted-secret-value and sk-abcdefghijkl are wrong; Bearer xyz"}}
    failed = classify(ModelHTTPError(500, "m", body), "m", ["planted-secret-value"])
    assert failed is not None
    assert str(failed.error) == "m: Key *** and *** are wrong; *** (HTTP 500)"


def test_one_judge_serves_one_loop_after_another() -> None:
    with FakeServer() as server:
        judge = judge_of(server)
        for number in range(3):
            assert len(asyncio.run(judge.extract_claims(f"Text number {number}."))) == 1


def test_one_judge_serves_two_loops_at_once() -> None:
    from ragcov.concurrency import run_sync

    with FakeServer() as server:
        judge = judge_of(server)

        async def both() -> list[Claim]:
            inner = asyncio.to_thread(lambda: run_sync(judge.extract_claims("The first text.")))
            first, second = await asyncio.gather(inner, judge.extract_claims("The second text."))
            return [*first, *second]

        assert len(asyncio.run(both())) == 2
        run_sync(judge.aclose())


async def test_a_closed_judge_opens_again() -> None:
    async with FakeServer() as server:
        judge = judge_of(server)
        for text in ("One text.", "Another text."):
            assert await judge.extract_claims(text)
            await judge.aclose()


@pytest.mark.parametrize(
    "settings", [{"claims_per_batch": 0}, {"token_budget": 10}, {"retries": -1}, {"concurrency": 0}]
)
def test_settings_that_can_not_work_are_refused(settings: dict[str, int]) -> None:
    with FakeServer() as server, pytest.raises(UsageError, match=next(iter(settings))):
        judge_of(server, **settings)


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": 0},
        {"timeout": float("nan")},
        {"retry_delay": -1},
        {"claims_per_batch": 2.5},
        {"claims_per_batch": 0},
        {"concurrency": True},
        {"token_budget": 5},
    ],
)
def test_options_that_can_not_work(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(options))):
        LLMJudge({"id": "m", "url": "http://127.0.0.1:9/v1"}, **options)
