"""Targets that are called: functions, and objects with a method to ask them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ragcov.concurrency import call
from ragcov.errors import UsageError
from ragcov.targets.base import Target, Thread

__all__ = ["ASKING_METHODS", "CallTarget"]

ASKING_METHODS = ("generate", "run", "invoke", "query", "retrieve", "chat")
"""What a method that takes an input is called; an async one may have an "a" before its name."""


class CallTarget(Target):
    """Calls a function with the input.

    A parameter named `history` gets the messages of the conversation so far (an empty list in its first turn), one
    named `conversation_id` a text that is the same for all turns of a conversation.

    Raises:
        UsageError: When it is neither a function nor an object with one of the known methods.
    """

    def __init__(self, target: Any) -> None:
        self._function = _function(target)
        self._wanted = _parameters(self._function) & {"history", "conversation_id"}
        self.remembers = bool(self._wanted)

    async def ask(self, input: Any, thread: Thread) -> Any:
        """What the function returns."""
        offered = {"history": list(thread.messages), "conversation_id": thread.id}
        return await call(self._function, input, **{name: offered[name] for name in self._wanted})


def _function(target: Any) -> Callable[..., Any]:
    for name in ASKING_METHODS:
        for method in (getattr(target, f"a{name}", None), getattr(target, name, None)):
            if callable(method) and not isinstance(target, type):
                return method
    if callable(target):
        return target
    raise UsageError(
        f"target must be a function, or an object with one of {', '.join(ASKING_METHODS)}; got {type(target).__name__}"
    )


def _parameters(function: Callable[..., Any]) -> set[str]:
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        # Some built-in callables have no signature; they take no history either.
        return set()
