"""ragcov's scorers as evaluators of pydantic-evals; needs `ragcov[pydantic-evals]`.

Dataset(cases=[...], evaluators=[RagcovEvaluator(scorer)]).evaluate_sync(task)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from ragcov.integrations.pairs import pair
from ragcov.scorers.base import Scorer

__all__ = ["RagcovEvaluator"]


@dataclass(repr=False)
class RagcovEvaluator(Evaluator[Any, Any, Any]):
    """Scores each case: the score with its reason, under the scorer's id.

    The ground truth is the case's expected output, else `ground_truth` in its metadata. The context is what the task
    returned with its output (a dict with `context`, tool results in messages), else `context` in the metadata.

    A case that is not scorable gets the label "not scorable" in place of a score, so it is in no mean; a scorer that
    fails is reported by pydantic-evals as the evaluator's failure.

    Attributes:
        scorer: The scorer.
        context: A function of the evaluator's context that gives the chunks, in place of the above; or None.
    """

    scorer: Scorer
    context: Callable[[EvaluatorContext[Any, Any, Any]], Sequence[str]] | None = None

    def get_default_evaluation_name(self) -> str:
        """The scorer's id."""
        return self.scorer.id

    def build_serialization_arguments(self) -> dict[str, Any]:
        """The scorer's id: a scorer itself can't be written to a file."""
        return {"scorer": self.scorer.id}

    async def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> EvaluationReason:
        """Scores one case."""
        run = pair(
            id=ctx.name,
            input=ctx.inputs,
            returned=ctx.output,
            expected=ctx.expected_output,
            metadata=ctx.metadata,
            context=None if self.context is None else self.context(ctx),
        )
        result = await self.scorer.score(run)
        value = result.score if result.scored and result.score is not None else "not scorable"
        return EvaluationReason(value=value, reason=result.reason)
