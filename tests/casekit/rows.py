"""Cases with one row: a scorer applied to an input, an output, a ground truth and contexts."""

from __future__ import annotations

import inspect
import json
import re
from typing import Any

from casekit.outcome import Outcome, caught
from ragcov.errors import RagcovError
from ragcov.judges import load_judge
from ragcov.judges.base import Judge
from ragcov.messages import tool_results
from ragcov.scorers.context_relevance import Penalties
from ragcov.scorers.registry import SCORERS, make_scorer
from ragcov.testing import ScriptedJudge


class CountingJudge:
    """The offline judge, with its calls counted."""

    def __init__(self) -> None:
        self.judge = load_judge("offline")
        self.calls = 0

    @property
    def id(self) -> str:
        return self.judge.id

    async def extract_claims(self, text: str, *, question: str | None = None) -> list[Any]:
        self.calls += 1
        return await self.judge.extract_claims(text, question=question)

    async def attribute(self, claims: Any, chunks: Any) -> list[Any]:
        self.calls += 1
        return await self.judge.attribute(claims, chunks)


def make_judge(script: dict[str, Any] | None) -> Any:
    if script is None:
        return CountingJudge()
    raw = script.get("raw_attribution")
    return ScriptedJudge(
        claims=script.get("claims"),
        verdicts=script.get("verdicts"),
        raw=_own_schema(raw) if raw is not None else None,
        always=script.get("always", True),
    )


def _own_schema(raw: str) -> str:
    """The reply in the library's own form: lists of bare words become lists of verdicts with ids."""

    def adapt(match: re.Match[str]) -> str:
        words = re.findall(r'"([^"]*)"', match[2])
        return match[1] + ",".join(json.dumps({"id": i, "verdict": w}) for i, w in enumerate(words)) + match[3]

    return re.sub(r'("verdicts":\s*\[)([^\]{]*?)(,?\s*\])', adapt, raw)


def contexts_of(case: dict[str, Any]) -> Any:
    """The contexts as the case gives them, also where they are one text and no list."""
    generated = case.get("contexts_gen")
    contexts = case.get("contexts") or []
    if generated is None:
        return contexts
    return [*contexts, *generate_contexts(generated)]


def generate_contexts(spec: Any) -> list[str]:
    """Numbered lines of a template, with texts inserted at line numbers, joined to one context or one a line.

    The template is the text that holds `{i}`, the count the whole number, whatever their keys are called.
    """
    if isinstance(spec, list):
        return [text for one in spec for text in generate_contexts(one)]
    template = next(value for value in spec.values() if isinstance(value, str) and "{i}" in value)
    count = next(value for value in spec.values() if isinstance(value, int))
    lines = [template.replace("{i}", str(number)) for number in range(count)]
    for position, text in sorted(_inserts(spec.get("insert")), reverse=True):
        lines.insert(position, text)
    return lines if spec.get("join") is None else [spec["join"].join(lines)]


def _inserts(insert: Any) -> list[tuple[int, str]]:
    if not insert:
        return []
    if isinstance(insert, list):
        return [pair for one in insert for pair in _inserts(one)]
    position = next((value for value in insert.values() if isinstance(value, int)), None)
    if position is not None:
        return [(position, next(value for value in insert.values() if isinstance(value, str)))]
    return [(int(position), text) for position, text in insert.items()]


def scorer_name(case: dict[str, Any]) -> str:
    return str(case.get("scorer", "context_recall")).replace("_", "-")


def scorer_options(case: dict[str, Any]) -> dict[str, Any]:
    """The options of the case that its scorer has; penalties may stand among them or in a dict of their own."""
    given = {_snake(key): value for key, value in ((case.get("setup") or {}).get("options") or {}).items()}
    known = inspect.signature(SCORERS[scorer_name(case)]).parameters
    options = {key: value for key, value in given.items() if key in known}
    among = {key: value for key, value in given.items() if key in Penalties.__struct_fields__}
    if "penalties" in known and (among or "penalties" in options):
        inside = {_snake(key): value for key, value in (options.get("penalties") or {}).items()}
        options["penalties"] = {**inside, **among}
    return options


def unknown_options(case: dict[str, Any]) -> set[str]:
    """The options of the case that its scorer does not have."""
    given = {_snake(key): key for key in (case.get("setup") or {}).get("options") or {}}
    used = scorer_options(case)
    known = {*used, *(used.get("penalties") or {})}
    return {key for snake, key in given.items() if snake not in known}


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])[A-Z]", lambda match: f"_{match[0]}", name).lower()


async def run_row(case: dict[str, Any], *, output: Any = None, contexts: list[str] | None = None) -> Outcome:
    judge: Judge = make_judge(case.get("judge_script"))
    outcome: Outcome
    try:
        outcome = await _score(case, judge, output, contexts)
    except RagcovError as error:
        outcome = caught(error)
    outcome.calls = judge.calls  # pyright: ignore[reportAttributeAccessIssue]
    return outcome


async def _score(case: dict[str, Any], judge: Judge, output: Any, contexts: list[str] | None) -> Outcome:
    name = scorer_name(case)
    options = scorer_options(case)
    if case.get("judge_script") and name == "context-relevance":
        # A script holds claims and verdicts; it can't grade chunks.
        options.setdefault("levels", "claims")
    seen: list[list[str]] = []

    def extractor(input: Any, output: Any) -> list[str]:
        seen.append(tool_results(output))
        return seen[-1]

    if case.get("context_from"):
        scorer = make_scorer(name, model=judge, context_extractor=extractor, **options)
        result = await scorer.run(input=case.get("input"), output=output, ground_truth=case.get("ground_truth"))
    else:
        scorer = make_scorer(name, model=judge, **options)
        result = await scorer.run(
            input=case.get("input"),
            output=output,
            ground_truth=case.get("ground_truth"),
            context=contexts if contexts is not None else contexts_of(case),
        )
    return Outcome(result=result, context=seen[-1] if seen else contexts_of(case) if contexts is None else contexts)
