"""Keeping runs and going on with them, on SQLite and on PostgreSQL."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcov import (
    FROM_SAMPLE,
    Scorer,
    create_context_recall_scorer,
    create_context_relevance_scorer,
    run_evals,
    run_evals_sync,
)
from ragcov.errors import FatalProviderError, ProviderError, UsageError
from ragcov.evals import run_info
from ragcov.reports.files import to_json, write_results
from ragcov.results import ItemResult
from ragcov.samples import Sample
from ragcov.store import DataDigest, Store, open_run
from ragcov.testing import ScriptedJudge

ROWS = [
    {
        "id": f"row {n}",
        "input": f"Where is {n}?",
        "ground_truth": f"Row {n} stands here. 第{n}行寫在這裡。",
        "context": [f"Row {n} stands here.", "他の行。"],
    }
    for n in range(12)
]


def recall(judge: ScriptedJudge, **options: Any) -> Any:
    return create_context_recall_scorer(model=judge, context=FROM_SAMPLE, **options)


def lines(items: Any) -> list[bytes]:
    return [to_json(item) for item in items]


async def stopped(place: str, at: str = "Row 7 ") -> tuple[str, ScriptedJudge]:
    """A run that ended when it came to a row, and its judge."""
    judge = ScriptedJudge(faults={at: FatalProviderError("wrong key")})
    with pytest.raises(FatalProviderError):
        await run_evals(data=ROWS, scorers=[recall(judge)], concurrency=1, store=place)
    with Store(place) as store:
        return store.runs()[0].id, judge


async def test_a_run_is_kept_as_it_was_returned(place: str) -> None:
    result = await run_evals(data=ROWS, scorers=[recall(ScriptedJudge())], store=place)
    assert result.run_id is not None
    kept = open_run(result.run_id, store=place)
    assert kept.info == result.info
    assert lines(kept) == lines(result.items)
    assert lines(kept) == lines(result.items), "a second loop gives the rows again"
    with Store(place) as store:
        (entry,) = store.runs()
    assert (entry.state, entry.rows, entry.total, entry.failed) == ("finished", 12, 12, 0)
    assert entry.summary == result.summary


async def test_a_stopped_run_goes_on_and_ends_like_any_other(place: str, tmp_path: Path) -> None:
    run_id, _ = await stopped(place)
    assert [item.index for item in open_run(run_id, store=place)] == list(range(7))
    judge = ScriptedJudge()
    reported: list[str] = []

    async def report(*, item: Any, **_: Any) -> None:
        reported.append(item.id)

    resumed = await run_evals(
        data=ROWS, scorers=[recall(judge)], store=place, resume=run_id, on_item_complete=report, concurrency=1
    )
    assert judge.calls == 2 * 5, "one request for claims and one for verdicts, for the rows that were missing"
    assert reported == [row["id"] for row in ROWS[7:]]
    whole = await run_evals(data=ROWS, scorers=[recall(ScriptedJudge())])
    assert resumed.run_id == run_id
    assert lines(resumed.items) == lines(whole.items)
    assert resumed.summary == whole.summary
    kept = open_run("latest", store=place)
    write_results(tmp_path / "kept.jsonl", kept.info, kept)
    write_results(tmp_path / "whole.jsonl", whole.info, whole.items)
    assert (tmp_path / "kept.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


async def test_failed_rows_are_judged_again_and_no_others(place: str) -> None:
    first = ScriptedJudge(faults={"Row 3 ": ProviderError("down")})
    result = await run_evals(data=ROWS, scorers=[recall(first)], store=place)
    assert result.summary.failed_items == 1
    second = ScriptedJudge()
    again = await run_evals(data=ROWS, scorers=[recall(second)], store=place, resume=result.run_id)
    assert again.summary.failed_items == 0
    assert second.calls == 2
    with Store(place) as store:
        (entry,) = store.runs()
    assert (entry.state, entry.rows, entry.failed) == ("finished", 12, 0)


async def test_a_finished_run_asks_nobody(place: str) -> None:
    result = await run_evals(data=ROWS, scorers=[recall(ScriptedJudge())], store=place)
    judge = ScriptedJudge()
    again = await run_evals(data=ROWS, scorers=[recall(judge)], store=place, resume=result.run_id)
    assert judge.calls == 0
    assert lines(again.items) == lines(result.items)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"scale": 5}, "context-recall-scorer scale was 1.0, is 5.0 now"),
        ({"id": "other"}, "scorer was context-recall-scorer, is other now"),
        ({"judge": "another"}, "judge was scripted, is another now"),
    ],
)
async def test_other_settings_are_refused_by_name(place: str, change: dict[str, Any], named: str) -> None:
    run_id, _ = await stopped(place)
    judge = ScriptedJudge(id=change.get("judge", "scripted"))
    options = {name: value for name, value in change.items() if name != "judge"}
    with pytest.raises(UsageError, match=named):
        await run_evals(data=ROWS, scorers=[recall(judge, **options)], store=place, resume=run_id)
    assert judge.calls == 0


async def test_another_option_of_a_scorer_is_refused_by_name(place: str) -> None:
    def relevance(**penalties: float) -> Scorer:
        return create_context_relevance_scorer(model=ScriptedJudge(), context=FROM_SAMPLE, penalties=penalties)

    before = await run_evals(data=ROWS, scorers=[relevance()], store=place)
    named = "context-relevance-scorer penalties missing_context_per_item was 0.15, is 0.2 now"
    with pytest.raises(UsageError, match=named):
        scorers = [relevance(missing_context_per_item=0.2)]
        await run_evals(data=ROWS, scorers=scorers, store=place, resume=before.run_id)


async def test_another_prompt_version_is_refused_by_name(place: str) -> None:
    class Prompted(ScriptedJudge):
        def __init__(self, version: str) -> None:
            super().__init__()
            self.settings = {"claims_prompt": version}

    result = await run_evals(data=ROWS, scorers=[recall(Prompted("3"))], store=place)
    with pytest.raises(UsageError, match="judges scripted claims_prompt was 3, is 4 now"):
        await run_evals(data=ROWS, scorers=[recall(Prompted("4"))], store=place, resume=result.run_id)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ([*ROWS[:2], {**ROWS[2], "context": ["別の文。"]}, *ROWS[3:]], r'sample 3 \("row 2"\) has changed'),
        ([*ROWS, {"id": "more"}], "there were 12 samples, there are 13 now"),
        ([*ROWS[:11], {**ROWS[11], "ground_truth": "別の答え。"}], "samples that were still to be judged have changed"),
        (ROWS[::-1], r'sample 1 \("row 11"\) has changed'),
    ],
)
async def test_other_data_is_refused_by_name(place: str, data: list[dict[str, Any]], named: str) -> None:
    run_id, _ = await stopped(place)
    judge = ScriptedJudge()
    with pytest.raises(UsageError, match=named):
        await run_evals(data=data, scorers=[recall(judge)], store=place, resume=run_id)
    assert judge.calls == 0


async def test_data_that_can_be_read_only_once_is_checked_row_by_row(place: str) -> None:
    result = await run_evals(data=iter(ROWS), scorers=[recall(ScriptedJudge())], store=place)
    changed = ({**row, "context": ["x"]} if row["id"] == "row 4" else row for row in ROWS)
    with pytest.raises(UsageError, match="sample 5 of the data has changed"):
        await run_evals(data=changed, scorers=[recall(ScriptedJudge())], store=place, resume=result.run_id)


def test_one_process_at_a_time(place: str) -> None:
    run_id, _ = asyncio.run(stopped(place))
    code = (
        "import sys; from ragcov.store import Store; from ragcov.evals import run_info; "
        "store = Store(sys.argv[1]); run = store.resume(sys.argv[2], store.find(sys.argv[2])[1]); "
        "print('working', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, place, run_id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "working\n"
        with Store(place) as store:
            assert store.runs()[0].state == "running"
        judge = ScriptedJudge()
        with pytest.raises(UsageError, match=f"another process is working on run {run_id}"):
            run_evals_sync(data=ROWS, scorers=[recall(judge)], store=place, resume=run_id)
        assert judge.calls == 0
        other.kill()
        other.wait()
    with Store(place) as store:
        assert store.runs()[0].state == "stopped", "a process that dies holds nothing"
    run_evals_sync(data=ROWS, scorers=[recall(judge)], store=place, resume=run_id)
    assert judge.calls == 2 * 5


def test_two_runs_at_once_in_one_store(place: str) -> None:
    code = (
        "import sys; from ragcov.testing import ScriptedJudge; from ragcov import *; "
        "data = [{'id': str(n), 'input': 'q', 'ground_truth': f'Row {n} is.', 'context': ['x']} for n in range(150)]; "
        "scorer = create_context_recall_scorer(model=ScriptedJudge(delay=0.002), context=FROM_SAMPLE); "
        "print(run_evals_sync(data=data, scorers=[scorer], store=sys.argv[1]).run_id)"
    )
    command = [sys.executable, "-c", code, place]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    ids = [process.communicate()[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    first, second = (lines(open_run(run_id, store=place)) for run_id in ids)
    assert first == second
    assert len(first) == 150


def test_refs(place: str, tmp_path: Path) -> None:
    info = run_info([], dataset="a.jsonl", timeout=None)
    with Store(place) as store:
        with pytest.raises(UsageError, match='there is no run "latest"'):
            store.find("latest")
        for _ in range(40):
            store.begin(info, DataDigest.of([])).close()
        entries = store.runs()
        ids = [entry.id for entry in entries]
        assert store.find("latest")[0] == ids[0]
        assert store.find(ids[17])[0] == ids[17]
        shared = next(letter for letter in "bdfgklmnprstvz" if sum(i.startswith(letter) for i in ids) > 1)
        with pytest.raises(UsageError, match="give more of the id"):
            store.find(shared)
        for nothing in ("", "%", "_", "x"):
            with pytest.raises(UsageError, match="there is no run"):
                store.find(nothing)
    with pytest.raises(UsageError, match="there is no run"):
        open_run("nothing", store=tmp_path / "no store here")


def test_rows_come_in_pages_in_the_order_of_the_data(tmp_path: Path) -> None:
    async def keep_all() -> str:
        with Store(tmp_path) as store, store.begin(run_info([], dataset=None, timeout=None)) as recorder:
            samples = [Sample(id=str(n)) for n in range(1234)]
            items = [ItemResult(index=n, sample=sample) for n, sample in enumerate(samples)]
            await asyncio.gather(*(recorder.keep(item.sample, item) for item in reversed(items)))
            return recorder.run_id

    kept: Iterator[ItemResult] = iter(open_run(asyncio.run(keep_all()), store=tmp_path))
    assert [item.sample.id for item in kept] == [str(n) for n in range(1234)]
