"""The pipeline that every scorer is: preprocess -> analyze -> generate_score -> generate_reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

import msgspec

from ragcov.attribution import Verdict
from ragcov.claims import Claim
from ragcov.concurrency import call, is_fault, run_sync
from ragcov.errors import FatalProviderError, ScorerRunError, UsageError, message_of
from ragcov.judges import Judge, JudgeConfig, Ledger, keep_ledger, load_judge
from ragcov.judges.base import AskingJudge
from ragcov.judges.sharing import SharedJudge
from ragcov.results import LARGEST, ScorerResult, Tally, check_scale, round_score

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "NotScorable",
    "PromptStep",
    "Run",
    "Scorer",
    "Step",
    "StepInput",
    "claims_among",
    "create_scorer",
    "not_scorable",
]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One input/output pair, as the steps see it.

    Attributes:
        input: The question: text, or agent-shaped messages.
        output: The system's answer: text, or agent-shaped messages.
        ground_truth: The right answer; None when there is none.
        context: The retrieved chunks; None when there are none to be had.
        id: The sample's id, or None.
        context_given: Whether `context` was handed to `run()` itself rather than brought by a dataset.
    """

    input: Any = None
    output: Any = None
    ground_truth: str | None = None
    context: list[str] | None = None
    id: str | None = None
    context_given: bool = False


class StepInput(msgspec.Struct, frozen=True, kw_only=True):
    """What a step is given.

    Attributes:
        run: The pair that is scored, after `prepare_run`.
        results: What the steps before this one returned, by step name.
        judge: The scorer's judge; None when it was made without one.
    """

    run: Run
    results: Mapping[str, Any]
    judge: Judge | None = None

    @property
    def preprocess_result(self) -> Any:
        """What preprocess returned; None when there is no such step."""
        return self.results.get("preprocess")

    @property
    def analyze_result(self) -> Any:
        """What analyze returned; None when there is no such step."""
        return self.results.get("analyze")

    @property
    def score(self) -> float | None:
        """The score, for generate_reason; None before it is known."""
        return self.results.get("score")

    def need_judge(self) -> Judge:
        """The scorer's judge.

        Raises:
            UsageError: When the scorer was made without one.
        """
        if self.judge is None:
            raise UsageError("this step needs a judge: give the scorer a model")
        return self.judge


class PromptStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step that asks an LLM.

    Attributes:
        description: What the judge is to do; its instructions.
        create_prompt: Makes the prompt from the step's input. Text from samples is untrusted: say so in it.
        output_schema: A pydantic model; the step returns an instance of it.
        model: A judge for this step alone; None takes the scorer's.
    """

    description: str
    create_prompt: Callable[[StepInput], str]
    output_schema: type[BaseModel]
    model: JudgeConfig | None = None


Step: TypeAlias = Callable[[StepInput], Any] | PromptStep
"""A sync or async function of the step's input, or a prompt step."""


class NotScorable(Exception):
    """Raised by `not_scorable`; the row becomes "not scorable" with this reason."""

    def __init__(self, reason: str, warning: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.warning = warning


def not_scorable(reason: str, *, warning: str | None = None) -> NoReturn:
    """Ends the pipeline: there is nothing to measure. Call it in any function step.

    Means leave the row out and the summary counts it.
    """
    raise NotScorable(reason, warning)


class Scorer:
    """A pipeline with a name. Keeps no result: one scorer can serve many runs at once.

    Attributes:
        id: Its name in results.
        description: What it measures.
        scale: The score's upper end.
        settings: What its scores depend on beside its steps, as a results file keeps it: the scale, the options.
        judge: The judge that it asks; None for none.
    """

    def __init__(
        self,
        *,
        id: str,
        description: str,
        scale: float,
        judge: Judge | None,
        prepare_run: Callable[[Run], Any] | None,
        steps: Mapping[str, Step],
        settings: Mapping[str, Any],
    ) -> None:
        self.id = id
        self.description = description
        self.scale = scale
        self.settings = {"scale": scale, **settings}
        self.judge = judge
        self._prepare_run = prepare_run
        self._steps = dict(steps)
        self._step_judges = {
            name: load_judge(step.model)
            for name, step in self._steps.items()
            if isinstance(step, PromptStep) and step.model is not None
        }

    def __repr__(self) -> str:
        return f"Scorer({self.id!r})"

    @property
    def judge_id(self) -> str | None:
        """The ids of the judges that it asks, those of single steps after " + "; None when it asks none."""
        return " + ".join(dict.fromkeys(judge.id for judge in self.judges)) or None

    @property
    def judges(self) -> list[Judge]:
        """The judges that it asks: its own, and those of single steps; empty when it asks none."""
        return [judge for judge in (self.judge, *self._step_judges.values()) if judge is not None]

    async def run(
        self,
        *,
        input: Any = None,
        output: Any = None,
        ground_truth: str | None = None,
        context: Sequence[str] | None = None,
        id: str | None = None,
    ) -> ScorerResult:
        """Scores one input/output pair.

        Args:
            input: The question: text, or agent-shaped messages.
            output: The system's answer: text, or agent-shaped messages.
            ground_truth: The right answer. Without one, scorers that need it are not scorable.
            context: The retrieved chunks, ranked, in place of those that the scorer was made with.
            id: For messages.

        Returns:
            A result that is scored or not scorable.

        Raises:
            ScorerRunError: When a step failed; names it and holds what the earlier ones returned.
            FatalProviderError: When no row can succeed: wrong key, unknown model.
        """
        if isinstance(context, str):
            raise UsageError("context must be a list of chunks, got one text: wrap it in a list")
        if isinstance(context, Mapping):
            raise UsageError("context must be a list of chunks, got a dict")
        if ground_truth is not None and not isinstance(ground_truth, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"ground_truth must be text or None, got {_short(ground_truth)}")
        run = Run(
            input=input,
            output=output,
            ground_truth=ground_truth,
            context=None if context is None else list(context),
            id=id,
            context_given=context is not None,
        )
        return await self.score(run)

    def run_sync(
        self,
        *,
        input: Any = None,
        output: Any = None,
        ground_truth: str | None = None,
        context: Sequence[str] | None = None,
        id: str | None = None,
    ) -> ScorerResult:
        """`run` for synchronous code; works where an event loop is running, too."""
        return run_sync(self.run(input=input, output=output, ground_truth=ground_truth, context=context, id=id))

    async def score(self, run: Run, *, judge: Judge | None = None, ledger: Ledger | None = None) -> ScorerResult:
        """`run` for a pair that is a `Run` already.

        Args:
            run: The pair.
            judge: Stands in for the scorer's own judge, so that scorers can share what it finds.
            ledger: Takes the usage and the warnings, so that they are known when the scorer fails as well.
        """
        if judge is None and self.judge is not None:
            judge = SharedJudge(self.judge)
        completed: dict[str, Any] = {}
        with keep_ledger(ledger) as ledger:
            try:
                await self._run_steps(run, judge, completed)
            except NotScorable as outcome:
                if outcome.warning:
                    ledger.warnings.append(outcome.warning)
                return self._result(completed, ledger, judge, reason=outcome.reason, scorable=False)
        return self._result(completed, ledger, judge, reason=_reason_of(completed.get("generate_reason")))

    async def rescore(self, run: Run, earlier: ScorerResult) -> ScorerResult:
        """Score and reason as this scorer gives them, from what a judge found for an earlier result.

        The steps preprocess and analyze are taken from that result. What was not scored stays so.

        Raises:
            ScorerRunError: When a step failed.
        """
        if not earlier.scored:
            return msgspec.structs.replace(earlier, scale=self.scale)
        found = {"preprocess": earlier.preprocess_result, "analyze": earlier.analyze_result}
        completed = {
            name: list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value
            for name, value in found.items()
            if name in self._steps
        }
        await self._run_steps(run, self.judge, completed)
        reason = _reason_of(completed["generate_reason"]) if "generate_reason" in completed else earlier.reason
        return msgspec.structs.replace(earlier, scale=self.scale, score=completed["score"], reason=reason)

    async def _run_steps(self, run: Run, judge: Judge | None, completed: dict[str, Any]) -> None:
        step_name = "prepare_run"
        try:
            if self._prepare_run is not None:
                prepared = await call(self._prepare_run, run)
                if not isinstance(prepared, Run):
                    raise UsageError(f"prepare_run must return a Run, got {type(prepared).__name__}")
                run = prepared
            for step_name, step in self._steps.items():
                if step_name in completed:
                    continue
                step_input = StepInput(run=run, results=completed, judge=judge)
                value = await self._run_step(step_name, step, step_input)
                completed[step_name] = value
                if step_name == "generate_score":
                    completed["score"] = self._score_of(value)
        except (NotScorable, FatalProviderError):
            raise
        except BaseException as error:
            if not is_fault(error):
                raise
            problem = message_of(error)
            raise ScorerRunError(self.id, step_name, problem, completed, run.id) from error

    async def _run_step(self, name: str, step: Step, step_input: StepInput) -> Any:
        if not isinstance(step, PromptStep):
            return await call(step, step_input)
        judge = self._step_judges.get(name, step_input.judge)
        if not isinstance(judge, AskingJudge):
            raise UsageError("a prompt step needs an LLM judge: give the step or the scorer a model")
        prompt = await call(step.create_prompt, step_input)
        return await judge.ask(step.description, prompt, step.output_schema)

    def _score_of(self, value: Any) -> float:
        if isinstance(value, Tally):
            return value.score(self.scale)
        if not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
            raise UsageError(f"generate_score must return a finite number or a Tally, got {_short(value)}")
        return round_score(float(value))

    def _result(
        self,
        completed: dict[str, Any],
        ledger: Ledger,
        judge: Judge | None,
        *,
        reason: str,
        scorable: bool = True,
    ) -> ScorerResult:
        preprocess, analyze = completed.get("preprocess"), completed.get("analyze")
        scored = completed.get("generate_score")
        claims = claims_among(preprocess)
        verdicts = cast("list[Verdict]", analyze) if _all_are(analyze, Verdict) else []
        kept = {"preprocess": None if claims else preprocess, "analyze": None if verdicts else analyze}
        return ScorerResult(
            scorer_id=self.id,
            state="scored" if scorable else "not_scorable",
            score=completed["score"] if scorable else 0.0,
            scale=self.scale,
            reason=reason,
            tally=scored if scorable and isinstance(scored, Tally) else None,
            claims=tuple(claims),
            verdicts=tuple(verdicts),
            warnings=tuple(ledger.warnings),
            usage=ledger.usage,
            judge=self.judge_id,
            step_results={name: value for name, value in kept.items() if value is not None},
        )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def _reason_of(value: Any) -> str:
    # A prompt step returns its schema's instance, whose reason is a field.
    return str(getattr(value, "reason", value) or "")


def claims_among(value: Any) -> list[Claim]:
    """The claims that a step returned; none when it returned something else."""
    return cast("list[Claim]", value) if _all_are(value, Claim) else []


def _all_are(value: Any, kind: type) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(item, kind) for item in cast("list[Any]", value))


def create_scorer(
    *,
    id: str,
    generate_score: Callable[[StepInput], Any],
    description: str = "",
    model: JudgeConfig | None = None,
    scale: float = 1,
    prepare_run: Callable[[Run], Any] | None = None,
    preprocess: Step | None = None,
    analyze: Step | None = None,
    generate_reason: Step | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Scorer:
    """Makes a scorer from its steps, each a sync or async function of a `StepInput`, or a `PromptStep`.

    Async functions run on the event loop; sync ones each in a thread, so that a slow one delays no other row.

    Args:
        id: Its name in results; unique in a run.
        generate_score: A function (no prompt step) that returns the score as a number, or a `Tally`, whose ratio is
            multiplied by `scale`.
        description: What it measures.
        model: The judge that prompt steps ask and function steps find as `step.judge`; None for none.
        scale: The score's upper end; finite and above 0.
        prepare_run: Changes the run before the first step.
        preprocess: Gets the material ready, for instance extracts claims.
        analyze: Judges it.
        generate_reason: Returns the reason as text. A prompt step's schema gives it as its field `reason`.
        settings: Options of the steps on which the scores depend, plain values by name. They are kept with a run, and
            a run is resumed only when they are the same.

    Raises:
        UsageError: When an option can't work; `ModelConfigError` when the model can't.
    """
    if not id or not isinstance(id, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise UsageError(f"a scorer needs an id, a non-empty text, got {id!r}")
    steps: dict[str, Step | None] = {
        "preprocess": preprocess,
        "analyze": analyze,
        "generate_score": generate_score,
        "generate_reason": generate_reason,
    }
    if not callable(generate_score):  # pyright: ignore[reportUnnecessaryComparison]
        raise UsageError(f"generate_score must be a function, got {type(generate_score).__name__}")
    for name, step in steps.items():
        if step is not None and not isinstance(step, PromptStep) and not callable(step):  # pyright: ignore[reportUnnecessaryComparison]
            raise UsageError(f"{name} must be a function or a PromptStep, got {type(step).__name__}")
        if isinstance(step, PromptStep) and not hasattr(step.output_schema, "model_json_schema"):
            raise UsageError(f"output_schema of {name} must be a pydantic model, got {step.output_schema!r}")
    return Scorer(
        id=id,
        description=description,
        # A float also when a whole number was given, as it is when results are read back: same run, same bytes.
        scale=float(check_scale(scale)),
        judge=None if model is None else load_judge(model),
        prepare_run=prepare_run,
        steps={name: step for name, step in steps.items() if step is not None},
        settings=settings or {},
    )
