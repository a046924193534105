"""Where a scorer's chunks come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeAlias, cast

import msgspec

from ragcov.concurrency import call
from ragcov.errors import UsageError
from ragcov.judges.base import record_warning
from ragcov.messages import chunk_text, failed_tool_calls, is_agent_input, is_agent_output
from ragcov.samples import clean_text
from ragcov.scorers.base import Run

__all__ = ["FROM_SAMPLE", "ContextExtractor", "ContextOption", "ContextSource", "first_copies", "usable"]


class _Sentinel(Enum):
    FROM_SAMPLE = "FROM_SAMPLE"

    def __repr__(self) -> str:
        return "ragcov.FROM_SAMPLE"


FROM_SAMPLE = _Sentinel.FROM_SAMPLE
"""As a scorer's `context`: use the context that each sample brings."""

ContextOption: TypeAlias = Sequence[Any] | Literal[_Sentinel.FROM_SAMPLE] | None
ContextExtractor: TypeAlias = Callable[[Any, Any], Any]


def usable(chunks: Iterable[str]) -> bool:
    """Whether any chunk holds more than white space."""
    return any(chunk.strip() for chunk in chunks)


def first_copies(chunks: Sequence[str]) -> list[int]:
    """For each chunk the index of the first one with the same text (white space around it aside): often its own."""
    first: dict[str, int] = {}
    return [first.setdefault(chunk.strip(), index) for index, chunk in enumerate(chunks)]


@dataclass(frozen=True)
class ContextSource:
    """Finds the chunks of a run.

    Attributes:
        context: Static chunks, `FROM_SAMPLE`, or None.
        extractor: A sync or async function of input and output, or None. A sync one runs in a thread.
    """

    context: ContextOption
    extractor: ContextExtractor | None

    def __post_init__(self) -> None:
        if self.context is None and self.extractor is None:
            raise UsageError(
                "a scorer needs context=[...], context=ragcov.FROM_SAMPLE or context_extractor=..., got none of them"
            )
        if isinstance(self.context, str):
            raise UsageError("context must be a list of chunks, got one text: wrap it in a list")
        if isinstance(self.context, Mapping):
            raise UsageError("context must be a list of chunks, got a dict")
        if self.context is not None and self.context is not FROM_SAMPLE and not self.context:
            raise UsageError("context is an empty list; give at least one chunk, or a context_extractor")
        if self.extractor is not None and not callable(self.extractor):
            raise UsageError(f"context_extractor must be a function, got {type(self.extractor).__name__}")

    async def prepare(self, run: Run) -> Run:
        """The run with its chunks filled in, as clean texts; `context` None when there is nowhere to take them.

        A context given to `run()` itself comes first; then the extractor (when a context was given as well,
        for agent-shaped input and output only); then the static context, or the sample's own.
        """
        return msgspec.structs.replace(run, context=await self._find(run))

    async def _find(self, run: Run) -> list[str] | None:
        if run.context_given:
            return _texts(run.context, "context")
        agent_shaped = is_agent_input(run.input) and is_agent_output(run.output)
        if self.extractor is not None and (self.context is None or agent_shaped):
            return await self._extract(self.extractor, run)
        return _texts(run.context if self.context is FROM_SAMPLE else self.context, "context")

    async def _extract(self, extractor: ContextExtractor, run: Run) -> list[str]:
        chunks = _texts(await call(extractor, run.input, run.output), "context_extractor") or []
        if not usable(chunks):
            failed = failed_tool_calls(run.output) if is_agent_output(run.output) else 0
            cause = f" ({failed} tool calls ended in an error)" if failed else ""
            record_warning(f"the context extractor found no context, for instance no tool results{cause}")
        return chunks


def _texts(chunks: Any, name: str) -> list[str] | None:
    if chunks is None:
        return None
    if isinstance(chunks, str):
        chunks = [chunks]
    if not isinstance(chunks, Iterable):
        raise UsageError(f"{name} must give a list of chunks, got {type(chunks).__name__}")
    return [clean_text(chunk_text(chunk)) for chunk in cast("Iterable[Any]", chunks)]
