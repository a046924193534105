"""Chains, chat models and retrievers of LangChain, and graphs of LangGraph."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.history import RunnableWithMessageHistory

from ragcov.errors import TargetError
from ragcov.messages import input_text, is_agent_input, said_by, user_messages
from ragcov.targets.base import Target, Thread

__all__ = ["adapt"]

AnyRunnable: TypeAlias = Runnable[Any, Any]

_QUESTIONS = ("input", "question", "query", "user_input", "prompt", "text")
_HISTORIES = ("history", "chat_history")


def adapt(target: Any) -> Target | None:
    """The target when it is a Runnable, retrievers and LangGraph's graphs included."""
    if not isinstance(target, Runnable):
        return None
    runnable = cast(AnyRunnable, target)
    pregel = getattr(sys.modules.get("langgraph.pregel"), "Pregel", None)
    if pregel is not None and isinstance(runnable, pregel):
        return _Graph(runnable)
    return _Chain(runnable)


class _Retrieved(AsyncCallbackHandler):
    """Notes the documents of retrievers inside a chain, whose output doesn't show them."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread

    async def on_retriever_end(self, documents: Sequence[Document], **_: Any) -> None:
        self._thread.retrieved += [document.page_content for document in documents]


def _config(thread: Thread, runnable: AnyRunnable) -> RunnableConfig:
    names = ["thread_id"]
    if isinstance(runnable, RunnableWithMessageHistory):
        names += [field.id for field in runnable.history_factory_config]
    return {"configurable": dict.fromkeys(names, thread.id), "callbacks": [_Retrieved(thread)]}


def _messages(input: Any) -> list[dict[str, str]]:
    """The input as messages of the plainest form, which every chat model reads."""
    return [{"role": role, "content": text} for role, text in said_by(user_messages(input)) if role != "tool"]


class _Chain(Target):
    def __init__(self, runnable: AnyRunnable) -> None:
        self._runnable = runnable
        schema: dict[str, Any] = {}
        if not isinstance(runnable, BaseChatModel | BaseRetriever):
            schema = runnable.get_input_jsonschema()
        self._fields = list(schema.get("properties", {})) if schema.get("type") == "object" else []
        if isinstance(runnable, RunnableWithMessageHistory) and runnable.input_messages_key:
            self._fields = [runnable.input_messages_key]
        self._history = next((name for name in _HISTORIES if name in self._fields), None)
        self.remembers = self._history is not None or isinstance(runnable, BaseChatModel | RunnableWithMessageHistory)

    async def ask(self, input: Any, thread: Thread) -> Any:
        return await self._runnable.ainvoke(self._value(input, thread), _config(thread, self._runnable))

    def _value(self, input: Any, thread: Thread) -> Any:
        if isinstance(self._runnable, BaseChatModel):
            return [*_messages_of_thread(thread), *_messages(input)]
        if isinstance(input, dict) and not is_agent_input(input):
            return cast("dict[str, Any]", input)
        text = input_text(input)
        if not self._fields:
            return text
        asked = [name for name in self._fields if name != self._history]
        name = next((name for name in _QUESTIONS if name in asked), asked[0] if len(asked) == 1 else None)
        if name is None:
            raise _no_question(self._fields)
        before: dict[str, Any] = {} if self._history is None else {self._history: _messages_of_thread(thread)}
        return {name: text, **before}


def _messages_of_thread(thread: Thread) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in said_by(thread.messages) if role in ("user", "assistant")]


class _Graph(Target):
    """A graph gets `{"messages": [...]}`, or the question under the name that its state has for it."""

    def __init__(self, graph: AnyRunnable) -> None:
        self._graph = graph
        builder = getattr(graph, "builder", None)
        # A graph of LangGraph's functional interface has no schema: it takes what it is given.
        self._fields: list[str] = [] if builder is None else list(builder.schemas[builder.input_schema])
        self._keeps = bool(getattr(graph, "checkpointer", None))
        self.remembers = self._keeps or "messages" in self._fields

    async def ask(self, input: Any, thread: Thread) -> Any:
        state = await self._graph.ainvoke(self._value(input, thread), _config(thread, self._graph))
        if isinstance(state, dict):
            thread.state = cast("dict[str, Any]", state).get("messages")
        return cast("Any", state)

    def _value(self, input: Any, thread: Thread) -> Any:
        if isinstance(input, dict) and not is_agent_input(input):
            return cast("dict[str, Any]", input)
        if "messages" in self._fields:
            before: list[Any] = [] if self._keeps else thread.state or []
            return {"messages": [*before, *_messages(input)]}
        if not self._fields:
            return cast("Any", input)
        name = next((name for name in _QUESTIONS if name in self._fields), None)
        if name is None and len(self._fields) == 1:
            name = self._fields[0]
        if name is None:
            raise _no_question(self._fields)
        return {name: input_text(input)}


def _no_question(fields: list[str]) -> TargetError:
    return TargetError(
        f"the target takes the fields {', '.join(sorted(fields))}, and none of them is known as the question "
        f"({', '.join(_QUESTIONS)} or messages): give samples a dict as input, or a function as target"
    )
