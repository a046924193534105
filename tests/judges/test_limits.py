"""The adaptive limit."""

from __future__ import annotations

import asyncio

from ragcov.judges.limits import AdaptiveLimit


async def test_never_more_than_the_limit() -> None:
    limit = AdaptiveLimit(3)
    running = most = 0

    async def work() -> None:
        nonlocal running, most
        async with limit.slot():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.001)
            running -= 1

    await asyncio.gather(*(work() for _ in range(30)))
    assert (most, running) == (3, 0)


async def test_many_answers_of_one_burst_halve_it_once() -> None:
    limit = AdaptiveLimit(16)
    async with asyncio.TaskGroup() as group:
        ready = asyncio.Event()

        async def work() -> None:
            async with limit.slot() as sent:
                await ready.wait()
                limit.throttled(sent, None)

        for _ in range(16):
            group.create_task(work())
        await asyncio.sleep(0)
        ready.set()
    assert limit.limit == 8


async def test_it_recovers_and_never_falls_below_one() -> None:
    limit = AdaptiveLimit(8)
    for _ in range(10):
        async with limit.slot() as sent:
            limit.throttled(sent, None)
    assert limit.limit == 1
    for _ in range(100):
        limit.succeeded()
    assert limit.limit == 8


async def test_nobody_starts_before_retry_after_has_passed() -> None:
    limit = AdaptiveLimit(4)
    async with limit.slot() as sent:
        limit.throttled(sent, 0.1)
    async with limit.slot() as later:
        assert later - sent >= 0.1


async def test_those_who_leave_the_queue_lose_no_turn() -> None:
    limit = AdaptiveLimit(1)
    done: list[int] = []

    async def work(number: int) -> None:
        async with limit.slot():
            await asyncio.sleep(0.001)
            done.append(number)

    tasks = [asyncio.create_task(work(number)) for number in range(10)]
    await asyncio.sleep(0)
    for task in tasks[1:6]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert done == [0, 6, 7, 8, 9]
