"""`ragcov compare`: pairing, decisions, flips, warnings, exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragcov.attribution import Verdict, locate
from ragcov.claims import Claim
from ragcov.cli import main
from ragcov.errors import UsageError
from ragcov.reports.compare import ComparedRun, compare_runs, load_run
from ragcov.reports.compare_text import comparison_lines, statement
from ragcov.reports.files import write_results
from ragcov.results import Failure, ItemResult, RunInfo, ScorerResult, Tally
from ragcov.samples import Sample

RECALL = "context-recall-scorer"
CHUNKS = ["Harn has a castle.", "The fee is 80 euros."]


def row(name: str, *supported: bool, judge: str = "offline@1", scale: float = 1, claims: str = "claim") -> ItemResult:
    verdicts = tuple(
        Verdict(
            claim=Claim(f"{claims} {number} 城", id=f"c{number}"),
            supported=yes,
            evidence=(locate(CHUNKS, 1, 0, 7),) if yes else (),
            reason="" if yes else "nothing says so",
        )
        for number, yes in enumerate(supported, 1)
    )
    tally = Tally(sum(supported), len(supported))
    result = ScorerResult(
        scorer_id=RECALL,
        state="scored",
        score=tally.score(scale),
        scale=scale,
        tally=tally,
        verdicts=verdicts,
        judge=judge,
    )
    return ItemResult(index=0, sample=Sample(id=name, ground_truth="x"), scorer_results={RECALL: result})


def failed(name: str) -> ItemResult:
    result = ScorerResult(scorer_id=RECALL, state="failed", score=None, error=Failure("JudgeError", "down"))
    return ItemResult(index=0, sample=Sample(id=name), scorer_results={RECALL: result})


def loaded(label: str, *rows: ItemResult, settings: dict[str, object] | None = None) -> ComparedRun:
    info = RunInfo(version="1", scorers=(RECALL,), judges=("offline@1",), settings=settings or {})
    return load_run(label, f"{label}.jsonl", info, rows)


def test_pairs_by_id_and_lists_what_has_no_partner() -> None:
    a = loaded("A", row("x", True), row("y", True), failed("z"), row("only-a", True))
    b = loaded("B", row("z", True), row("y", False), row("x", True), row("only-b", True))
    (found,) = compare_runs([a, b])
    assert found.difference.n == 2
    assert (found.difference.wins, found.difference.ties, found.difference.losses) == (0, 1, 1)
    assert found.unpaired.only_a == ("only-a",)
    assert found.unpaired.only_b == ("only-b",)
    assert found.unpaired.not_scored == ("z",)
    text = "\n".join(comparison_lines(found))
    assert "left out, only in A (1): only-a" in text
    assert "n = 2 pairs" in text


def test_says_better_and_worse_when_the_numbers_carry_it() -> None:
    a = loaded("A", *(row(f"s{i}", True, False) for i in range(20)))
    b = loaded("B", *(row(f"s{i}", True, i < 15) for i in range(20)))
    (found,) = compare_runs([a, b])
    assert found.decision == "better"
    assert statement(found) == "B is better than A"
    (back,) = compare_runs([b, a])
    assert back.decision == "worse"


def test_too_few_samples_are_said_with_how_many_are_missing() -> None:
    a = loaded("A", *(row(f"s{i}", True, False) for i in range(12)))
    b = loaded("B", *(row(f"s{i}", True, i == 0) for i in range(12)))
    (found,) = compare_runs([a, b])
    assert found.decision == "unclear"
    assert found.needed is not None and 50 < found.needed < 150
    assert f"about {found.needed} more needed to see a difference of this size" in statement(found)


def test_that_many_more_are_enough() -> None:
    def runs(times: int) -> list[ComparedRun]:
        ids = [(f"{t}-{i}", i) for t in range(times) for i in range(12)]
        return [
            loaded("A", *(row(name, True, False) for name, _ in ids)),
            loaded("B", *(row(name, True, i == 0) for name, i in ids)),
        ]

    (few,) = compare_runs(runs(1))
    assert few.needed is not None
    (many,) = compare_runs(runs(2 + few.needed // 12))
    assert many.decision == "better"


def test_equal_runs_show_no_difference() -> None:
    run = [row(f"s{i}", True, False) for i in range(5)]
    (found,) = compare_runs([loaded("A", *run), loaded("B", *run)])
    assert found.decision == "same"
    assert found.p_value == 1
    assert "no difference" in statement(found)


def test_flips_carry_evidence_of_the_side_that_has_it() -> None:
    a, b = loaded("A", row("x", True, False)), loaded("B", row("x", False, True))
    (found,) = compare_runs([a, b])
    assert [(flip.gained, flip.before.claim.text) for flip in found.flips] == [
        (False, "claim 1 城"),
        (True, "claim 2 城"),
    ]
    text = "\n".join(comparison_lines(found))
    assert 'B, chunk 1: "The fee"' in text
    assert 'A, chunk 1: "The fee"' in text
    assert "missed – nothing says so" in text


def test_other_wording_of_claims_is_said() -> None:
    (found,) = compare_runs([loaded("A", row("x", True)), loaded("B", row("x", False, claims="other"))])
    assert found.flips == ()
    assert found.unmatched == ("x",)


def test_change_of_judge_settings_and_scale_are_warned_of() -> None:
    a = loaded("A", row("x", True, False), settings={"scorers": {RECALL: {"scale": 1}}, "timeout": 1})
    b = loaded(
        "B", row("x", True, False, judge="other", scale=10), settings={"scorers": {RECALL: {"scale": 10}}, "timeout": 2}
    )
    (found,) = compare_runs([a, b])
    assert (found.scale, found.decision) == (1, "same")
    assert any("judge changed from offline@1 to other" in warning for warning in found.warnings)
    assert any("scale was 1, is 10 now" in warning for warning in found.warnings)
    assert not any("timeout" in warning for warning in found.warnings)


def test_another_question_under_the_same_id_is_warned_of() -> None:
    other = row("x", True)
    other = ItemResult(index=0, sample=Sample(id="x", ground_truth="y"), scorer_results=other.scorer_results)
    (found,) = compare_runs([loaded("A", row("x", True)), loaded("B", other)])
    assert any("another question or ground truth in 1 samples: x" in warning for warning in found.warnings)


def test_three_runs_are_corrected_for_being_three() -> None:
    a = loaded("A", *(row(f"s{i}", True, False) for i in range(12)))
    b = loaded("B", *(row(f"s{i}", True, i < 6) for i in range(12)))
    c = loaded("C", *(row(f"s{i}", True, False) for i in range(12)))
    (two,) = compare_runs([a, b])
    three = compare_runs([a, b, c])
    assert [(each.a, each.b) for each in three] == [("A", "B"), ("A", "C"), ("B", "C")]
    assert two.p_value == pytest.approx(2 / 2**6)
    assert two.decision == "better"
    assert three[0].p_value == pytest.approx(3 * two.p_value)
    assert three[0].decision == "unclear"
    assert "Holm-corrected" in "\n".join(comparison_lines(three[0], several=True))


@pytest.mark.parametrize(
    ("runs", "scorers", "problem"),
    [
        ([loaded("A", row("x", True))], (), "two runs"),
        ([loaded("A", row("x", True)), loaded("B", row("y", True))], (), "no scored sample"),
        ([loaded("A", row("x", True)), loaded("B", row("x", True))], ("nothing",), "they share: context-recall-scorer"),
    ],
)
def test_what_can_not_be_compared(runs: list[ComparedRun], scorers: tuple[str, ...], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        compare_runs(runs, scorers)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    info = RunInfo(version="1", scorers=(RECALL,), judges=("offline@1",))
    good, bad = str(tmp_path / "good.jsonl"), str(tmp_path / "bad.jsonl")
    write_results(good, info, [row(f"s{i}\x1b[31m", True, True) for i in range(10)])
    write_results(bad, info, [row(f"s{i}\x1b[31m", True, False) for i in range(10)])
    assert main(["compare", good, bad]) == 0
    assert main(["compare", good, bad, "--fail-if-worse"]) == 1
    assert main(["compare", bad, good, "--fail-if-worse", "--scorer", "context-recall"]) == 0
    printed = capsys.readouterr().out
    assert "context-recall-scorer: B is worse than A" in printed
    assert "not met: context-recall-scorer: B is worse than A" in printed
    assert "claims that B lost (10):" in printed
    assert "\x1b" not in printed
    assert main(["compare", good]) == 2
    assert main(["compare", good, str(tmp_path / "missing.jsonl")]) == 2
