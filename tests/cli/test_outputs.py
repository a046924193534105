"""Files that a command must not overwrite."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from ragcov.cli import main
from ragcov.samples import read_samples


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({"ground_truth": "Harn has a castle.", "context": ["Harn has a castle."]}) + "\n")
    return path


@pytest.mark.parametrize("option", ["--out", "--csv", "--html", "--junit"])
def test_the_dataset_is_never_overwritten(data: Path, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = data.read_bytes()
    Path("link.jsonl").symlink_to(data)
    for name in ("data.jsonl", "./data.jsonl", str(data), "link.jsonl"):
        assert main(["run", str(data), "--no-store", option, name]) == 2
        assert "another name" in capsys.readouterr().err
    assert data.read_bytes() == before


def test_a_results_file_is_never_exported_over_itself(data: Path) -> None:
    assert main(["run", str(data), "--no-store", "--out", "run.jsonl"]) == 0
    before = Path("run.jsonl").read_bytes()
    assert main(["export", "run.jsonl", "--out", "run.jsonl"]) == 2
    assert main(["rescore", "run.jsonl", "--scale", "2", "--no-store", "--csv", "run.jsonl"]) == 2
    assert Path("run.jsonl").read_bytes() == before


def test_no_file_is_written_twice(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(data), "--no-store", "--out", "a", "--html", "./a"]) == 2
    assert "--out" in capsys.readouterr().err
    assert not Path("a").exists()
    assert main(["run", str(data), "--no-store", "--out", os.devnull, "--csv", os.devnull]) == 0


def test_the_report_goes_into_a_pipe_or_link_and_does_not_replace_it(data: Path) -> None:
    Path("real.html").write_text("old")
    Path("link.html").symlink_to("real.html")
    assert main(["run", str(data), "--no-store", "--html", "link.html"]) == 0
    assert Path("link.html").is_symlink()
    assert "<html" in Path("real.html").read_text(encoding="utf-8")
    os.mkfifo("pipe")
    # Open at both ends, so that neither end waits for the other.
    pipe = os.open("pipe", os.O_RDWR)
    drain = threading.Thread(target=lambda: [None for _ in iter(lambda: os.read(pipe, 65536), b"end")], daemon=True)
    drain.start()
    try:
        assert main(["run", str(data), "--no-store", "--html", "pipe"]) == 0
    finally:
        os.write(pipe, b"end")
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


@pytest.mark.parametrize("mark", [";", ",", "\t", "|"])
def test_the_line_in_which_excel_names_its_delimiter_is_no_row(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "excel.csv"
    lines = [f"sep={mark}", mark.join(("question", "ground_truth")), mark.join(("Burg?", "Harn hat eine Burg."))]
    path.write_bytes("".join(f"{line}\r\n" for line in lines).encode("utf-8-sig"))
    (sample,) = read_samples(path)
    assert (sample.input, sample.ground_truth) == ("Burg?", "Harn hat eine Burg.")


def test_lines_are_counted_from_the_line_that_names_the_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    path.write_text("sep=;\nquestion;ground_truth\na;b;c\n", encoding="utf-8")
    bad: list[Any] = []
    assert not list(read_samples(path, on_bad=bad.append))
    assert [error.line for error in bad] == [3]
