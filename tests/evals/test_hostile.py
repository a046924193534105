"""run_evals and what users' own code does to it: odd exceptions, hanging callbacks, broken generators, odd values."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragcov import FROM_SAMPLE, create_context_recall_scorer, create_scorer, run_evals, run_evals_sync
from ragcov.errors import RunInterrupted, UsageError
from ragcov.plain import plain
from ragcov.reports.files import read_results, write_csv, write_results
from ragcov.results import mean_of
from ragcov.testing import ScriptedJudge

ROW = {"input": "q", "ground_truth": "Harn has a castle.", "context": ["Harn has a castle."]}


class Odd(BaseException):
    """What some libraries raise past `except Exception`."""


class Mute:
    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


FAULTS = [SystemExit(3), Odd("odd"), asyncio.CancelledError(), StopIteration(), ValueError(Mute())]


def recall(**options: Any) -> Any:
    return create_context_recall_scorer(model=ScriptedJudge(), context=FROM_SAMPLE, **options)


def raising(error: BaseException) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        raise error

    return function


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("place", ["target", "async target", "scorer", "callback"])
def test_whatever_users_code_raises_costs_its_row_alone(error: BaseException, place: str) -> None:
    def target(input: Any) -> Any:
        if input == "bad":
            raise error
        return "fine"

    async def async_target(input: Any) -> Any:
        return target(input)

    def score(step: Any) -> float:
        return 1.0 if place != "scorer" else float(len(target(step.run.input)) > 0)

    result = run_evals_sync(
        data=[{**ROW, "input": "bad"}, ROW],
        scorers=[recall(), create_scorer(id="own", generate_score=score)],
        target={"target": target, "async target": async_target}.get(place),
        on_item_complete=raising(error) if place == "callback" else None,
        timeout=20,
    )
    first, second = result.items
    assert not second.failed
    if place == "callback":
        assert len(result.warnings) == 2
    else:
        assert first.failed
        failure = first.error or first.scorer_results["own"].error
        assert failure is not None and failure.message


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1)], ids=["interrupt", "exit"])
def test_the_loop_behind_sync_calls_outlives_what_is_raised_in_it(error: BaseException) -> None:
    def data() -> Iterator[dict[str, Any]]:
        yield ROW
        raise error

    found: list[Any] = []

    def work() -> None:
        with pytest.raises((RunInterrupted, SystemExit)):
            run_evals_sync(data=data(), scorers=[recall()])
        found.append(run_evals_sync(data=[ROW], scorers=[recall()]).scores)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(20)
    assert found == [{"context-recall-scorer": 1.0}]


async def test_what_a_generator_raises_is_the_last_row_and_costs_no_other() -> None:
    def data() -> Iterator[dict[str, Any]]:
        yield ROW
        raise OSError("connection lost")

    result = await run_evals(data=data(), scorers=[recall()])
    assert result.summary.total_items == 2
    assert result.scores == {"context-recall-scorer": 1.0}
    assert result.items[1].error is not None
    assert "connection lost" in result.items[1].error.message


async def test_a_callback_that_hangs_is_given_up() -> None:
    async def callback(**_: Any) -> None:
        await asyncio.Event().wait()

    result = await run_evals(data=[ROW], scorers=[recall()], on_item_complete=callback, timeout=0.2)
    assert not result.summary.failed_items
    assert len(result.warnings) == 1
    assert "on_item_complete" in result.warnings[0]


class Frame:
    """A table as pandas has it."""

    columns = ("input", "ground_truth", "context")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        assert orient == "records"
        return [ROW, ROW]


async def test_tables_are_read_by_their_rows() -> None:
    import pyarrow as pa

    frame: Any = Frame()
    for table in (frame, pa.Table.from_pylist([ROW, ROW])):
        result = await run_evals(data=table, scorers=[recall()])
        assert (result.summary.total_items, result.summary.failed_items) == (2, 0)


@pytest.mark.parametrize("data", [None, ROW, b"[]", 3], ids=["none", "dict", "bytes", "number"])
async def test_data_that_is_no_list_of_records_is_refused(data: Any) -> None:
    with pytest.raises(UsageError, match="list of records"):
        await run_evals(data=data, scorers=[recall()])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": "8"}, "timeout"),
        ({"timeout": True}, "timeout"),
        ({"on_item_complete": 3}, "on_item_complete"),
        ({"scorers": recall()}, "scorers must be a list"),
        ({"scorers": "context-recall"}, "scorers must be a list"),
        ({"gates": recall()}, "gates must be a list"),
    ],
)
async def test_options_of_the_wrong_type_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        await run_evals(**{"data": [ROW], "scorers": [recall()], **options})


@pytest.mark.parametrize("truth", [42, ["Harn has a castle."], {"answer": "yes"}, b"yes", float("nan")])
def test_a_ground_truth_that_is_no_text_is_refused(truth: Any) -> None:
    with pytest.raises(UsageError, match="ground_truth must be text"):
        recall().run_sync(ground_truth=truth, context=["Harn has a castle."])


def test_a_dict_is_no_list_of_chunks() -> None:
    context: Any = {"chunk": "Harn has a castle."}
    with pytest.raises(UsageError, match="list of chunks"):
        recall().run_sync(ground_truth="Harn has a castle.", context=context)
    with pytest.raises(UsageError, match="list of chunks"):
        create_context_recall_scorer(model=ScriptedJudge(), context=context)


@pytest.mark.parametrize("scale", [10**400, 1e308])
def test_scales_whose_squares_are_not_finite_are_refused(scale: float) -> None:
    with pytest.raises(UsageError, match="scale"):
        recall(scale=scale)


async def test_the_largest_scale_works() -> None:
    result = await run_evals(data=[ROW, {**ROW, "context": ["no"]}], scorers=[recall(scale=1e100)])
    assert result.scores == {"context-recall-scorer": 5e99}


async def test_scores_beyond_the_scale_have_an_interval_that_holds_their_mean() -> None:
    scores = {"a": 2.0, "b": 4.0}
    scorer = create_scorer(id="own", generate_score=lambda step: scores[step.run.id or ""])
    result = await run_evals(data=[{**ROW, "id": name} for name in scores], scorers=[scorer])
    assert result.summary.scorers["own"].mean == mean_of([2.0, 4.0])


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


def _deep() -> list[Any]:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    return value


ODD_VALUES = {
    "tuple keys": {(1, 2): 3},
    "mute": Mute(),
    "circle": _circle(),
    "deep": _deep(),
    "class": object(),
    "complex": 1j,
    "huge": 10**400,
    "nan": float("nan"),
    "surrogate key": {"\ud800": 1},
}


@pytest.mark.parametrize("value", ODD_VALUES.values(), ids=ODD_VALUES)
@pytest.mark.parametrize("place", ["extra", "output", "step"])
async def test_values_that_json_does_not_have_cost_no_file(value: Any, place: str, tmp_path: Path) -> None:
    scorer = create_scorer(
        id="own", preprocess=lambda _: {"found": value} if place == "step" else None, generate_score=lambda _: 1
    )
    odd: dict[str, Any] = {"extra": {"odd": value}, "output": {"output": {"odd": value}}, "step": {}}[place]
    result = await run_evals(data=[{**ROW, **odd}, ROW], scorers=[scorer])
    write_results(tmp_path / "run.jsonl", result.info, result.items)
    write_csv(tmp_path / "run.csv", result.info, result.items)
    _, items = read_results(tmp_path / "run.jsonl")
    assert [item.index for item in items] == [0, 1]
    assert not result.items[1].failed
    for line in (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line, parse_constant=pytest.fail)


def test_a_plain_copy_of_what_refers_to_itself_ends() -> None:
    assert plain({"a": _circle()}) == {"a": ["..."]}
    assert plain({(1, 2): Mute()}) == {"(1, 2)": "a value of type Mute"}


def test_extras_nested_too_deeply_fail_their_row_and_name_their_field() -> None:
    result = run_evals_sync(data=[{**ROW, "fine": 1, "odd": _deep()}, ROW], scorers=[recall()])
    first, second = result.items
    assert first.error is not None
    assert '"odd"' in first.error.message
    assert not second.failed
