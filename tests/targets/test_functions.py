"""Targets of no framework: what functions may take and return, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from ragcov import create_scorer, run_evals
from ragcov.messages import output_text

SCORER = create_scorer(id="any", generate_score=lambda step: 1.0)


async def first(target: Any, **row: Any) -> Any:
    data = [{"id": "r", **({} if "inputs" in row else {"input": "q"}), **row}, {"id": "s", "input": "other"}]
    result = await run_evals(data=data, scorers=[SCORER], target=target)
    assert len(result.items) == 2
    return result.items[0]


class Answer(BaseModel):
    answer: str
    contexts: list[str]


@dataclass
class Found:
    output: str
    context: list[str]


@pytest.mark.parametrize(
    ("returned", "output", "context"),
    [
        ("東京", "東京", None),
        ("\ud83d", "\ufffd", None),
        (42, "42", None),
        ([], None, []),
        (("a", "b"), None, ["a", "b"]),
        ([{"text": "a"}, {"page_content": "b"}], None, ["a", "b"]),
        ([("a", 0.9), ("b", 0.1)], None, ["a", "b"]),
        ({"answer": "x", "documents": [{"pageContent": "d"}]}, "x", ["d"]),
        ({"output": "x"}, "x", None),
        ({"retrieved_contexts": ["d"]}, None, ["d"]),
        (Answer(answer="x", contexts=["c"]), "x", ["c"]),
        (Found("x", ["c"]), "x", ["c"]),
    ],
)
async def test_what_it_may_return(returned: Any, output: Any, context: Any) -> None:
    item = await first(lambda input: returned)
    assert item.error is None
    assert (item.sample.output, item.sample.context) == (output, context)


async def test_messages_with_tool_results() -> None:
    def target(input: str) -> Any:
        call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        broken = {"id": "2", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        return [
            {"role": "assistant", "content": None, "tool_calls": [call, broken]},
            {"role": "tool", "tool_call_id": "1", "content": "Found it."},
            {"role": "tool", "tool_call_id": "2", "content": "timeout", "status": "error"},
            {"role": "assistant", "content": "Done."},
        ]

    item = await first(target, context=["of the data"])
    assert output_text(item.sample.output) == "Done."
    assert item.sample.context == ["Found it."]


async def test_messages_beside_a_context() -> None:
    item = await first(lambda input: {"messages": [{"role": "assistant", "content": "Hi."}], "context": ["c"]})
    assert (output_text(item.sample.output), item.sample.context) == ("Hi.", ["c"])


async def test_what_the_reply_lacks_stays_as_the_data_brought_it() -> None:
    item = await first(lambda input: {"output": "new"}, context=["c"], output="old")
    assert (item.sample.output, item.sample.context) == ("new", ["c"])


def _generator() -> Iterator[str]:
    yield "a"


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (None, "None: nothing to score"),
        (_generator(), "a generator, which can't be read"),
        (b"bytes", "a bytes, which can't be read"),
        (object(), "an object of type object"),
        ({"foo": 1}, "a dict that can't be read"),
        ({"output": None}, "a dict without output or context"),
        ({"contexts": 5, "output": "x"}, "contexts"),
    ],
)
async def test_what_can_not_be_read_fails_its_row_alone(returned: Any, problem: str) -> None:
    item = await first(lambda input: returned if input == "q" else "fine")
    assert (item.sample.id, item.error.step, item.error.type) == ("r", "target", "TargetError")
    assert problem in item.error.message


class TestConversations:
    async def test_history_holds_what_was_said(self) -> None:
        seen: list[Any] = []

        async def target(input: str, history: list[Any]) -> str:
            seen.append([(message["role"], message["content"]) for message in history])
            return f"a{len(history)}"

        item = await first(target, inputs=["一", "二"])
        assert [("user", "一"), ("assistant", "a0")] in seen
        assert [turn.output for turn in item.sample.turns] == ["a0", "a2"]

    async def test_a_conversation_id_is_that_of_one_sample(self) -> None:
        seen: dict[str, list[str]] = {}

        def target(input: str, *, conversation_id: str) -> str:
            seen.setdefault(conversation_id, []).append(input)
            return "x"

        await first(target, inputs=["one", "two"])
        assert sorted(seen.values()) == [["one", "two"], ["other"]]

    async def test_a_function_without_either_is_told_of(self) -> None:
        data = [{"inputs": ["one", "two"]}, {"inputs": ["three"]}]
        result = await run_evals(data=data, scorers=[SCORER], target=lambda input: "x")
        assert len(result.warnings) == 1
        assert "history" in result.warnings[0]
