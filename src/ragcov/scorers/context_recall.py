"""Context recall: the share of the ground truth's claims that the retrieved chunks support."""

from __future__ import annotations

from typing import Literal

from ragcov.attribution import Verdict
from ragcov.claims import Claim
from ragcov.errors import UsageError
from ragcov.judges import JudgeConfig
from ragcov.judges.base import AskingJudge
from ragcov.language import detect_language
from ragcov.results import Tally
from ragcov.scorers.base import Scorer, StepInput, create_scorer
from ragcov.scorers.context import ContextExtractor, ContextOption, ContextSource, usable
from ragcov.scorers.coverage import (
    GROUND_TRUTH,
    attribute_claims,
    extract_claims,
    need_chunks,
    need_text,
    tally_verdicts,
)
from ragcov.scorers.reasons import explain_verdicts, phrases

__all__ = ["create_context_recall_scorer"]


def create_context_recall_scorer(
    *,
    model: JudgeConfig,
    context: ContextOption = None,
    context_extractor: ContextExtractor | None = None,
    scale: float = 1,
    reason: Literal["verdicts", "llm"] = "verdicts",
    id: str = "context-recall-scorer",
) -> Scorer:
    """Measures how much of the ground truth the retrieved context covers.

    The ground truth is split into atomic claims, each claim is checked against the chunks, and

        score = attributed claims / all claims x scale, rounded to two decimals.

    The score depends on the question, the ground truth and the set of chunks; never on the output or on the
    order of the chunks. Without ground truth, or when it states no claim, a run is not scorable. When nothing
    was retrieved (no chunk, or blank ones only) the score is 0.0 and no judge is asked.

    Args:
        model: The judge: `"offline"`, `"provider/model"`, or another model config.
        context: The chunks, or `ragcov.FROM_SAMPLE` to use those that each sample brings.
        context_extractor: Sync or async function of input and output that returns the chunks. When `context` is
            given as well, it serves agent-shaped input and output only.
        scale: The score's upper end; finite and above 0.
        reason: "verdicts" writes the reason from the verdicts, "llm" has the judge phrase it; the numbers in it
            are then checked against the real ones.
        id: The scorer's name in results.

    Raises:
        UsageError: When an option can't work; `ModelConfigError` when the model can't.
    """
    if reason not in ("verdicts", "llm"):
        raise UsageError(f'reason must be "verdicts" or "llm", got {reason!r}')
    scorer = create_scorer(
        id=id,
        description="Share of the ground truth's claims that the retrieved context supports.",
        model=model,
        scale=scale,
        prepare_run=ContextSource(context, context_extractor).prepare,
        preprocess=_extract_claims,
        analyze=_attribute,
        generate_score=_tally,
        generate_reason=_explain if reason == "verdicts" else _phrase,
        settings={"measure": "context-recall", "reason": reason},
    )
    if reason == "llm" and not isinstance(scorer.judge, AskingJudge):
        raise UsageError('reason="llm" needs an LLM judge; the offline judge writes reasons from verdicts')
    return scorer


async def _extract_claims(step: StepInput) -> list[Claim]:
    need_text(step, GROUND_TRUTH)
    chunks = need_chunks(step, GROUND_TRUTH.language(step.run))
    # Nothing was retrieved: none of the claims is covered, however many they are, so none is asked for.
    return await extract_claims(step, GROUND_TRUTH) if usable(chunks) else []


async def _attribute(step: StepInput) -> list[Verdict]:
    return await attribute_claims(step, step.preprocess_result)


async def _tally(step: StepInput) -> Tally | float:
    return tally_verdicts(step.analyze_result) if step.analyze_result else 0.0


async def _explain(step: StepInput) -> str:
    language = detect_language(step.run.ground_truth or "")
    tally = step.results["generate_score"]
    if not isinstance(tally, Tally):
        return phrases(language).nothing_retrieved
    return explain_verdicts(step.analyze_result, tally, language)


async def _phrase(step: StepInput) -> str:
    from ragcov.scorers.phrasing import phrase_reason

    written = await _explain(step)
    tally = step.results["generate_score"]
    if not isinstance(tally, Tally):
        return written
    return await phrase_reason(step, written, tally)
