"""How well the companion scorers agree with labels written by hand; by default with the offline judge.

    python bench/companions.py [MODEL]

The labels in companions.jsonl: for each chunk whether it supports the ground truth, how relevant it is to the question
(one relevant sentence of four is "low"), and whether the output used it; for each statement of the output whether the
chunks bear it out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

from ragcov import run_evals_sync
from ragcov.scorers.context_precision import average_precision
from ragcov.scorers.context_relevance import Penalties, relevance
from ragcov.scorers.levels import WEIGHTS
from ragcov.scorers.registry import make_scorer

ROWS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
]
NAMES = ("context-precision", "context-relevance", "faithfulness")
STEPS = list(WEIGHTS)


def share(hits: Iterable[bool]) -> str:
    found = list(hits)
    return f"{sum(found) / len(found):.2f} ({sum(found)} of {len(found)})"


def main(model: str) -> None:
    fields = ("id", "input", "ground_truth", "output", "context")
    data = [{field: row[field] for field in fields} for row in ROWS]
    run = run_evals_sync(data=data, scorers=[make_scorer(name, model=model) for name in NAMES])
    precision, relevant, faithful = ([item.scorer_results[f"{name}-scorer"] for item in run.items] for name in NAMES)
    pairs = [
        (label, chunk["relevant"])
        for row, result in zip(ROWS, precision, strict=True)
        for label, chunk in zip(row["relevant"], result.analyze_result, strict=True)
    ]
    graded = [
        (level, used, chunk)
        for row, result in zip(ROWS, relevant, strict=True)
        for level, used, chunk in zip(row["levels"], row["used"], result.analyze_result["chunks"], strict=True)
    ]
    print(f"judge: {precision[0].judge}; {len(ROWS)} samples, {len(pairs)} chunks")
    print(f"context precision: relevance of a chunk right {share(a == b for a, b in pairs)}")
    print(f"  relevant chunks found {share(found for label, found in pairs if label)}")
    print(f"  irrelevant chunks left out {share(not found for label, found in pairs if not label)}")
    errors = [
        abs(float(average_precision(row["relevant"])) - (r.score or 0)) for row, r in zip(ROWS, precision, strict=True)
    ]
    print(f"  mean error of the score {fmean(errors):.3f}")
    print(f"context relevance: level right {share(level == chunk['level'] for level, _, chunk in graded)}")
    print(f"  at most one level off {share(abs(STEPS.index(a) - STEPS.index(c['level'])) < 2 for a, _, c in graded)}")
    print(f"  use by the output right {share(used == chunk['used'] for _, used, chunk in graded)}")
    print(f"  mean error of the score, missing information aside {fmean(_relevance_errors(relevant)):.3f}")
    known = [(row["faithful"], result) for row, result in zip(ROWS, faithful, strict=True) if row["faithful"]]
    wrong = [abs(fmean(labels) - (result.score or 0)) for labels, result in known]
    print(f"faithfulness: mean error of the score {fmean(wrong):.3f} ({len(known)} samples with claims)")
    print(f"  score right {share(error < 0.005 for error in wrong)}")
    for row, result in zip(ROWS, faithful, strict=True):
        if row["faithful"] and abs(fmean(row["faithful"]) - (result.score or 0)) >= 0.005:
            print(f"    {row['id']}: {result.score} for {fmean(row['faithful']):.2f}")


def _relevance_errors(results: list[Any]) -> list[float]:
    errors: list[float] = []
    for row, result in zip(ROWS, results, strict=True):
        scores: list[float] = []
        chunks = result.analyze_result["chunks"]
        for levels, used in (
            (row["levels"], row["used"]),
            ([chunk["level"] for chunk in chunks], [chunk["used"] for chunk in chunks]),
        ):
            unused = sum(level == "high" and not use for level, use in zip(levels, used, strict=True))
            scores.append(relevance(levels, unused=unused, missing=0, penalties=Penalties()))
        errors.append(abs(scores[0] - scores[1]))
    return errors


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "offline")
