"""Fits the offline judge's two models and writes `src/ragcov/data/offline_weights.json`.

    RAGCOV_DATA=/path/to/data python bench/fit_offline.py [--check]

Needs numpy and scipy. RAGCOV_DATA holds, as JSON lines with "claim", "chunks" and "label", packed with gzip:
wice_dev_article and wice_dev_oracle (WiCE dev, ODC-BY) for the model "words", ja_jsick_train and ja_jnli_dev (CC
BY-SA 4.0) for the model "characters". `--check` writes nothing and prints figures of five-fold cross-validation.

Logistic regression on the features of the best anchor of a row; which one is best depends on the weights, so both are
found in turns. Each weight is held to the sign that its feature must have, and some to a least size: a rare kind of
conflict, such as a swapped number, has to weigh even where the data has few examples of it. Deterministic.
"""

import argparse
import gzip
import json
import os
import pathlib

import numpy as np
from scipy.optimize import minimize

from ragcov.judges.offline.align import read_claim
from ragcov.judges.offline.decide import rest_of
from ragcov.judges.offline.features import NAMES, features, read_chunk
from ragcov.judges.offline.passages import passages_of

TARGET = pathlib.Path(__file__).parent.parent / "src" / "ragcov" / "data" / "offline_weights.json"
HELPS = ("window", "chunk_gain", "rest_gain", "order", "kana", "covered_all", "weaker")
LEAST = {
    "window": 1.0, "rest_gain": 2.0, "numbers_missing": -0.5, "names_share": -2.0, "negation": -4.0,
    "negations": -0.2, "antonym": -2.5, "number_conflict": -2.0, "substitutions": -0.5, "substituted": -16.0,
    "gap": -8.0, "roles": -4.0, "rival": -0.6, "stronger": -0.8, "weaker": 0.3,
}  # fmt: skip
LEASTS = {"words": LEAST, "characters": LEAST | {"substituted": -4.0, "gap": -4.0}}
START = {"window": 8, "chunk_gain": 4, "rest_gain": 2, "numbers_missing": -1, "names_missing": -0.4}
WITHOUT = {
    "words": ("kana",),
    "characters": ("names_missing", "names_share"),
}
STRENGTH = 0.3
PRIOR = 1 / 3


def read(name):
    """Feature vectors of a set's rows (one matrix of anchors a row), and the labels."""
    path = pathlib.Path(os.environ["RAGCOV_DATA"]) / f"{name}.jsonl.gz"
    rows, labels = [], []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            claim = read_claim(row["claim"])
            anchors = [read_chunk(claim, passages_of(chunk)) for chunk in row["chunks"]]
            among = range(len(anchors))
            found = [features(claim, a, rest_of(anchors, i, among)) for i, a in enumerate(anchors) if a]
            rows.append(np.array(found or [[0.0] * len(NAMES)]))
            labels.append(bool(row["label"]))
    return rows, np.array(labels)


def regress(matrix, labels, weights, bounds):
    signs = np.where(labels, 1.0, -1.0)
    width = matrix.shape[1]

    def loss(point):
        margin = -signs * (matrix @ point[:width] + point[width])
        pull = -signs * weights * STRENGTH / (1 + np.exp(-margin))
        value = STRENGTH * (weights * np.logaddexp(0, margin)).sum() + 0.5 * (point[:width] ** 2).sum()
        return value, np.r_[matrix.T @ pull + point[:width], pull.sum()]

    start = np.array([low or high or 0.0 for low, high in bounds] + [0.0])
    return minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)]).x


def fit(name, rows, labels, weights):
    kept = [i for i, feature in enumerate(NAMES) if feature not in WITHOUT[name]]
    model, bias = np.array([float(START.get(feature, 0)) for feature in NAMES]), -5.0
    for _ in range(4):
        matrix = np.array([row[(row @ model).argmax()] for row in rows])[:, kept]
        mean, spread = matrix.mean(0), matrix.std(0)
        spread = np.where(spread < 1e-6, 1.0, spread)
        bounds = []
        for i, size in zip(kept, spread, strict=True):
            edge = LEASTS[name].get(NAMES[i], 0.0) * size
            bounds.append((edge, None) if NAMES[i] in HELPS else (None, edge))
        point = regress((matrix - mean) / spread, labels, weights, bounds)
        model = np.zeros(len(NAMES))
        model[kept] = point[:-1] / spread
        bias = point[-1] - (model[kept] * mean).sum()
    return model, bias


def scores(rows, model, bias):
    return np.array([(row @ model).max() + bias for row in rows])


def auroc(labels, values):
    ranks = np.empty(len(values))
    ranks[np.argsort(values, kind="stable")] = np.arange(1, len(values) + 1)
    for value in np.unique(values):
        ranks[values == value] = ranks[values == value].mean()
    positive = labels.sum()
    return (ranks[labels].sum() - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))


def calibration_error(labels, values, weights, bins=10):
    """Expected calibration error over bins of equal width, rows weighted."""
    chance = 1 / (1 + np.exp(-values))
    at = np.minimum((chance * bins).astype(int), bins - 1)
    parts = [at == n for n in range(bins) if (at == n).any()]
    off = [abs(np.average(chance[p], weights=weights[p]) - np.average(labels[p], weights=weights[p])) for p in parts]
    return float(sum(o * weights[p].sum() for o, p in zip(off, parts, strict=True)) / weights.sum())


def weigh(labels, share=1.0):
    """Row weights under which a third of the claims is supported, as the threshold assumes."""
    mean = labels.mean()
    return share * np.where(labels, PRIOR / mean, (1 - PRIOR) / (1 - mean))


def check(name, files, sets, shares):
    rows = [row for part, _ in sets for row in part]
    labels = np.concatenate([part for _, part in sets])
    weights = np.concatenate([weigh(part, share) for (_, part), share in zip(sets, shares, strict=True)])
    # A claim is in one fold only, also where two sets hold it.
    fold = np.concatenate([np.random.RandomState(0).permutation(len(part)) % 5 for _, part in sets])
    values = np.zeros(len(labels))
    for n in range(5):
        train = [i for i in range(len(rows)) if fold[i] != n]
        model, bias = fit(name, [rows[i] for i in train], labels[train], weights[train])
        test = fold == n
        values[test] = scores([rows[i] for i in np.flatnonzero(test)], model, bias)
    print(f"{name}: n {len(labels)}, ECE {calibration_error(labels, values, weights):.3f} (cross-validated)")
    first = 0
    for file, (_, part) in zip(files, sets, strict=True):
        span = slice(first, first + len(part))
        y, z = labels[span], values[span]
        hard = z >= np.log(PRIOR / (1 - PRIOR))
        ba = (hard[y].mean() + (~hard)[~y].mean()) / 2
        error = calibration_error(y, z, weigh(y))
        print(f"{file}: n {len(y)}, AUROC {auroc(y, z):.3f}, BA {ba:.3f}, ECE {error:.3f} (cross-validated)")
        first += len(part)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--check", action="store_true")
    options = options.parse_args()
    plan = {
        "words": (["wice_dev_article", "wice_dev_oracle"], (1, 1)),
        "characters": (["ja_jsick_train", "ja_jnli_dev"], (1, 3)),
    }
    models = {}
    for name, (files, shares) in plan.items():
        sets = [read(file) for file in files]
        if options.check:
            check(name, files, sets, shares)
            continue
        rows = [row for part, _ in sets for row in part]
        labels = np.concatenate([part for _, part in sets])
        weights = np.concatenate([weigh(part, share) for (_, part), share in zip(sets, shares, strict=True)])
        model, bias = fit(name, rows, labels, weights)
        chosen = {feature: round(float(w), 4) for feature, w in zip(NAMES, model, strict=True) if abs(w) > 1e-6}
        models[name] = {"bias": round(float(bias), 4), "weights": chosen}
    if models:
        TARGET.write_text(json.dumps({"models": models}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
