"""A judge that follows a script: no model, no network."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from ragcov.attribution import Evidence, Verdict, locate
from ragcov.claims import Claim, number_claims
from ragcov.judges.base import record_usage
from ragcov.judges.extracting import read_claims, sentences
from ragcov.judges.replies import Answer
from ragcov.judges.settling import RawReply, settle
from ragcov.results import Usage

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["ScriptedJudge"]

SchemaT = TypeVar("SchemaT", bound="BaseModel")
Claims: TypeAlias = Sequence[str | Claim] | Mapping[str, Sequence[str | Claim]] | Callable[[str], Sequence[str | Claim]]
Word: TypeAlias = str | bool
Verdicts: TypeAlias = Sequence[Word] | Mapping[str, Word] | Callable[[Claim, Sequence[str]], Word]
Fault: TypeAlias = BaseException | type[BaseException] | Literal["hang"]


class ScriptedJudge:
    """Answers by a script, through the same reading of replies as a real judge.

    Without any script a text's claims are its sentences, and a claim is supported by the chunks that hold it word
    by word (spaces and case aside).

    Args:
        claims: The claims of every text; or by text (a key that the text equals or contains); or a function of
            the text.
        verdicts: Verdict words, read as those of a model are ("yes", " **Yes.** ", "No - because", also
            "contradicted"; True and False for short): one for each claim by position; or by claim (a key that the
            claim's text equals or contains); or a function of the claim and the chunks. A claim that the script
            leaves out gets no verdict.
        raw: The whole reply to a request for verdicts, instead of `verdicts`: one text, or one for each request in
            turn, the last again and again. Its form is the library's own: `{"evidence": [{"id": 0, "chunk": 0,
            "quote": "...", "enough": true}], "verdicts": [{"id": 0, "verdict": "yes", "reason": "..."}]}`, where
            `id` counts the claims of the request from 0.
        raw_claims: The whole reply to a request for claims, instead of `claims`: `{"claims": ["...", ...]}`.
        always: Whether the script also speaks when the judge is asked again about claims without a readable
            verdict. If not, those are then decided word by word.
        replies: What `ask` returns: an instance of the schema, a dict to make one of, or a function of
            instructions and prompt.
        delay: Seconds that every request takes.
        delays: Further seconds by row: a key that the text or a claim contains.
        faults: What is raised, or "hang", by row: a key that the text or a claim contains.
        id: The judge's id.

    Attributes:
        calls: Requests so far: one for claims, one for each (repeated) request for verdicts, one for each `ask`.
        concurrency: The most requests that were open at once.
        prompts: The texts that were asked about, in order.
    """

    def __init__(
        self,
        claims: Claims | None = None,
        verdicts: Verdicts | None = None,
        *,
        raw: str | Sequence[str] | None = None,
        raw_claims: str | None = None,
        always: bool = True,
        replies: Any = None,
        delay: float = 0.0,
        delays: Mapping[str, float] | None = None,
        faults: Mapping[str, Fault] | None = None,
        id: str = "scripted",
    ) -> None:
        self._claims = claims
        self._verdicts = verdicts
        self._raw = [raw] if isinstance(raw, str) else list(raw) if raw is not None else None
        self._raw_claims = raw_claims
        self._always = always
        self._replies = replies
        self._delay = delay
        self._delays = dict(delays or {})
        self._faults = dict(faults or {})
        self._id = id
        self._open = 0
        self.calls = 0
        self.concurrency = 0
        self.prompts: list[str] = []

    @property
    def id(self) -> str:
        """The judge's id."""
        return self._id

    async def extract_claims(self, text: str, *, question: str | None = None) -> list[Claim]:
        """The claims of the script, placed in the text where they stand there word by word."""
        if not text.strip():
            return []
        await self._request(text)
        if self._raw_claims is not None:
            return read_claims(self._raw_claims, text)
        found = self._scripted_claims(text)
        if found is None:
            found = [text[start:end] for start, end in sentences(text)]
        return number_claims(_placed(claim, text) for claim in found)

    async def attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        """The verdicts of the script; no request without claims or without a chunk that isn't blank.

        Raises:
            UnreadableReplyError: The script leaves a claim without a readable verdict.
        """
        if not claims or not any(chunk.strip() for chunk in chunks):
            return [Verdict(claim=claim, supported=False) for claim in claims]
        asked = 0

        async def ask(positions: Sequence[int]) -> RawReply:
            nonlocal asked
            await self._request("\n".join(claims[position].text for position in positions))
            asked += 1
            return RawReply(self._reply(claims, chunks, positions, asked), "stop")

        answers = await settle(claims, ask, [claim.text for claim in claims])
        return [_verdict(claim, answer, chunks) for claim, answer in zip(claims, answers, strict=True)]

    async def ask(self, instructions: str, prompt: str, schema: type[SchemaT]) -> SchemaT:
        """The scripted reply to a prompt of the user's own."""
        await self._request(prompt)
        reply = self._replies(instructions, prompt) if callable(self._replies) else self._replies
        return reply if isinstance(reply, schema) else schema.model_validate(reply)

    async def _request(self, text: str) -> None:
        self.calls += 1
        self.prompts.append(text)
        self._open += 1
        self.concurrency = max(self.concurrency, self._open)
        record_usage(Usage(calls=1))
        try:
            seconds = self._delay + sum(delay for key, delay in self._delays.items() if key in text)
            await asyncio.sleep(seconds)
            for key, fault in self._faults.items():
                if key in text:
                    if fault == "hang":
                        await asyncio.Event().wait()
                    else:
                        raise fault  # pyright: ignore[reportGeneralTypeIssues]
        finally:
            self._open -= 1

    def _reply(self, claims: Sequence[Claim], chunks: Sequence[str], positions: Sequence[int], asked: int) -> str:
        if self._raw is not None and (asked == 1 or self._always):
            return self._raw[min(asked, len(self._raw)) - 1]
        entries: list[dict[str, Any]] = []
        for number, position in enumerate(positions):
            scripted = self._verdicts is not None and (asked == 1 or self._always)
            word = (
                self._word(claims[position], position, chunks) if scripted else _word_by_word(claims[position], chunks)
            )
            if word is not None:
                word = ("yes" if word else "no") if isinstance(word, bool) else word
                entries.append({"id": number, "verdict": word, "reason": ""})
        return json.dumps({"verdicts": entries}, ensure_ascii=False)

    def _scripted_claims(self, text: str) -> Sequence[str | Claim] | None:
        script = self._claims
        if callable(script):
            return script(text)
        return _lookup(script, text) if isinstance(script, Mapping) else script

    def _word(self, claim: Claim, position: int, chunks: Sequence[str]) -> Word | None:
        script = self._verdicts
        if callable(script):
            return script(claim, chunks)
        if isinstance(script, Mapping):
            return _lookup(script, claim.text)
        assert script is not None
        return script[position] if position < len(script) else None


def _lookup(script: Mapping[str, Any], text: str) -> Any:
    if text in script:
        return script[text]
    return next((value for key, value in script.items() if key in text), None)


def _placed(claim: str | Claim, text: str) -> Claim:
    if isinstance(claim, Claim):
        return claim
    start = text.find(claim)
    return Claim(claim, (start, start + len(claim)) if start >= 0 and claim else None)


def _word_by_word(claim: Claim, chunks: Sequence[str]) -> str:
    return "yes" if _occurrences(claim.text, chunks) else "no"


def _occurrences(text: str, chunks: Sequence[str]) -> list[Evidence]:
    words = text.strip().rstrip(".。").split()
    if not words:
        return []
    pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
    matches = [(index, pattern.search(chunk)) for index, chunk in enumerate(chunks)]
    return [locate(chunks, index, *match.span()) for index, match in matches if match]


def _verdict(claim: Claim, answer: Answer, chunks: Sequence[str]) -> Verdict:
    evidence = [
        locate(chunks, quote.chunk, start, start + len(quote.text))
        for quote in answer.quotes
        if 0 <= quote.chunk < len(chunks) and (start := chunks[quote.chunk].find(quote.text)) >= 0
    ]
    if answer.word != "no" and not evidence:
        first = next(index for index, chunk in enumerate(chunks) if chunk.strip())
        # A script says that a claim is supported, and seldom where: a chunk must be named all the same.
        evidence = _occurrences(claim.text, chunks) or [locate(chunks, first, 0, len(chunks[first]))]
    return Verdict(
        claim=claim,
        supported=answer.word == "yes",
        contradicted=answer.word == "contradicted",
        evidence=tuple(evidence) if answer.word != "no" else (),
        reason=answer.reason,
    )
