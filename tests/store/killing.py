"""Runs an evaluation in child processes, kills them at random moments, resumes, and prints what came of it as JSON.

    python killing.py FOLDER KILLS SEED

A process of its own, so that it has one thread when it forks.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ragcov import FROM_SAMPLE, create_context_recall_scorer, run_evals_sync
from ragcov.attribution import Verdict
from ragcov.claims import Claim
from ragcov.errors import ProviderError
from ragcov.evals import run_info
from ragcov.reports.files import to_json, write_results
from ragcov.store import Store, open_run
from ragcov.testing import ScriptedJudge

ROWS = 40
DATA = [
    {
        "id": f"row-{n}",
        "input": f"Where is {n}?",
        "ground_truth": f"Row {n} stands here. 第{n}行寫在這裡。",
        "context": [f"Row {n} stands here." if n % 3 else f"第{n}行寫在這裡。"],
    }
    for n in range(ROWS)
]


class Logging(ScriptedJudge):
    """Writes down whom it judges, in one write, so that a line is whole or not there."""

    def __init__(self, log: int) -> None:
        super().__init__(delay=0.01, faults={"Row 7 ": ProviderError("down")})
        self._log = log

    async def attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        os.write(self._log, f"judge row-{claims[0].text.split()[1]}\n".encode())
        return await super().attribute(claims, chunks)


def evaluate(folder: Path, log: Path, resume: str | None) -> None:
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def report(*, item: Any, target_result: Any, scorer_results: Any) -> None:
        os.write(descriptor, f"done {item.id}\n".encode())

    scorer = create_context_recall_scorer(model=Logging(descriptor), context=FROM_SAMPLE)
    run_evals_sync(
        data=DATA, scorers=[scorer], concurrency=4, on_item_complete=report, store=folder / "store", resume=resume
    )


def attempt(folder: Path, log: Path, resume: str | None, seconds: float | None) -> bool:
    """Whether the run came to its end before it was killed."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            evaluate(folder, log, resume)
            code = 0
        finally:
            os._exit(code)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise SystemExit(f"a child failed with {os.WEXITSTATUS(status)}")
    return os.WIFEXITED(status)


def kept(folder: Path) -> list[str]:
    with Store(folder / "store") as store:
        return [entry.id for entry in store.runs()]


def exported(folder: Path, run_id: str) -> bytes:
    run = open_run(run_id, store=folder / "store")
    write_results(folder / "out.jsonl", run.info, run)
    return (folder / "out.jsonl").read_bytes()


def judged_again(log: Path) -> list[str]:
    """Rows that were judged after they had been reported finished; the one that failed must be."""
    finished: set[str] = set()
    again: list[str] = []
    for line in log.read_text().splitlines():
        word, row = line.split()
        if word == "done":
            finished.add(row)
        elif row in finished and row != "row-7":
            again.append(row)
    return again


def main(folder: Path, kills: int, seed: int) -> None:
    dice = random.Random(seed)
    # What a run loads is loaded before the first fork, so that children are quick.
    with Store(folder / "other") as other:
        other.begin(run_info([], dataset=None, timeout=None)).close()
    asyncio.run(Logging(os.open(os.devnull, os.O_WRONLY)).attribute([Claim("Row 1 stands here.")], ["Row 1"]))
    begun = time.monotonic()
    attempt(folder, folder / "log", None, None)
    longest = 1.1 * (time.monotonic() - begun)
    (whole,) = kept(folder)
    expected = exported(folder, whole)
    rows = expected.splitlines()[1:]
    report: dict[str, Any] = {"kills": 0, "runs": 0, "wrong": [], "again": [], "kept": [], "lost": []}
    while report["kills"] < kills:
        report["runs"] += 1
        log = folder / f"log-{report['runs']}"
        before, run_id, ended = set(kept(folder)), None, False
        while not ended:
            last = report["kills"] >= kills
            ended = attempt(folder, log, run_id, None if last else dice.uniform(0, longest))
            report["kills"] += not ended
            run_id = next(iter(set(kept(folder)) - before), None)
            found = [] if run_id is None else [(i.index, to_json(i)) for i in open_run(run_id, store=folder / "store")]
            report["wrong"] += [index for index, row in found if row != rows[index]]
            done = (
                {line.split()[1] for line in log.read_text().splitlines() if "done" in line} if log.exists() else set()
            )
            report["lost"] += sorted(done - {DATA[index]["id"] for index, _ in found})
            report["kept"].append(len(found))
            if ended and run_id is None:
                raise SystemExit("a run that ended is not there")
        assert run_id is not None
        if exported(folder, run_id) != expected:
            report["wrong"].append(run_id)
        report["again"] += judged_again(log)
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
