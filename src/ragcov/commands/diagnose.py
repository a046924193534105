"""`ragcov diagnose`: why were claims missed?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from ragcov.commands import EXIT_FAILED, EXIT_OK
from ragcov.concurrency import run_sync
from ragcov.diagnosis import Bm25Index, Diagnosis, diagnose, read_corpus
from ragcov.diagnosis.index import index_directory
from ragcov.diagnosis.text import diagnosis_lines
from ragcov.errors import ModelConfigError, StoreError, UsageError
from ragcov.judges import Judge, load_judge
from ragcov.reports.progress import Progress
from ragcov.reports.text import printable
from ragcov.results import RunInfo
from ragcov.store import open_run

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    opened = open_run(options.run, store=options.store)
    judge = _judge(options, opened.info)
    corpus = read_corpus(options.corpus)
    index = Bm25Index(corpus, index_directory())
    cached = " (index from the cache)" if index.loaded else ""
    print(f"corpus: {printable(corpus.name)}, {len(corpus)} chunks{cached}")
    changed = judge.id not in opened.info.judges
    print(f"judge: {judge.id}" + (f"; the run's was {', '.join(opened.info.judges)}" if changed else ""))
    print()
    items = list(opened)
    with Progress(len(items)) as progress:
        diagnosis = run_sync(
            diagnose(
                items,
                corpus,
                judge,
                index=index,
                k=options.k,
                ranking=options.ranking,
                candidates=options.candidates,
                concurrency=options.concurrency,
                on_sample=lambda _: progress.advance(),
            )
        )
    for line in diagnosis_lines(diagnosis):
        print(line)
    usage = diagnosis.usage
    if usage.calls or usage.cached_calls:
        print()
        print(f"judge calls: {usage.calls}, tokens: {usage.input_tokens} in, {usage.output_tokens} out")
    if options.out:
        _write(Path(options.out), diagnosis)
    undecided = len(diagnosis.failed) + sum(finding.cause is None for finding in diagnosis.findings)
    return EXIT_FAILED if undecided else EXIT_OK


def _judge(options: argparse.Namespace, info: RunInfo) -> Judge:
    """The judge asked for, else the run's own."""
    if options.judge:
        return load_judge(options.judge, cache=options.store)
    if len(info.judges) != 1:
        raise UsageError(f"the run names {len(info.judges)} judges: say with --judge which to ask")
    name = info.judges[0]
    try:
        return load_judge("offline" if name.startswith("offline") else name, cache=options.store)
    except ModelConfigError as error:
        raise ModelConfigError(f"the run's judge {name} can't be asked ({error}); choose one with --judge") from error


def _write(path: Path, diagnosis: Diagnosis) -> None:
    try:
        path.write_bytes(b"".join(msgspec.json.encode(finding) + b"\n" for finding in diagnosis.findings))
    except OSError as error:
        raise StoreError(f"{path} can't be written: {error.strerror or error}") from error
    print(f"findings written to {printable(str(path))}", file=sys.stderr)
