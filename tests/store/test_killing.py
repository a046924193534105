"""Fifty kills at random moments cost no finished row, and none is judged twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

KILLS = 50


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_kill_and_resume(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).with_name("killing.py")), str(tmp_path), str(KILLS), "20261130"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["kills"] == KILLS
    assert report["wrong"] == [], "rows that differ from those of an uninterrupted run"
    assert report["lost"] == [], "rows that were reported finished and are not there"
    assert report["again"] == [], "rows that were judged after they had been reported finished"
    assert len(set(report["kept"])) > 5, "the kills came at different moments"
