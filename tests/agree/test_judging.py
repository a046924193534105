"""Estimates from labels: by hand, at the ends, and by a seeded simulation."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov.reports.judging import Labelled, accuracy, corrected_mean, kappa, precision, recall
from ragcov.results import mean_of

ANSWERS = st.lists(
    st.builds(
        Labelled,
        cluster=st.integers(0, 4),
        judged=st.booleans(),
        label=st.sampled_from([True, False, None]),
        group=st.sampled_from(["a", "b"]),
    ),
    max_size=25,
)


def table(both: int, judge_only: int, person_only: int, neither: int) -> list[Labelled]:
    pairs = [(True, True)] * both + [(True, False)] * judge_only + [(False, True)] * person_only
    pairs += [(False, False)] * neither
    return [Labelled(cluster=number, judged=judged, label=label) for number, (judged, label) in enumerate(pairs)]


def test_a_table_by_hand() -> None:
    verdicts = table(20, 5, 10, 15)
    assert accuracy(verdicts).value == pytest.approx(0.7)
    assert precision(verdicts).value == pytest.approx(0.8)
    assert recall(verdicts).value == pytest.approx(2 / 3)
    # Observed agreement 0.7, by chance 0.5.
    found = kappa(verdicts)
    assert found.value == pytest.approx(0.4)
    # The large-sample standard error of this table is 0.127 (Fleiss, Cohen and Everitt 1969).
    assert found.low == pytest.approx(0.4 - 2.01 * 0.127, abs=0.02)
    assert found.high == pytest.approx(0.4 + 2.01 * 0.127, abs=0.02)


def test_perfect_agreement_is_no_certainty() -> None:
    found = accuracy(table(10, 0, 0, 10))
    assert found.value == 1
    assert found.low is not None and 0.75 < found.low < 0.9
    assert found.high == 1
    beyond_chance = kappa(table(10, 0, 0, 10))
    assert beyond_chance.low is not None and 0.5 < beyond_chance.low < found.low
    assert (beyond_chance.value, beyond_chance.high) == (1, 1)


def test_what_can_not_be_told() -> None:
    assert kappa(table(5, 0, 0, 0)).value is None
    assert precision(table(0, 0, 3, 3)).value is None
    assert accuracy([]).value is None
    assert corrected_mean([]).value is None
    one = [Labelled(cluster=1, judged=True, label=True), Labelled(cluster=1, judged=True, label=False)]
    assert (accuracy(one).value, accuracy(one).low) == (0.5, None)
    unlabelled = [*table(3, 0, 0, 3), Labelled(cluster=99, judged=True, group="other")]
    assert corrected_mean(unlabelled).value is None


def test_labels_of_one_sample_count_less_than_those_of_many() -> None:
    many = [Labelled(cluster=n, judged=True, label=n % 10 < 5) for n in range(40)]
    few = [Labelled(cluster=n // 10, judged=True, label=n < 20) for n in range(40)]
    wide, narrow = accuracy(few), accuracy(many)
    assert wide.value == narrow.value
    assert wide.low is not None and narrow.low is not None
    assert wide.low < narrow.low - 0.1


def test_a_label_stands_for_its_group() -> None:
    asked = [Labelled(cluster=n, judged=True, label=n < 5, group="doubt") for n in range(10)]
    rest = [Labelled(cluster=10 + n, judged=True, label=True if n < 10 else None, group="rest") for n in range(90)]
    # Half of 10 doubtful ones are right, all of 90 others.
    assert accuracy(asked + rest).value == pytest.approx(0.95)
    assert corrected_mean(asked + rest).value == pytest.approx(0.95)


@given(ANSWERS)
def test_numbers_stay_in_their_range(verdicts: list[Labelled]) -> None:
    for estimate, lowest in (
        (accuracy(verdicts), 0),
        (precision(verdicts), 0),
        (recall(verdicts), 0),
        (kappa(verdicts), -1),
        (corrected_mean(verdicts), 0),
    ):
        if estimate.low is not None:
            assert estimate.value is not None and estimate.high is not None
            assert lowest <= estimate.low <= estimate.value + 1e-9
            assert estimate.value <= estimate.high + 1e-9 <= 1 + 2e-9


@given(ANSWERS)
def test_when_all_are_labelled_the_correction_is_the_truth(verdicts: list[Labelled]) -> None:
    full = [Labelled(cluster=v.cluster, judged=v.judged, label=bool(v.label), group=v.group) for v in verdicts]
    shares: dict[object, list[bool]] = {}
    for verdict in full:
        shares.setdefault(verdict.cluster, []).append(bool(verdict.label))
    truth = mean_of([sum(each) / len(each) for each in shares.values()])
    found = corrected_mean(full).value
    assert found == (None if truth.value is None else pytest.approx(truth.value))


def test_the_corrected_interval_holds_the_truth_where_the_judge_alone_does_not() -> None:
    """A judge that takes every fourth unsupported claim for supported; 60 of about 180 claims are labelled."""
    rng = random.Random(5)
    corrected = naive = 0
    for _ in range(100):
        verdicts: list[Labelled] = []
        shares: list[float] = []
        for sample in range(60):
            p = rng.betavariate(1.4, 0.6)
            truths = [rng.random() < p for _ in range(3)]
            judged = [truth or rng.random() < 0.4 for truth in truths]
            shares.append(sum(judged) / 3)
            verdicts += [
                Labelled(cluster=sample, judged=said, label=truth if rng.random() < 1 / 3 else None)
                for said, truth in zip(judged, truths, strict=True)
            ]
        alone, found = mean_of(shares, low=0, high=1), corrected_mean(verdicts)
        assert None not in (alone.low, alone.high, found.low, found.high)
        naive += alone.low <= 0.7 <= alone.high  # pyright: ignore[reportOptionalOperand]
        corrected += found.low <= 0.7 <= found.high  # pyright: ignore[reportOptionalOperand]
    assert corrected >= 90
    assert naive <= 60
