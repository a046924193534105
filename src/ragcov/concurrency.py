"""Bridges between synchronous and asynchronous code, without patching any event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import inspect
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["call", "run_sync"]

T = TypeVar("T")

# How long, in seconds, an interrupted coroutine may take to clean up.
_CLEAN_UP = 5.0

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _background_loop() -> asyncio.AbstractEventLoop:
    # One loop for the life of the process: clients and locks made in one synchronous call serve the next one.
    global _loop
    with _lock:
        if _loop is None:
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="ragcov-sync", daemon=True).start()
        return _loop


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end from synchronous code, also where an event loop runs already (Jupyter).

    The coroutine runs on a loop of ragcov's own in a background thread.

    Raises:
        KeyboardInterrupt: On Ctrl-C, after the coroutine was cancelled and has cleaned up.
    """
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
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is awaited
            future.set_exception(error)

    threading.Thread(target=work, name="ragcov-call", daemon=True).start()
    result = await asyncio.wrap_future(future)
    return await result if inspect.isawaitable(result) else result
