"""Agents of the OpenAI Agents SDK."""

from __future__ import annotations

from typing import Any, cast

from agents import Agent, Runner, RunResult

from ragcov.messages import said_by, user_messages
from ragcov.targets.base import Target, Thread

__all__ = ["adapt"]


def adapt(target: Any) -> Target | None:
    """The target when it is an agent of the SDK."""
    return _OpenAIAgent(cast("Agent[Any]", target)) if isinstance(target, Agent) else None


class _OpenAIAgent(Target):
    remembers = True

    def __init__(self, agent: Agent[Any]) -> None:
        self._agent = agent

    async def ask(self, input: Any, thread: Thread) -> RunResult:
        items: list[Any] = [
            *(thread.state or []),
            *({"role": role, "content": text} for role, text in said_by(user_messages(input)) if role != "tool"),
        ]
        result = await Runner.run(self._agent, items)
        thread.state = result.to_input_list()
        return result
