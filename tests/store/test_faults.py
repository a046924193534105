"""A store that can't be written: a clear error, and what was kept stays."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ragcov.store import open_run

# Rows of some 8 kB, so many that they are never committed all at once, however fast the machine is.
BIG = 2000


def data(folder: Path) -> Path:
    path = folder / "data.jsonl"
    rows = [
        {"id": str(n), "input": "?", "ground_truth": f"Harn has {n} gates.", "context": ["城" * 400] * 5}
        for n in range(BIG)
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def ragcov(
    *arguments: str | Path, cwd: Path, before: tuple[str, ...] = (), limit: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    command = [*before, sys.executable, "-m", "ragcov.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, preexec_fn=limit)


def test_disk_full_keeps_what_was_written(tmp_path: Path) -> None:
    def no_more_than_8_mb() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_000_000, 8_000_000))

    path = data(tmp_path)
    done = ragcov("run", path, "--store", "kept", cwd=tmp_path, limit=no_more_than_8_mb)
    assert done.returncode == 3
    assert "the store kept can't be written: " in done.stderr
    assert "the rows that had finished are kept. Make room, then resume the run" in done.stderr
    assert "Traceback" not in done.stderr
    rows = [item.index for item in open_run("latest", store=tmp_path / "kept")]
    assert 0 < len(rows) < BIG
    resumed = ragcov("run", path, "--store", "kept", "--resume", "latest", "--out", "a.jsonl", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    assert f"{len(rows)} of {BIG} rows are there already" in resumed.stderr
    whole = ragcov("run", path, "--no-store", "--out", "b.jsonl", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def unprivileged() -> tuple[str, ...]:
    """What makes root heed permissions."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("root writes into read-only directories, and there is no setpriv to stop it")
    return ("setpriv", "--bounding-set", "-dac_override", "--inh-caps", "-dac_override")


@pytest.fixture
def read_only(tmp_path: Path) -> Path:
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o555)
    return folder


def test_read_only_directory_that_was_asked_for(tmp_path: Path, read_only: Path) -> None:
    done = ragcov("run", data(tmp_path), "--store", read_only / "kept", cwd=tmp_path, before=unprivileged())
    assert done.returncode == 3
    assert f"the store {read_only / 'kept'} can't be opened: Permission denied" in done.stderr
    assert "choose another place with --store" in done.stderr


def test_read_only_directory_by_default_costs_a_warning(
    tmp_path: Path, read_only: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAGCOV_CACHE")
    done = ragcov("run", data(tmp_path), "--quiet", cwd=read_only, before=unprivileged())
    assert done.returncode == 0, done.stderr
    assert (
        "the run is not kept, and can't be resumed: the store .ragcov can't be opened: Permission denied" in done.stderr
    )
    assert f"{BIG} scored" in done.stdout


def test_a_store_that_became_read_only(tmp_path: Path) -> None:
    path = data(tmp_path)
    assert ragcov("run", path, "--store", "kept", cwd=tmp_path).returncode == 0
    files = [*(tmp_path / "kept").iterdir(), tmp_path / "kept"]
    for file in files:
        file.chmod(0o555)
    done = ragcov("run", path, "--store", "kept", cwd=tmp_path, before=unprivileged())
    assert done.returncode == 3
    assert "the store kept can't be opened: attempt to write a readonly database" in done.stderr
    for file in files:
        file.chmod(0o755)
    assert sum(1 for _ in open_run("latest", store=tmp_path / "kept")) == BIG


@pytest.mark.parametrize("content", [b"", b"no database at all " * 100])
def test_a_file_in_the_way(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    done = ragcov("run", data(tmp_path), "--store", "file", cwd=tmp_path)
    assert done.returncode == 3
    assert "the store file can't be opened: File exists" in done.stderr
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "ragcov.sqlite3").write_bytes(b"no database at all " * 100)
    done = ragcov("runs", "--store", "kept", cwd=tmp_path)
    assert done.returncode == 3
    assert "the store kept can't be opened: file is not a database" in done.stderr


@pytest.mark.parametrize(
    ("url", "code", "said"),
    [
        ("postgresql+psycopg://me:planted-password@127.0.0.1:9/none", 3, "can't be opened: connection"),
        ("postgresql+psycopg//://me:planted-password", 2, "a store is a directory, or"),
        ("mysql://me:planted-password@127.0.0.1/none", 2, "got one of mysql"),
    ],
)
def test_urls_that_cannot_work(tmp_path: Path, url: str, code: int, said: str) -> None:
    done = ragcov("run", data(tmp_path), "--store", url, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert "planted-password" not in done.stdout + done.stderr
