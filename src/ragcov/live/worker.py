"""A thread with an event loop of its own, and a queue before it that never grows beyond its bound."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

__all__ = ["Worker"]

T = TypeVar("T")


class Worker(Generic[T]):
    """Handles jobs in the background.

    Args:
        handle: Does one job; must not raise.
        bound: How many jobs may wait, those under way included.
        concurrency: How many jobs are under way at a time.
    """

    def __init__(self, handle: Callable[[T], Awaitable[None]], *, bound: int, concurrency: int) -> None:
        self._handle = handle
        self._bound = bound
        self._concurrency = concurrency
        self._changed = threading.Condition()
        self._waiting = 0
        self._closed = False
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._jobs: asyncio.Queue[T] = asyncio.Queue()

    @property
    def waiting(self) -> int:
        """How many jobs are not done yet."""
        return self._waiting

    def put(self, job: T) -> bool:
        """Takes a job, without waiting; False when it is dropped."""
        with self._changed:
            if self._closed or self._waiting >= self._bound:
                return False
            self._waiting += 1
            loop = self._running_loop()
        loop.call_soon_threadsafe(self._jobs.put_nowait, job)
        return True

    def drain(self, timeout: float | None) -> bool:
        """Waits until no job is waiting; False when the timeout (in seconds, None for no limit) came first."""
        with self._changed:
            return self._changed.wait_for(lambda: self._waiting == 0, timeout)

    def close(self) -> None:
        """Ends the thread. Jobs that are still waiting are not done."""
        with self._changed:
            self._closed = True
            thread, loop = self._thread, self._loop
        if thread is not None and loop is not None and thread.is_alive():
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        # A process that was forked has the loop, but not the thread that ran it.
        if self._loop is None or self._thread is None or not self._thread.is_alive():
            self._loop = asyncio.new_event_loop()
            self._jobs = asyncio.Queue()
            self._thread = threading.Thread(target=self._run, args=(self._loop,), name="ragcov-live", daemon=True)
            self._thread.start()
        return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        tasks = [loop.create_task(self._work()) for _ in range(self._concurrency)]
        try:
            loop.run_forever()
        finally:
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    async def _work(self) -> None:
        while True:
            job = await self._jobs.get()
            try:
                await self._handle(job)
            finally:
                with self._changed:
                    self._waiting -= 1
                    self._changed.notify_all()
