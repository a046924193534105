"""What `ragcov run` says of a dataset as a whole, before it judges anything."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def run(folder: Path, name: str, content: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    (folder / name).write_text(content, encoding="utf-8")
    words = [sys.executable, "-m", "ragcov.cli", "run", name, "--no-store", *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", ""),
        ("a.jsonl", "\n\n"),
        ("a.json", "[]"),
        ("a.json", '{"data": []}'),
        ("a.csv", "question,ground_truth,contexts\n"),
        ("a.csv", "question,ground_truth,contexts\n,,\n"),
    ],
)
def test_a_dataset_without_samples_is_bad_input(tmp_path: Path, name: str, content: str) -> None:
    done = run(tmp_path, name, content)
    assert done.returncode == 2
    assert done.stderr.startswith(f"ragcov: {name}")
    assert done.stdout == ""


def test_a_dataset_of_bad_records_alone_is_bad_input(tmp_path: Path) -> None:
    done = run(tmp_path, "a.jsonl", "{\n[1]\n", "--skip-bad")
    assert done.returncode == 2
    assert "a.jsonl: none of its 2 records can be read" in done.stderr


@pytest.mark.parametrize(
    ("record", "arguments", "hint"),
    [
        (
            {"question": "誰寫的？", "標準答案": "安寫的。", "docs": ["安寫的。"]},
            (),
            "no sample has the right answer (ground_truth); if a column of another name holds it, say so: "
            "--map ground_truth=COLUMN (not recognised: 標準答案)",
        ),
        (
            {"question": "Who?", "ground_truth": "Ann wrote it.", "found": ["Ann wrote it."]},
            (),
            "no sample has the retrieved chunks (context); if a column of another name holds it, say so: "
            "--map context=COLUMN (not recognised: found)",
        ),
        (
            {"question": "Who?", "context": ["Ann wrote it."]},
            ("--scorer", "faithfulness"),
            "no sample has the answer (output)",
        ),
    ],
)
def test_a_column_that_no_sample_has(
    tmp_path: Path, record: dict[str, object], arguments: tuple[str, ...], hint: str
) -> None:
    done = run(tmp_path, "a.jsonl", json.dumps(record, ensure_ascii=False), *arguments)
    assert f"ragcov: hint: {hint}\n" in done.stderr
    mapped = run(tmp_path, "a.jsonl", json.dumps({"question": "Who?", "ground_truth": "x", "context": ["x"]}))
    assert "hint" not in mapped.stderr


def test_cells_with_pipes_are_one_chunk_each_and_said_so(tmp_path: Path) -> None:
    head = "question,ground_truth,contexts\n"
    done = run(tmp_path, "a.csv", head + "Who?,Ann wrote it.,Ann wrote it. | Bob read it.\n")
    assert "each cell of context was read as one chunk" in done.stderr
    done = run(tmp_path, "a.csv", head + 'Who?,Ann wrote it.,"[""Ann | wrote it."", ""Bob.""]"\n')
    assert done.stderr == ""


def test_a_list_that_breaks_off_is_named(tmp_path: Path) -> None:
    cell = '[""Ann wrote it."", ""Bob re'
    done = run(tmp_path, "a.csv", f'question,ground_truth,contexts\nWho?,Ann wrote it.,"{cell}"\n')
    assert done.returncode == 2
    assert 'a.csv, line 2, field "contexts": expected a list of texts, got a list that breaks off' in done.stderr


def test_a_text_in_brackets_is_text(tmp_path: Path) -> None:
    done = run(tmp_path, "a.csv", 'question,ground_truth,contexts\nWho?,Ann wrote it.,"[sic] Ann wrote it."\n')
    assert "mean 1.00" in done.stdout


def test_a_table_of_columns_is_told_how_to_become_records(tmp_path: Path) -> None:
    done = run(tmp_path, "a.json", json.dumps({"question": ["a", "b"], "ground_truth": ["x", "y"]}))
    assert done.returncode == 2
    assert 'to_json(orient="records")' in done.stderr


def test_results_and_datasets_are_told_apart(tmp_path: Path) -> None:
    record = json.dumps({"question": "Who?", "ground_truth": "Ann wrote it.", "context": ["Ann wrote it."]})
    assert run(tmp_path, "a.jsonl", record, "--out", "results.jsonl").returncode == 0
    done = run(tmp_path, "b.jsonl", (tmp_path / "results.jsonl").read_text(encoding="utf-8"))
    assert done.returncode == 2
    assert "b.jsonl, line 1: this is a results file of ragcov, not a dataset" in done.stderr
    words = [sys.executable, "-m", "ragcov.cli", "curve", "a.jsonl"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 2
    assert "a.jsonl, line 1: not a results file of ragcov" in done.stderr


def test_a_target_named_by_its_file(tmp_path: Path) -> None:
    done = run(tmp_path, "a.jsonl", '{"question": "Who?"}', "--target", "./rag/search.py:retrieve")
    assert done.returncode == 2
    assert "rag.search:retrieve" in done.stderr


def test_claims_that_were_not_counted_are_named(tmp_path: Path) -> None:
    rows = [
        {"question": "Who?", "ground_truth": "Ann wrote it.", "context": ["Ann wrote it."]},
        {"question": "Who?", "ground_truth": "Bob read it.", "context": []},
    ]
    done = run(tmp_path, "a.jsonl", "\n".join(map(json.dumps, rows)))
    assert "claims: 1 of 1 supported, not counting those of a sample without context (score 0)" in done.stdout
