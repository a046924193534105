"""Retrievers, query engines and chat engines of LlamaIndex."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine.types import BaseChatEngine
from llama_index.core.llms import ChatMessage

from ragcov.messages import input_text, said_by
from ragcov.targets.base import Target, Thread

__all__ = ["adapt"]


def adapt(target: Any) -> Target | None:
    """The target when it is an engine or a retriever of LlamaIndex."""
    if isinstance(target, BaseQueryEngine | BaseRetriever | BaseChatEngine):
        return _Engine(target)
    return None


class _Engine(Target):
    def __init__(self, engine: BaseQueryEngine | BaseRetriever | BaseChatEngine) -> None:
        self._engine = engine
        self.remembers = isinstance(engine, BaseChatEngine)

    async def ask(self, input: Any, thread: Thread) -> Any:
        text = input_text(input)
        if isinstance(self._engine, BaseQueryEngine):
            return await self._engine.aquery(text)
        if isinstance(self._engine, BaseRetriever):
            return await self._engine.aretrieve(text)
        # The engine's own memory would mix the conversations that run at the same time.
        before = [ChatMessage(role=role, content=text) for role, text in said_by(thread.messages) if role != "tool"]
        return await self._engine.achat(text, chat_history=before)
