"""Answers and errors that the fake provider doesn't give: a function stands in for the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import exceptions as library
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart
from pydantic_ai.models import Model
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import AgentInfo, FunctionModel

from ragcov import Claim
from ragcov.attribution import Verdict, smallest_cutoff
from ragcov.errors import ContextLengthError, FatalProviderError, ProviderError, RefusalError
from ragcov.judges import keep_ledger
from ragcov.judges.llm import LLMJudge
from ragcov.testing import FakeServer, Fault

CHUNKS = ["Ada Brandt drew the Orlan bridge.", "Filler.", "The Orlan bridge opened in 1934."]
CLAIM = Claim("The Orlan bridge, drawn by Ada Brandt, opened in 1934.", id="c1")


def judge_of(answer: Callable[[str], Any], **settings: Any) -> LLMJudge:
    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert isinstance(messages[-1], ModelRequest)
        reply = answer(str(messages[-1].parts[-1].content))
        return reply if isinstance(reply, ModelResponse) else ModelResponse([TextPart(json.dumps(reply))])

    return LLMJudge(FunctionModel(respond), cache=False, retry_delay=0.001, **settings)


def quoting(word: str, *quotes: tuple[int, str, bool]) -> dict[str, Any]:
    evidence = [{"id": 0, "chunk": chunk, "quote": quote, "enough": enough} for chunk, quote, enough in quotes]
    return {"evidence": evidence, "verdicts": [{"id": 0, "verdict": word, "reason": "Because."}]}


async def verdict_of(word: str, *quotes: tuple[int, str, bool]) -> Verdict:
    [verdict] = await judge_of(lambda prompt: quoting(word, *quotes)).attribute([CLAIM], CHUNKS)
    return verdict


async def test_passages_that_are_enough_only_together_are_a_group() -> None:
    verdict = await verdict_of("yes", (0, "Ada Brandt drew the Orlan bridge", False), (2, "opened in 1934", False))
    assert [(e.chunk, e.group) for e in verdict.evidence] == [(0, 0), (2, 0)]
    assert smallest_cutoff(verdict) == 3


async def test_a_part_without_its_other_part_stands_alone() -> None:
    verdict = await verdict_of("yes", (2, "The Orlan bridge opened in 1934", False))
    assert [(e.chunk, e.group) for e in verdict.evidence] == [(2, None)]
    verdict = await verdict_of("yes", (0, "Ada Brandt", False), (2, "The Orlan bridge opened in 1934", True))
    assert [(e.chunk, e.group) for e in verdict.evidence] == [(2, None)]


async def test_contradicted_needs_a_quote_too() -> None:
    verdict = await verdict_of("contradicted", (2, "The Orlan bridge opened in 1934", True))
    assert (verdict.supported, verdict.contradicted, verdict.evidence[0].chunk) == (False, True, 2)
    verdict = await verdict_of("contradicted", (2, "The Orlan bridge closed for good", True))
    assert (verdict.supported, verdict.contradicted, verdict.evidence, verdict.reason) == (False, False, (), "Because.")


async def test_support_in_one_group_of_chunks_outweighs_the_others() -> None:
    long = "Words that say nothing. " * 30

    def answer(prompt: str) -> Any:
        return quoting("yes", (0, "The Orlan bridge opened in 1934", True)) if "1934.\n[" in prompt else quoting("no")

    judge = judge_of(answer, token_budget=300)
    [verdict] = await judge.attribute([Claim("The Orlan bridge opened.")], [long, long, CHUNKS[2], long])
    assert [(e.chunk, e.quote) for e in verdict.evidence] == [(2, "The Orlan bridge opened in 1934")]


async def test_a_yes_without_any_quote_says_so() -> None:
    judge = judge_of(lambda prompt: quoting("yes"))
    with keep_ledger() as ledger:
        [verdict] = await judge.attribute([CLAIM], CHUNKS)
    assert not verdict.supported
    assert "quotes no chunk" in ledger.warnings[0]


async def test_a_list_of_claims_at_the_output_limit_is_asked_for_in_halves() -> None:
    text = " ".join(f"Unit {number} was built in {1900 + number}." for number in range(20))
    async with FakeServer([Fault(kind="truncated", on="Unit 0 was", times=1)]) as server:
        claims = await LLMJudge(server.config, cache=False).extract_claims(text)
        assert len(claims) == 20
        assert [text[slice(*claim.span)] for claim in claims if claim.span] == [claim.text for claim in claims]
        assert server.calls in (3, 4)


@pytest.mark.parametrize("claims", [{"claims": "one"}, {"claims": [1]}, {"claims": [{"text": "x"}]}])
async def test_claims_of_another_form_are_asked_for_again(claims: Any) -> None:
    replies = iter([claims, {"claims": ["One is one.", "...", "One  is one."]}])
    found = await judge_of(lambda prompt: next(replies)).extract_claims("One is one.")
    assert [claim.text for claim in found] == ["One is one."]


async def test_no_claims_are_an_answer() -> None:
    assert await judge_of(lambda prompt: {"claims": []}).extract_claims("I can't help with that.") == []


def failing(error: Exception, times: int = 99) -> tuple[Callable[[str], Any], list[str]]:
    prompts: list[str] = []

    def answer(prompt: str) -> Any:
        prompts.append(prompt)
        if len(prompts) <= times:
            raise error
        return {"claims": ["One is one."]}

    return answer, prompts


def http(status: int, message: str, **more: Any) -> library.ModelHTTPError:
    category = library.ModelRequestRejectedError if status in (400, 422) else None
    return library.ModelHTTPError.for_category(
        category, status_code=status, model_name="m", body={"error": {"message": message}}, **more
    )


@pytest.mark.parametrize(
    ("error", "kind", "calls"),
    [
        (http(400, "The prompt is too long for this model"), ContextLengthError, 1),
        (http(400, "the request exceeds the available context size"), ContextLengthError, 1),
        (http(400, "something else"), ProviderError, 1),
        (http(408, "timeout"), ProviderError, 5),
        (http(503, "busy"), ProviderError, 5),
        (http(429, "slow down"), ProviderError, 9),
        (library.ModelConnectionError("m", "connection refused"), ProviderError, 5),
        (library.UnexpectedModelBehavior("not JSON"), ProviderError, 5),
        (library.ContentFilterError("blocked"), RefusalError, 2),
        (library.UserError("no such thing"), FatalProviderError, 1),
        (library.ModelQuotaExceededError("m", "no credit left"), FatalProviderError, 1),
        (KeyError("a mistake of ours"), KeyError, 1),
    ],
)
async def test_errors_of_the_library(error: Exception, kind: type[Exception], calls: int) -> None:
    answer, prompts = failing(error)
    with pytest.raises(kind):
        await judge_of(answer).extract_claims("One is one.")
    assert len(prompts) == calls


@pytest.mark.parametrize("header", ["0.01", "soon", "-1", "inf"])
async def test_a_passing_error_is_waited_out(header: str) -> None:
    answer, prompts = failing(http(429, "slow down", headers={"Retry-After": header}), times=1)
    assert len(await judge_of(answer).extract_claims("One is one.")) == 1
    assert len(prompts) == 2


async def test_a_model_that_rejects_a_temperature_is_asked_without() -> None:
    seen: list[Any] = []

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append((info.model_settings or {}).get("temperature"))
        if seen[-1] is not None:
            raise http(400, "temperature is not supported with this model")
        return ModelResponse([TextPart('{"claims": ["One is one."]}')])

    judge = LLMJudge(FunctionModel(respond), cache=False)
    assert len(await judge.extract_claims("One is one.")) == 1
    assert len(await judge.extract_claims("Two is two.")) == 1
    assert seen == [0.0, None, None]


async def test_a_router_of_the_library_decides_for_its_models() -> None:
    def broken(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        raise http(500, "down")

    def sound(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return ModelResponse([TextPart('{"claims": ["One is one."]}')])

    router: Model = FallbackModel(FunctionModel(broken), FunctionModel(sound))
    assert len(await LLMJudge(router, cache=False).extract_claims("One is one.")) == 1
    with pytest.raises(ProviderError, match=r"down \(HTTP 500\)"):
        await LLMJudge(FallbackModel(FunctionModel(broken)), cache=False, retries=0).extract_claims("One is one.")
