"""Estimates from labels: agreement of a judge with people, and a mean corrected by what they say. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence

import msgspec

from ragcov.results import interval_of_share, t_quantile

__all__ = ["Estimate", "Labelled", "accuracy", "corrected_mean", "kappa", "precision", "recall"]


class Labelled(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict of a judge, with a person's answer where there is one.

    Attributes:
        cluster: What it belongs to, its sample: verdicts of one sample are alike, so they don't count as independent.
        judged: Whether the judge takes the claim for supported.
        label: Whether a person does; None where nobody was asked.
        group: Within a group, who was asked was chosen by chance; between groups not.
    """

    cluster: Hashable
    judged: bool
    label: bool | None = None
    group: str = ""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A number with its 95 % interval.

    Attributes:
        value: None when the labels can't give it (nothing to divide by).
        low: Lower end; None when there is no interval: fewer than two labelled clusters.
        high: Upper end.
        n: How many labels it rests on.
        clusters: In how many clusters (samples) these are.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int


def accuracy(verdicts: Sequence[Labelled]) -> Estimate:
    """Share (0 to 1) of verdicts that a person agrees with."""
    return _share(verdicts, of=lambda _: True, hit=lambda v: v.judged == v.label)


def precision(verdicts: Sequence[Labelled]) -> Estimate:
    """Share (0 to 1) of the claims taken for supported that a person takes for supported, too."""
    return _share(verdicts, of=lambda v: v.judged, hit=lambda v: v.label is True)


def recall(verdicts: Sequence[Labelled]) -> Estimate:
    """Share (0 to 1) of the claims that a person takes for supported that the judge does, too."""
    return _share(verdicts, of=lambda v: v.label is True, hit=lambda v: v.judged)


def kappa(verdicts: Sequence[Labelled]) -> Estimate:
    """Cohen's kappa (-1 to 1): agreement beyond chance (Cohen 1960, Educational and Psychological Measurement 20).

    The interval is by the jackknife over clusters; where nobody disagreed, which leaves the jackknife nothing to vary,
    by that of the agreement. None when judge and people gave one and the same answer
    throughout: chance agreement is complete then.
    """
    labelled = _weighted(verdicts)
    clusters = list(dict.fromkeys(v.cluster for v, _ in labelled))
    value = _kappa(labelled)
    n, g = len(labelled), len(clusters)
    left_out = [_kappa([pair for pair in labelled if pair[0].cluster != cluster]) for cluster in clusters]
    known = [each for each in left_out if each is not None]
    if value is None or g < 2 or len(known) < g:
        return Estimate(value=value, low=None, high=None, n=n, clusters=g)
    middle = math.fsum(known) / g
    variance = (g - 1) / g * math.fsum((each - middle) ** 2 for each in known)
    if variance < 1e-12:
        agreement = accuracy(verdicts)
        assert agreement.value is not None and agreement.low is not None
        chance = _chance(labelled)
        low = (agreement.low - chance) / (1 - chance)
        return Estimate(value=value, low=min(value, max(-1.0, low)), high=max(value, 1.0), n=n, clusters=g)
    half = t_quantile(g - 1) * math.sqrt(variance)
    return Estimate(value=value, low=max(-1.0, value - half), high=min(1.0, value + half), n=n, clusters=g)


def _kappa(labelled: Sequence[tuple[Labelled, float]]) -> float | None:
    total = math.fsum(weight for _, weight in labelled)
    if not total:
        return None
    agree = math.fsum(weight for v, weight in labelled if v.judged == v.label) / total
    chance = _chance(labelled)
    return (agree - chance) / (1 - chance) if chance < 1 - 1e-12 else None


def _chance(labelled: Sequence[tuple[Labelled, float]]) -> float:
    total = math.fsum(weight for _, weight in labelled)
    judged = math.fsum(weight for v, weight in labelled if v.judged) / total
    label = math.fsum(weight for v, weight in labelled if v.label) / total
    return judged * label + (1 - judged) * (1 - label)


def _weighted(verdicts: Sequence[Labelled]) -> list[tuple[Labelled, float]]:
    """The labelled verdicts, each standing for as many of its group as were not asked about."""
    size: dict[str, int] = {}
    asked: dict[str, int] = {}
    for v in verdicts:
        size[v.group] = size.get(v.group, 0) + 1
        asked[v.group] = asked.get(v.group, 0) + (v.label is not None)
    return [(v, size[v.group] / asked[v.group]) for v in verdicts if v.label is not None]


def _share(
    verdicts: Sequence[Labelled], *, of: Callable[[Labelled], bool], hit: Callable[[Labelled], bool]
) -> Estimate:
    """A weighted share; Wilson's interval with the sample size that the weights and clusters amount to.

    The variance is the linearised one of a ratio over clusters (Cochran 1977, Sampling Techniques, chapters 9 and 11);
    where every answer is the same, it can't be estimated, and Kish's effective size takes its place.
    """
    counted = [(v, weight) for v, weight in _weighted(verdicts) if of(v)]
    total = math.fsum(weight for _, weight in counted)
    clusters = len({v.cluster for v, _ in counted})
    if not total:
        return Estimate(value=None, low=None, high=None, n=0, clusters=0)
    share = math.fsum(weight for v, weight in counted if hit(v)) / total
    n = len(counted)
    if clusters < 2:
        return Estimate(value=share, low=None, high=None, n=n, clusters=clusters)
    rests: dict[Hashable, float] = {}
    for v, weight in counted:
        rests[v.cluster] = rests.get(v.cluster, 0.0) + weight * (hit(v) - share)
    variance = clusters / (clusters - 1) * math.fsum(rest**2 for rest in rests.values()) / total**2
    kish = total**2 / math.fsum(weight**2 for _, weight in counted)
    size = min(kish, share * (1 - share) / variance) if variance > 1e-12 else kish
    low, high = interval_of_share(share, t_quantile(clusters - 1), size)
    return Estimate(value=share, low=low, high=high, n=n, clusters=clusters)


def corrected_mean(verdicts: Sequence[Labelled]) -> Estimate:
    """Mean over clusters of the share (0 to 1) of supported claims, corrected by the labels.

    Prediction-powered inference (Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382): the mean of all
    verdicts plus the mean error of those that were labelled. Here with one correction for each group, since groups
    are labelled at different rates (Fisch et al. 2024, "Stratified Prediction-Powered Inference for Hybrid Language
    Model Evaluation"), and with the variance taken between clusters. Half a label of each kind of error is counted in
    each group, so that a few labels without any error don't claim that there is none.

    Returns:
        `value` is None when a group has no label: nothing is known of the judge's errors there.
    """
    sizes: dict[Hashable, int] = {}
    for v in verdicts:
        sizes[v.cluster] = sizes.get(v.cluster, 0) + 1
    labelled = [v for v in verdicts if v.label is not None]
    clusters = len({v.cluster for v in labelled})
    groups = {v.group for v in verdicts}
    if not labelled or groups != {v.group for v in labelled}:
        return Estimate(value=None, low=None, high=None, n=len(labelled), clusters=clusters)
    values = dict.fromkeys(sizes, 0.0)
    for v in verdicts:
        values[v.cluster] += v.judged / sizes[v.cluster]
    doubt = 0.0
    for group in groups:
        doubt += _correct(values, sizes, [v for v in verdicts if v.group == group])
    count = len(values)
    value = math.fsum(values.values()) / count
    if clusters < 2:
        return Estimate(value=_cut(value), low=None, high=None, n=len(labelled), clusters=clusters)
    spread = math.fsum((each - value) ** 2 for each in values.values()) / (count - 1) / count
    half = t_quantile(clusters - 1) * math.sqrt(spread + doubt)
    low, high = _cut(value - half), _cut(value + half)
    return Estimate(value=_cut(value), low=low, high=high, n=len(labelled), clusters=clusters)


def _correct(values: dict[Hashable, float], sizes: dict[Hashable, int], group: Sequence[Labelled]) -> float:
    """Adds a group's correction to the values of its clusters; returns the variance that stands for unseen errors."""
    weights = [1 / sizes[v.cluster] for v in group]
    labelled = [(v, weight) for v, weight in zip(group, weights, strict=True) if v.label is not None]
    asked, all_of_it = math.fsum(weight for _, weight in labelled), math.fsum(weights)
    error = math.fsum(weight * ((v.label or False) - v.judged) for v, weight in labelled) / asked
    for v, weight in zip(group, weights, strict=True):
        values[v.cluster] += weight * error
    for v, weight in labelled:
        values[v.cluster] += all_of_it / asked * weight * ((v.label or False) - v.judged - error)
    if len(labelled) == len(group):
        return 0.0
    return 0.5 * (all_of_it / len(values) / (len(labelled) + 2)) ** 2


def _cut(share: float) -> float:
    return min(1.0, max(0.0, share))
