"""Agents of pydantic-ai."""

from __future__ import annotations

from typing import Any, cast

from pydantic_ai.agent import AbstractAgent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserPromptPart,
)

from ragcov.messages import is_agent_input, said_by
from ragcov.targets.base import Target, Thread

__all__ = ["adapt"]


def adapt(target: Any) -> Target | None:
    """The target when it is an agent of pydantic-ai."""
    return _PydanticAI(cast("AbstractAgent[Any, Any]", target)) if isinstance(target, AbstractAgent) else None


class _PydanticAI(Target):
    remembers = True

    def __init__(self, agent: AbstractAgent[Any, Any]) -> None:
        self._agent = agent

    async def ask(self, input: Any, thread: Thread) -> Any:
        before: list[ModelMessage] = thread.state or []
        if isinstance(input, str) or not is_agent_input(input):
            result = await self._agent.run(input, message_history=before)
        else:
            result = await self._agent.run(message_history=[*before, *_model_messages(input)])
        thread.state = result.all_messages()
        return result


def _model_messages(input: Any) -> list[ModelMessage]:
    if isinstance(input, list) and all(isinstance(item, ModelRequest | ModelResponse) for item in input):  # pyright: ignore[reportUnknownVariableType]
        return cast("list[ModelMessage]", input)
    messages: list[ModelMessage] = []
    for role, text in said_by(input):
        if role == "assistant":
            messages.append(ModelResponse(parts=[TextPart(text)]))
        elif role in ("user", "system"):
            part = UserPromptPart(text) if role == "user" else SystemPromptPart(text)
            messages.append(ModelRequest(parts=[part]))
    return messages
