"""Faithfulness: the share of the output's claims that the context supports."""

from __future__ import annotations

import msgspec

from ragcov.attribution import Verdict
from ragcov.claims import Claim
from ragcov.judges import JudgeConfig
from ragcov.messages import tool_calls, tool_results
from ragcov.results import Tally
from ragcov.samples import clean_text
from ragcov.scorers.base import Run, Scorer, StepInput, create_scorer
from ragcov.scorers.context import FROM_SAMPLE, ContextExtractor, ContextOption, ContextSource
from ragcov.scorers.coverage import (
    OUTPUT,
    attribute_claims,
    extract_claims,
    need_chunks,
    need_text,
    tally_verdicts,
)
from ragcov.scorers.reasons import explain_verdicts

__all__ = ["create_faithfulness_scorer"]


def create_faithfulness_scorer(
    *,
    model: JudgeConfig,
    context: ContextOption = None,
    context_extractor: ContextExtractor | None = None,
    scale: float = 1,
    id: str = "faithfulness-scorer",
) -> Scorer:
    """Measures how much of the output the context bears out.

    The output is split into atomic claims, each claim is checked against the chunks, and

        score = supported claims / all claims x scale, rounded to two decimals.

    It is context recall with the output in place of the ground truth. Verdicts are supported, contradicted, or
    neither (unsure), kept apart in `result.verdicts`; only supported ones count. Without output, or when it states no
    claim (a refusal), a run is not scorable. When nothing was retrieved, no claim is supported.

    Args:
        model: The judge: `"offline"`, `"provider/model"`, or another model config.
        context: The chunks, or `ragcov.FROM_SAMPLE` (the default) to use those that each sample brings. A sample
            without any is checked against the successful tool results in its agent-shaped output; when there was no
            tool call either, it is not scorable.
        context_extractor: Sync or async function of input and output that returns the chunks. When `context` is
            given as well, it serves agent-shaped input and output only.
        scale: The score's upper end; finite and above 0.
        id: The scorer's name in results.

    Raises:
        UsageError: When an option can't work; `ModelConfigError` when the model can't.
    """
    if context is None and context_extractor is None:
        context = FROM_SAMPLE
    source = ContextSource(context, context_extractor)

    async def prepare_run(run: Run) -> Run:
        return _with_tool_results(await source.prepare(run))

    return create_scorer(
        id=id,
        description="Share of the output's claims that the context supports.",
        model=model,
        scale=scale,
        prepare_run=prepare_run,
        preprocess=_extract_claims,
        analyze=_attribute,
        generate_score=_tally,
        generate_reason=_explain,
        settings={"measure": "faithfulness"},
    )


def _with_tool_results(run: Run) -> Run:
    if run.context is not None or not tool_calls(run.output):
        return run
    return msgspec.structs.replace(run, context=[clean_text(text) for text in tool_results(run.output)])


async def _extract_claims(step: StepInput) -> list[Claim]:
    need_text(step, OUTPUT)
    need_chunks(step, OUTPUT.language(step.run))
    return await extract_claims(step, OUTPUT)


async def _attribute(step: StepInput) -> list[Verdict]:
    return await attribute_claims(step, step.preprocess_result)


async def _tally(step: StepInput) -> Tally:
    return tally_verdicts(step.analyze_result)


async def _explain(step: StepInput) -> str:
    tally = tally_verdicts(step.analyze_result)
    return explain_verdicts(step.analyze_result, tally, OUTPUT.language(step.run), unsupported="unsure")
