"""Bridges between synchronous and asynchronous code, without patching any event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import contextvars
import inspect
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ragcov.errors import UsageError

__all__ = ["call", "is_fault", "run_sync"]

T = TypeVar("T")

# How long, in seconds, an interrupted coroutine may take to clean up.
_CLEAN_UP = 5.0

_LOOP_THREAD = "ragcov-loop"
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _background_loop() -> asyncio.AbstractEventLoop:
    # One loop for the life of the process: clients and locks made in one synchronous call serve the next one.
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_serve, args=(_loop,), name=_LOOP_THREAD, daemon=True).start()
        return _loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        # What a task raises is kept for whoever waits for the task, but asyncio lets these two out of the loop as
        # well. The loop goes on, or every later call would wait for ever.
        with contextlib.suppress(KeyboardInterrupt, SystemExit):
            loop.run_forever()


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end from synchronous code, also where an event loop runs already (Jupyter).

    The coroutine runs on a loop of ragcov's own in a background thread.

    Raises:
        KeyboardInterrupt: On Ctrl-C, after the coroutine was cancelled and has cleaned up.
        UsageError: When it is called on that loop itself, which would wait for itself for ever.
    """
    if threading.current_thread().name == _LOOP_THREAD:
        coroutine.close()
        raise UsageError("a synchronous call inside ragcov's own event loop; await the async form there")
    finished = threading.Event()

    async def watched() -> T:
        try:
            return await coroutine
        finally:
            finished.set()

    future = asyncio.run_coroutine_threadsafe(watched(), _background_loop())
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        finished.wait(_CLEAN_UP)
        raise


def is_fault(error: BaseException) -> bool:
    """Whether what a user's function raised is a fault of its own, as `sys.exit` there is, and no order to stop.

    Orders to stop are Ctrl-C, and the cancelling of the current task from outside, also by a timeout.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and not task.cancelling()
    return not isinstance(error, KeyboardInterrupt | GeneratorExit)


async def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function of the user's: awaits an async one, runs a sync one in a thread of its own.

    The thread is a daemon: one that hangs is given up when the caller is cancelled, and never keeps the
    process from ending.
    """
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    ):
        return await function(*args, **kwargs)
    future: concurrent.futures.Future[Any] = concurrent.futures.Future()
    context = contextvars.copy_context()

    def work() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(context.run(function, *args, **kwargs))
        except StopIteration as error:
            # asyncio's futures refuse it, and would wait for ever.
            problem = RuntimeError(f"StopIteration: {error}")
            problem.__cause__ = error
            future.set_exception(problem)
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is awaited
            future.set_exception(error)

    threading.Thread(target=work, name="ragcov-call", daemon=True).start()
    result = await asyncio.wrap_future(future)
    return await result if inspect.isawaitable(result) else result
