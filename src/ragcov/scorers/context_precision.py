"""Context precision: whether the chunks that matter stand before those that don't."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from ragcov.attribution import Verdict
from ragcov.claims import Claim
from ragcov.judges import JudgeConfig
from ragcov.judges.base import record_warning
from ragcov.scorers.base import Scorer, StepInput, create_scorer
from ragcov.scorers.chunk_reasons import chunk_phrases, list_items, number
from ragcov.scorers.context import ContextExtractor, ContextOption, ContextSource, first_copies
from ragcov.scorers.coverage import (
    EXPECTED,
    GROUND_TRUTH,
    OUTPUT,
    attribute_claims,
    extract_claims,
    need_chunks,
    need_text,
)
from ragcov.scorers.reasons import join_sentences, quote_claim

__all__ = ["average_precision", "create_context_precision_scorer", "rank_chunks"]


def create_context_precision_scorer(
    *,
    model: JudgeConfig,
    context: ContextOption = None,
    context_extractor: ContextExtractor | None = None,
    scale: float = 1,
    id: str = "context-precision-scorer",
) -> Scorer:
    """Measures whether relevant chunks are ranked before irrelevant ones.

    A chunk is relevant when it supports, alone or together with another chunk, at least one claim of the expected
    text: the ground truth when there is one, else the output. The verdicts are those of context recall, so both
    together ask the judge once.

        score = average precision over the chunks in rank order x scale, rounded to two decimals.

    For relevances 1, 0, 1, 0 that is (1/1 + 2/3) / 2 = 0.83; without any relevant chunk 0. A chunk with the same
    text as an earlier one takes no rank: repeating a text makes a ranking neither better nor worse. Without expected
    text, without a claim in it, or without chunks a run is not scorable.

    `result.analyze_result` holds one dict for each chunk: `chunk`, `relevant`, `claims` (the ids of the claims it
    supports), `quotes` (the passages that do) and `copy_of` (an earlier chunk with the same text, or None).

    Args:
        model: The judge: `"offline"`, `"provider/model"`, or another model config.
        context: The chunks in rank order, or `ragcov.FROM_SAMPLE` to use those that each sample brings.
        context_extractor: Sync or async function of input and output that returns the chunks. When `context` is
            given as well, it serves agent-shaped input and output only.
        scale: The score's upper end; finite and above 0.
        id: The scorer's name in results.

    Raises:
        UsageError: When an option can't work; `ModelConfigError` when the model can't.
    """

    async def score(step: StepInput) -> float:
        return float(average_precision(_ranked(step.analyze_result))) * scale

    return create_scorer(
        id=id,
        description="Mean average precision of the retrieved chunks for the expected text.",
        model=model,
        scale=scale,
        prepare_run=ContextSource(context, context_extractor).prepare,
        preprocess=_extract_claims,
        analyze=_judge_chunks,
        generate_score=score,
        generate_reason=partial(_explain, scale=scale),
        settings={"measure": "context-precision"},
    )


def average_precision(relevant: Sequence[bool]) -> Fraction:
    """Mean of precision@k over the ranks k of the relevant chunks; 0 when there are none.

    Exact, so that a perfect ranking is 1 and not nearly 1. Formula: average precision as in Manning, Raghavan,
    Schütze, Introduction to Information Retrieval, section 8.4, with the relevant chunks that were retrieved as the
    relevant ones.

    Args:
        relevant: By rank, the first first.
    """
    found, total = 0, Fraction(0)
    for rank, is_relevant in enumerate(relevant, 1):
        if is_relevant:
            found += 1
            total += Fraction(found, rank)
    return total / found if found else Fraction(0)


def rank_chunks(verdicts: Sequence[Verdict], chunks: Sequence[str]) -> list[dict[str, Any]]:
    """What `analyze_result` holds: for each chunk whether and by which claims it is relevant, as plain data."""
    firsts = first_copies(chunks)
    claims: dict[int, list[str]] = {first: [] for first in firsts}
    quotes: dict[int, list[str]] = {first: [] for first in firsts}
    for verdict in verdicts:
        for evidence in verdict.evidence if verdict.supported else ():
            first = firsts[evidence.chunk]
            for known, new in ((claims[first], verdict.claim.id), (quotes[first], evidence.quote)):
                if new not in known:
                    known.append(new)
    return [
        {
            "chunk": index,
            "relevant": bool(claims[first]),
            "claims": list(claims[first]),
            "quotes": list(quotes[first]),
            "copy_of": None if first == index else first,
        }
        for index, first in enumerate(firsts)
    ]


def _ranked(judged: Sequence[dict[str, Any]]) -> list[bool]:
    return [chunk["relevant"] for chunk in judged if chunk["copy_of"] is None]


async def _extract_claims(step: StepInput) -> list[Claim]:
    need_text(step, EXPECTED)
    need_chunks(step, EXPECTED.language(step.run), filled=True)
    return await extract_claims(step, EXPECTED)


async def _judge_chunks(step: StepInput) -> list[dict[str, Any]]:
    verdicts = await attribute_claims(step, step.preprocess_result)
    judged = rank_chunks(verdicts, step.run.context or [])
    if copies := sum(chunk["copy_of"] is not None for chunk in judged):
        record_warning(f"{copies} of {len(judged)} chunks repeat the text of an earlier one and take no rank")
    return judged


async def _explain(step: StepInput, scale: float) -> str:
    language = EXPECTED.language(step.run)
    words = chunk_phrases(language)
    judged: list[dict[str, Any]] = step.analyze_result
    texts = {claim.id: quote_claim(claim.text, language) for claim in step.preprocess_result}
    ranked = _ranked(judged)
    what = GROUND_TRUTH.what if GROUND_TRUTH.text(step.run).strip() else OUTPUT.what
    lines: list[str] = []
    for chunk in judged:
        if chunk["copy_of"] is not None:
            line = words.copy.format(chunk=chunk["chunk"], first=chunk["copy_of"])
        elif chunk["relevant"]:
            claims = words.supports.join(texts[claim] for claim in chunk["claims"])
            line = words.relevant.replace("{chunk}", str(chunk["chunk"])).replace("{claims}", claims)
        else:
            line = words.irrelevant.format(chunk=chunk["chunk"])
        lines.append(line)
    parts = [
        words.ranked.format(relevant=sum(ranked), total=len(ranked), what=what),
        words.average.format(sum=_sum(ranked, scale)),
        list_items(lines, words),
    ]
    return join_sentences(parts, language)


def _sum(ranked: Sequence[bool], scale: float) -> str:
    """The sum as one would write it: "(1/1 + 2/3) / 2 = 0.83", with the scale when it is not 1."""
    terms: list[str] = []
    for rank, is_relevant in enumerate(ranked, 1):
        if is_relevant:
            terms.append(f"{len(terms) + 1}/{rank}")
    average = float(average_precision(ranked))
    sums = f"({' + '.join(terms)}) / {len(terms)} = {number(average)}" if terms else "0.0"
    return sums if scale == 1 else f"{sums}; × {scale:g} = {number(average * scale)}"
