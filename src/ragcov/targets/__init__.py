"""The system under test: asking it, and reading what it answered.

A target is a function, or an agent, chain, graph, retriever or query engine of a known framework. A framework's module
is imported for targets of that framework alone, which the user has imported already.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ragcov.targets.base import Target, Thread, fill
from ragcov.targets.calls import CallTarget
from ragcov.targets.reading import Reply, read_reply

__all__ = ["Reply", "Target", "Thread", "fill", "read_reply", "read_target"]

# The framework's module, and ours that knows it. LangGraph's graphs are Runnables of LangChain.
_ADAPTERS = (
    ("pydantic_ai", "ragcov.targets.pydantic_ai_agents"),
    ("langchain_core.runnables", "ragcov.targets.langchain_runnables"),
    ("llama_index.core", "ragcov.targets.llama_index_engines"),
    ("agents.models.interface", "ragcov.targets.openai_agents"),
)


def read_target(target: Any) -> Target:
    """The target as ragcov asks it.

    Raises:
        UsageError: When it is nothing that can be asked.
    """
    if isinstance(target, Target):
        return target
    for framework, adapter in _ADAPTERS:
        # A target of a framework that nobody has imported can't exist.
        if framework in sys.modules:
            found = importlib.import_module(adapter).adapt(target)
            if found is not None:
                return found
    return CallTarget(target)
