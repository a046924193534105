"""The scripted judge."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import BaseModel

from ragcov import Claim
from ragcov.errors import UnreadableReplyError
from ragcov.judges import Judge, keep_ledger
from ragcov.judges.base import AskingJudge
from ragcov.testing import ScriptedJudge

TRUTH = "The Orlan bridge opened in 1934. It was designed by Ada Brandt. It carries two railway tracks."
CLAIMS = ["The Orlan bridge opened in 1934.", "Ada Brandt designed it.", "It carries two railway tracks."]
CHUNKS = ["Walls.", "The Orlan  bridge opened in 1934.", "the orlan bridge opened in 1934, it is said"]


async def supported(judge: ScriptedJudge, chunks: list[str] | None = None) -> list[bool]:
    claims = await judge.extract_claims(TRUTH)
    return [verdict.supported for verdict in await judge.attribute(claims, chunks or CHUNKS)]


def test_it_is_a_judge() -> None:
    judge = ScriptedJudge(id="mine")
    assert isinstance(judge, Judge)
    assert isinstance(judge, AskingJudge)
    assert judge.id == "mine"


async def test_without_a_script_words_decide() -> None:
    judge = ScriptedJudge()
    claims = await judge.extract_claims(TRUTH)
    assert [claim.id for claim in claims] == ["c1", "c2", "c3"]
    assert [TRUTH[slice(*claim.span)] for claim in claims if claim.span] == [claim.text for claim in claims]
    verdicts = await judge.attribute(claims, CHUNKS)
    assert [verdict.supported for verdict in verdicts] == [True, False, False]
    assert [(e.chunk, e.quote) for e in verdicts[0].evidence] == [
        (1, "The Orlan  bridge opened in 1934"),
        (2, "the orlan bridge opened in 1934"),
    ]


@pytest.mark.parametrize(
    "claims", [CLAIMS, {TRUTH: CLAIMS}, {"Ada Brandt": CLAIMS}, lambda text: CLAIMS, [Claim(c) for c in CLAIMS]]
)
async def test_claims_by_script(claims: Any) -> None:
    found = await ScriptedJudge(claims).extract_claims(TRUTH)
    assert [claim.text for claim in found] == CLAIMS
    assert [claim.id for claim in found] == ["c1", "c2", "c3"]


@pytest.mark.parametrize(
    "verdicts",
    [
        [" **Yes.** ", "No - the context does not mention a designer.", "NO"],
        [True, False, False],
        {"Orlan": "yes", "Brandt": "no", "tracks": "no"},
        lambda claim, chunks: "Orlan" in claim.text,
    ],
)
async def test_verdicts_by_script(verdicts: Any) -> None:
    assert await supported(ScriptedJudge(CLAIMS, verdicts)) == [True, False, False]


async def test_contradicted_is_a_verdict() -> None:
    judge = ScriptedJudge(["It is red."], ["contradicted"])
    [verdict] = await judge.attribute(await judge.extract_claims("It is red."), ["It is blue."])
    assert verdict.contradicted
    assert not verdict.supported
    assert verdict.evidence[0].quote == "It is blue."


async def test_too_few_verdicts_every_time_are_an_error() -> None:
    judge = ScriptedJudge(CLAIMS, ["yes"])
    with pytest.raises(UnreadableReplyError, match=r"c2 .*c3"):
        await supported(judge)
    assert judge.calls == 4


async def test_too_few_verdicts_once_are_made_up_for() -> None:
    judge = ScriptedJudge(CLAIMS, ["yes"], always=False)
    assert await supported(judge) == [True, False, False]
    assert judge.calls == 3


async def test_raw_replies_are_read_as_a_model_s_are() -> None:
    draft = '<think>First: {"verdicts": [{"id": 0, "verdict": "no"}]}</think>\nHere it is:\n```json\n'
    raw = (
        draft
        + '{"verdicts": [{"id": 0, "verdict": "yes"}, {"id": 1, "verdict": "no"}, {"id": 2, "verdict": "no"},]}\n```\n'
    )
    assert await supported(ScriptedJudge(CLAIMS, raw=raw)) == [True, False, False]
    assert await supported(ScriptedJudge(CLAIMS, raw=["nothing", raw])) == [True, False, False]
    with pytest.raises(UnreadableReplyError):
        await supported(ScriptedJudge(CLAIMS, raw="nothing"))


async def test_evidence_in_a_raw_reply_is_taken_where_it_stands() -> None:
    raw = (
        '{"evidence": [{"id": 0, "chunk": 1, "quote": "Orlan  bridge", "enough": true}],'
        ' "verdicts": [{"id": 0, "verdict": "yes", "reason": "It says so."}]}'
    )
    judge = ScriptedJudge(CLAIMS[:1], raw=raw)
    [verdict] = await judge.attribute(await judge.extract_claims(TRUTH), CHUNKS)
    assert [(e.chunk, e.span, e.quote) for e in verdict.evidence] == [(1, (4, 17), "Orlan  bridge")]
    assert verdict.reason == "It says so."


async def test_single_backslashes_survive() -> None:
    text = r"The kinetic energy is $\frac{1}{2}mv^2$ and the beta term is $\beta$."
    judge = ScriptedJudge(raw_claims=f'{{"claims": ["{text}"]}}')
    assert [claim.text for claim in await judge.extract_claims(text)] == [text]


async def test_nothing_is_asked_without_a_text_or_a_chunk() -> None:
    judge = ScriptedJudge(CLAIMS, ["yes", "yes", "yes"])
    assert await judge.extract_claims(" ") == []
    assert await judge.attribute([], CHUNKS) == []
    assert not any(verdict.supported for verdict in await judge.attribute([Claim("x")], ["", " "]))
    assert judge.calls == 0


async def test_faults_and_delays_by_row() -> None:
    judge = ScriptedJudge(faults={"Dogs": RuntimeError("quota gone"), "Cats": "hang"}, delays={"Harn": 0.01})
    assert await judge.extract_claims("Harn has a castle.")
    with pytest.raises(RuntimeError, match="quota gone"):
        await judge.extract_claims("Dogs travel free.")
    with pytest.raises(RuntimeError, match="quota gone"):
        await judge.attribute([Claim("Dogs travel free.")], ["x"])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await judge.extract_claims("Cats travel free.")
    assert judge.calls == 4


async def test_it_counts() -> None:
    judge = ScriptedJudge(delay=0.01)
    with keep_ledger() as ledger:
        await asyncio.gather(*(judge.extract_claims(f"Text {number}.") for number in range(5)))
    assert (judge.calls, judge.concurrency, ledger.usage.calls) == (5, 5, 5)
    assert judge.prompts[0] == "Text 0."


class Grade(BaseModel):
    grade: int


@pytest.mark.parametrize("replies", [Grade(grade=3), {"grade": 3}, lambda instructions, prompt: {"grade": len(prompt)}])
async def test_ask(replies: Any) -> None:
    assert await ScriptedJudge(replies=replies).ask("Grade it.", "abc", Grade) == Grade(grade=3)
