"""Paired differences, Holm's correction, and how many samples are needed."""

from __future__ import annotations

import itertools
import math
import statistics
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragcov.errors import UsageError
from ragcov.reports.stats import detectable_effect, holm, paired_difference, samples_needed

SCORES = st.sampled_from([0.0, 0.25, 0.33, 0.5, 0.67, 0.75, 1.0])
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=0, max_size=12)


def test_nothing_to_compare() -> None:
    found = paired_difference([], [])
    assert (found.n, found.difference, found.low, found.high, found.p_value) == (0, None, None, None, 1.0)


def test_one_pair_has_no_interval() -> None:
    found = paired_difference([0.5], [0.75])
    assert (found.difference, found.low, found.high, found.effect) == (0.25, None, None, None)


@pytest.mark.parametrize(
    ("a", "b", "problem"), [([1], [1, 1], "equal lengths"), ([math.nan], [1], "finite"), ([1], [math.inf], "finite")]
)
def test_refuses_what_is_no_pairing(a: list[float], b: list[float], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        paired_difference(a, b)


@given(PAIRS)
# Sums that are equal in decimals, and not in floating point.
@example([(0.0, 0.67), (0.25, 0.67), (0.5, 0.33), (0.33, 0.0), (0.33, 1.0), (0.75, 0.0), (0.75, 0.25)])
@settings(max_examples=25, deadline=None)
def test_p_value_is_that_of_all_sign_flips(pairs: list[tuple[float, float]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    differences = [round(y - x, 12) for x, y in pairs]
    observed = abs(math.fsum(differences))
    flips = list(itertools.product([1, -1], repeat=len(pairs)))
    extreme = sum(abs(math.fsum(s * d for s, d in zip(f, differences, strict=True))) >= observed - 1e-9 for f in flips)
    assert paired_difference(a, b).p_value == pytest.approx(extreme / len(flips))


@given(PAIRS)
@settings(max_examples=20, deadline=None)
def test_swapping_a_and_b_mirrors_everything(pairs: list[tuple[float, float]]) -> None:
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    there, back = paired_difference(a, b), paired_difference(b, a)
    assert (there.wins, there.ties, there.losses) == (back.losses, back.ties, back.wins)
    assert there.p_value == pytest.approx(back.p_value)
    if there.difference is not None and back.difference is not None:
        assert there.difference == pytest.approx(-back.difference)
    if there.low is not None and back.high is not None:
        assert there.low == pytest.approx(-back.high)
        assert there.difference is not None and there.high is not None
        assert there.low < there.high


def test_same_input_same_numbers() -> None:
    a, b = [i % 7 / 7 for i in range(60)], [i % 5 / 5 for i in range(60)]
    assert paired_difference(a, b) == paired_difference(a, b)
    assert paired_difference(a, b) != paired_difference(a, b, seed=1)


def test_a_plain_gain_is_seen_and_effect_is_in_standard_deviations() -> None:
    a = [0.5] * 30
    b = [0.6, 0.7, 0.8] * 10
    found = paired_difference(a, b)
    assert (found.wins, found.ties, found.losses) == (30, 0, 0)
    assert found.p_value < 0.001
    assert found.effect == pytest.approx(0.2 / statistics.stdev([0.1, 0.2, 0.3] * 10))
    assert found.low is not None and 0.12 < found.low < 0.2


def test_equal_gains_are_no_proof_that_every_gain_is_the_same() -> None:
    found = paired_difference([0.5] * 6, [0.6] * 6)
    assert found.effect is None
    assert found.p_value == pytest.approx(2 / 2**6)
    assert found.low is not None and found.high is not None
    assert found.low < 0.08
    assert found.high >= 0.1


def test_few_pairs_that_differ_do_not_make_a_narrow_interval() -> None:
    # 20 pairs, one of which gains: a bootstrap of them alone would say that nothing is ever lost.
    found = paired_difference([0.5] * 20, [*[0.5] * 19, 1.0])
    assert found.low is not None and found.low < 0 < (found.high or 0)


def test_holm_by_hand() -> None:
    assert holm([]) == []
    assert holm([0.03]) == [0.03]
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_and_keeps_the_order(p_values: list[float]) -> None:
    corrected = holm(p_values)
    assert all(p <= c <= 1 for p, c in zip(p_values, corrected, strict=True))
    for (p, c), (q, d) in itertools.combinations(zip(p_values, corrected, strict=True), 2):
        assert (p - q) * (c - d) >= 0


# Cohen 1988 and the power tables of common packages: 80 % power, two-sided 5 %, paired t test.
@pytest.mark.parametrize(("effect", "pairs"), [(0.2, 199), (0.5, 34), (-0.5, 34), (0.8, 15), (3.0, 6)])
def test_samples_needed(effect: float, pairs: int) -> None:
    assert samples_needed(effect) == pairs


def test_samples_needed_at_the_ends() -> None:
    assert samples_needed(0.0) is None
    many = samples_needed(0.001)
    assert many is not None and 7_800_000 < many < 7_900_000
    assert samples_needed(1e-9) is None
    assert detectable_effect(5) is None
    assert detectable_effect(34) == pytest.approx(0.495, abs=0.005)


def test_names_the_extra_when_scipy_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    monkeypatch.delitem(sys.modules, "scipy", raising=False)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(UsageError, match=r"ragcov\[stats\]"):
        paired_difference([0.1, 0.2], [0.3, 0.1])
