"""Context relevance: how much of what was retrieved bears on the question, and whether the output used it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import msgspec

from ragcov.errors import UsageError
from ragcov.judges import JudgeConfig, load_judge
from ragcov.judges.base import AskingJudge
from ragcov.language import Language, detect_language
from ragcov.scorers.base import Scorer, StepInput, create_scorer, not_scorable
from ragcov.scorers.chunk_reasons import chunk_phrases, list_items, number
from ragcov.scorers.context import ContextExtractor, ContextOption, ContextSource
from ragcov.scorers.coverage import EXPECTED, need_chunks, question_of
from ragcov.scorers.levels import WEIGHTS, Grading, Level, grade_by_claims
from ragcov.scorers.reasons import join_sentences, phrases, quote_claim

__all__ = ["Penalties", "create_context_relevance_scorer", "relevance"]


class Penalties(msgspec.Struct, frozen=True, kw_only=True):
    """What is taken off the mean weight; each from 0 to 1.

    Attributes:
        unused_high_relevance_context: For each chunk of level "high" that the output did not use.
        missing_context_per_item: For each piece of missing information.
        max_missing_context_penalty: The most that missing information can cost altogether.
    """

    unused_high_relevance_context: float = 0.1
    missing_context_per_item: float = 0.15
    max_missing_context_penalty: float = 0.5


def create_context_relevance_scorer(
    *,
    model: JudgeConfig,
    context: ContextOption = None,
    context_extractor: ContextExtractor | None = None,
    scale: float = 1,
    penalties: Mapping[str, float] | Penalties | None = None,
    levels: Literal["auto", "asked", "claims"] = "auto",
    id: str = "context-relevance-scorer",
) -> Scorer:
    """Measures how relevant the retrieved chunks are to the question, and whether they were put to use.

    Each chunk has a level: high (weight 1.0), medium (0.7), low (0.3) or none (0). A chunk can't have a higher level
    than its share of relevant sentences bears out: a paragraph in which one of four sentences matters is "low".

        score = max(0, mean weight - penalties) x scale, rounded to two decimals,

    with a penalty for each chunk of level "high" that the output did not use and for each piece of missing
    information. Without output nothing counts as unused. Chunks with the same text count once. Without question or
    without chunks a run is not scorable.

    `result.analyze_result` holds `chunks`, a list of dicts (`chunk`, `level`, `used`, `sentences`: indexes of the
    relevant sentences, `total`: number of sentences), and `missing`, a list of texts.

    Args:
        model: The judge: `"offline"`, `"provider/model"`, or another model config.
        context: The chunks, or `ragcov.FROM_SAMPLE` to use those that each sample brings.
        context_extractor: Sync or async function of input and output that returns the chunks. When `context` is
            given as well, it serves agent-shaped input and output only.
        scale: The score's upper end; finite and above 0.
        penalties: Any of `unused_high_relevance_context` (0.1), `missing_context_per_item` (0.15) and
            `max_missing_context_penalty` (0.5), each from 0 to 1.
        levels: "asked" has an LLM judge grade the chunks, in one request. "claims" finds the levels from the judge's
            verdicts: a sentence is relevant when it is evidence for the question or for a claim of the ground truth
            (of the output, without ground truth); a chunk is used when it supports a claim of the output; missing are
            the claims of the ground truth that are not supported. "auto": "asked" with an LLM judge, else "claims".
        id: The scorer's name in results.

    Raises:
        UsageError: When an option can't work; `ModelConfigError` when the model can't.
    """
    if levels not in ("auto", "asked", "claims"):
        raise UsageError(f'levels must be "auto", "asked" or "claims", got {levels!r}')
    costs = _read_penalties(penalties)
    judge = load_judge(model)
    can_ask = isinstance(judge, AskingJudge)
    if levels == "asked" and not can_ask:
        raise UsageError('levels="asked" needs an LLM judge; other judges find the levels from claims')
    if levels == "auto":
        levels = "asked" if can_ask else "claims"
    return create_scorer(
        id=id,
        description="How relevant the retrieved context is to the question, and whether the output used it.",
        model=judge,
        scale=scale,
        prepare_run=ContextSource(context, context_extractor).prepare,
        preprocess=_check,
        analyze=_grade_by_asking if levels == "asked" else _grade_by_claims,
        generate_score=partial(_score, penalties=costs, scale=scale),
        generate_reason=partial(_explain, penalties=costs, scale=scale),
        settings={"measure": "context-relevance", "levels": levels, "penalties": msgspec.structs.asdict(costs)},
    )


def relevance(levels: Sequence[Level], *, unused: int, missing: int, penalties: Penalties) -> float:
    """max(0, mean weight - penalties), from 0 to 1.

    Args:
        levels: Of the chunks; at least one.
        unused: How many chunks of level "high" the output did not use.
        missing: How many pieces of information are missing.
        penalties: What these cost.
    """
    mean = math.fsum(WEIGHTS[level] for level in levels) / len(levels)
    unused_cost = unused * penalties.unused_high_relevance_context
    return max(0.0, mean - unused_cost - _missing_cost(missing, penalties))


def _missing_cost(missing: int, penalties: Penalties) -> float:
    return min(missing * penalties.missing_context_per_item, penalties.max_missing_context_penalty)


def _read_penalties(given: Mapping[str, float] | Penalties | None) -> Penalties:
    if isinstance(given, Penalties):
        given = msgspec.structs.asdict(given)
    names = Penalties.__struct_fields__
    if given is not None and not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"penalties must be a dict with any of {', '.join(names)}, got {type(given).__name__}")
    for name, value in (given or {}).items():
        if name not in names:
            raise UsageError(f"unknown penalty {name!r}; there are: {', '.join(names)}")
        cost: object = value
        if isinstance(cost, bool) or not isinstance(cost, int | float) or not 0 <= cost <= 1:
            raise UsageError(f"penalty {name} must be a number from 0 to 1, got {value!r}")
    return Penalties(**(given or {}))


def _language(step: StepInput) -> Language:
    return detect_language(question_of(step.run) or EXPECTED.text(step.run))


async def _check(step: StepInput) -> None:
    language = _language(step)
    if not (question_of(step.run) or "").strip():
        not_scorable(phrases(language).no_question, warning="no question: the row is left out of the mean")
    need_chunks(step, language, filled=True)


async def _grade_by_claims(step: StepInput) -> dict[str, Any]:
    return _plain(await grade_by_claims(step))


async def _grade_by_asking(step: StepInput) -> dict[str, Any]:
    from ragcov.scorers.asking_levels import grade_by_asking

    return _plain(await grade_by_asking(step))


def _plain(grading: Grading) -> dict[str, Any]:
    return msgspec.json.decode(msgspec.json.encode(grading))


def _graded(step: StepInput) -> Grading:
    return msgspec.convert(step.analyze_result, Grading)


def _unused(grading: Grading) -> int:
    return sum(chunk.level == "high" and chunk.used is False for chunk in grading.chunks)


async def _score(step: StepInput, penalties: Penalties, scale: float) -> float:
    grading = _graded(step)
    levels: list[Level] = [chunk.level for chunk in grading.chunks]
    share = relevance(levels, unused=_unused(grading), missing=len(grading.missing), penalties=penalties)
    return share * scale


async def _explain(step: StepInput, penalties: Penalties, scale: float) -> str:
    grading, language = _graded(step), _language(step)
    words = chunk_phrases(language)
    lines: list[str] = []
    for chunk in grading.chunks:
        relevant, total = len(chunk.sentences), chunk.total
        level = words.levels[chunk.level]
        line = words.level.format(chunk=chunk.chunk, level=level, relevant=relevant, total=total)
        idle = words.unused if chunk.used is False and chunk.level == "high" else ""
        lines.append(line + (words.used if chunk.used else idle))
    missing = words.between.join(quote_claim(item, language) for item in grading.missing)
    parts = [
        list_items(lines, words),
        f"{words.missing}{missing}{words.end}" if missing else "",
        words.sum.format(sum=_sum(grading, penalties, scale, language)),
    ]
    return join_sentences(parts, language)


def _sum(grading: Grading, penalties: Penalties, scale: float, language: Language) -> str:
    """The sum as one would write it: "(1.0 + 0.3) / 2 = 0.65; - 1 x 0.1 (high but unused) = 0.55"."""
    words = chunk_phrases(language)
    levels: list[Level] = [chunk.level for chunk in grading.chunks]
    weights = " + ".join(number(WEIGHTS[level]) for level in levels)
    mean = math.fsum(WEIGHTS[level] for level in levels) / len(levels)
    terms = [f"({weights}) / {len(levels)} = {number(mean)}"]
    unused, missing = _unused(grading), len(grading.missing)
    costs: list[str] = []
    if unused:
        costs.append(f" − {unused} × {penalties.unused_high_relevance_context:g}{words.unused_penalty}")
    if missing and missing * penalties.missing_context_per_item > penalties.max_missing_context_penalty:
        cap = f"{penalties.max_missing_context_penalty:g}"
        costs.append(f" − {cap}{words.capped.format(cap=cap)}")
    elif missing:
        costs.append(f" − {missing} × {penalties.missing_context_per_item:g}{words.missing_penalty}")
    value = relevance(levels, unused=unused, missing=missing, penalties=penalties)
    if costs:
        below = mean - unused * penalties.unused_high_relevance_context - _missing_cost(missing, penalties) < -1e-9
        shown = f"max(0, {number(mean)}{''.join(costs)})" if below else f"{number(mean)}{''.join(costs)}"
        terms.append(f"{shown} = {number(value)}")
    if scale != 1:
        terms.append(f"× {scale:g} = {number(value * scale)}")
    return "; ".join(terms)
