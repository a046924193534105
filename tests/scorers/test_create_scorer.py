"""The pipeline of custom scorers."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from pydantic import BaseModel

from ragcov import PromptStep, StepInput, Tally, create_scorer, not_scorable
from ragcov.errors import FatalProviderError, ScorerRunError, UsageError
from ragcov.testing import ScriptedJudge


class Tone(BaseModel):
    friendly: bool
    reason: str


async def test_steps_run_in_order_and_see_what_came_before() -> None:
    async def analyze(step: StepInput) -> int:
        return len(step.preprocess_result)

    scorer = create_scorer(
        id="words",
        preprocess=lambda step: step.run.output.split(),
        analyze=analyze,
        generate_score=lambda step: Tally(step.analyze_result, 4),
        generate_reason=lambda step: f"{step.analyze_result} words, {step.score}",
        scale=10,
    )
    result = await scorer.run(output="one two three")
    assert (result.score, result.reason, result.tally) == (7.5, "3 words, 7.5", Tally(3, 4))
    assert (result.preprocess_result, result.analyze_result) == (["one", "two", "three"], 3)
    assert result.judge is None


async def test_prompt_step() -> None:
    judge = ScriptedJudge(replies={"friendly": True, "reason": "It greets."})
    scorer = create_scorer(
        id="tone",
        model=judge,
        analyze=PromptStep(
            description="Is the answer friendly?", create_prompt=lambda step: step.run.output, output_schema=Tone
        ),
        generate_score=lambda step: float(step.analyze_result.friendly),
        generate_reason=lambda step: step.analyze_result.reason,
    )
    result = await scorer.run(output="Good morning!")
    assert (result.score, result.reason, judge.prompts) == (1, "It greets.", ["Good morning!"])


async def test_prompt_step_with_a_judge_of_its_own() -> None:
    own, other = ScriptedJudge(replies={"friendly": False, "reason": "It does not."}), ScriptedJudge()
    scorer = create_scorer(
        id="tone",
        model=other,
        generate_score=lambda step: 0,
        generate_reason=PromptStep(description="Why?", create_prompt=lambda _: "?", output_schema=Tone, model=own),
    )
    result = await scorer.run(output="Hm.")
    assert (result.reason, own.calls, other.calls) == ("It does not.", 1, 0)


async def test_prompt_step_without_an_llm() -> None:
    scorer = create_scorer(
        id="tone",
        model="offline",
        analyze=PromptStep(description="?", create_prompt=lambda _: "?", output_schema=Tone),
        generate_score=lambda _: 1,
    )
    with pytest.raises(ScorerRunError, match="LLM judge"):
        await scorer.run(output="x")


async def test_not_scorable_from_any_step() -> None:
    for name in ("preprocess", "analyze", "generate_score", "generate_reason"):
        steps: dict[str, Any] = {"generate_score": lambda _: 1, name: lambda _: not_scorable("no answer to look at")}
        result = await create_scorer(id="x", **steps).run(output="x")
        assert (result.state, result.score, result.reason) == ("not_scorable", 0.0, "no answer to look at")


async def test_a_failing_step_says_which_and_what_came_before() -> None:
    def analyze(step: StepInput) -> None:
        raise KeyError("verdicts")

    scorer = create_scorer(id="x", preprocess=lambda _: [1, 2], analyze=analyze, generate_score=lambda _: 1)
    with pytest.raises(ScorerRunError, match="x: step analyze failed: 'verdicts'") as caught:
        await scorer.run(output="x")
    assert caught.value.failed_step == "analyze"
    assert caught.value.completed_steps == {"preprocess": [1, 2]}
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), "0.5", None, Tally(0, 0)])
async def test_a_score_that_is_no_number_fails(score: Any) -> None:
    with pytest.raises(ScorerRunError, match="generate_score"):
        await create_scorer(id="x", generate_score=lambda _: score).run(output="x")


async def test_fatal_errors_pass_through() -> None:
    def analyze(step: StepInput) -> None:
        raise FatalProviderError("wrong key", status=401)

    with pytest.raises(FatalProviderError):
        await create_scorer(id="x", analyze=analyze, generate_score=lambda _: 1).run(output="x")


async def test_prepare_run() -> None:
    import msgspec

    scorer = create_scorer(
        id="x",
        prepare_run=lambda run: msgspec.structs.replace(run, output=run.output.upper()),
        generate_score=lambda step: 1,
        generate_reason=lambda step: step.run.output,
    )
    assert (await scorer.run(output="loud")).reason == "LOUD"


@pytest.mark.parametrize("options", [{"id": ""}, {"id": 3}, {"generate_score": 3}, {"scale": 0}])
def test_options_that_can_not_work(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        create_scorer(**{"id": "x", "generate_score": lambda _: 1, **options})


def test_context_as_one_text_is_refused() -> None:
    with pytest.raises(UsageError, match="list"):
        create_scorer(id="x", generate_score=lambda _: 1).run_sync(context="one text")  # pyright: ignore


async def test_prepare_run_changes_the_run_before_the_first_step() -> None:
    scorer = create_scorer(
        id="x",
        prepare_run=lambda run: msgspec.structs.replace(run, output=run.output.strip()),
        generate_score=lambda step: float(step.run.output == "yes"),
    )
    assert (await scorer.run(output=" yes\n")).score == 1


async def test_prepare_run_that_returns_no_run_is_named() -> None:
    scorer = create_scorer(id="x", prepare_run=lambda _: None, generate_score=lambda _: 1)
    with pytest.raises(ScorerRunError, match="must return a Run, got NoneType") as caught:
        await scorer.run(output="x", id="s7")
    assert (caught.value.failed_step, caught.value.sample_id, caught.value.completed_steps) == ("prepare_run", "s7", {})


async def test_a_reply_that_does_not_fit_the_schema_names_sample_and_step() -> None:
    scorer = create_scorer(
        id="tone",
        model=ScriptedJudge(replies={"friendly": "perhaps"}),
        preprocess=lambda _: "ready",
        analyze=PromptStep(description="?", create_prompt=lambda _: "?", output_schema=Tone),
        generate_score=lambda _: 1,
    )
    with pytest.raises(ScorerRunError, match=r"tone: step analyze failed \(sample s7\)") as caught:
        await scorer.run(output="x", id="s7")
    assert caught.value.completed_steps == {"preprocess": "ready"}


def test_a_schema_that_is_no_pydantic_model_is_refused() -> None:
    step = PromptStep(description="?", create_prompt=lambda _: "?", output_schema=dict)  # pyright: ignore
    with pytest.raises(UsageError, match="analyze must be a pydantic model"):
        create_scorer(id="x", analyze=step, generate_score=lambda _: 1)


async def test_a_slow_sync_step_delays_no_other_row() -> None:
    import threading

    from ragcov import run_evals

    barrier = threading.Barrier(2, timeout=20)  # both rows must be in the step at once
    scorer = create_scorer(id="slow", generate_score=lambda _: float(barrier.wait() >= 0))
    result = await run_evals(data=[{"id": "a", "output": "x"}, {"id": "b", "output": "y"}], scorers=[scorer])
    assert result.scores == {"slow": 1.0}


async def test_a_sync_step_that_hangs_ends_with_its_row() -> None:
    import threading

    from ragcov import run_evals

    release = threading.Event()
    scorer = create_scorer(id="slow", generate_score=lambda step: float(release.wait(30) or step.run.id == "b"))
    result = await run_evals(data=[{"id": "a", "output": "x"}], scorers=[scorer], timeout=0.2)
    release.set()
    assert result.items[0].scorer_results["slow"].error is not None
    assert result.items[0].scorer_results["slow"].state == "failed"


def test_a_scorer_inside_a_scorer() -> None:
    inner = create_scorer(id="inner", generate_score=lambda _: 1)

    def in_a_thread(step: StepInput) -> float:
        return inner.run_sync(output="x").score or 0

    async def on_the_loop(step: StepInput) -> float:
        return inner.run_sync(output="x").score or 0

    assert create_scorer(id="x", generate_score=in_a_thread).run_sync(output="x").score == 1
    with pytest.raises(ScorerRunError, match="await the async form"):
        create_scorer(id="x", generate_score=on_the_loop).run_sync(output="x")


async def test_the_judge_of_a_single_step_is_named() -> None:
    own = ScriptedJudge(replies={"friendly": False, "reason": "No."}, id="own")
    step = PromptStep(description="?", create_prompt=lambda _: "?", output_schema=Tone, model=own)
    scorer = create_scorer(id="x", generate_score=lambda _: 1, generate_reason=step)
    assert (await scorer.run(output="x")).judge == "own"


@pytest.mark.parametrize("generate_score", [None, PromptStep(description="?", create_prompt=str, output_schema=Tone)])
def test_generate_score_is_a_function(generate_score: Any) -> None:
    with pytest.raises(UsageError, match="generate_score"):
        create_scorer(id="x", generate_score=generate_score)
