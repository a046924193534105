"""How often the printed 95 % intervals hold the truth, by simulation with scores as claims make them.

python bench/interval_coverage.py [means] [pairs] [labels] [--trials N]
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from ragcov.reports.judging import Labelled, corrected_mean
from ragcov.reports.stats import paired_interval
from ragcov.results import mean_of, round_score

CLAIMS = (1, 2, 3, 4, 5)


class Population(NamedTuple):
    """Samples whose claims are supported with a probability of their own, drawn from a beta distribution."""

    mean: float
    spread: float | None
    claims: Sequence[int] = CLAIMS


POPULATIONS = {
    "mean 0.75": Population(0.75, 2),
    "mean 0.92": Population(0.92, 2),
    "mean 0.97": Population(0.97, 2, (2, 3, 4)),
    "mean 0.40": Population(0.4, 3, (2, 3, 4)),
    "0 or 1, 0.80": Population(0.8, None, (1,)),
    "0 or 1, 0.95": Population(0.95, None, (1,)),
    "alike, 0.70": Population(0.7, 8, (8,)),
}
CHANGES = {
    # What share of the samples B answers anew, and how much likelier each claim is then.
    "all anew, no gain": (0.75, 1.0, 0.0),
    "half anew, gain": (0.7, 0.5, 0.2),
    "a fifth anew, gain": (0.7, 0.2, 0.3),
    "a tenth anew, gain": (0.8, 0.1, 0.1),
    "only wins": (0.8, 0.2, 1.0),
}


def probability(rng: random.Random, population: Population) -> float:
    if population.spread is None:
        return population.mean
    return rng.betavariate(population.mean * population.spread, (1 - population.mean) * population.spread)


def count(rng: random.Random, claims: int, p: float) -> int:
    return sum(rng.random() < p for _ in range(claims))


def score(rng: random.Random, population: Population) -> float:
    claims = rng.choice(population.claims)
    return round_score(count(rng, claims, probability(rng, population)) / claims)


def change(rng: random.Random, mean: float, share: float, gain: float) -> float:
    population = Population(mean, 2)
    claims, p = rng.choice(population.claims), probability(rng, population)
    before = count(rng, claims, p)
    after = count(rng, claims, min(1.0, p + gain)) if rng.random() < share else before
    return round_score(after / claims) - round_score(before / claims)


def held(intervals: Sequence[tuple[float, float]], truth: float) -> str:
    return f"{100 * sum(low - 1e-9 <= truth <= high + 1e-9 for low, high in intervals) / len(intervals):.1f}"


def students_t(scores: Sequence[float]) -> tuple[float, float]:
    middle, half = np.mean(scores), stats.t.ppf(0.975, len(scores) - 1) * stats.sem(scores)
    return middle - half, middle + half


def bca(scores: Sequence[float]) -> tuple[float, float]:
    if len(set(scores)) == 1:
        return scores[0], scores[0]
    found = stats.bootstrap((scores,), np.mean, n_resamples=999, method="BCa", rng=1).confidence_interval
    return found.low, found.high


def ours(scores: Sequence[float]) -> tuple[float, float]:
    mean = mean_of(scores, low=0, high=1)
    assert mean.low is not None and mean.high is not None
    return mean.low, mean.high


def printed_pairs(differences: Sequence[float]) -> tuple[float, float]:
    interval = paired_interval(differences)
    assert interval is not None
    return interval


def means(trials: int) -> None:
    print("means of a run: % of intervals that hold the truth (printed interval / Student's t)")
    table((10, 20, 50, 100, 200), POPULATIONS, score, {"printed": ours, "t": students_t}, trials)


def pairs(trials: int) -> None:
    """Where no pair differs no interval is printed, so none of these counts."""
    print("differences of two runs: % of intervals that hold the truth (printed interval / Student's t / BCa)")
    methods = {"printed": printed_pairs, "t": students_t, "bca": bca}
    table((20, 50, 100, 200), CHANGES, lambda rng, how: change(rng, *how), methods, max(1, trials // 10), any)


def table(
    sizes: Sequence[int],
    kinds: dict[str, object],
    draw: Callable[..., float],
    methods: dict[str, Callable[[Sequence[float]], tuple[float, float]]],
    trials: int,
    counts: Callable[[Sequence[float]], bool] = lambda _: True,
) -> None:
    print(f"{'':<20}" + "".join(f"{f'n = {n}':>20}" for n in sizes))
    for name, kind in kinds.items():
        rng = random.Random(name)
        truth = sum(draw(rng, kind) for _ in range(400_000)) / 400_000
        cells: list[str] = []
        for n in sizes:
            drawn = [[draw(rng, kind) for _ in range(n)] for _ in range(trials)]
            drawn = [scores for scores in drawn if counts(scores)]
            cells.append(" / ".join(held([method(scores) for scores in drawn], truth) for method in methods.values()))
        print(f"{name:<20}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


def judged_run(rng: random.Random, samples: int, false_yes: float, false_no: float) -> list[tuple[Labelled, bool]]:
    """Verdicts of a judge that errs, more in some samples than in others, with the truth; doubtful ones in a group."""
    population = Population(0.7, 2)
    rows: list[tuple[Labelled, bool]] = []
    for sample in range(samples):
        p = probability(rng, population)
        error = rng.choice((0.25, 1.75))
        for _ in range(rng.choice(population.claims)):
            truth = rng.random() < p
            wrong = rng.random() < error * (false_no if truth else false_yes)
            doubtful = rng.random() < (0.6 if wrong else 0.1)
            rows.append((Labelled(cluster=sample, judged=truth != wrong, group="doubt" if doubtful else "rest"), truth))
    return rows


def label(rng: random.Random, rows: Sequence[tuple[Labelled, bool]], budget: int) -> list[Labelled]:
    """Labels as `ragcov label` asks for them: three of the doubtful group, then one of the rest, by chance in each."""
    queues = {group: [i for i, (v, _) in enumerate(rows) if v.group == group] for group in ("doubt", "rest")}
    for queue in queues.values():
        rng.shuffle(queue)
    asked: set[int] = set()
    while len(asked) < budget and any(queues.values()):
        group = "rest" if len(asked) % 4 == 3 else "doubt"
        queue = queues[group] or queues["rest" if group == "doubt" else "doubt"]
        asked.add(queue.pop())
    return [
        Labelled(cluster=v.cluster, judged=v.judged, label=truth if i in asked else None, group=v.group)
        for i, (v, truth) in enumerate(rows)
    ]


def labels(trials: int) -> None:
    print("recall corrected by labels: % of intervals that hold the true recall (corrected / judge alone)")
    budgets = (20, 40, 80, 160)
    print(f"{'':<34}" + "".join(f"{f'{n} labels':>16}" for n in budgets))
    for samples, false_yes, false_no in (
        (50, 0.3, 0.05),
        (100, 0.3, 0.05),
        (200, 0.3, 0.05),
        (100, 0.1, 0.1),
        (100, 0.02, 0.02),
    ):
        rng = random.Random(f"{samples} {false_yes} {false_no}")
        cells: list[str] = []
        for budget in budgets:
            corrected: list[tuple[float, float]] = []
            naive: list[tuple[float, float]] = []
            for _ in range(trials // 4):
                rows = judged_run(rng, samples, false_yes, false_no)
                found = corrected_mean(label(rng, rows, budget))
                corrected.append((found.low or 0.0, 1.0 if found.high is None else found.high))
                by_sample: dict[object, list[bool]] = {}
                for verdict, _ in rows:
                    by_sample.setdefault(verdict.cluster, []).append(verdict.judged)
                naive.append(ours([sum(each) / len(each) for each in by_sample.values()]))
            cells.append(f"{held(corrected, 0.7)} / {held(naive, 0.7)}")
        print(
            f"{f'{samples} samples, errs {false_yes:.0%} / {false_no:.0%}':<34}" + "".join(f"{c:>16}" for c in cells),
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=["means", "pairs", "labels", []], default=[])
    parser.add_argument("--trials", type=int, default=4000)
    options = parser.parse_args()
    for part in (means, pairs, labels):
        if not options.parts or part.__name__ in options.parts:
            part(options.trials)
            print()


if __name__ == "__main__":
    main()
