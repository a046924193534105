"""The offline judge."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import combinations

from ragcov.attribution import Evidence, Verdict, locate
from ragcov.claims import Claim, number_claims
from ragcov.judges.offline.align import ClaimWords, read_claim, union
from ragcov.judges.offline.decide import THRESHOLD, Reading, read_chunk, score
from ragcov.judges.offline.extract import extract
from ragcov.judges.offline.passages import passages_of
from ragcov.judges.offline.reasons import listed, say

__all__ = ["OfflineJudge"]


class OfflineJudge:
    """Decides by aligning words, numbers, names and negations: no key, no network, deterministic.

    The decision about a claim and a chunk depends on these two alone. So recall does not depend on the order of
    the chunks, a further chunk never lowers it, and the first k chunks score as the whole context cut at k.
    """

    id = "offline@1"

    async def extract_claims(self, text: str, *, question: str | None = None) -> list[Claim]:
        """The claims of a text; see `Judge.extract_claims`."""
        return number_claims(extract(text, question))

    async def attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        """One verdict a claim; see `Judge.attribute`."""
        verdicts: list[Verdict] = []
        for claim in claims:
            verdicts.append(judge_claim(claim, chunks))
            # Other rows run on the same loop.
            await asyncio.sleep(0)
        return verdicts


def judge_claim(claim: Claim, chunks: Sequence[str]) -> Verdict:
    """Decides about one claim."""
    words = read_claim(claim.text)
    if not chunks:
        return Verdict(claim=claim, supported=False, reason=say("no_chunks", claim.text), confidence=0.0)
    readings = [read_chunk(words, passages_of(chunk)) for chunk in chunks]
    alone = [i for i, reading in enumerate(readings) if reading.probability >= THRESHOLD]
    confidence = max(reading.probability for reading in readings)
    group, joint = _group(words, readings, alone)
    confidence = max(confidence, joint)
    if alone or group:
        evidence = [
            locate(chunks, i, readings[i].start, readings[i].end, group=None if i in alone else 0)
            for i in sorted({*alone, *group})
        ]
        names = ", ".join(str(i) for i in (alone or group))
        reason = say("supported" if alone else "together", claim.text, chunks=names)
        return Verdict(claim=claim, supported=True, evidence=tuple(evidence), reason=reason, confidence=confidence)
    return _unsupported(claim, words, readings, chunks, confidence)


def _group(words: ClaimWords, readings: Sequence[Reading], alone: Sequence[int]) -> tuple[list[int], float]:
    """The pair with the smallest last chunk that supports the claim only together, if one comes before `alone`."""
    limit = alone[0] if alone else len(readings)
    useful = [i for i in range(limit) if len(readings[i].found) > 0 and readings[i].conflict is None]
    best = 0.0
    for last, first in sorted((j, i) for i, j in combinations(useful, 2)):
        a, b = readings[first], readings[last]
        found = union([a.found, b.found])
        if len(found) <= max(len(a.found), len(b.found)):
            continue
        together = score(words, found, union([a.everywhere, b.everywhere]), conflict=False) * 0.98
        best = max(best, together)
        if together >= THRESHOLD:
            return [first, last], best
    return [], best


def _unsupported(
    claim: Claim,
    words: ClaimWords,
    readings: Sequence[Reading],
    chunks: Sequence[str],
    confidence: float,
) -> Verdict:
    best = max(range(len(readings)), key=lambda i: (readings[i].contradicted, readings[i].probability, -i))
    reading = readings[best]
    evidence: tuple[Evidence, ...] = ()
    if reading.contradicted and reading.conflict is not None:
        evidence = (locate(chunks, best, reading.start, reading.end),)
        position, (start, end) = reading.conflict
        if position in words.passage.numbers:
            first, last = words.passage.spans[position]
            reason = say(
                "number",
                claim.text,
                chunks=str(best),
                stated=chunks[best][start:end],
                claimed=claim.text[first:last],
            )
        else:
            reason = say("contradicted", claim.text, chunks=str(best), quote=evidence[0].quote)
        return Verdict(
            claim=claim,
            supported=False,
            contradicted=True,
            evidence=evidence,
            reason=reason,
            confidence=confidence,
        )
    if reading.found:
        evidence = (locate(chunks, best, reading.start, reading.end),)
    missing = missing_terms(claim.text, words, [reading.everywhere for reading in readings])
    reason = say("missing", claim.text, missing=listed(missing, claim.text)) if missing else ""
    return Verdict(
        claim=claim,
        supported=False,
        evidence=evidence,
        reason=reason or say("nothing", claim.text),
        confidence=confidence,
    )


def missing_terms(text: str, words: ClaimWords, founds: Sequence[dict[int, float]]) -> list[str]:
    """The parts of the claim that no chunk bears out, neighbours joined, in the claim's own words."""
    found = union(founds)
    terms: list[str] = []
    run: list[int] = []
    for i in range(len(words.passage.forms) + 1):
        absent = (
            i < len(words.passage.forms) and found.get(i, 0.0) < 0.5 and (words.passage.weights[i] > 0.15 or bool(run))
        )
        if absent and (not run or words.passage.spans[i][0] - words.passage.spans[run[-1]][1] <= 1):
            run.append(i)
            continue
        if run:
            terms.append(text[words.passage.spans[run[0]][0] : words.passage.spans[run[-1]][1]])
        run = [i] if absent else []
    return terms
