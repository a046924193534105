"""Recall@k from stored verdicts gives what scoring again with every context cut to k gives."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcov import FROM_SAMPLE, Claim, Evidence, Verdict, create_context_recall_scorer, create_scorer, run_evals_sync
from ragcov.claims import number_claims
from ragcov.errors import UsageError
from ragcov.reports.curve import Curve, curve_lines, curve_of, redundant, scorer_of_curve
from ragcov.reports.files import write_results
from ragcov.results import EvalsResult, Mean, RunInfo
from ragcov.samples import read_samples
from ragcov.testing import ScriptedJudge

ROOT = Path(__file__).parents[2]
NAME = "context-recall-scorer"


class WordsJudge:
    """A claim is a few words; chunks that hold all of them support it, alone or two together."""

    id = "words"

    async def extract_claims(self, text: str, *, question: str | None = None) -> list[Claim]:
        return number_claims(Claim(part) for part in text.split(". ") if part)

    async def attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        return [self._verdict(claim, chunks) for claim in claims]

    def _verdict(self, claim: Claim, chunks: Sequence[str]) -> Verdict:
        first, *others = claim.text.split()
        last = others[-1] if others else first
        evidence: list[Evidence] = []
        pairs = [(a, b) for a, b in product(range(len(chunks)), repeat=2) if first in chunks[a] and last in chunks[b]]
        for group, (a, b) in enumerate(pairs):
            alone = None if a == b else group
            for chunk in sorted({a, b}):
                evidence.append(Evidence(chunk, (0, len(chunks[chunk])), chunks[chunk], alone))
        return Verdict(claim=claim, supported=bool(evidence), evidence=tuple(evidence))


def evaluate(rows: list[dict[str, Any]], judge: Any, scale: float = 1) -> EvalsResult:
    scorer = create_context_recall_scorer(model=judge, context=FROM_SAMPLE, scale=scale)
    return run_evals_sync(data=rows, scorers=[scorer])


def brute_force(rows: list[dict[str, Any]], judge: Any, k: int, scale: float = 1) -> Mean:
    cut = [{**row, "context": row["context"][:k]} for row in rows]
    return evaluate(cut, judge, scale).summary.scorers[NAME].mean


def assert_same_as_brute_force(rows: list[dict[str, Any]], judge: Any, scale: float = 1) -> Curve:
    result = evaluate(rows, judge, scale)
    curve = curve_of(result.items)
    assert curve.full == result.summary.scorers[NAME].mean
    assert len(curve.points) == max((len(row["context"]) for row in rows), default=0)
    before = 0.0
    for point in curve.points:
        assert point.recall == brute_force(rows, judge, point.k, scale), point.k
        assert point.gain == pytest.approx((point.recall.value or 0) - before)
        before = point.recall.value or 0.0
    assert sum(point.chunks for point in curve.points) == curve.chunks
    assert sum(point.supporting for point in curve.points) == curve.chunks - curve.idle_chunks
    assert sum(point.new_claims for point in curve.points) == curve.supported
    return curve


def demo_rows() -> list[dict[str, Any]]:
    return [
        {"id": s.id, "input": s.input, "ground_truth": s.ground_truth, "context": list(s.context or ())}
        for s in read_samples(ROOT / "examples" / "demo.jsonl")
    ]


def test_demo_dataset_with_the_offline_judge() -> None:
    curve = assert_same_as_brute_force(demo_rows(), "offline")
    assert curve.rows == 17
    assert curve.full.value


def test_demo_dataset_in_reversed_ranking() -> None:
    rows = [{**row, "context": row["context"][::-1]} for row in demo_rows()]
    assert_same_as_brute_force(rows, "offline", scale=10)


def test_scripted_judge_with_empty_retrieval() -> None:
    rows = [
        {"ground_truth": "Harn has a castle. The fee is 80 euros.", "context": ["x", "The fee is 80 euros.", "y"]},
        {"ground_truth": "Harn has a castle.", "context": []},
        {"ground_truth": "Harn has a castle.", "context": ["Harn has a castle.", "Harn has a castle!"]},
        {"ground_truth": "龍山寺在台北。", "context": [" ", "龍山寺在台北。"]},
    ]
    curve = assert_same_as_brute_force(rows, ScriptedJudge())
    assert [point.recall.value for point in curve.points] == [0.25, 0.625, 0.625]
    assert curve.enough == 2
    assert curve.empty_rows == 1
    assert curve.redundant == 1
    assert (curve.chunks, curve.idle_chunks) == (7, 3)


def test_chunks_that_support_only_together() -> None:
    rows = [{"ground_truth": "ann berlin. cat", "context": ["ann", "x", "berlin", "cat cat"]}]
    curve = assert_same_as_brute_force(rows, WordsJudge())
    assert [point.recall.value for point in curve.points] == [0.0, 0.0, 0.5, 1.0]
    assert curve.enough == 4
    assert curve.redundant == 0


WORDS = st.sampled_from(["ann", "bob", "cat", "dog"])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "ground_truth": st.lists(st.lists(WORDS, min_size=1, max_size=2).map(" ".join), min_size=1, max_size=4).map(
                ". ".join
            ),
            "context": st.lists(st.lists(WORDS, max_size=3).map(" ".join), max_size=5),
        }
    ),
    min_size=1,
    max_size=4,
)


@settings(max_examples=30, deadline=None)
@given(ROWS)
def test_any_rows_with_joint_evidence(rows: list[dict[str, Any]]) -> None:
    curve = assert_same_as_brute_force(rows, WordsJudge())
    values = [point.recall.value or 0 for point in curve.points]
    assert values == sorted(values)
    if curve.enough is not None:
        full = curve.full.value or 0
        assert values[curve.enough - 1] >= 0.95 * full - 1e-9
        assert curve.enough == 1 or values[curve.enough - 2] < 0.95 * full


def evidence(*places: tuple[int, int | None]) -> Verdict:
    found = tuple(Evidence(chunk, (0, 1), "x", group) for chunk, group in places)
    return Verdict(claim=Claim("x"), supported=bool(found), evidence=found)


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (evidence(), False),
        (evidence((0, None)), False),
        (evidence((0, None), (0, None)), False),
        (evidence((0, None), (1, None)), True),
        (evidence((0, 1), (1, 1)), False),
        (evidence((0, 1), (1, 1), (0, 2), (2, 2)), False),
        (evidence((0, 1), (1, 1), (2, 2), (3, 2)), True),
        (evidence((0, 1), (1, 1), (1, None)), False),
        (evidence((0, 1), (1, 1), (2, None)), True),
    ],
)
def test_redundant_means_any_one_chunk_can_go(verdict: Verdict, expected: bool) -> None:
    assert redundant(verdict) is expected


def test_rows_that_are_not_scored_are_counted_and_left_out() -> None:
    rows = [
        {"ground_truth": "cat", "context": ["cat"]},
        {"context": ["cat"]},
        {"ground_truth": "cat", "context": 5},
    ]
    curve = curve_of(evaluate(rows, WordsJudge()).items)
    assert (curve.rows, curve.left_out) == (1, 2)


def test_without_any_chunk_there_is_no_curve() -> None:
    curve = curve_of(evaluate([{"ground_truth": "cat", "context": []}], WordsJudge()).items)
    assert curve.points == ()
    assert curve.enough is None
    assert "nothing was retrieved" in "\n".join(curve_lines(curve))


def test_a_long_tail_is_told_not_listed() -> None:
    rows = [{"ground_truth": "cat. dog", "context": ["cat"] + ["x"] * 30 + ["dog"] + ["x"] * 30}]
    lines = list(curve_lines(curve_of(evaluate(rows, WordsJudge()).items)))
    assert "(40 ranks above 20 that add nothing are not listed)" in "\n".join(lines)
    assert any(line.lstrip().startswith("32 ") for line in lines)
    assert any(line.lstrip().startswith("62 ") for line in lines)


def test_a_scorer_without_verdicts_has_no_curve() -> None:
    length = create_scorer(id="length", generate_score=lambda step: 0.5)
    result = run_evals_sync(data=[{"input": "a", "context": ["b"]}], scorers=[length])
    with pytest.raises(UsageError, match="length keeps no verdicts"):
        curve_of(result.items, "length")


def test_which_scorer_is_read() -> None:
    info = RunInfo(version="1", scorers=("faithfulness-scorer", NAME))
    assert scorer_of_curve(info) == NAME
    assert scorer_of_curve(info, "faithfulness") == "faithfulness-scorer"
    assert scorer_of_curve(RunInfo(version="1", scorers=("mine",))) == "mine"
    with pytest.raises(UsageError, match='no scorer "other"'):
        scorer_of_curve(info, "other")
    with pytest.raises(UsageError, match="a, b"):
        scorer_of_curve(RunInfo(version="1", scorers=("a", "b")))


def ragcov(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ragcov.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)


def test_command(tmp_path: Path) -> None:
    rows = [{"ground_truth": "cat. dog", "context": ["dog", "x", "cat"]}]
    result = evaluate(rows, WordsJudge())
    path = tmp_path / "run.jsonl"
    write_results(path, result.info, result.items)
    done = ragcov("curve", path)
    assert done.returncode == 0, done.stderr
    assert "k = 3 is the smallest that reaches 95% of it" in done.stdout
    assert "chunks: 1 of 3 support no claim" in done.stdout
    numbers = json.loads(ragcov("curve", path, "--json").stdout)
    assert [point["recall"]["value"] for point in numbers["points"]] == [0.5, 0.5, 1.0]
    assert ragcov("curve", tmp_path / "absent.jsonl").returncode == 2
    assert ragcov("curve", path, "--scorer", "absent").returncode == 2
