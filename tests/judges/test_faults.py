"""Every fault, at every place: the right verdicts, or a named failure of the row; never a wrong verdict."""

from __future__ import annotations

import asyncio
from typing import Any, get_args

import pytest

from ragcov.attribution import Verdict
from ragcov.errors import (
    ContextLengthError,
    FatalProviderError,
    JudgeError,
    ProviderError,
    RefusalError,
    UnreadableReplyError,
)
from ragcov.judges.llm import LLMJudge
from ragcov.testing import FakeServer, Fault
from ragcov.testing.brain import FaultKind

ROWS = 4
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
HARMLESS = {"many", "punctuation"}
FAILURES: dict[str, type[JudgeError]] = {
    "429": ProviderError,
    "500": ProviderError,
    "401": FatalProviderError,
    "403": FatalProviderError,
    "404": FatalProviderError,
    "hang": ProviderError,
    "not_json": ProviderError,
    "malformed": UnreadableReplyError,
    "truncated": UnreadableReplyError,
    "cut": UnreadableReplyError,
    "empty": UnreadableReplyError,
    "duplicate": UnreadableReplyError,
    "unreadable": UnreadableReplyError,
    "refusal": RefusalError,
    "text_refusal": RefusalError,
    "context_length": ContextLengthError,
}
# Faults of verdicts leave lists of claims alone.
ONLY_VERDICTS = {"few", "many", "duplicate", "unreadable", "punctuation"}


def row(number: int) -> tuple[str, list[str], list[bool]]:
    """A text, its chunks, and which of its claims they support."""
    facts = [f"Unit K{number}-{n} makes {10 * number + n} megawatts." for n in range(4)]
    return " ".join(facts), [f"Notes. {facts[0]} More notes.", "Other notes.", facts[2]], [True, False, True, False]


async def judged(judge: LLMJudge, number: int) -> list[Verdict]:
    text, chunks, _ = row(number)
    return await judge.attribute(await judge.extract_claims(text), chunks)


async def outcomes(server: FakeServer, timeout: float = 60) -> list[list[Verdict] | BaseException]:
    judge = LLMJudge(server.config, cache=False, retries=1, retry_delay=0.001, timeout=timeout)
    return await asyncio.gather(*(judged(judge, number) for number in range(ROWS)), return_exceptions=True)


@pytest.mark.parametrize("step", ["claims", "verdicts"])
@pytest.mark.parametrize("on", ["first", "Unit K2-", "all"])
@pytest.mark.parametrize("kind", KINDS)
async def test_faults(kind: FaultKind, on: str, step: str) -> None:
    async with FakeServer([Fault(kind=kind, on=on, step=step, retry_after=0.01)]) as server:
        results = await outcomes(server, timeout=1.5 if kind == "hang" else 60)
    assert server.faulted > 0
    for number, result in enumerate(results):
        if isinstance(result, BaseException):
            assert isinstance(result, FAILURES[kind]), result
            assert str(result)
        else:
            assert [verdict.supported for verdict in result] == row(number)[2]
    failed = [isinstance(result, BaseException) for result in results]
    if kind in HARMLESS or (kind in ONLY_VERDICTS and step == "claims"):
        assert failed == [False] * ROWS
    elif kind == "few":
        assert failed == [False] * ROWS  # two are answered each time: asking again gets there
    elif issubclass(FAILURES[kind], FatalProviderError):
        assert any(failed)
    elif on == "all":
        assert failed == [True] * ROWS
    elif on == "first" and kind != "context_length":
        assert failed == [False] * ROWS
    elif on != "first":
        assert failed == [False, False, True, False]


async def test_missing_verdicts_earn_nothing() -> None:
    """A judge that never says anything about one claim fails the row; it is no 'yes' and no 'no'."""

    text, chunks, _ = row(1)
    async with FakeServer() as server:
        from ragcov.testing import brain

        def forget(kind: Any, answer: dict[str, Any], spoil: Any = brain.spoil) -> str:
            return spoil(kind, {**answer, "verdicts": [v for v in answer.get("verdicts", []) if v["id"] != 0]})

        judge = LLMJudge(server.config, cache=False)
        claims = await judge.extract_claims(text)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("ragcov.testing.server.spoil", forget)
            with pytest.raises(UnreadableReplyError, match="no verdict"):
                await judge.attribute(claims[:1], chunks)


async def test_one_wrong_key_stops_all_rows_at_once() -> None:
    async with FakeServer([Fault(kind="401")], latency=0.05) as server:
        results = await outcomes(server)
        assert all(isinstance(result, FatalProviderError) for result in results)
        assert server.calls <= ROWS
