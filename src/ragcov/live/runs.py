"""Runs of a live agent: their ids, the choice of those that are scored, and what came of it."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from hashlib import blake2b
from time import time
from typing import Any

import msgspec

from ragcov.messages import messages_of
from ragcov.messages.texts import get, get_str
from ragcov.results import ScorerResult
from ragcov.samples import Sample

__all__ = ["LiveResult", "LiveRun", "LiveStats", "current_run_id", "response_id", "run_id", "sampled", "trace_context"]

_run_id: ContextVar[str | None] = ContextVar("ragcov_run_id", default=None)


@contextmanager
def run_id(id: str) -> Generator[None]:
    """Gives the runs inside the block an id of your own, such as that of the request that they serve."""
    token = _run_id.set(id)
    try:
        yield
    finally:
        _run_id.reset(token)


def current_run_id(returned: Any) -> str:
    """The id given by `run_id`, else the one that the framework gave the run, else a new one."""
    return _run_id.get() or get_str(returned, "run_id") or uuid.uuid4().hex


def sampled(id: str, rate: float) -> bool:
    """Whether a run is scored at this rate (0 to 1): always the same answer for the same id.

    The id's hash is a number from 0 to 1, and runs below the rate are chosen. So what a low rate chooses is among what
    a higher one chooses, and several processes agree without talking to each other.
    """
    digest = blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") < rate * 2**64


@dataclass(frozen=True)
class LiveRun:
    """One answer that is to be scored."""

    id: str
    input: Any
    returned: Any
    scorers: tuple[str, ...]
    trace: Any
    time: float = field(default_factory=time)


class LiveResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a sink gets: one scored run.

    Attributes:
        run_id: The run's id.
        time: When the answer was given, in seconds since 1970.
        sample: Input, output and context of the run, with the run's id.
        scorer_results: By the name that `attach` was given for the scorer.
        response_id: The provider's id of the answer; None when it isn't known.
        trace: The OpenTelemetry context in which the agent was called; None without OpenTelemetry.
    """

    run_id: str
    time: float
    sample: Sample
    scorer_results: dict[str, ScorerResult]
    response_id: str | None = None
    trace: Any = None


class LiveStats(msgspec.Struct, frozen=True, kw_only=True):
    """What has become of the traffic so far.

    Attributes:
        seen: Answers that were given.
        chosen: Those of them that were to be scored.
        scored: Runs that were scored, or found not scorable, by all their scorers.
        failed: Runs that could not be scored: a scorer failed, the answer could not be read, or the sink raised.
        dropped: Runs left out because too many were waiting, or because scoring had ended.
        waiting: Runs still to be scored, those under way included.
    """

    seen: int = 0
    chosen: int = 0
    scored: int = 0
    failed: int = 0
    dropped: int = 0
    waiting: int = 0


def trace_context() -> Any:
    """The current OpenTelemetry context; None where nothing has imported OpenTelemetry."""
    module = sys.modules.get("opentelemetry.context")
    return None if module is None else module.get_current()


def response_id(returned: Any) -> str | None:
    """The provider's id of the answer, where the framework tells it."""
    if get_str(returned, "object") in ("response", "chat.completion"):
        return get_str(returned, "id")
    last = get(returned, "response")
    found = get_str(returned, "last_response_id") or get_str(last, "provider_response_id")
    if found is None and (messages := messages_of(returned)):
        found = get_str(get(messages[-1], "response_metadata"), "id")
    return found
