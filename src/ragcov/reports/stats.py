"""Statistics of paired scores: is a difference real, and how many samples would show it. Pure functions of numbers.

Needs scipy (`pip install "ragcov[stats]"`), which is loaded when a function is called.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

import msgspec

from ragcov.errors import UsageError

__all__ = [
    "ALPHA",
    "POWER",
    "PairedDifference",
    "detectable_effect",
    "holm",
    "paired_difference",
    "paired_interval",
    "samples_needed",
]

ALPHA = 0.05
POWER = 0.8
_RESAMPLES = 9_999
# Above so many pairs a fifth of the resamples must do: 10,000 pairs would take half a minute.
_MANY_PAIRS, _FEWER_RESAMPLES = 2_000, 1_999
# A resample of all pairs is one row of a matrix; so many numbers of it are held at a time.
_BATCH_NUMBERS = 4_000_000


class PairedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Scores of the same samples under A and B, compared pair by pair.

    Attributes:
        n: How many pairs.
        mean_a: Mean of A's scores; None when n is 0.
        mean_b: Mean of B's scores; None when n is 0.
        difference: Mean of B - A; None when n is 0.
        low: Lower end of its 95 % interval; None when no interval can be given: n below 2, or no pair differs.
        high: Upper end.
        p_value: Probability (0 to 1) of a mean difference at least as large, either way, when A and B are alike;
            1.0 when n is 0.
        effect: Cohen's d for pairs, the mean difference in standard deviations of the differences; None when
            these don't vary.
        wins: Pairs in which B's score is higher.
        ties: Pairs with equal scores.
        losses: Pairs in which B's score is lower.
    """

    n: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float
    effect: float | None
    wins: int
    ties: int
    losses: int


def paired_difference(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> PairedDifference:
    """Compares scores of the same samples, `a[i]` with `b[i]`.

    The interval is the percentile bootstrap of the mean difference with two corrections for few pairs, without which
    it is too narrow (bench/interval_coverage.py). The level is widened from the normal to Student's t (Hesterberg
    2015, "What Teachers Should Know About the Bootstrap", The American Statistician 69(4)). And two pairs are added,
    one with a gain and one with a loss as large as the differences usually are (the root of their mean square, ties
    aside), as Agresti and Min do for matched proportions (2005, Statistics in Medicine 24(5)): when few pairs differ,
    those that were seen don't tell what others will do.

    The p-value is that of the sign-flip permutation test: exact up to 13 pairs that differ, by 9,999 random flips
    above (1,999 above 2,000 pairs).

    Args:
        a: Scores under A; finite.
        b: Scores under B, in the same order.
        seed: Of the random resamples: same input and seed, same result.

    Raises:
        UsageError: When the lengths differ, a score is not finite, or scipy is missing.
    """
    if len(a) != len(b):
        raise UsageError(f"paired scores need equal lengths, got {len(a)} and {len(b)}")
    if not all(map(math.isfinite, [*a, *b])):
        raise UsageError("paired scores must be finite numbers")
    n = len(a)
    # Differences of two-decimal scores that are equal in decimals must be equal here, too.
    differences = [round(y - x, 12) for x, y in zip(a, b, strict=True)]
    mean = math.fsum(differences) / n if n else None
    spread = math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (n - 1)) if mean is not None and n > 1 else 0.0
    low, high = paired_interval(differences, seed=seed) or (None, None)
    return PairedDifference(
        n=n,
        mean_a=math.fsum(a) / n if n else None,
        mean_b=math.fsum(b) / n if n else None,
        difference=mean,
        low=low,
        high=high,
        p_value=_permutation([d for d in differences if d], seed),
        effect=mean / spread if mean is not None and spread > 1e-12 else None,
        wins=sum(d > 0 for d in differences),
        ties=sum(d == 0 for d in differences),
        losses=sum(d < 0 for d in differences),
    )


def paired_interval(differences: Sequence[float], *, seed: int = 0) -> tuple[float, float] | None:
    """The 95 % interval that `paired_difference` gives; None for fewer than two pairs, or when no pair differs."""
    if len(differences) < 2 or not any(differences):
        return None
    stats, np = _scipy_stats(), _numpy()
    usual = math.sqrt(math.fsum(d * d for d in differences) / sum(d != 0 for d in differences))
    # Turned so that B - A and A - B have the same resamples, and intervals that mirror each other.
    sign = math.copysign(1.0, next(d for d in differences if d))
    values = np.asarray([*(sign * d for d in differences), usual, -usual])
    n = len(values)
    quantile = stats.t.ppf(1 - ALPHA / 2, n - 1) * math.sqrt(n / (n - 1))
    level = 1 - 2 * stats.norm.sf(quantile)
    found = stats.bootstrap(
        (values,),
        np.mean,
        confidence_level=float(level),
        method="percentile",
        n_resamples=_resamples(n),
        batch=max(1, _BATCH_NUMBERS // n),
        rng=np.random.default_rng(seed),
    )
    low, high = float(found.confidence_interval.low), float(found.confidence_interval.high)
    return (low, high) if sign > 0 else (-high, -low)


def _permutation(differences: Sequence[float], seed: int) -> float:
    """Ties add nothing to the sum, whatever their sign, so only pairs that differ come in here; one proves nothing."""
    if len(differences) < 2:
        return 1.0
    stats, np = _scipy_stats(), _numpy()
    # Whole numbers add up exactly, so that sums which are equal in decimals count as equal.
    whole = np.rint(np.asarray(differences) * 1e9)
    found = stats.permutation_test(
        (whole,),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=_resamples(len(differences)),
        batch=max(1, _BATCH_NUMBERS // len(differences)),
        rng=np.random.default_rng(seed),
    )
    return float(min(1.0, found.pvalue))


def _resamples(n: int) -> int:
    return _RESAMPLES if n <= _MANY_PAIRS else _FEWER_RESAMPLES


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values corrected for being several, in the order given (Holm 1979, Scandinavian Journal of Statistics 6).

    Below alpha after correction, the chance that any of them is so by accident is below alpha. Empty for none.
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        corrected[i] = largest
    return corrected


def samples_needed(effect: float, *, power: float = POWER, alpha: float = ALPHA) -> int | None:
    """How many pairs show a difference of this size with this probability, by a two-sided paired t test.

    Args:
        effect: Cohen's d for pairs; its sign does not matter.
        power: Probability (above alpha, below 1) that a true difference of this size is seen.
        alpha: Probability of seeing one where there is none.

    Returns:
        At least 6 (fewer pairs can't reach 5 % in a sign-flip test); None for effect 0, which no number shows.
    """
    if not effect:
        return None
    low, high = 6, 6
    while _power(abs(effect), high, alpha) < power:
        low, high = high, high * 2
        if high > 2**40:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(abs(effect), middle, alpha) >= power else (middle, high)
    return high


def detectable_effect(n: int, *, power: float = POWER, alpha: float = ALPHA) -> float | None:
    """The smallest effect (Cohen's d for pairs) that n pairs show with this probability; None below 6 pairs."""
    if n < 6:
        return None
    low, high = 0.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _power(middle, n, alpha) >= power else (middle, high)
    return high


def _power(effect: float, n: int, alpha: float) -> float:
    """Power of the paired t test by the noncentral t; its far tail is left out, which can't matter here."""
    stats = _scipy_stats()
    critical = stats.t.ppf(1 - alpha / 2, n - 1)
    shift = effect * math.sqrt(n)
    # scipy's noncentral t gives NaN far out, where the normal approximation is exact to all digits shown.
    found = float(stats.nct.sf(critical, n - 1, shift)) if shift < 30 else 1.0
    return found if math.isfinite(found) else float(stats.norm.sf(critical - shift))


def _scipy_stats() -> Any:
    return _needed("scipy.stats")


def _numpy() -> Any:
    return _needed("numpy")


def _needed(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = name.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != missing:
            raise
        raise UsageError(f'this needs {missing}: pip install "ragcov[stats]"') from error
