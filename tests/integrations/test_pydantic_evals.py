"""Scorers as evaluators in an evaluation that pydantic-evals runs."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic_evals import Case, Dataset

from ragcov import FROM_SAMPLE, create_context_recall_scorer
from ragcov.integrations.pydantic_evals import RagcovEvaluator
from ragcov.testing import ScriptedJudge

FACTS = {"France": "Paris is the capital of France.", "日本": "東京は日本の首都です。", "Italy": "Rome is in Italy."}


async def task(question: str) -> Any:
    if question == "broken":
        return {"output": "?", "context": ["Quota."]}
    return {"output": "An answer.", "context": [FACTS[question]]}


def recall(**faults: Any) -> Any:
    return create_context_recall_scorer(model=ScriptedJudge(faults=faults), context=FROM_SAMPLE)


@pytest.fixture
def dataset() -> Any:
    return Dataset(
        name="capitals",
        cases=[
            Case(name="france", inputs="France", expected_output="Paris is the capital of France."),
            Case(name="japan", inputs="日本", metadata={"ground_truth": "東京は日本の首都です。大阪は都です。"}),
            Case(name="italy", inputs="Italy"),
            Case(name="broken", inputs="broken", expected_output="Quota ends."),
        ],
        evaluators=[RagcovEvaluator(recall(Quota=RuntimeError("quota gone")))],
    )


async def test_a_report(dataset: Any) -> None:
    report = await dataset.evaluate(task, progress=False)
    cases = {case.name: case for case in report.cases}
    name = "context-recall-scorer"
    assert {case: found.scores[name].value for case, found in cases.items() if found.scores} == {
        "france": 1.0,
        "japan": 0.5,
    }
    assert "東京" in (cases["japan"].scores[name].reason or "")
    assert cases["italy"].labels[name].value == "not scorable"
    (failure,) = cases["broken"].evaluator_failures
    assert "quota gone" in failure.error_message
    averages = report.averages()
    assert averages is not None
    assert averages.scores == {name: 0.75}


async def test_a_context_of_the_users_own() -> None:
    evaluator = RagcovEvaluator(recall(), context=lambda ctx: [f"{ctx.output} it is."])
    dataset = Dataset(name="own", cases=[Case(inputs="x", expected_output="Paris it is.")], evaluators=[evaluator])
    report = await dataset.evaluate(lambda question: "Paris", progress=False)
    assert report.cases[0].scores["context-recall-scorer"].value == 1


def test_it_names_its_scorer_where_datasets_are_written(dataset: Any) -> None:
    (evaluator,) = dataset.evaluators
    assert evaluator.as_spec().model_dump()["arguments"] in (
        {"scorer": "context-recall-scorer"},
        ("context-recall-scorer",),
    )
