"""`ragcov cache`: the claims that are kept for the next run."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from ragcov.commands import EXIT_OK
from ragcov.database import default_location, describe, is_url, translated
from ragcov.judges.cache import DiskCache

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    location = options.store or default_location()
    if location is None:
        print("nothing is kept: RAGCOV_CACHE is off")
        return EXIT_OK
    where = describe(location)
    if not is_url(location) and not Path(location).is_dir():
        print(f"{where}: nothing is kept yet")
        return EXIT_OK
    cache = DiskCache(location)
    with translated(location, doing="used"):
        if options.action == "clear":
            print(f"{where}: forgot the claims of {cache.clear()} texts")
        else:
            stats = cache.stats()
            since = "" if stats.oldest is None else time.strftime(", since %Y-%m-%d", time.localtime(stats.oldest))
            print(f"{where}: claims of {stats.texts} texts, {stats.characters:,} characters{since}")
        cache.close()
    return EXIT_OK
