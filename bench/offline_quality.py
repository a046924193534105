"""Measures a judge against human labels, with 95 % bootstrap intervals.

    RAGCOV_DATA=/path/to/data python bench/offline_quality.py [--judge offline] [--only wice]

RAGCOV_DATA holds JSON lines packed with gzip: pairs with "claim", "chunks" and "label" (and "supporting_chunks" where
people marked them), and ragchecker_dev with "query", "ground_truth", two responses and the human preference for
completeness. AUROC and calibration error (ECE, ten bins, rows weighted so that a third is supported) are of the
confidence, BA is balanced accuracy of the verdicts. Minimal edits are the SummEdits rows of train_pairs.
"""

import argparse
import asyncio
import gzip
import json
import os
import pathlib
import random
import statistics
import time

from ragcov import Claim, load_judge

DRAWS = 400


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    out, i = [0.0] * len(values), 0
    while i < len(order):
        j = i
        while j < len(order) and values[order[j]] == values[order[i]]:
            j += 1
        for k in range(i, j):
            out[order[k]] = (i + j + 1) / 2
        i = j
    return out


def auroc(rows):
    labels = [label for label, _, _ in rows]
    positive = sum(labels)
    ranked = ranks([confidence for _, confidence, _ in rows])
    above = sum(rank for rank, label in zip(ranked, labels, strict=True) if label)
    return (above - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))


def balanced(rows):
    hits = [supported for label, _, supported in rows if label]
    rejected = [not supported for label, _, supported in rows if not label]
    return (statistics.fmean(hits) + statistics.fmean(rejected)) / 2


def calibration_error(rows):
    share = statistics.fmean(label for label, _, _ in rows)
    weight = {True: 1 / 3 / share, False: 2 / 3 / (1 - share)}
    total, error = sum(weight[label] for label, _, _ in rows), 0.0
    for n in range(10):
        part = [(label, value) for label, value, _ in rows if min(9, int(value * 10)) == n]
        error += abs(sum(weight[label] * (value - label) for label, value in part)) / total
    return error


def interval(measure, rows):
    draw = random.Random(0)
    found = sorted(measure([draw.choice(rows) for _ in rows]) for _ in range(DRAWS))
    return f"{measure(rows):.3f} ({found[int(DRAWS * 0.025)]:.3f} to {found[int(DRAWS * 0.975)]:.3f})"


async def pairs(name, judge, rows):
    judged, named, marked, count, started = [], 0, 0, 0, time.process_time()
    for row in rows:
        (verdict,) = await judge.attribute([Claim(row["claim"])], row["chunks"])
        judged.append((bool(row["label"]), verdict.confidence, verdict.supported))
        count += len(row["chunks"])
        if row["label"] and row.get("supporting_chunks"):
            marked += 1
            named += bool({item.chunk for item in verdict.evidence} & set(row["supporting_chunks"]))
    spent = time.process_time() - started
    print(f"{name}: n {len(rows)}, AUROC {interval(auroc, judged)}, BA {interval(balanced, judged)},", end=" ")
    print(f"ECE {calibration_error(judged):.3f}, {count / spent:.0f} pairs a CPU second", flush=True)
    if marked:
        print(f"{name}: a chunk that people marked is in the evidence of {named} of {marked} supported claims")


async def preferences(name, judge, rows):
    soft, hard, human = [], [], []
    for row in rows:
        claims = await judge.extract_claims(row["ground_truth"], question=row["query"])
        both = [await judge.attribute(claims, [row[key]]) for key in ("response_1", "response_2")]
        means = [statistics.fmean(verdict.confidence for verdict in verdicts) for verdicts in both]
        shares = [statistics.fmean(verdict.supported for verdict in verdicts) for verdicts in both]
        for label in row["completeness"]:
            soft.append(means[1] - means[0])
            hard.append(shares[1] - shares[0])
            human.append(label)
    for kind, values in (("confidence", soft), ("verdicts", hard)):
        print(f"{name}: n {len(rows)}, Pearson of {kind} and completeness", end=" ")
        print(
            interval(
                lambda sample: statistics.correlation(*zip(*sample, strict=True)), list(zip(values, human, strict=True))
            )
        )


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--judge", default="offline")
    options.add_argument("--only", default="")
    options = options.parse_args()
    judge = load_judge(options.judge)
    folder = pathlib.Path(os.environ["RAGCOV_DATA"])
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        if name == "train_pairs":
            name = "minimal_edits"
        if options.only not in name:
            continue
        rows = read(path)
        if name == "minimal_edits":
            rows = [row for row in rows if row["source"] == "summedits"][:1000]
        asyncio.run((preferences if name.startswith("ragchecker") else pairs)(name, judge, rows))


if __name__ == "__main__":
    main()
