"""`ragcov baseline save|check`: keep a run in the repository, and stop when a later one falls behind it."""

from __future__ import annotations

import argparse

from ragcov.commands import EXIT_BELOW, EXIT_FAILED, EXIT_OK
from ragcov.reports.baseline import check_baseline, comparison_lines, make_baseline, read_baseline, write_baseline
from ragcov.reports.files import to_json
from ragcov.store import StoredRun, open_run

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    stored = open_run(options.run, store=options.store)
    return _save(stored, options) if options.action == "save" else _check(stored, options)


def _save(stored: StoredRun, options: argparse.Namespace) -> int:
    baseline = make_baseline(stored.info, stored, keep=options.keep, keep_all=options.keep_all)
    write_baseline(options.file, baseline)
    kept = sum(len(found.keep) for results in baseline.samples.values() for found in results.values())
    print(f"{options.file}: {len(baseline.samples)} scored samples, {kept} claims to be kept")
    return EXIT_OK


def _check(stored: StoredRun, options: argparse.Namespace) -> int:
    baseline = read_baseline(options.file)
    comparison = check_baseline(baseline, stored.info, stored)
    if options.json:
        print(
            to_json(
                {"failed": comparison.failed, **{n: getattr(comparison, n) for n in comparison.__struct_fields__}}
            ).decode()
        )
    else:
        for line in comparison_lines(comparison):
            print(line)
    if comparison.failed:
        return EXIT_BELOW
    return EXIT_FAILED if any(item.failed for item in stored) else EXIT_OK
