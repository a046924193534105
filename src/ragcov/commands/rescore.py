"""`ragcov rescore`: new scores from the verdicts of a run, without a judge."""

from __future__ import annotations

import argparse
import asyncio
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NoReturn

import msgspec

from ragcov.commands import EXIT_OK
from ragcov.commands.keeping import keep_run
from ragcov.commands.printing import open_writers, print_rows, print_summary
from ragcov.concurrency import run_sync
from ragcov.errors import UsageError
from ragcov.results import ItemResult, RunInfo, ScorerResult, check_scale
from ragcov.samples import Sample
from ragcov.scorers.base import Run, Scorer
from ragcov.scorers.registry import SCORERS, make_scorer
from ragcov.store import DataDigest, RunRecorder, open_run

__all__ = ["run"]

_AT_ONCE = 500


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    scale = check_scale(options.scale)
    stored = open_run(options.run, store=options.store)
    scorers = {scorer_id: _scorer(scorer_id, stored.info, scale) for scorer_id in stored.info.scorers}
    info = _info(stored.info, stored.name, scale)
    with ExitStack() as stack:
        recorder = keep_run(stack, options, info, DataDigest.of(item.sample for item in stored))
        writers = open_writers(stack, options, info)

        def write(item: ItemResult) -> None:
            for writer in writers:
                writer.write(item)

        items = _rescored(iter(stored), scorers, scale, recorder)
        totals = print_rows(info, items, quiet=options.quiet, on_item=write)
        if recorder is not None:
            recorder.finish(totals.summary())
    print_summary(info, totals)
    if recorder is not None:
        print(f"kept as run {recorder.run_id}")
    return EXIT_OK


def _info(before: RunInfo, name: str, scale: float) -> RunInfo:
    scorers = {scorer_id: {**_settings(before, scorer_id), "scale": scale} for scorer_id in before.scorers}
    settings = {**before.settings, "scorers": scorers, "rescored_from": name}
    return msgspec.structs.replace(before, settings=settings)


class _NoJudge:
    """Stands where a scorer wants a judge; what a judge was asked is there already."""

    id = "none"
    _WHY = "rescoring asks no judge"

    async def extract_claims(self, text: str, *, question: str | None = None) -> NoReturn:
        raise UsageError(self._WHY)

    async def attribute(self, claims: Sequence[Any], chunks: Sequence[str]) -> NoReturn:
        raise UsageError(self._WHY)

    async def ask(self, instructions: str, prompt: str, schema: type[Any]) -> NoReturn:
        raise UsageError(self._WHY)


def _settings(info: RunInfo, scorer_id: str) -> dict[str, Any]:
    return info.settings.get("scorers", {}).get(scorer_id, {})


def _scorer(scorer_id: str, info: RunInfo, scale: float) -> Scorer | None:
    """The scorer as the run had it; None for one of the user's own, whose tally has to do."""
    settings = _settings(info, scorer_id)
    measure = settings.get("measure", "")
    if measure not in SCORERS:
        return None
    # Reasons are written from the verdicts: no judge is there to phrase them.
    options = {name: value for name, value in settings.items() if name not in ("measure", "scale", "reason")}
    return make_scorer(measure, model=_NoJudge(), scale=scale, id=scorer_id, **options)


def _rescored(
    items: Iterator[ItemResult], scorers: Mapping[str, Scorer | None], scale: float, recorder: RunRecorder | None
) -> Iterator[ItemResult]:
    while some := list(itertools.islice(items, _AT_ONCE)):
        yield from run_sync(_rescore_some(some, scorers, scale, recorder))


async def _rescore_some(
    items: list[ItemResult], scorers: Mapping[str, Scorer | None], scale: float, recorder: RunRecorder | None
) -> list[ItemResult]:
    done = [await _rescore_item(item, scorers, scale) for item in items]
    if recorder is not None:
        await asyncio.gather(*(recorder.keep(item.sample, item) for item in done))
    return done


async def _rescore_item(item: ItemResult, scorers: Mapping[str, Scorer | None], scale: float) -> ItemResult:
    results = {
        name: await _rescore(result, item.sample, scorers.get(name), scale)
        for name, result in item.scorer_results.items()
    }
    return msgspec.structs.replace(item, scorer_results=results)


async def _rescore(result: ScorerResult, sample: Sample, scorer: Scorer | None, scale: float) -> ScorerResult:
    if scorer is not None:
        run = Run(
            input=sample.input,
            output=sample.output,
            ground_truth=sample.ground_truth,
            context=sample.context,
            id=sample.id,
        )
        return await scorer.rescore(run, result)
    if not result.scored:
        return msgspec.structs.replace(result, scale=scale)
    if result.tally is None:
        raise UsageError(
            f"{result.scorer_id} is a scorer of your own that keeps no tally: its scores can't be computed anew"
        )
    return msgspec.structs.replace(result, scale=scale, score=result.tally.score(scale))
