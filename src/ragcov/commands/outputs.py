"""No command overwrites what it reads."""

from __future__ import annotations

import argparse
from pathlib import Path

from ragcov.errors import UsageError

__all__ = ["check_outputs"]

_READ = ("data", "run", "runs", "against", "labels", "corpus")
_WRITTEN = ("out", "csv", "html", "junit", "file")


def check_outputs(options: argparse.Namespace) -> None:
    """Checks that a command writes no file that it reads, and none twice; links are followed.

    Raises:
        UsageError: Before anything is written.
    """
    taken: dict[Path, str] = {}
    for name in _READ:
        given: str | list[str] = getattr(options, name, None) or []
        for text in [given] if isinstance(given, str) else given:
            if Path(text).is_file():
                taken[Path(text).resolve()] = f"{text} is read by this command and would be overwritten"
    for name in _WRITTEN:
        text = getattr(options, name, None)
        # What is there and no file, such as /dev/null, holds nothing that could be lost.
        if not text or (Path(text).exists() and not Path(text).is_file()):
            continue
        path = Path(text).resolve()
        if path in taken:
            raise UsageError(f"--{name} {text}: {taken[path]}; give it another name")
        taken[path] = f"{text} is what --{name} writes"
