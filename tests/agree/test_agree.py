"""`ragcov agree` and `ragcov label`: label files, joining, and a person at a terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

from ragcov.attribution import Verdict
from ragcov.claims import Claim
from ragcov.cli import main
from ragcov.errors import DataError, UsageError
from ragcov.labelling import plan_questions
from ragcov.reports.agreement import Label, agree, read_labels, write_labels
from ragcov.reports.files import write_results
from ragcov.results import ItemResult, RunInfo, ScorerResult, Tally
from ragcov.samples import Sample

RECALL = "context-recall-scorer"


def row(name: str, *verdicts: tuple[str, bool, float | None]) -> ItemResult:
    found = tuple(
        Verdict(claim=Claim(text, id=f"c{number}"), supported=supported, confidence=confidence)
        for number, (text, supported, confidence) in enumerate(verdicts, 1)
    )
    tally = Tally(sum(verdict.supported for verdict in found), len(found))
    result = ScorerResult(
        scorer_id=RECALL, state="scored", score=tally.score(), tally=tally, verdicts=found, judge="some/judge"
    )
    sample = Sample(id=name, input="What?", ground_truth="x", context=["Harn has a castle.", "長橋建於1934年。"])
    return ItemResult(index=0, sample=sample, scorer_results={RECALL: result})


ROWS = [
    row("a", ("Harn has a castle.", True, 0.99), ("Harn has a zoo.", True, 0.6)),
    row("橋", ("長橋建於1934年。", True, 0.98), ("長橋有電梯。", False, 0.01)),
    row("b", ("Wombats \x1b[31mgnaw.", False, 0.4)),
]


@pytest.fixture
def run(tmp_path: Path) -> str:
    path = tmp_path / "run.jsonl"
    write_results(path, RunInfo(version="1", scorers=(RECALL,), judges=("some/judge",)), ROWS)
    return str(path)


@pytest.mark.parametrize("name", ["labels.csv", "labels.jsonl"])
def test_labels_read_back_as_written(name: str, tmp_path: Path) -> None:
    labels = [
        Label(id="橋", claim_id="c1", claim='長橋, "1934"\n年', group="rest", label=True),
        Label(id="b", claim="=1+1", label=False),
        Label(id="c", claim_id="c2"),
    ]
    write_labels(tmp_path / name, labels)
    assert read_labels(tmp_path / name) == labels
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_joined_by_claim_id_or_by_text() -> None:
    found = agree(
        ROWS,
        [
            Label(id="a", claim_id="c1", label=True),
            Label(id="a", claim="Harn has  a zoo.", label=False),
            Label(id="橋", claim_id="c9", claim="長橋有電梯。", label=False),
            Label(id="橋", claim_id="c1", claim="something else", label=False),
            Label(id="nowhere", claim_id="c1", label=True),
        ],
    )
    assert (found.claims, found.samples, found.accuracy.n) == (5, 3, 3)
    assert [(each.sample_id, each.verdict.claim.id) for each in found.disagreements] == [("a", "c2")]
    assert found.unmatched == ("橋: something else", "nowhere: c1")
    assert found.run_recall.value == pytest.approx((1 + 0.5 + 0) / 3)


def test_labels_of_another_run_are_refused() -> None:
    with pytest.raises(UsageError, match="no label fits"):
        agree(ROWS, [Label(id="zzz", claim_id="c1", label=True)])
    with pytest.raises(UsageError, match="context-recall"):
        agree([], [Label(id="a", claim_id="c1", label=True)])


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("l.jsonl", "{\n", "line 1: not valid JSON"),
        ("l.jsonl", "[]\n", "line 1: expected an object"),
        ("l.jsonl", '{"id": "a", "claim_id": "c1", "label": "maybe"}\n', 'field "label": expected yes or no'),
        ("l.jsonl", '{"claim_id": "c1", "label": true}\n', 'field "id"'),
        ("l.jsonl", '{"id": "a", "label": true}\n', 'field "claim_id"'),
        ("l.csv", "id,claim_id,label\na,c1,yes\na,c1,no\n", "line 3: this claim was labelled before, in line 2"),
        ("l.csv", 'id,claim_id,claim,label\na,c1,"two\nlines",maybe\n', 'line 2, field "label"'),
        ("l.csv", "\xff", "not UTF-8|utf-8"),
    ],
)
def test_bad_labels_name_the_place(name: str, text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(DataError, match=problem):
        read_labels(tmp_path / name)


def test_labels_out_of_a_spreadsheet(tmp_path: Path) -> None:
    long = "長橋" * 100_000
    (tmp_path / "l.csv").write_text(f"id;claim;label\n橋;{long};yes\na;Harn has a zoo.;no\n", encoding="utf-8-sig")
    first, second = read_labels(tmp_path / "l.csv")
    assert first == Label(id="橋", claim=long, label=True)
    assert second == Label(id="a", claim="Harn has a zoo.", label=False)


def test_labels_are_written_in_formats_that_are_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\.csv or \.jsonl"):
        write_labels(tmp_path / "labels.txt", [Label(id="a", claim_id="c1")])


def test_the_most_informative_come_first_and_every_group_has_its_turn() -> None:
    rows = [row(f"s{n}", ("one", True, 0.99), ("two", False, 0.5), ("three", True, 0.99)) for n in range(8)]
    opinions = {(f"s{n}", "one"): False for n in range(8)}
    groups = [question.label.group for question in plan_questions(rows, opinions)]
    assert groups[:3] == ["differs"] * 3
    assert set(groups[:8]) == {"differs", "unsure", "rest"}
    assert groups[:8].count("differs") == 6
    assert sorted(groups) == ["differs"] * 8 + ["rest"] * 8 + ["unsure"] * 8
    again = plan_questions(rows, opinions)
    assert again == plan_questions(rows, opinions)
    assert again != plan_questions(rows, opinions, seed=1)


def answer(run: str, typed: str, *options: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ragcov.cli", "label", run, *options],
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=Path(run).parent,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_answer_is_kept_and_the_next_call_goes_on(run: str) -> None:
    path = Path(run).parent / "labels.csv"
    shown = answer(run, "y\nperhaps\nn\ns\nq\n")
    assert "please answer y, n, s or q" in shown
    assert "2 answered now, 2 of 5 in all" in shown
    assert "\x1b" not in shown
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    assert [row["label"] for row in rows] == ["yes", "no", "", "", ""]
    shown = answer(run, "y\n" * 9)
    assert "3 answered now, 5 of 5 in all" in shown
    assert [label.label for label in read_labels(path)] == [True, False, True, True, True]
    assert "0 answered now" in answer(run, "")


def test_limit_and_json(run: str) -> None:
    assert "1 answered now" in answer(run, "n\nn\n", "--limit", "1", "--out", "l.jsonl")
    first = json.loads((Path(run).parent / "l.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["label"] is False


def test_another_run_decides_what_comes_first(run: str) -> None:
    other = Path(run).with_name("other.jsonl")
    changed = row("橋", ("長橋建於1934年。", True, None), ("長橋有電梯。", True, None))
    write_results(other, RunInfo(version="1", scorers=(RECALL,)), [changed])
    shown = answer(run, "q\n", "--against", str(other))
    assert shown.splitlines()[0] == "[1/5] 橋"
    assert "claim: 長橋有電梯。" in shown


def test_labels_of_other_claims_are_not_overwritten(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(run).with_name("mine.csv")
    path.write_text("id,claim_id,label\nz,c1,yes\n", encoding="utf-8")
    before = path.read_bytes()
    assert main(["label", run, "--out", str(path)]) == 2
    assert "another run's claims" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert main(["label", run, "--limit", "0"]) == 2


def test_on_a_terminal(run: str) -> None:
    """A person types; Ctrl-C leaves the answers that were given."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ragcov.cli", "label", run]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=Path(run).parent, start_new_session=True
    ) as process:
        os.close(theirs)
        wait_for(ours, b"uit: ")
        os.write(ours, b"y\n")
        wait_for(ours, b"uit: ")
        process.send_signal(2)
        shown = wait_for(ours, None)
        assert process.wait(60) == 130
    os.close(ours)
    assert b"Traceback" not in shown
    assert sum(label.label is not None for label in read_labels(Path(run).parent / "labels.csv")) == 1


def wait_for(terminal: int, what: bytes | None) -> bytes:
    shown = b""
    try:
        while what is None or what not in shown:
            assert select.select([terminal], [], [], 60)[0], shown
            block = os.read(terminal, 65536)
            if not block:
                break
            shown += block
    except OSError:  # how Linux says that the other end of a terminal is closed
        pass
    return shown


def test_agree_on_the_command_line(run: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("id,claim_id,label\na,c1,yes\na,c2,no\n橋,c1,y\n橋,c2,0\nb,c1,false\n", encoding="utf-8")
    assert main(["agree", run, str(labels)]) == 0
    shown = capsys.readouterr().out
    assert "5 of 5 claims labelled, in 3 of 3 samples" in shown
    assert "accuracy       0.80 (95 % CI " in shown
    assert "precision      0.67 (95 % CI " in shown
    assert "mean recall, corrected by labels: 0.33 (95 % CI " in shown
    assert "disagreements (1):\n  a: Harn has a zoo.\n    label: not supported; judge: supported" in shown
    assert main(["agree", run, str(tmp_path / "missing.csv")]) == 2
