"""How many requests may be open at once: learned from the provider's answers, shared by all workers."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

__all__ = ["AdaptiveLimit"]


class AdaptiveLimit:
    """Additive increase, multiplicative decrease, as TCP does it (Chiu and Jain, 1989).

    A rate-limit answer halves the number of requests that may be open, once for all requests that were open when it
    came, and nobody sends before the provider's Retry-After has passed; every success adds a little. Belongs to one
    event loop.

    Args:
        most: The most requests that may ever be open at once.
    """

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._limit = float(most)
        self._open = 0
        self._paused_until = 0.0
        self._last_cut = -1.0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def limit(self) -> int:
        """How many requests may be open now."""
        return max(1, int(self._limit))

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[float]:
        """Waits until a request may be sent; gives the time at which it is."""
        while (pause := self._paused_until - time.monotonic()) > 0 or self._open >= self.limit:
            if pause > 0:
                await asyncio.sleep(pause)
            else:
                await self._wait()
        self._open += 1
        try:
            yield time.monotonic()
        finally:
            self._open -= 1
            self._wake()

    def succeeded(self) -> None:
        """The provider answered: a little more is allowed."""
        self._limit = min(self._most, self._limit + 2 / self._limit)

    def throttled(self, sent: float, retry_after: float | None) -> None:
        """The provider asked for fewer requests.

        Args:
            sent: When the request was sent, as `slot` gave it.
            retry_after: Seconds that the provider asked to wait, if it said.
        """
        now = time.monotonic()
        if sent > self._last_cut:
            self._limit = max(1.0, min(self._limit, self._open) / 2)
            self._last_cut = now
        if retry_after:
            self._paused_until = max(self._paused_until, now + retry_after)

    async def _wait(self) -> None:
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self._wake()  # the turn was given to one who leaves: pass it on
            raise
        finally:
            if future in self._waiting:
                self._waiting.remove(future)

    def _wake(self) -> None:
        free = self.limit - self._open
        while self._waiting and free > 0:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
                free -= 1
