"""What ragcov adds to the time that a model takes: calls, characters, wall, CPU, memory, import.

    python bench/llm_path.py [--samples 100] [--latency 0.2] [--concurrency 16 32]

The model is `ragcov.testing.FakeServer` in a process of its own. Each sample has five claims, three of which its five
chunks of about 700 characters support: the right mean is 0.60. "first" is a run with an empty cache of claims, "second"
one with other chunks over the same ground truths, "bare client" sends the bodies of the first run with aiohttp and
reads the replies. Ideal is calls x latency / concurrency; overhead is what a call takes beyond that, over all lanes.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import resource
import subprocess
import sys
import time
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

TEXT = """the survey of river traffic found that grain barges passed the upper locks in spring while ferries kept to
the estuary and the harbour office wrote down each cargo its weight and the name of the master"""


def sample(number: int, variant: int) -> dict[str, Any]:
    rng = random.Random(number)
    facts = [
        f"Lock {number}-{n} was built in {1800 + rng.randrange(200)} and lifts {rng.randrange(2, 40)} metres."
        for n in range(5)
    ]
    filler = random.Random(number * 7 + variant)
    chunks = [" ".join(filler.choices(TEXT.split(), k=110)).capitalize() + "." for _ in range(5)]
    for n in range(3):
        chunks[(n + variant) % 5] += f" {facts[n]}"
    return {
        "id": f"s{number}",
        "input": f"What is known of lock {number}?",
        "ground_truth": " ".join(facts),
        "context": chunks,
    }


def serve(latency: float, pipe: Connection) -> None:
    from ragcov.testing import FakeServer

    with FakeServer(latency=latency, obeys="never") as server:
        pipe.send(server.url)
        while pipe.recv() == "stats":
            pipe.send((server.calls, server.input_chars + server.output_chars, server.bodies))
            server.calls = server.input_chars = server.output_chars = 0
            server.bodies = []


class Row(NamedTuple):
    name: str
    concurrency: int
    calls: int
    chars: int
    wall: float
    cpu: float
    score: float | None


async def measured(work: Any) -> tuple[Any, float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = await work
    return result, time.perf_counter() - wall, time.process_time() - cpu


async def bare(url: str, bodies: list[Any], concurrency: int) -> None:
    import aiohttp

    lanes = asyncio.Semaphore(concurrency)
    async with aiohttp.ClientSession() as session:

        async def send(body: Any) -> None:
            async with lanes, session.post(f"{url}/chat/completions", json=body) as reply:
                await reply.json()

        await asyncio.gather(*(send(body) for body in bodies))


async def run(url: str, pipe: Connection, samples: int, concurrency: int) -> list[Row]:
    from ragcov import FROM_SAMPLE, create_context_recall_scorer, run_evals
    from ragcov.judges.llm import LLMJudge

    judge = LLMJudge({"id": "bench", "url": url}, cache=False)
    scorer = create_context_recall_scorer(model=judge, context=FROM_SAMPLE)
    await run_evals(data=[sample(10**6, 0)], scorers=[scorer])  # imports and the first connection
    rows: list[Row] = []
    bodies: list[Any] = []
    for variant, name in enumerate(("first", "second")):
        pipe.send("stats")
        pipe.recv()
        data = [sample(number, variant) for number in range(samples)]
        work = run_evals(data=data, scorers=[scorer], concurrency=concurrency)
        result, wall, cpu = await measured(work)
        pipe.send("stats")
        calls, chars, sent = pipe.recv()
        bodies = bodies or sent
        rows.append(Row(name, concurrency, calls, chars, wall, cpu, result.scores["context-recall-scorer"]))
    _, wall, cpu = await measured(bare(url, bodies, concurrency))
    pipe.send("stats")
    calls, chars, _ = pipe.recv()
    rows.append(Row("bare client", concurrency, calls, chars, wall, cpu, None))
    return rows


def seconds_of(code: str) -> float:
    def once(program: str) -> float:
        started = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], check=True)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return ended.ru_utime + ended.ru_stime - started.ru_utime - started.ru_stime

    return min(once(code) for _ in range(3)) - min(once("pass") for _ in range(3))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--concurrency", type=int, nargs="+", default=[16, 32])
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    pipe, other = context.Pipe()
    server = context.Process(target=serve, args=(options.latency, other), daemon=True)
    server.start()
    url: str = pipe.recv()
    heads = "run|concurrency|calls/sample|chars/sample|wall s|wall/ideal|overhead ms/call|CPU ms/sample|mean"
    print(f"| {heads.replace('|', ' | ')} |\n|{' --- |' * 9}")
    for concurrency in options.concurrency:
        for row in asyncio.run(run(url, pipe, options.samples, concurrency)):
            ideal = row.calls * options.latency / concurrency
            overhead = (row.wall - ideal) / row.calls * 1000
            print(
                f"| {row.name} | {concurrency} | {row.calls / options.samples:.2f} | {row.chars / options.samples:.0f}"
                f" | {row.wall:.2f} | {row.wall / ideal:.2f} | {overhead:.1f} | {row.cpu / options.samples * 1000:.1f}"
                f" | {'' if row.score is None else f'{row.score:.2f}'} |"
            )
    pipe.send("stop")
    server.join()
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    print(f"import ragcov {seconds_of('import ragcov') * 1000:.0f} ms CPU, with the LLM library "
          f"{seconds_of('import ragcov, pydantic_ai.models.openai') * 1000:.0f} ms")  # fmt: skip


if __name__ == "__main__":
    main()
