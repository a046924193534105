"""An agent with scorers attached: it answers as before, and a share of its answers is scored behind its back."""

from __future__ import annotations

import atexit
import contextlib
import functools
import inspect
import logging
import math
import sys
import threading
import weakref
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from ragcov import __version__
from ragcov.concurrency import call
from ragcov.errors import FatalProviderError, TargetError, UsageError
from ragcov.live.runs import LiveResult, LiveRun, LiveStats, current_run_id, response_id, sampled, trace_context
from ragcov.live.worker import Worker
from ragcov.plain import plain
from ragcov.results import ItemResult, RunInfo, ScorerResult
from ragcov.rows import RowScorer
from ragcov.samples import Sample, clean
from ragcov.scorers.base import Scorer
from ragcov.targets import fill, read_reply
from ragcov.targets.calls import ASKING_METHODS

__all__ = ["Attached", "attach"]

ScorerOption: TypeAlias = Scorer | Mapping[str, Any]
Sink: TypeAlias = Callable[[LiveResult], Any]

_logger = logging.getLogger("ragcov.live")
_WATCHED = frozenset(form.format(name) for name in ASKING_METHODS for form in ("{}", "a{}", "{}_sync"))


def attach(
    agent: Any,
    *,
    scorers: Mapping[str, ScorerOption],
    sampling: float = 0.1,
    sink: Sink,
    queue_size: int = 1000,
    concurrency: int = 4,
    timeout: float | None = 120.0,
) -> Attached:
    """Attaches scorers to an agent, a chain, an engine or a function.

    What comes back is used like the agent: calling it, or its methods `run`, `invoke`, `generate`, `query`,
    `retrieve`, `chat` (also with an "a" before or "_sync" behind), gives and raises what the agent gives and
    raises. All other attributes are the agent's own, and methods that stream are not scored. An agent of the
    OpenAI Agents SDK, which has no such methods, gets `run` and `run_sync` in place of `Runner.run(agent, ...)`.

    Args:
        agent: What answers.
        scorers: By the name that results have: a scorer, or `{"scorer": ..., "sampling": ...}`.
        sampling: The share of runs that is scored, from 0 to 1. Which ones follows from their ids, see `sampled`.
        sink: Gets each `LiveResult`: a `JsonlSink`, an `OpenTelemetrySink`, or any function, sync or async. It is
            called in the background thread.
        queue_size: How many runs may wait to be scored; more are dropped, and counted.
        concurrency: How many runs are scored at a time.
        timeout: Seconds that the scoring of a run may take; None for no limit.

    Raises:
        UsageError: When an option can't work.
        StoreError: When the sink's file can't be written.
    """
    for name, value in (("queue_size", queue_size), ("concurrency", concurrency)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"{name} must be a whole number of 1 or more, got {value!r}")
    if timeout is not None and not timeout > 0:
        raise UsageError(f"timeout must be above 0 seconds, or None, got {timeout!r}")
    if not callable(sink):
        raise UsageError(f"sink must be a function or a sink of ragcov.live, got {type(sink).__name__}")
    read = {name: _read_option(name, option, sampling) for name, option in scorers.items()}
    _check(agent, read)
    scoring = _Scoring(read, sink, timeout=timeout, queue_size=queue_size, concurrency=concurrency)
    scoring.begin()
    return Attached(agent, scoring)


def _check(agent: Any, scorers: Mapping[str, tuple[Scorer, float]]) -> None:
    if not scorers:
        raise UsageError("give at least one scorer")
    ids = [scorer.id for scorer, _ in scorers.values()]
    if twice := sorted({scorer_id for scorer_id in ids if ids.count(scorer_id) > 1}):
        raise UsageError(f"duplicate scorer name: {', '.join(twice)}. Give one of them another id=...")
    if not callable(agent) and not _runner_methods(agent) and not any(hasattr(agent, name) for name in _WATCHED):
        names = ", ".join(ASKING_METHODS)
        raise UsageError(f"can't attach to {type(agent).__name__}: it is no function and has none of {names}")


def _read_option(name: str, option: ScorerOption, sampling: float) -> tuple[Scorer, float]:
    rate: Any = sampling
    scorer: Any = option
    if isinstance(option, Mapping):
        if unknown := set(option) - {"scorer", "sampling"}:
            raise UsageError(f"unknown keys of the scorer {name}: {', '.join(sorted(unknown))}")
        scorer, rate = option.get("scorer"), option.get("sampling", sampling)
    if not isinstance(scorer, Scorer):
        raise UsageError(f'scorers[{name!r}] must be a scorer or {{"scorer": ..., "sampling": ...}}, got {option!r}')
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not math.isfinite(rate) or not 0 <= rate <= 1:
        raise UsageError(f"the sampling of {name} must be a number from 0 to 1, got {rate!r}")
    return scorer, float(rate)


def _runner_methods(agent: Any) -> dict[str, Callable[..., Any]]:
    """The ways to run an agent of the OpenAI Agents SDK, which has no method for it."""
    if "agents.models.interface" in sys.modules:
        from agents import Agent, Runner

        if isinstance(agent, Agent):
            return {name: functools.partial(getattr(Runner, name), agent) for name in ("run", "run_sync")}
    return {}


class Attached:
    """Used like the agent inside it; see `attach`.

    As a context manager, sync or async, it drains and ends the scoring when the block ends; an agent that is a context
    manager itself is entered and left with it.
    """

    def __init__(self, agent: Any, scoring: _Scoring) -> None:
        self._agent = agent
        self._scoring = scoring
        self._methods = _runner_methods(agent)
        self._stack = contextlib.ExitStack()
        self._async_stack = contextlib.AsyncExitStack()

    def __getattr__(self, name: str) -> Any:
        if "_agent" not in vars(self):  # an attached agent that is just being copied or unpickled
            raise AttributeError(name)
        value = self._methods.get(name) or getattr(self._agent, name)
        return self._watched(value) if name in _WATCHED and callable(value) else value

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the agent."""
        return self._watched(self._agent)(*args, **kwargs)

    @property
    def stats(self) -> LiveStats:
        """What has become of the traffic so far."""
        return self._scoring.stats

    async def drain(self, timeout: float | None = 30.0) -> bool:
        """Waits until all chosen runs are scored.

        Args:
            timeout: Seconds to wait at most; None for no limit.

        Returns:
            False when the timeout came first; `stats.waiting` says how many are left.
        """
        return await call(self._scoring.drain, timeout)

    def drain_sync(self, timeout: float | None = 30.0) -> bool:
        """`drain` for synchronous code."""
        return self._scoring.drain(timeout)

    def close(self, timeout: float | None = 30.0) -> bool:
        """Drains, then ends the scoring: the agent goes on, and its further runs count as dropped."""
        return self._scoring.close(timeout)

    def __enter__(self) -> Attached:
        if callable(getattr(self._agent, "__enter__", None)):
            self._stack.enter_context(self._agent)
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()
        self._stack.__exit__(*error)

    async def __aenter__(self) -> Attached:
        if callable(getattr(self._agent, "__aenter__", None)):
            await self._async_stack.enter_async_context(self._agent)
        return self

    async def __aexit__(self, *error: Any) -> None:
        await call(self.close)
        await self._async_stack.__aexit__(*error)

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        offer = self._scoring.offer

        async def awaited(returned: Awaitable[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            answer = await returned
            offer(args, kwargs, answer)
            return answer

        @functools.wraps(function)
        def asked(*args: Any, **kwargs: Any) -> Any:
            returned = function(*args, **kwargs)
            if inspect.isawaitable(returned):
                return awaited(returned, args, kwargs)
            offer(args, kwargs, returned)
            return returned

        if not (inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", 0))):  # noqa: B004
            return asked

        @functools.wraps(function)
        async def asked_async(*args: Any, **kwargs: Any) -> Any:
            return await awaited(function(*args, **kwargs), args, kwargs)

        return asked_async


class _Scoring:
    """What goes on behind an attached agent's back. Nothing in it raises into the agent's caller."""

    def __init__(
        self,
        scorers: Mapping[str, tuple[Scorer, float]],
        sink: Sink,
        *,
        timeout: float | None,
        queue_size: int,
        concurrency: int,
    ) -> None:
        self._scorers = scorers
        self._sink = sink
        self._timeout = timeout
        self._lock = threading.Lock()
        self._seen = self._chosen = self._scored = self._failed = self._dropped = 0
        self._worker: Worker[LiveRun] = Worker(self._handle, bound=queue_size, concurrency=concurrency)
        _tell_lost_at_exit()
        _open.add(self)

    def begin(self) -> None:
        begin = getattr(self._sink, "begin", None)
        if callable(begin):
            judges = dict.fromkeys(scorer.judge.id for scorer, _ in self._scorers.values() if scorer.judge is not None)
            rates = {name: rate for name, (_, rate) in self._scorers.items()}
            scorers = tuple(self._scorers)
            begin(RunInfo(version=__version__, scorers=scorers, judges=tuple(judges), settings={"sampling": rates}))

    @property
    def stats(self) -> LiveStats:
        with self._lock:
            return LiveStats(
                seen=self._seen,
                chosen=self._chosen,
                scored=self._scored,
                failed=self._failed,
                dropped=self._dropped,
                waiting=self._worker.waiting,
            )

    def offer(self, args: tuple[Any, ...], kwargs: dict[str, Any], returned: Any) -> None:
        """Takes note of an answer; a few microseconds, and no waiting."""
        try:
            self._choose(args, kwargs, returned)
        except Exception:
            with self._lock:
                self._failed += 1
            _logger.exception("a run could not be taken for scoring")

    def _choose(self, args: tuple[Any, ...], kwargs: dict[str, Any], returned: Any) -> None:
        id = current_run_id(returned)
        names = tuple(name for name, (_, rate) in self._scorers.items() if sampled(id, rate))
        with self._lock:
            self._seen += 1
            self._chosen += bool(names)
        if not names:
            return
        input = args[0] if args else next(iter(kwargs.values()), None)
        run = LiveRun(id, _copied(input), _copied(returned), names, trace_context())
        if not self._worker.put(run):
            with self._lock:
                self._dropped += 1

    async def _handle(self, run: LiveRun) -> None:
        try:
            failed = await self._score(run)
        except FatalProviderError as error:
            failed = True
            _logger.error("run %s can't be scored, nor can any other: %s", run.id, error)
        except TargetError as error:
            failed = True
            _logger.warning("run %s can't be scored: %s", run.id, error)
        except Exception:
            failed = True
            _logger.exception("run %s could not be scored and handed to the sink", run.id)
        with self._lock:
            self._failed += failed
            self._scored += not failed

    async def _score(self, run: LiveRun) -> bool:
        """Scores a run and hands it to the sink; whether a scorer failed."""
        sample = fill(Sample(id=run.id, input=clean(plain(run.input))), read_reply(run.returned))
        rows = RowScorer([self._scorers[name][0] for name in run.scorers], None, self._timeout, None)
        item = await rows.score(0, sample)
        results = self._named(item, run.scorers)
        for name, result in results.items():
            if result.error is not None:
                _logger.warning("run %s: %s failed: %s", run.id, name, result.error.message)
        outcome = self._sink(
            LiveResult(
                run_id=run.id,
                time=run.time,
                sample=item.sample,
                scorer_results=results,
                response_id=response_id(run.returned),
                trace=run.trace,
            )
        )
        if inspect.isawaitable(outcome):
            await outcome
        return item.failed

    def _named(self, item: ItemResult, names: tuple[str, ...]) -> dict[str, ScorerResult]:
        found = {name: item.scorer_results[self._scorers[name][0].id] for name in names}
        return {name: msgspec.structs.replace(result, scorer_id=name) for name, result in found.items()}

    def drain(self, timeout: float | None) -> bool:
        return self._worker.drain(timeout)

    def close(self, timeout: float | None) -> bool:
        done = self._worker.drain(timeout)
        if not done:
            _logger.warning("%d runs were not scored in time", self._worker.waiting)
        self._worker.close()
        _open.discard(self)
        close = getattr(self._sink, "close", None)
        if callable(close):
            close()
        return done


_open: weakref.WeakSet[_Scoring] = weakref.WeakSet()


@functools.cache
def _tell_lost_at_exit() -> None:
    """A process that ends without drain() loses runs; it shall not do so silently."""

    def tell() -> None:
        waiting = sum(scoring.stats.waiting for scoring in _open)
        if waiting:
            _logger.warning("%d runs were not scored: call drain() before the process ends", waiting)

    atexit.register(tell)


def _copied(value: Any) -> Any:
    """The caller may change its list or dict before it is scored."""
    if isinstance(value, list):
        return list(cast("list[Any]", value))
    return dict(cast("dict[Any, Any]", value)) if isinstance(value, dict) else value
