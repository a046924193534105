"""Verdicts: which claims the chunks support, and where the evidence stands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ragcov.claims import Claim
from ragcov.errors import UnreadableReplyError

__all__ = ["Evidence", "Verdict", "join_verdicts", "locate", "smallest_cutoff", "supporting_chunks"]


class Evidence(msgspec.Struct, frozen=True):
    """A passage of a chunk that supports (or contradicts) a claim.

    Attributes:
        chunk: Index of the chunk, its rank, from 0.
        span: Start and end (exclusive) in characters of the passage in that chunk.
        quote: The passage itself: `chunks[chunk][span[0]:span[1]]`.
        group: None when this passage is enough by itself. Passages with the same number are enough only
            together.
    """

    chunk: int
    span: tuple[int, int]
    quote: str
    group: int | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge decided about one claim.

    Attributes:
        claim: The claim.
        supported: Whether the chunks state the claim.
        contradicted: Whether the chunks state the opposite. Never true together with `supported`.
        evidence: For a supported claim every chunk that supports it, in rank order. For a contradicted one the
            passages that contradict it. Else empty, or the nearest passages when the judge names them.
        reason: One short sentence; for a claim that is not supported, what is missing.
        confidence: Probability (0 to 1) that the claim is supported; None where the judge has none.
    """

    claim: Claim
    supported: bool
    contradicted: bool = False
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""
    confidence: float | None = None

    def __post_init__(self) -> None:
        if self.supported and self.contradicted:
            raise ValueError("a verdict can't be both supported and contradicted")
        if self.confidence is not None and not 0 <= self.confidence <= 1:
            raise ValueError(f"a confidence must be from 0 to 1, got {self.confidence}")


def supporting_chunks(verdict: Verdict) -> tuple[int, ...]:
    """The chunks that support the claim, in rank order, each once; empty when it is not supported."""
    if not verdict.supported:
        return ()
    return tuple(sorted({evidence.chunk for evidence in verdict.evidence}))


def smallest_cutoff(verdict: Verdict) -> int | None:
    """The smallest k for which the first k chunks support the claim; None when no k does.

    A passage that is enough by itself needs its own chunk; a group of passages needs all of its chunks.
    """
    if not verdict.supported or not verdict.evidence:
        return None
    groups: dict[int, int] = {}
    alone: list[int] = []
    for evidence in verdict.evidence:
        if evidence.group is None:
            alone.append(evidence.chunk)
        else:
            groups[evidence.group] = max(groups.get(evidence.group, 0), evidence.chunk)
    return min([*alone, *groups.values()]) + 1


def join_verdicts(claims: Sequence[Claim], verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Exactly one verdict for each claim, in the order of the claims, joined by the claims themselves.

    Raises:
        UnreadableReplyError: When a claim has no verdict, or a verdict no claim; names them.
    """
    waiting: dict[Claim, list[Verdict]] = {}
    for verdict in verdicts:
        waiting.setdefault(verdict.claim, []).append(verdict)
    joined: list[Verdict] = []
    missing: list[Claim] = []
    for claim in claims:
        if found := waiting.get(claim):
            joined.append(found.pop(0))
        else:
            missing.append(claim)
    surplus = [verdict.claim for left in waiting.values() for verdict in left]
    if missing or surplus:
        problems = [("no verdict", missing), ("a verdict that was not asked for", surplus)]
        told = "; ".join(f"{what} on {_named(which)}" for what, which in problems if which)
        raise UnreadableReplyError(f"the judge must give exactly one verdict for each claim: {told}")
    return joined


def _named(claims: Sequence[Claim]) -> str:
    more = f" and {len(claims) - 3} more" if len(claims) > 3 else ""
    return ", ".join(claim.id or repr(claim.text) for claim in claims[:3]) + more


def locate(chunks: Sequence[str], chunk: int, start: int, end: int, *, group: int | None = None) -> Evidence:
    """Evidence for `chunks[chunk][start:end]`, so that span and quote can't disagree."""
    return Evidence(chunk, (start, end), chunks[chunk][start:end], group)
