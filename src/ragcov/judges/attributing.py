"""Attribution by an LLM: batches of claims against groups of chunks, quotes checked, answers merged."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeAlias, TypeVar

from ragcov.attribution import Evidence, Verdict, locate
from ragcov.claims import Claim
from ragcov.errors import ContextLengthError
from ragcov.judges.base import record_warning
from ragcov.judges.packing import Piece, estimate_tokens, pack
from ragcov.judges.prompts import fenced
from ragcov.judges.quotes import Haystack, find_quote, shares_content
from ragcov.judges.replies import Answer
from ragcov.judges.settling import RawReply, settle

__all__ = ["Attribution", "TokenBudget", "together"]

T = TypeVar("T")
Send: TypeAlias = Callable[[str], Coroutine[Any, Any, RawReply]]
_SMALLEST_BUDGET = 100
_AROUND = 100
_SHORTEST_COPY = 30


class TokenBudget:
    """How many tokens of chunks a request may hold; lowered when a provider finds one too long."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def halve(self, too_long: int) -> None:
        """Lowers the budget to half of a request that was too long, unless it is lower by now."""
        self.tokens = max(_SMALLEST_BUDGET, min(self.tokens, too_long // 2))


class CutOffError(Exception):
    """The reply reached the model's output limit: fewer claims in a request have shorter replies."""


class Found:
    """What one request said about a claim, with its quotes found in the chunks."""

    def __init__(self, word: str, reason: str, passages: Sequence[tuple[int, int, int, bool]] = ()) -> None:
        self.word = word
        self.reason = reason
        self.passages = passages  # text, start, end, enough


async def together(*work: Coroutine[Any, Any, T]) -> list[T]:
    """Runs work at once; the first failure cancels the rest and is raised as it is."""
    if len(work) == 1:
        return [await work[0]]
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(part) for part in work]
    except BaseExceptionGroup as failures:
        failure = failures.exceptions[0]  # no task lets a group out: nested calls unwrap theirs here
        raise failure from failure.__cause__
    return [task.result() for task in tasks]


class Attribution:
    """The attribution of one row: its claims against its chunks.

    Args:
        claims: At least one.
        chunks: At least one that isn't blank. Chunks with the same text are sent once.
        send: Sends a prompt and returns the reply.
        budget: The token budget, shared with other rows.
        batch: The most claims in a request.
    """

    def __init__(
        self, claims: Sequence[Claim], chunks: Sequence[str], send: Send, budget: TokenBudget, batch: int
    ) -> None:
        self._claims = claims
        self._chunks = chunks
        self._send = send
        self._budget = budget
        self._batch = batch
        copies: dict[str, list[int]] = {}
        for index, chunk in enumerate(chunks):
            if chunk.strip():
                copies.setdefault(chunk, []).append(index)
        self._texts = list(copies)
        self._copies = list(copies.values())
        self._haystacks = [Haystack(text) for text in self._texts]
        self._lines = [" ".join(claim.text.split()) for claim in claims]
        self._marked = [*self._texts, *self._lines]

    async def verdicts(self) -> list[Verdict]:
        """One verdict for each claim, in order."""
        groups = pack(self._texts, self._budget.tokens)
        positions = range(len(self._claims))
        batches = [positions[start : start + self._batch] for start in positions[:: self._batch]]
        work = [self._decide(list(batch), group) for batch in batches for group in groups]
        findings: dict[int, list[Found]] = {position: [] for position in positions}
        for part in await together(*work):
            for position, found in part.items():
                findings[position].append(found)
        return [self._merge(claim, findings[position]) for position, claim in enumerate(self._claims)]

    async def _decide(self, batch: list[int], group: list[Piece]) -> dict[int, Found]:
        """What the chunks of a group say about the claims of a batch; splits what turns out to be too much."""
        try:
            return await self._ask(batch, group)
        except ContextLengthError:
            parts = self._split(batch, group)
            if parts is None:
                raise
        except CutOffError:
            middle = len(batch) // 2
            parts = [(batch[:middle], group), (batch[middle:], group)]
        findings: dict[int, Found] = {}
        for part in await together(*(self._decide(*part) for part in parts)):
            for position, found in part.items():
                findings[position] = _better(findings.get(position), found)
        return findings

    def _split(self, batch: list[int], group: list[Piece]) -> list[tuple[list[int], list[Piece]]] | None:
        size = sum(estimate_tokens(self._texts[p.chunk][p.start : p.end]) for p in group)
        self._budget.halve(size)
        if size > _SMALLEST_BUDGET:
            texts = [self._texts[p.chunk][p.start : p.end] for p in group]
            smaller = pack(texts, max(_SMALLEST_BUDGET, size // 2))
            if len(smaller) > 1:
                return [(batch, [_inside(group[p.chunk], p) for p in part]) for part in smaller]
        if len(batch) > 1:
            middle = len(batch) // 2
            return [(batch[:middle], group), (batch[middle:], group)]
        return None

    async def _ask(self, batch: list[int], group: list[Piece]) -> dict[int, Found]:
        answers = await self._settle(batch, group)
        found = {p: self._found(p, answer, group) for p, answer in zip(batch, answers, strict=True)}
        doubtful = [position for position in batch if found[position] is None]
        if doubtful:
            answers = await self._settle(doubtful, group)
            for position, answer in zip(doubtful, answers, strict=True):
                found[position] = self._found(position, answer, group) or self._unproven(position, answer)
        return {position: finding for position, finding in found.items() if finding is not None}

    async def _settle(self, batch: list[int], group: list[Piece]) -> list[Answer]:
        sections = [(f"chunk {n}", self._texts[p.chunk][p.start : p.end]) for n, p in enumerate(group)]

        async def ask(asked: Sequence[int]) -> RawReply:
            lines = "\n".join(f"{n}. {self._lines[batch[place]]}" for n, place in enumerate(asked))
            reply = await self._send(fenced([*sections, ("claims", lines)], self._marked))
            if reply.finish_reason == "length" and len(batch) > 1:
                raise CutOffError
            return reply

        sources = [*(text for _, text in sections), *(self._lines[position] for position in batch)]
        return await settle([self._claims[position] for position in batch], ask, sources)

    def _found(self, position: int, answer: Answer, group: list[Piece]) -> Found | None:
        """The answer with its quotes found; None for support that none of them proves."""
        if answer.word == "no":
            return Found("no", answer.reason)
        passages: list[tuple[int, int, int, bool]] = []
        for quote in answer.quotes:
            named = [group[quote.chunk]] if 0 <= quote.chunk < len(group) else []
            for piece in [*named, *(other for other in group if other not in named)]:
                if (span := self._find(quote.text, piece, self._lines[position])) is not None:
                    passages.append((piece.chunk, *span, quote.enough))
                    break
        if passages:
            return Found(answer.word, answer.reason, passages)
        return None if answer.word == "yes" else Found("no", answer.reason)

    def _find(self, quote: str, piece: Piece, claim: str) -> tuple[int, int] | None:
        text = self._texts[piece.chunk]
        whole = piece.start == 0 and piece.end == len(text)
        haystack = self._haystacks[piece.chunk] if whole else Haystack(text[piece.start : piece.end])
        span = find_quote(quote, haystack)
        if span is None:
            return None
        start, end = span[0] + piece.start, span[1] + piece.start
        # An order hidden in a chunk can be quoted as well: a passage that shares nothing with the claim proves nothing.
        return (start, end) if shares_content(claim, text[max(0, start - _AROUND) : end + _AROUND]) else None

    def _unproven(self, position: int, answer: Answer) -> Found:
        claim = self._claims[position]
        quoted = (
            f'the quote "{_short(answer.quotes[0].text)}" is in no chunk' if answer.quotes else "it quotes no chunk"
        )
        record_warning(
            f'claim {claim.id or position + 1} counts as not supported: the judge says "yes", but {quoted},'
            " also when asked again"
        )
        return Found("no", answer.reason)

    def _merge(self, claim: Claim, findings: Sequence[Found]) -> Verdict:
        best = findings[0]
        for found in findings[1:]:
            best = _better(best, found)
        if best.word == "no":
            return Verdict(claim=claim, supported=False, reason=best.reason)
        return Verdict(
            claim=claim,
            supported=best.word == "yes",
            contradicted=best.word == "contradicted",
            evidence=self._evidence(best.passages),
            reason=best.reason,
        )

    def _evidence(self, passages: Sequence[tuple[int, int, int, bool]]) -> tuple[Evidence, ...]:
        alone = {(text, start, end) for text, start, end, enough in passages if enough}
        partial = {(text, start, end) for text, start, end, enough in passages if not enough} - alone
        if len(partial) == 1:
            # A part without its other part: it stands alone when nothing else supports the claim.
            alone, partial = alone or partial, set[tuple[int, int, int]]()
        for text, start, end in tuple(alone):
            alone |= self._elsewhere(text, start, end, {passage[0] for passage in alone})
        found = [
            locate(self._chunks, index, start, end, group=group)
            for spans, group in ((alone, None), (partial, 0))
            for text, start, end in spans
            for index in (self._copies[text] if group is None else self._copies[text][:1])
        ]
        return tuple(sorted(found, key=lambda evidence: (evidence.chunk, evidence.span)))

    def _elsewhere(self, text: int, start: int, end: int, known: set[int]) -> set[tuple[int, int, int]]:
        """The same passage in chunks that the judge didn't quote: neighbours often overlap."""
        passage = self._texts[text][start:end]
        if len(passage) < _SHORTEST_COPY:
            return set()
        places = ((other, body.find(passage)) for other, body in enumerate(self._texts) if other not in known)
        return {(other, at, at + len(passage)) for other, at in places if at >= 0}


def _better(first: Found | None, second: Found) -> Found:
    if first is None:
        return second
    rank = {"yes": 2, "contradicted": 1, "no": 0}
    if first.word == second.word != "no":
        return Found(first.word, first.reason, [*first.passages, *second.passages])
    return second if rank[second.word] > rank[first.word] else first


def _inside(outer: Piece, inner: Piece) -> Piece:
    return Piece(outer.chunk, outer.start + inner.start, outer.start + inner.end)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"
