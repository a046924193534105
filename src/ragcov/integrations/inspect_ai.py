"""ragcov's scorers as scorers of inspect_ai; needs `ragcov[inspect-ai]`.

Task(dataset=[...], solver=[...], scorer=ragcov_scorer(scorer))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool
from inspect_ai.scorer import Score, Scorer, Target, mean, stderr
from inspect_ai.scorer import scorer as inspect_scorer
from inspect_ai.solver import TaskState

import ragcov.scorers.base
from ragcov.errors import ScorerRunError
from ragcov.integrations.pairs import pair
from ragcov.plain import plain

__all__ = ["ragcov_scorer"]


def ragcov_scorer(
    scorer: ragcov.scorers.base.Scorer,
    *,
    context: Callable[[TaskState], Sequence[str]] | None = None,
) -> Scorer:
    """A scorer of inspect_ai with the metrics mean and stderr, named after the scorer's id.

    The ground truth is the sample's target, else `ground_truth` in its metadata. The context is given by `context`,
    else it is the tool results among the messages, else `context` in the metadata.

    A sample that is not scorable, or whose scorer failed, is an unscored sample of inspect_ai: its metrics leave it
    out, and its explanation says why.
    """
    given_context = context

    @inspect_scorer(metrics=[mean(), stderr()], name=f"ragcov/{scorer.id}")
    def made() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            messages = [_plain(message) for message in state.messages]
            chunks = None if given_context is None else given_context(state)
            run = pair(
                id=str(state.sample_id),
                input=state.input_text,
                returned=messages or state.output.completion,
                expected=target.text or None,
                metadata=state.metadata,
                context=chunks,
            )
            try:
                result = await scorer.score(run)
            except ScorerRunError as error:
                return Score.unscored(reason="scoring_failed", explanation=str(error))
            answer = state.output.completion or None
            if not result.scored or result.score is None:
                return Score.unscored(reason="not_scorable", explanation=result.reason, answer=answer)
            details = plain({"tally": result.tally, "verdicts": result.verdicts, "warnings": result.warnings})
            return Score(value=result.score, answer=answer, explanation=result.reason, metadata=details)

        return score

    return made()


def _plain(message: ChatMessage) -> dict[str, Any]:
    """A message in the form of OpenAI's chat completions; tools that failed are marked."""
    said: dict[str, Any] = {"role": message.role, "content": message.text}
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        said["tool_calls"] = [
            {"id": call.id, "function": {"name": call.function, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if isinstance(message, ChatMessageTool):
        said |= {"tool_call_id": message.tool_call_id, "name": message.function}
        if message.error is not None:
            said |= {"status": "error", "content": message.error.message}
    return said
