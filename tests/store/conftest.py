"""A PostgreSQL server of the tests' own, and stores on it and on SQLite."""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest


def _programs() -> Path | None:
    """Where initdb and postgres are; Debian keeps them out of PATH."""
    found = shutil.which("initdb")
    places = (
        [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
    return next((place for place in places if (place / "postgres").exists() and (place / "initdb").exists()), None)


def _user() -> str | None:
    """Who may run a server: not root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next((name for name in ("postgres", "nobody") if name in names), None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """URL of an empty database; its server ends with the tests."""
    pytest.importorskip("psycopg", reason='no psycopg: pip install "ragcov[postgres]"')
    programs = _programs()
    if programs is None:
        pytest.skip("no PostgreSQL server on this machine (Debian: apt install postgresql)")
    user = _user()
    if os.geteuid() == 0 and user is None:
        pytest.skip("PostgreSQL refuses to run as root, and there is no user postgres or nobody")
    folder = Path(tempfile.mkdtemp(prefix="ragcov-pg-"))
    if user is not None:
        shutil.chown(folder, user)
    owner = user or getpass.getuser()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"user": user, "cwd": folder, "env": {**os.environ, "LC_ALL": "C", "HOME": str(folder)}}
    initdb = [programs / "initdb", "-D", folder / "data", "-U", "tests", "--auth=trust", "-E", "UTF8", "-N"]
    made = subprocess.run(initdb, capture_output=True, text=True, check=False, **options)
    if made.returncode:
        shutil.rmtree(folder, ignore_errors=True)
        pytest.skip(f"initdb can't run as {owner}: {made.stderr.strip()}")
    command = [programs / "postgres", "-D", folder / "data", "-p", str(port), "-h", "127.0.0.1", "-k", folder, "-F"]
    with (folder.parent / f"{folder.name}.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, **options)
    try:
        _wait(port, server)
        yield f"postgresql+psycopg://tests:planted-password@127.0.0.1:{port}/postgres"
    finally:
        server.send_signal(signal.SIGINT)  # without waiting for clients
        server.wait(30)
        shutil.rmtree(folder, ignore_errors=True)
        (folder.parent / f"{folder.name}.log").unlink()


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    import psycopg

    for _ in range(300):
        if server.poll() is not None:
            pytest.fail(f"the PostgreSQL server ended with {server.returncode}")
        try:
            psycopg.connect(f"host=127.0.0.1 port={port} user=tests dbname=postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the PostgreSQL server did not come up within 30 s")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store's location, on either database; empty."""
    if request.param == "sqlite":
        return str(tmp_path / "store")
    url: str = request.getfixturevalue("postgres")
    import psycopg

    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS ragcov_runs, ragcov_rows, claims_cache")
    return url
