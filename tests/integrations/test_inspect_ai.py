"""A scorer in an evaluation that inspect_ai runs, with its own mock model and tools."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcov import FROM_SAMPLE, create_context_recall_scorer
from ragcov.integrations.inspect_ai import ragcov_scorer
from ragcov.testing import ScriptedJudge

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning",
    "ignore::DeprecationWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)

PARIS = "Paris is the capital of France."


@pytest.fixture(autouse=True)
def collect_garbage() -> Iterator[None]:
    """inspect_ai leaves streams open; they shall be found in the test that opened them."""
    yield
    gc.collect()


def evaluate(path: Path, samples: list[Any], solver: Any, outputs: list[Any], judge: Any = None, **options: Any) -> Any:
    from inspect_ai import Task, eval
    from inspect_ai.model import ModelUsage, get_model

    for output in outputs:
        # Without a usage the mock model counts tokens, for which it would have to fetch a tokenizer.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    recall = create_context_recall_scorer(model=judge or ScriptedJudge(), context=FROM_SAMPLE)
    task = Task(dataset=samples, solver=solver, scorer=ragcov_scorer(recall, **options))
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = eval(task, model=model, log_dir=str(path), display="none", max_samples=1)
    assert log.status == "success", log.error
    return log


def test_tool_results_are_the_context(tmp_path: Path) -> None:
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool

    @tool
    def search() -> Any:
        async def execute(query: str) -> str:
            """Searches.

            Args:
                query: What for.
            """
            return PARIS

        return execute

    outputs = [
        ModelOutput.for_tool_call("mockllm/model", "search", {"query": "France"}),
        ModelOutput.from_content("mockllm/model", "Paris."),
        ModelOutput.from_content("mockllm/model", "I don't know."),
    ]
    samples = [
        Sample(id="a", input="Capital?", target=f"{PARIS} It has an airport."),
        Sample(id="b", input="Capital?", target=PARIS, metadata={"context": [PARIS]}),
    ]
    log = evaluate(tmp_path, samples, [use_tools(search()), generate()], outputs)
    scores = {sample.id: next(iter(sample.scores.values())) for sample in log.samples}
    assert (scores["a"].value, scores["a"].answer) == (0.5, "Paris.")
    assert scores["a"].metadata["tally"] == {"attributed": 1, "total": 2}
    assert "airport" in scores["a"].explanation
    assert scores["b"].value == 1
    (found,) = log.results.scores
    assert found.name.endswith("context-recall-scorer")
    assert found.metrics["mean"].value == 0.75


def test_what_is_not_scored_is_in_no_metric(tmp_path: Path) -> None:
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import generate

    samples = [
        Sample(id="none", input="x"),
        Sample(id="broken", input="x", target="Quota ends.", metadata={"context": ["c"]}),
        Sample(id="good", input="x", target=PARIS, metadata={"context": [PARIS]}),
    ]
    judge = ScriptedJudge(faults={"Quota": RuntimeError("quota gone")})
    outputs = [ModelOutput.from_content("mockllm/model", "Paris.") for _ in samples]
    log = evaluate(tmp_path, samples, generate(), outputs, judge)
    scores = {sample.id: next(iter(sample.scores.values())) for sample in log.samples}
    assert scores["none"].reason == "not_scorable"
    assert scores["broken"].reason == "scoring_failed"
    assert "quota gone" in scores["broken"].explanation
    assert log.results.scores[0].metrics["mean"].value == 1


def test_a_context_of_the_users_own(tmp_path: Path) -> None:
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import generate

    samples = [Sample(id="a", input="Paris?", target="東京です。")]
    outputs = [ModelOutput.from_content("mockllm/model", "東京です。")]
    log = evaluate(tmp_path, samples, generate(), outputs, context=lambda state: [state.output.completion])
    assert next(iter(log.samples[0].scores.values())).value == 1
