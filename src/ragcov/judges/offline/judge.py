"""The offline judge."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from ragcov.attribution import Evidence, Verdict, locate
from ragcov.claims import Claim, number_claims
from ragcov.judges.offline.align import read_claim
from ragcov.judges.offline.decide import Decision, decide
from ragcov.judges.offline.extract import extract
from ragcov.judges.offline.passages import Passage, passages_of
from ragcov.judges.offline.reasons import listed, missing_terms, say

__all__ = ["OfflineJudge"]


class OfflineJudge:
    """Decides by aligning words, numbers, names and negations: no key, no network, deterministic.

    The decision about a claim and some chunks depends on these alone, and a further chunk never lowers it. So
    recall does not depend on the order of the chunks, and the first k chunks score as the context cut at k.

    A claim is supported when its confidence is at least `decide.THRESHOLD`.
    """

    id = "offline@1"

    async def extract_claims(self, text: str, *, question: str | None = None) -> list[Claim]:
        """The claims of a text; see `Judge.extract_claims`."""
        return number_claims(extract(text, question))

    async def attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        """One verdict a claim; see `Judge.attribute`."""
        passages = {chunk: passages_of(chunk) for chunk in chunks}
        verdicts: list[Verdict] = []
        for claim in claims:
            verdicts.append(judge_claim(claim, chunks, passages))
            # Other rows run on the same loop.
            await asyncio.sleep(0)
        return verdicts


def judge_claim(
    claim: Claim, chunks: Sequence[str], passages: Mapping[str, Sequence[Passage]] | None = None
) -> Verdict:
    """Decides about one claim."""
    if not chunks:
        return Verdict(claim=claim, supported=False, reason=say("no_chunks", claim.text), confidence=0.0)
    decision = decide(read_claim(claim.text), chunks, passages)
    if decision.supported:
        return _supported(claim, decision, chunks)
    return _unsupported(claim, decision, chunks)


def _passage(decision: Decision, chunks: Sequence[str], chunk: int, group: int | None = None) -> Evidence:
    anchor = decision.anchors[chunk]
    start, end = (anchor.start, anchor.end) if anchor else (0, 0)
    return locate(chunks, chunk, start, end, group=group)


def _supported(claim: Claim, decision: Decision, chunks: Sequence[str]) -> Verdict:
    evidence = [
        _passage(decision, chunks, i, group=None if i in decision.alone else 0)
        for i in sorted({*decision.alone, *decision.group})
    ]
    names = ", ".join(str(i) for i in decision.alone or decision.group)
    return Verdict(
        claim=claim,
        supported=True,
        evidence=tuple(evidence),
        reason=say("supported" if decision.alone else "together", claim.text, chunks=names),
        confidence=decision.confidence,
    )


def _unsupported(claim: Claim, decision: Decision, chunks: Sequence[str]) -> Verdict:
    nearest = decision.nearest
    anchor = decision.anchors[nearest] if nearest is not None else None
    if nearest is None or anchor is None:
        reason = say("nothing", claim.text)
        return Verdict(claim=claim, supported=False, reason=reason, confidence=decision.confidence)
    evidence = _passage(decision, chunks, nearest)
    contradicted = anchor.conflict is not None
    if anchor.conflict is None:
        missing = missing_terms(claim.text, decision.words, decision.found)
        reason = say("missing", claim.text, missing=listed(missing, claim.text)) if missing else ""
    elif anchor.contradiction == "negation":
        reason = say("contradicted", claim.text, chunks=str(nearest), quote=evidence.quote)
    else:
        position, (start, end) = anchor.conflict
        first, last = decision.words.passage.spans[position]
        reason = say(
            "instead",
            claim.text,
            chunks=str(nearest),
            stated=chunks[nearest][start:end],
            claimed=claim.text[first:last],
        )
    return Verdict(
        claim=claim,
        supported=False,
        contradicted=contradicted,
        evidence=(evidence,),
        reason=reason or say("unlike", claim.text),
        confidence=decision.confidence,
    )
