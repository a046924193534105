"""A baseline is small and stable; a check fails on a real drop or a kept claim lost, and on nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragcov import FROM_SAMPLE, EvalsResult, create_context_recall_scorer, run_evals_sync
from ragcov.cli import main
from ragcov.errors import UsageError
from ragcov.reports.baseline import check_baseline, comparison_lines, make_baseline, read_baseline, write_baseline
from ragcov.reports.files import write_results
from ragcov.results import RunInfo
from ragcov.testing import ScriptedJudge
from reports.small_run import INFO, RECALL, small_run

CLAIMS = [f"Fact {number} is known." for number in range(4)]


def evaluate(contexts: dict[str, list[str]], claims: list[str] = CLAIMS, scale: float = 1) -> EvalsResult:
    scorer = create_context_recall_scorer(model=ScriptedJudge(), context=FROM_SAMPLE, scale=scale)
    rows = [{"id": name, "ground_truth": " ".join(claims), "context": chunks} for name, chunks in contexts.items()]
    return run_evals_sync(data=rows, scorers=[scorer])


def save(result: EvalsResult, folder: Path, **options: Any) -> Path:
    path = folder / "baseline.json"
    write_baseline(path, make_baseline(result.info, result.items, **options))
    return path


def test_file_is_small_stable_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    baseline = make_baseline(INFO, small_run(), keep=["觀世音"])
    write_baseline(path, baseline)
    assert read_baseline(path) == baseline
    text = path.read_text(encoding="utf-8")
    assert len([line for line in text.splitlines() if line.startswith("  ")]) == 5
    assert "寺內供奉觀世音菩薩。" in text
    assert json.loads(text)["samples"]["龍山寺"][RECALL]["keep"] == ["寺內供奉觀世音菩薩。"]
    write_baseline(path, make_baseline(INFO, reversed(small_run()), keep=["觀世音"]))
    assert path.read_text(encoding="utf-8") == text


def test_the_same_run_passes(tmp_path: Path) -> None:
    result = evaluate({"a": CLAIMS, "b": CLAIMS[:2]})
    baseline = read_baseline(save(result, tmp_path, keep_all=True))
    comparison = check_baseline(baseline, result.info, result.items)
    assert not comparison.failed
    assert comparison.differences[RECALL].difference == 0
    assert not comparison.flipped


def test_a_drop_that_chance_explains_passes_and_says_what_changed(tmp_path: Path) -> None:
    baseline = read_baseline(save(evaluate({f"s{i}": CLAIMS for i in range(12)}), tmp_path))
    contexts = {f"s{i}": CLAIMS for i in range(12)}
    contexts["s3"] = CLAIMS[:2]
    now = evaluate(contexts)
    comparison = check_baseline(baseline, now.info, now.items)
    assert not comparison.failed
    assert comparison.flipped == (("s3", CLAIMS[2]), ("s3", CLAIMS[3]))
    lines = "\n".join(comparison_lines(comparison))
    assert "no drop beyond chance" in lines
    assert f"no longer found: s3: {CLAIMS[2]}" in lines


def test_a_drop_over_many_samples_fails(tmp_path: Path) -> None:
    baseline = read_baseline(save(evaluate({f"s{i}": CLAIMS for i in range(12)}), tmp_path))
    now = evaluate({f"s{i}": CLAIMS[: 2 + i % 3] for i in range(12)})
    comparison = check_baseline(baseline, now.info, now.items)
    assert comparison.dropped == (RECALL,)
    assert not comparison.lost
    assert "DROPPED" in "\n".join(comparison_lines(comparison))


def test_a_rise_is_no_drop(tmp_path: Path) -> None:
    baseline = read_baseline(save(evaluate({f"s{i}": CLAIMS[:1] for i in range(12)}), tmp_path))
    now = evaluate({f"s{i}": CLAIMS[: 2 + i % 3] for i in range(12)})
    assert not check_baseline(baseline, now.info, now.items).failed


def test_a_kept_claim_lost_fails_however_small_the_drop(tmp_path: Path) -> None:
    before = evaluate({f"s{i}": CLAIMS for i in range(12)})
    baseline = read_baseline(save(before, tmp_path, keep=["s3: Fact 2"]))
    contexts = {f"s{i}": CLAIMS for i in range(12)}
    contexts["s3"] = [CLAIMS[0], CLAIMS[1], CLAIMS[3]]
    contexts["s4"] = CLAIMS[:3]
    now = evaluate(contexts)
    comparison = check_baseline(baseline, now.info, now.items)
    assert comparison.lost == (("s3", RECALL, CLAIMS[2]),)
    assert comparison.flipped == (("s4", CLAIMS[3]),)
    assert comparison.failed
    assert not comparison.dropped
    assert f"LOST, to be kept: s3: {CLAIMS[2]}" in "\n".join(comparison_lines(comparison))


def test_empty_retrieval_loses_every_kept_claim(tmp_path: Path) -> None:
    baseline = read_baseline(save(evaluate({"a": CLAIMS}), tmp_path, keep_all=True))
    now = evaluate({"a": []})
    assert [claim for _, _, claim in check_baseline(baseline, now.info, now.items).lost] == CLAIMS


def test_a_kept_claim_that_the_judge_no_longer_states_is_told_and_does_not_fail(tmp_path: Path) -> None:
    baseline = read_baseline(save(evaluate({"a": CLAIMS, "b": CLAIMS}), tmp_path, keep=["a: Fact 0"]))
    now = evaluate({"a": ["Another."]}, ["Another."])
    comparison = check_baseline(baseline, now.info, now.items)
    assert not comparison.failed
    assert comparison.gone == (("a", RECALL, CLAIMS[0], "the judge no longer states this claim"),)
    assert comparison.missing_samples == ("b",)


def test_scales_are_taken_off(tmp_path: Path) -> None:
    baseline = read_baseline(save(evaluate({"a": CLAIMS}, scale=10), tmp_path))
    now = evaluate({"a": CLAIMS, "new": CLAIMS})
    comparison = check_baseline(baseline, now.info, now.items)
    assert comparison.differences[RECALL].difference == 0
    assert comparison.new_samples == ("new",)


def test_what_cannot_be_kept_or_compared_is_said(tmp_path: Path) -> None:
    result = evaluate({"a": CLAIMS[:1]})
    with pytest.raises(UsageError, match="Fact 3"):
        make_baseline(result.info, result.items, keep=["Fact 3"])
    with pytest.raises(UsageError, match="no row of the run was scored"):
        make_baseline(result.info, [])
    with pytest.raises(UsageError, match="share no scored sample"):
        check_baseline(make_baseline(result.info, result.items), result.info, evaluate({"b": CLAIMS}).items)
    with pytest.raises(UsageError, match="ragcov baseline save"):
        read_baseline(tmp_path / "absent.json")
    (tmp_path / "other.json").write_text('{"kind": "other"}')
    with pytest.raises(UsageError, match="not a baseline"):
        read_baseline(tmp_path / "other.json")


def test_another_judge_is_warned_of() -> None:
    result = evaluate({"a": CLAIMS})
    baseline = make_baseline(result.info, result.items)
    other = RunInfo(version="1", judges=("other/model",))
    assert not check_baseline(baseline, result.info, result.items).other_judges
    assert "another judge" in "\n".join(comparison_lines(check_baseline(baseline, other, result.items)))


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, contexts in {"a": CLAIMS, "b": CLAIMS[1:]}.items():
        result = evaluate({"x": contexts})
        write_results(f"{name}.jsonl", result.info, result.items)
    assert main(["baseline", "check", "a.jsonl"]) == 2
    assert "there is no baseline" in capsys.readouterr().err
    assert main(["baseline", "save", "a.jsonl", "--keep", "Fact 0"]) == 0
    assert "1 scored samples, 1 claims to be kept" in capsys.readouterr().out
    assert main(["baseline", "check", "a.jsonl"]) == 0
    capsys.readouterr()
    assert main(["baseline", "check", "b.jsonl"]) == 1
    assert "LOST, to be kept: x: Fact 0 is known." in capsys.readouterr().out
    assert main(["baseline", "check", "b.jsonl", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["lost"] == [["x", RECALL, CLAIMS[0]]]
