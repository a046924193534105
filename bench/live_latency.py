"""Does live scoring change how long an answer takes? The same agent bare and attached, asked in turn, in one run.

    python bench/live_latency.py [--pairs 400] [--latency 0.1] [--sampling 0.1]

Prints the ratio of the medians (attached / bare) with a bootstrap interval, at the given sampling and at 1.0. Each
pair asks both, in random order, and the next pair waits for neither the scoring nor its queue. The judge is the
offline one, so all of its work is CPU work of this process: an LLM judge would leave even more of it to the answers.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import time
from typing import Any

from ragcov import FROM_SAMPLE, create_context_recall_scorer, create_scorer, live
from ragcov.scorers.base import Run

CONTEXT = [
    "The Amazon flows for about 6,400 km from the Andes to the Atlantic. Its basin covers 7 million square km.",
    "東京は日本の首都で、人口は約1400万人です。1964年と2021年に夏季オリンピックが開かれました。",
    "Taipei 101 was the tallest building in the world from 2004 to 2010; it has 101 floors above ground.",
]


def offline_recall() -> Any:
    """Context recall against what the chunks say; real traffic has no ground truth, so the scorer brings one."""
    recall = create_context_recall_scorer(model="offline", context=FROM_SAMPLE, id="inner")
    truth = "The Amazon is about 6,400 km long. Tokyo held the Olympics in 2021. Taipei 101 has 101 floors."

    async def score(step: Any) -> float:
        result = await recall.score(Run(input="?", ground_truth=truth, context=step.run.context))
        return result.score or 0.0

    return create_scorer(id="recall", generate_score=score)


async def measure(pairs: int, latency: float, sampling: float) -> tuple[list[float], list[float], live.LiveStats]:
    async def agent(question: str) -> dict[str, Any]:
        await asyncio.sleep(latency)
        return {"output": "An answer.", "context": CONTEXT}

    attached = live.attach(agent, scorers={"recall": offline_recall()}, sampling=sampling, sink=lambda result: None)
    choice = random.Random(1)
    times: dict[Any, list[float]] = {agent: [], attached: []}
    for number in range(pairs):
        with live.run_id(f"run-{number}"):
            for asked in choice.sample([agent, attached], 2):
                started = time.perf_counter()
                await asked("question")
                times[asked].append(time.perf_counter() - started)
    await attached.drain(None)
    stats = attached.stats
    attached.close()
    return times[agent], times[attached], stats


def interval(bare: list[float], attached: list[float]) -> tuple[float, float]:
    choice = random.Random(2)
    ratios: list[float] = []
    for _ in range(1000):
        drawn = choice.choices(range(len(bare)), k=len(bare))
        ratios.append(statistics.median(attached[i] for i in drawn) / statistics.median(bare[i] for i in drawn))
    ratios.sort()
    return ratios[25], ratios[974]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--latency", type=float, default=0.1, help="seconds that the agent itself takes")
    parser.add_argument("--sampling", type=float, default=0.1)
    options = parser.parse_args()
    asyncio.run(measure(20, 0.01, 1.0))
    for sampling in dict.fromkeys((options.sampling, 1.0)):
        bare, attached, stats = asyncio.run(measure(options.pairs, options.latency, sampling))
        ratio = statistics.median(attached) / statistics.median(bare)
        low, high = interval(bare, attached)
        print(
            f"sampling {sampling:g}: ratio of medians {ratio:.4f} (95 % {low:.4f} to {high:.4f}), "
            f"median {statistics.median(bare) * 1000:.2f} ms bare and {statistics.median(attached) * 1000:.2f} ms "
            f"attached, n = {options.pairs} pairs, {stats.scored} runs scored, {stats.dropped} dropped"
        )


if __name__ == "__main__":
    main()
