"""The commands on kept runs, as a user calls them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from ragcov import FROM_SAMPLE, Scorer, create_context_relevance_scorer, run_evals_sync
from ragcov.cli import main
from ragcov.judges.cache import DiskCache
from ragcov.reports.files import read_results
from ragcov.testing import FakeServer, Fault

ROWS = [
    {"id": "a", "input": "Castle?", "ground_truth": "Harn has a castle.", "context": ["Harn has a castle."]},
    {
        "id": "費用",
        "input": "入場料は？",
        "ground_truth": "入場料は五百円です。",
        "context": ["駐車場は裏にあります。"],
    },
    {"id": "c", "input": "Nothing known", "context": ["Harn has a castle."]},
]


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def ragcov(*arguments: str | Path, cwd: Path, **env: str) -> Done:
    """The command in this process: starting one for each call would take most of the time."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.chdir(cwd)
        for name, value in env.items():
            patch.setenv(name, value)
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
    return Done(int(code or 0), out.getvalue(), err.getvalue())


def process(*arguments: str | Path, cwd: Path, **env: str) -> Done:
    """The command as a process, whose connections end with it."""
    command = [sys.executable, "-m", "ragcov.cli", *map(str, arguments)]
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **env}, capture_output=True, encoding="utf-8", check=False
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
    (tmp_path / "data.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def test_show_prints_what_run_printed_and_export_writes_what_run_wrote(folder: Path) -> None:
    ran = ragcov("run", "data.jsonl", "--judge", "offline", "--out", "a.jsonl", "--csv", "a.csv", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    (line,) = ragcov("runs", cwd=folder).stdout.splitlines()[1:]
    run_id = line.split()[0]
    assert re.fullmatch(r"([bdfgklmnprstvz][aeiou]){3}", run_id)
    assert "finished" in line
    assert "3/3" in line
    for ref in ("latest", run_id, run_id[:5], "a.jsonl"):
        shown = ragcov("show", ref, cwd=folder)
        assert shown.stdout == ran.stdout, ref
    exported = ragcov("export", "latest", "--out", "b.jsonl", "--csv", "b.csv", cwd=folder)
    assert exported.stdout == f"{run_id}: 3 rows written\n"
    for suffix in ("jsonl", "csv"):
        assert (folder / f"a.{suffix}").read_bytes() == (folder / f"b.{suffix}").read_bytes()


def test_results_files_know_no_id_and_no_time(folder: Path) -> None:
    for name in ("a", "b"):
        ragcov("run", "data.jsonl", "--out", f"{name}.jsonl", cwd=folder)
    assert (folder / "a.jsonl").read_bytes() == (folder / "b.jsonl").read_bytes()
    assert len(ragcov("runs", cwd=folder).stdout.splitlines()) == 3


@pytest.mark.parametrize("scorer", ["context-recall", "context-precision"])
def test_rescore_is_a_run_on_the_other_scale(folder: Path, scorer: str) -> None:
    options = ("--scorer", scorer, "--judge", "offline", "--no-store")
    assert ragcov("run", "data.jsonl", *options[:-1], cwd=folder).returncode == 0
    done = ragcov("rescore", "latest", "--scale", "7", "--out", "new.jsonl", cwd=folder)
    assert done.returncode == 0, done.stderr
    ragcov("run", "data.jsonl", *options, "--scale", "7", "--out", "fresh.jsonl", cwd=folder)
    (info, new), (_, fresh) = read_results(folder / "new.jsonl"), read_results(folder / "fresh.jsonl")
    assert list(new) == list(fresh)
    assert {scorer["scale"] for scorer in info.settings["scorers"].values()} == {7}
    new_id = done.stdout.splitlines()[-1].removeprefix("kept as run ")
    assert ragcov("show", new_id, cwd=folder).stdout + f"kept as run {new_id}\n" == done.stdout
    assert ragcov("rescore", "latest", "--scale", "0", cwd=folder).returncode == 2


def test_rescore_heeds_the_options_of_the_run(folder: Path) -> None:
    def scorer(scale: float) -> Scorer:
        penalties = {"missing_context_per_item": 0.4}
        return create_context_relevance_scorer(
            model="offline", context=FROM_SAMPLE, penalties=penalties, scale=scale, id="mine"
        )

    run_evals_sync(data=folder / "data.jsonl", scorers=[scorer(1)], store=folder / ".ragcov")
    done = ragcov("rescore", "latest", "--scale", "7", "--out", "new.jsonl", cwd=folder)
    assert done.returncode == 0, done.stderr
    fresh = run_evals_sync(data=folder / "data.jsonl", scorers=[scorer(7)])
    assert any(item.scorer_results["mine"].score for item in fresh.items)
    assert list(read_results(folder / "new.jsonl")[1]) == list(fresh.items)


def test_no_store_and_off_keep_nothing(folder: Path) -> None:
    for name, environment in (("--no-store", {}), ("--quiet", {"RAGCOV_CACHE": "off"})):
        done = ragcov("run", "data.jsonl", name, cwd=folder, **environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert not (folder / ".ragcov").exists()
        refused = ragcov("run", "data.jsonl", name, "--resume", "latest", cwd=folder, **environment)
        assert refused.returncode == 2
    assert ragcov("runs", cwd=folder).returncode == 2


def test_the_place_can_be_chosen(folder: Path) -> None:
    ragcov("run", "data.jsonl", "--store", "here", cwd=folder)
    assert (folder / "here" / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert not (folder / ".ragcov").exists()
    assert ragcov("show", "latest", "--store", "here", cwd=folder).returncode == 0
    assert ragcov("show", "latest", cwd=folder, RAGCOV_CACHE="here").returncode == 0


def test_usage_errors(folder: Path) -> None:
    ragcov("run", "data.jsonl", cwd=folder)
    for arguments in (
        ("show", "nothing"),
        ("export", "latest"),
        ("rescore", "latest"),
        ("cache",),
        ("run", "data.jsonl", "--resume", "nothing"),
        ("run", "data.jsonl", "--resume", "latest", "--scale", "2"),
    ):
        done = ragcov(*arguments, cwd=folder)
        assert done.returncode == 2, arguments
        assert done.stderr.startswith("ragcov: ")
        assert "Traceback" not in done.stderr


def test_another_target_is_another_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    (folder / "kept_targets.py").write_text("def one(question): return ['x']\ndef two(question): return ['y']\n")
    ragcov("run", "data.jsonl", "--target", "kept_targets:one", cwd=folder)
    done = ragcov("run", "data.jsonl", "--target", "kept_targets:two", "--resume", "latest", cwd=folder)
    assert done.returncode == 2
    assert "target was kept_targets:one, is kept_targets:two now" in done.stderr


def test_claims_cache_stats_and_clear(folder: Path) -> None:
    cache = DiskCache(folder / "here")
    cache.put("key", "値")
    cache.close()
    ragcov("run", "data.jsonl", "--store", "here", cwd=folder)
    assert (
        "here: claims of 1 texts, 1 characters, since "
        in ragcov("cache", "stats", "--store", "here", cwd=folder).stdout
    )
    assert ragcov("cache", "clear", "--store", "here", cwd=folder).stdout == "here: forgot the claims of 1 texts\n"
    assert "claims of 0 texts" in ragcov("cache", "stats", "--store", "here", cwd=folder).stdout
    assert ragcov("show", "latest", "--store", "here", cwd=folder).returncode == 0, "runs are not touched"


def test_no_key_is_kept_or_printed(folder: Path) -> None:
    """Neither of the run, nor of the claims, nor of a row that failed."""
    key = "planted-key-5e1f0c7d"
    with FakeServer(faults=[Fault(kind="refusal", on="castle")]) as server:
        environment = {"OPENAI_API_KEY": key, "OPENAI_BASE_URL": server.url}
        arguments = ("run", "data.jsonl", "--judge", "openai/test-model", "--store", "here", "--out", "out.jsonl")
        done = process(*arguments, cwd=folder, **environment)
        shown = ragcov("show", "latest", "--store", "here", cwd=folder, **environment)
        listed = ragcov("runs", "--store", "here", cwd=folder, **environment)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "--resume" in done.stderr
    printed = "".join(p.stdout + p.stderr for p in (done, shown, listed))
    assert "openai/test-model" in printed
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.name == "ragcov.sqlite3" for path in files)
    assert key not in printed
    for path in files:
        assert key.encode() not in path.read_bytes(), path


@pytest.mark.parametrize(
    "command",
    [
        ("curve", "latest"),
        ("compare", "latest", "latest"),
        ("diagnose", "latest", "--corpus", "corpus.jsonl"),
        ("agree", "latest", "labels.csv"),
        ("label", "latest", "--limit", "1", "--out", "mine.csv", "--against", "latest"),
        ("baseline", "save", "latest"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_that_reads_a_run_finds_it_in_another_store(
    folder: Path, command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "corpus.jsonl").write_text('{"id": "1", "text": "Harn has a castle."}\n', encoding="utf-8")
    (folder / "labels.csv").write_text("id,claim_id,label\na,c1,yes\n", encoding="utf-8")
    monkeypatch.setattr("builtins.input", lambda _: "y")
    assert ragcov("run", "data.jsonl", "--store", "elsewhere", cwd=folder).returncode == 0
    assert ragcov(*command, cwd=folder).returncode == 2
    done = ragcov(*command, "--store", "elsewhere", cwd=folder)
    assert done.returncode == 0, done.stderr


def test_a_fault_of_ragcov_is_no_missed_threshold(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> int:
        raise ZeroDivisionError("a slip")

    monkeypatch.setattr("ragcov.commands.runs.run", broken)
    done = ragcov("runs", cwd=folder)
    assert done.returncode == 3
    assert "Traceback" in done.stderr and "ZeroDivisionError: a slip" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("ragcov: this is a fault of ragcov")
