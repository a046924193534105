"""`ragcov run` as a user runs it: a process, files, exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ragcov.reports.files import read_results

ROWS = [
    {"id": "a", "input": "Castle?", "ground_truth": "Harn has a castle.", "context": ["Harn has a castle."]},
    {"id": "b", "input": "Fee?", "ground_truth": "The fee is 80 euros.", "context": ["Parking is behind the hall."]},
    {"id": "c", "input": "Nothing known", "context": ["Harn has a castle."]},
]
TARGET = """
def retrieve(question):
    return ["The fee is 80 euros."] if "Fee" in question else []

def broken(question):
    if "Fee" in question:
        raise ConnectionError("index is down")
    return ["Harn has a castle."]
"""


def write(folder: Path, rows: list[dict[str, Any]], name: str = "data.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def ragcov(*arguments: str | Path, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ragcov.cli", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_prints_rows_missed_claims_totals_and_the_judge(tmp_path: Path) -> None:
    done = ragcov("run", write(tmp_path, ROWS), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "judge: offline@" in done.stdout
    assert "no --judge was given" in done.stdout
    assert "missed: The fee is 80 euros." in done.stdout
    assert "mean 0.50 (95 % CI 0.00 to 1.00, n = 2)" in done.stdout
    assert "2 scored, 1 not scorable, 0 failed" in done.stdout
    assert "1 of 2 supported" in done.stdout
    assert done.stderr == ""


def test_same_input_same_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS)
    first = ragcov("run", path, "--out", "a.jsonl", "--concurrency", "1", cwd=tmp_path)
    second = ragcov("run", path, "--out", "b.jsonl", "--concurrency", "8", cwd=tmp_path)
    assert first.stdout == second.stdout
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_results_files(tmp_path: Path) -> None:
    ragcov("run", write(tmp_path, ROWS), "--out", "out.jsonl", "--csv", "out.csv", "--quiet", cwd=tmp_path)
    info, items = read_results(tmp_path / "out.jsonl")
    found = list(items)
    assert info.judges == ("offline@1",) or info.judges[0].startswith("offline@")
    assert [item.sample.id for item in found] == ["a", "b", "c"]
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text(encoding="utf-8-sig"), newline="")))
    assert [row["id"] for row in rows] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--fail-under", "0.5"), 0),
        (("--fail-under", "0.51"), 1),
        (("--fail-under", "2"), 2),
        (("--concurrency", "0"), 2),
        (("--scale", "0"), 2),
        (("--scale", "nan"), 2),
        (("--timeout", "0"), 2),
        (("--judge", "nowhere/model"), 2),
        (("--scorer", "context-recal"), 2),
        (("--map", "input"), 2),
        (("--map", "input=no_such_column"), 2),
        (("--target", "nowhere"), 2),
        (("--target", "nowhere:nothing"), 2),
        (("--no-such-option",), 2),
        (("--target", "my_target:retrieve"), 0),
        (("--target", "my_target:broken"), 3),
        (("--target", "my_target:absent"), 2),
    ],
)
def test_exit_codes(arguments: tuple[str, ...], code: int, tmp_path: Path) -> None:
    (tmp_path / "my_target.py").write_text(TARGET, encoding="utf-8")
    done = ragcov("run", write(tmp_path, ROWS), *arguments, cwd=tmp_path)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    if code == 2:
        assert done.stderr.startswith("ragcov: ")


def test_no_scored_row_is_a_failure(tmp_path: Path) -> None:
    done = ragcov("run", write(tmp_path, ROWS[2:]), cwd=tmp_path)
    assert done.returncode == 3
    assert "no row could be scored" in done.stderr


def test_a_bad_record_is_named_before_anything_is_judged(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS[:1])
    path.write_text(path.read_text() + '\n{"ground_truth": "x", "context": 5}\n', encoding="utf-8")
    done = ragcov("run", path, "--out", "out.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert "line 3" in done.stderr
    assert "context" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_skip_bad_keeps_the_rest_and_reports_each(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS[:1])
    path.write_text(path.read_text() + '{"ground_truth":\n' + json.dumps(ROWS[1]) + "\n[1]\n", encoding="utf-8")
    done = ragcov("run", path, "--skip-bad", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("skipped: ") == 2
    assert "line 2" in done.stderr
    assert "line 4" in done.stderr
    assert "skipped 2 of 4 records" in done.stdout
    assert "n = 2" in done.stdout


@pytest.mark.parametrize("name", ["missing.jsonl", "data.xlsx", "."])
def test_what_is_no_dataset(name: str, tmp_path: Path) -> None:
    (tmp_path / "data.xlsx").write_bytes(b"PK")
    done = ragcov("run", name, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_text_is_safe_on_a_terminal(tmp_path: Path) -> None:
    hostile = "Harn \x1b[31mhas\x07 a \u202ecastle\u200b."
    row = {"id": "x\x1b]0;title\x07", "input": hostile, "ground_truth": hostile, "context": ["Nothing."]}
    done = ragcov("run", write(tmp_path, [row]), cwd=tmp_path)
    assert done.returncode == 0
    for char in "\x1b\x07\u202e\u200b":
        assert char not in done.stdout


@pytest.mark.parametrize("environment", [{"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, {}])
def test_chinese_and_japanese_in_any_locale(environment: dict[str, str], tmp_path: Path) -> None:
    rows = [
        {"id": "長橋", "input": "長橋？", "ground_truth": "長橋建於1934年。", "context": ["公園九點開門。"]},
        {"id": "橋", "input": "橋は？", "ground_truth": "橋は1934年に完成した。", "context": ["公園は九時に開く。"]},
    ]
    done = ragcov("run", write(tmp_path, rows), "--out", "out.jsonl", cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert "長橋建於1934年。" in done.stdout
    assert "橋は1934年に完成した。" in (tmp_path / "out.jsonl").read_text(encoding="utf-8")


def test_a_bar_on_a_terminal_and_none_in_a_pipe(tmp_path: Path) -> None:
    path = write(tmp_path, ROWS)
    assert "\x1b" not in ragcov("run", path, cwd=tmp_path).stdout
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "ragcov.cli", "run", str(path)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, cwd=tmp_path, close_fds=True) as process:
        os.close(theirs)
        shown = b""
        try:
            while block := os.read(ours, 65536):
                shown += block
        except OSError:  # how Linux says that the other end of a terminal is closed
            pass
        os.close(ours)
        assert process.wait(60) == 0
    text = shown.decode("utf-8")
    assert "\x1b[" in text
    assert "scoring" in text
    assert "missed: The fee is 80 euros." in text


def test_a_reader_that_goes_away(tmp_path: Path) -> None:
    path = write(tmp_path, [{**ROWS[0], "id": str(number)} for number in range(3000)])
    command = f"{sys.executable} -m ragcov.cli run {path} | head -n 2"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 2


def test_results_that_can_not_be_written(tmp_path: Path) -> None:
    done = ragcov("run", write(tmp_path, ROWS), "--out", "no/such/folder/out.jsonl", cwd=tmp_path)
    assert done.returncode == 3
    assert "no/such/folder/out.jsonl" in done.stderr
    assert "Traceback" not in done.stderr


def test_help_and_version(tmp_path: Path) -> None:
    assert "exit codes" in ragcov("--help", cwd=tmp_path).stdout
    assert "--fail-under" in ragcov("run", "--help", cwd=tmp_path).stdout
    assert ragcov("--version", cwd=tmp_path).stdout.startswith("ragcov 0.")
    assert ragcov(cwd=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("retrieve = 1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys\nsys.exit('no index here')", "SystemExit: no index here"),
        ("def retrieve(:", "SyntaxError"),
    ],
)
def test_a_target_that_raises_on_import_is_bad_usage(tmp_path: Path, source: str, said: str) -> None:
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    done = ragcov("run", write(tmp_path, ROWS), "--target", "mine:retrieve", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert f"--target mine:retrieve: importing mine raised {said}" in done.stderr
    assert "mine.py, line " in done.stderr
