"""A sample of several turns: all are asked on one conversation, and each may have scorers of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

from ragcov.errors import DataError, RowTimeoutError, TargetError, UsageError
from ragcov.gates import Check, read_checks, verdict_of
from ragcov.plain import plain
from ragcov.results import TurnResult
from ragcov.samples import Sample, Turn
from ragcov.scorers.base import Run, Scorer
from ragcov.scoring import Scoring, failure_of
from ragcov.targets import Reply, Target, Thread

__all__ = ["Conversation"]


class Conversation:
    """The turns of one sample.

    Attributes:
        sample: The sample with what was answered so far.
        returned: What the target returned, turn by turn.
        results: One for each turn that was begun.

    Raises:
        DataError: When a turn's scorers or gates can't be read.
    """

    def __init__(self, sample: Sample, scorers: Sequence[Scorer]) -> None:
        self._checks = [_checks(turn, number, scorers) for number, turn in enumerate(sample.turns, 1)]
        turns = tuple(_named(turn, checks) for turn, checks in zip(sample.turns, self._checks, strict=True))
        self.sample = msgspec.structs.replace(sample, turns=turns)
        self.returned: list[Any] = []
        self.results: list[TurnResult] = []
        self._thread = Thread()
        self._scoring: Scoring | None = None

    async def run(self, target: Target | None) -> None:
        """Asks and scores turn by turn, then puts the whole together; without a target the turns' own outputs count.

        Raises:
            TargetError: When a turn failed; the ones before it are kept.
        """
        for number in range(len(self.sample.turns)):
            self._scoring = None
            try:
                await self._answer(number, target)
            except TargetError as error:
                problem = TargetError(f"{self._place(number)}: {error}")
                self._fail(number, problem)
                raise problem from error
            await self._score(number)
        self._whole()

    def end(self, late: RowTimeoutError) -> RowTimeoutError:
        """Ends the turn that took too long; returns the error with the turn named."""
        number = len(self.results)
        problem = RowTimeoutError(f"{self._place(number)}: {late}")
        if self._scoring is None:
            self._fail(number, problem)
        else:
            self._scoring.fail_rest(problem)
            self._keep(number, self._scoring)
        return problem

    @property
    def unfinished(self) -> bool:
        """Whether a turn is still to be answered or scored."""
        return len(self.results) < len(self.sample.turns)

    def _place(self, number: int) -> str:
        return f"turn {number + 1} of {len(self.sample.turns)}"

    async def _answer(self, number: int, target: Target | None) -> None:
        turn = self.sample.turns[number]
        if target is None:
            reply = Reply(returned=turn.output, output=turn.output, context=turn.context)
            self._thread.messages.extend(reply.messages(turn.input))
            return
        reply = await target.answer(turn.input, self._thread)
        self.returned.append(reply.returned)
        turn = msgspec.structs.replace(
            turn,
            output=turn.output if reply.output is None else reply.output,
            context=turn.context if reply.context is None else reply.context,
        )
        turns = (*self.sample.turns[:number], turn, *self.sample.turns[number + 1 :])
        self.sample = msgspec.structs.replace(self.sample, turns=turns)

    async def _score(self, number: int) -> None:
        turn = self.sample.turns[number]
        scoring = self._scoring = Scoring([check.scorer for check in self._checks[number]])
        run = Run(
            input=turn.input,
            output=turn.output,
            ground_truth=turn.ground_truth,
            context=turn.context,
            id=f"{self.sample.id}, {self._place(number)}",
        )
        await scoring.apply(run)
        self._keep(number, scoring)

    def _keep(self, number: int, scoring: Scoring) -> None:
        verdict, problems = verdict_of(self._checks[number], scoring.results)
        self.results.append(TurnResult(scorer_results=scoring.results, verdict=verdict, problems=problems))

    def _fail(self, number: int, error: TargetError | RowTimeoutError) -> None:
        verdict, problems = verdict_of(self._checks[number], {})
        self.results.append(TurnResult(error=failure_of(error, "target"), verdict=verdict, problems=problems))

    def _whole(self) -> None:
        """The conversation as one pair: all messages are its output, the chunks of all turns its context."""
        sample = self.sample
        answered = any(turn.output is not None for turn in sample.turns)
        chunks = [turn.context for turn in sample.turns if turn.context is not None]
        context = list(dict.fromkeys(chunk for found in chunks for chunk in found)) if chunks else sample.context
        output = self._thread.messages if answered else sample.output
        self.sample = msgspec.structs.replace(sample, output=output, context=context)


def _checks(turn: Turn, number: int, scorers: Sequence[Scorer]) -> list[Check]:
    known = {scorer.id: scorer for scorer in scorers}
    checks: list[Check] = []
    for name, entries in (("scorers", turn.scorers), ("gates", turn.gates)):
        try:
            checks += read_checks([_found(entry, known) for entry in entries], gate=name == "gates")
        except UsageError as error:
            raise DataError(str(error), field=f"turns[{number - 1}].{name}") from error
    ids = [check.scorer.id for check in checks]
    if twice := sorted({scorer_id for scorer_id in ids if ids.count(scorer_id) > 1}):
        raise DataError(f"duplicate scorer name: {', '.join(twice)}", field=f"turns[{number - 1}]")
    return checks


def _found(entry: Any, known: Mapping[str, Scorer]) -> Any:
    """The entry with the scorer that its id stands for."""
    if isinstance(entry, str):
        if entry not in known:
            raise UsageError(f'"{entry}" is none of the run\'s scorers ({", ".join(known) or "there are none"})')
        return known[entry]
    if isinstance(entry, Mapping) and isinstance(cast("Mapping[str, Any]", entry).get("scorer"), str):
        options = cast("Mapping[str, Any]", entry)
        return {**options, "scorer": _found(options["scorer"], known)}
    return cast("Any", entry)


def _named(turn: Turn, checks: Sequence[Check]) -> Turn:
    """The turn with ids in place of scorers, as results hold it."""

    def named(entry: Any) -> Any:
        if isinstance(entry, Scorer):
            return entry.id
        return plain({**entry, "scorer": named(entry["scorer"])}) if isinstance(entry, Mapping) else entry

    return msgspec.structs.replace(
        turn, scorers=[named(entry) for entry in turn.scorers], gates=[named(entry) for entry in turn.gates]
    )
