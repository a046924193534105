"""Every code block in README and docs runs: Python blocks in order, console blocks as commands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [match[3] for match in BLOCK.finditer(page.read_text(encoding="utf-8")) if match[1] == language]


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_python_blocks(page: Path, tmp_path: Path) -> None:
    """A page's blocks are one program, run as a reader would."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    program = tmp_path / "program.py"
    program.write_text("\n\n".join(blocks(page, "python")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_console_blocks(page: Path, tmp_path: Path) -> None:
    """A line that begins with `$ ragcov` is run; what follows it must be what it prints (`...` stands for anything)."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for block in blocks(page, "console"):
        for command, expected in re.findall(r"^\$ (ragcov [^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", block, re.MULTILINE):
            words = [sys.executable, "-m", "ragcov.cli", *shlex.split(command)[1:]]
            done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
            printed = done.stdout + done.stderr
            assert "Traceback" not in printed, printed
            if not expected.strip():
                assert done.returncode == 0, printed
                continue
            pattern = ".*".join(re.escape(part) for part in expected.strip().split("..."))
            assert re.fullmatch(pattern, printed.strip(), re.DOTALL), printed


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_links(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert link.startswith("https://") or (page.parent / link).exists(), link
