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
from ragcov.judges.offline.segment import sentences

__all__ = ["OfflineJudge"]

# Of a text that is no claim at all, the beginning is judged.
_LONGEST = 3000


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
    parts = _parts(claim.text)
    decisions = [decide(read_claim(part), chunks, passages) for part in parts]
    if all(decision.supported for decision in decisions):
        return _supported(claim, decisions, chunks)
    weakest = min(range(len(parts)), key=lambda n: decisions[n].confidence)
    return _unsupported(claim, parts[weakest], decisions[weakest], chunks)


def _parts(text: str) -> list[str]:
    """The sentences of a claim: of a claim of the user's own with several, each has to be supported."""
    parts = [text[start:end] for start, end in sentences(text[:_LONGEST])]
    telling = [part for part in parts if read_claim(part).total >= 0.5]
    return telling if len(telling) > 1 else [text]


def _passage(decisions: Sequence[Decision], chunks: Sequence[str], chunk: int, group: int | None = None) -> Evidence:
    anchors = [anchor for decision in decisions if (anchor := decision.anchors[chunk])]
    start = min((anchor.start for anchor in anchors), default=0)
    end = max((anchor.end for anchor in anchors), default=0)
    return locate(chunks, chunk, start, end, group=group)


def _supported(claim: Claim, decisions: Sequence[Decision], chunks: Sequence[str]) -> Verdict:
    alone = sorted(set[int].intersection(*(set(decision.alone) for decision in decisions)))
    needed = [decision.group or decision.alone[:1] for decision in decisions]
    group = sorted({i for members in needed for i in members})
    if alone and alone[0] <= group[-1]:
        group = []
    evidence = [_passage(decisions, chunks, i) for i in alone]
    for i in group:
        users = [decision for decision, members in zip(decisions, needed, strict=True) if i in members]
        evidence.append(_passage(users, chunks, i, group=0))
    names = ", ".join(str(i) for i in alone or group)
    return Verdict(
        claim=claim,
        supported=True,
        evidence=tuple(sorted(evidence, key=lambda item: item.chunk)),
        reason=say("supported" if alone else "together", claim.text, chunks=names),
        confidence=min(decision.confidence for decision in decisions),
    )


def _unsupported(claim: Claim, part: str, decision: Decision, chunks: Sequence[str]) -> Verdict:
    nearest = decision.nearest
    anchor = decision.anchors[nearest] if nearest is not None else None
    if nearest is None or anchor is None:
        reason = say("nothing", claim.text)
        return Verdict(claim=claim, supported=False, reason=reason, confidence=decision.confidence)
    evidence = _passage([decision], chunks, nearest)
    contradicted = anchor.conflict is not None
    if anchor.conflict is None:
        missing = missing_terms(part, decision.words, decision.found)
        reason = say("missing", claim.text, missing=listed(missing, claim.text)) if missing else ""
    elif anchor.contradiction in ("negation", "roles"):
        reason = say("contradicted", claim.text, chunks=str(nearest), quote=evidence.quote)
    else:
        position, (start, end) = anchor.conflict
        first, last = decision.words.passage.spans[position]
        reason = say(
            "instead",
            claim.text,
            chunks=str(nearest),
            stated=chunks[nearest][start:end],
            claimed=part[first:last],
        )
    return Verdict(
        claim=claim,
        supported=False,
        contradicted=contradicted,
        evidence=(evidence,),
        reason=reason or say("unlike", claim.text),
        confidence=decision.confidence,
    )
