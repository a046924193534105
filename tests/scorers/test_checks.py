"""Ready-made checks."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov import Scorer, run_evals
from ragcov.errors import UsageError
from ragcov.scorers import checks


def messages(*names: str, answer: str = "Done.") -> list[dict[str, Any]]:
    """An agent's messages in the form of OpenAI chat completions: one call after the other, each answered."""
    said: list[dict[str, Any]] = [{"role": "user", "content": "Please."}]
    for number, name in enumerate(names):
        function = {"name": name, "arguments": "{}"}
        asked = {"id": f"call-{number}", "type": "function", "function": function}
        said.append({"role": "assistant", "content": None, "tool_calls": [asked]})
        said.append({"role": "tool", "tool_call_id": f"call-{number}", "content": "ok"})
    return [*said, {"role": "assistant", "content": answer}]


def stored(state: str, **more: Any) -> list[dict[str, Any]]:
    """An agent's messages as Mastra stores them, with one call of the tool "search" in some state."""
    invocation = {"toolCallId": "1", "toolName": "search", "args": {}, "state": state, **more}
    parts = [{"type": "tool-invocation", "toolInvocation": invocation}]
    return [{"id": "1", "role": "assistant", "content": {"format": 2, "parts": parts}}]


async def score(scorer: Scorer, output: Any, **fields: Any) -> float | None:
    result = await scorer.run(output=output, **fields)
    assert result.state == "scored", result.reason
    assert result.reason
    assert result.judge is None
    return result.score


TEXTS: list[tuple[Scorer, str, float]] = [
    (checks.includes("Paris"), "It is in Paris.", 1),
    (checks.includes("paris"), "It is in Paris.", 0),
    (checks.includes("paris", ignore_case=True), "It is in Paris.", 1),
    (checks.includes("STRASSE", ignore_case=True), "Die Straße", 1),
    (checks.includes(["Paris", "1889"]), "Paris, 1889", 1),
    (checks.includes(["Paris", "1889"]), "Paris, 1890", 0),
    (checks.includes("caf\u00e9"), "cafe\u0301", 1),
    (checks.includes("101"), "台北１０１", 0),
    (checks.includes("101", normalize="NFKC"), "台北１０１", 1),
    (checks.includes("a b", ignore_space=True), "a\n\n b", 1),
    (checks.includes("長橋"), "長橋建於1934年。", 1),
    (checks.excludes("Paris"), "It is in Rome.", 1),
    (checks.excludes(["Rome", "Paris"]), "It is in Rome.", 0),
    (checks.excludes("rome"), "It is in Rome.", 1),
    (checks.excludes("rome", ignore_case=True), "It is in Rome.", 0),
    (checks.equals("42"), "42", 1),
    (checks.equals("42"), "42\n", 0),
    (checks.equals("42", ignore_space=True), " 42\n", 1),
    (checks.equals("Yes", ignore_case=True), "YES", 1),
    (checks.equals(""), "", 1),
    (checks.matches(r"\d{4}"), "in 1934", 1),
    (checks.matches(r"\d{4}", whole=True), "in 1934", 0),
    (checks.matches(r".*\d{4}", whole=True), "in 1934", 1),
    (checks.matches("BRIDGE"), "the bridge", 0),
    (checks.matches("BRIDGE", ignore_case=True), "the bridge", 1),
    (checks.matches(re.compile("^b", re.MULTILINE)), "a\nb", 1),
    (checks.matches(r"\d+", normalize="NFKC"), "①", 1),
    (checks.similarity("abcd"), "abcd", 1),
    (checks.similarity("abcd"), "wxyz", 0),
    (checks.similarity("abcd"), "abxd", 0.75),  # 1 - 2 / 8: one deletion and one insertion
    (checks.similarity("ABCD", ignore_case=True), "abcd", 1),
    (checks.similarity(""), "", 1),
]


@pytest.mark.parametrize(("scorer", "output", "expected"), TEXTS)
async def test_texts(scorer: Scorer, output: str, expected: float) -> None:
    assert await score(scorer, output) == expected


TOOLS: list[tuple[Scorer, tuple[str, ...], float]] = [
    (checks.called_tool("search"), ("search",), 1),
    (checks.called_tool("search"), ("fetch",), 0),
    (checks.called_tool("search"), (), 0),
    (checks.called_tool("search", times=2), ("search", "fetch", "search"), 1),
    (checks.called_tool("search", times=1), ("search", "search"), 0),
    (checks.did_not_call("delete"), ("search",), 1),
    (checks.did_not_call("delete"), ("search", "delete"), 0),
    (checks.tool_order(["search", "fetch"]), ("search", "read", "fetch"), 1),
    (checks.tool_order(["search", "fetch"]), ("fetch", "search"), 0),
    (checks.tool_order(["search", "search"]), ("search",), 0),
    (checks.tool_order(["search", "fetch"], exact=True), ("search", "fetch"), 1),
    (checks.tool_order(["search", "fetch"], exact=True), ("search", "read", "fetch"), 0),
    (checks.max_tool_calls(2), ("search", "fetch"), 1),
    (checks.max_tool_calls(1), ("search", "fetch"), 0),
    (checks.max_tool_calls(0), (), 1),
    (checks.max_tool_calls(1, name="search"), ("search", "fetch", "fetch"), 1),
    (checks.no_tool_errors(), ("search",), 1),
    (checks.no_tool_errors(), (), 1),
]


@pytest.mark.parametrize(("scorer", "names", "expected"), TOOLS)
async def test_tools(scorer: Scorer, names: tuple[str, ...], expected: float) -> None:
    assert await score(scorer, messages(*names)) == expected


async def test_failed_calls() -> None:
    failed = stored("output-error", errorText="index is down")
    assert await score(checks.no_tool_errors(), failed) == 0
    assert "index is down" in (await checks.no_tool_errors().run(output=failed)).reason
    assert await score(checks.no_tool_errors(), stored("call")) == 1
    assert await score(checks.called_tool("search"), failed) == 1
    assert await score(checks.did_not_call("search"), failed) == 0


async def test_answer_of_messages_is_what_is_compared() -> None:
    assert await score(checks.equals("It is 42."), messages("search", answer="It is 42.")) == 1
    assert await score(checks.excludes("ok"), messages("search", answer="It is 42.")) == 1


@pytest.mark.parametrize("make", [checks.equals, checks.similarity])
async def test_ground_truth_is_the_default(make: Any) -> None:
    assert await score(make(), "42", ground_truth="42") == 1
    assert await score(make("43"), "42", ground_truth="42") < 1  # pyright: ignore[reportOptionalOperand]
    result = await make().run(output="42")
    assert result.state == "not_scorable"
    assert "ground truth" in result.reason


@pytest.mark.parametrize(
    "scorer",
    [checks.includes("a"), checks.excludes("a"), checks.equals("a"), checks.matches("a"), checks.similarity("a")],
)
async def test_without_output_not_scorable(scorer: Scorer) -> None:
    result = await scorer.run(input="?")
    assert result.state == "not_scorable"
    assert result.warnings


@pytest.mark.parametrize(
    "scorer",
    [
        checks.called_tool("a"),
        checks.did_not_call("a"),
        checks.tool_order(["a"]),
        checks.max_tool_calls(1),
        checks.no_tool_errors(),
    ],
)
@pytest.mark.parametrize("output", ["just text", None])
async def test_tool_checks_pass_nothing_that_they_can_not_see(scorer: Scorer, output: Any) -> None:
    assert (await scorer.run(output=output)).state == "not_scorable"


@pytest.mark.parametrize(
    ("scorer", "output", "words"),
    [
        (checks.includes(["Rome", "Paris"]), "Rome", ["lacks", "“Paris”"]),
        (checks.excludes("Rome"), "Rome", ["holds", "“Rome”"]),
        (checks.equals("a"), "b", ["“b”", "“a”"]),
        (checks.matches("x+"), "b", ["x+"]),
        (checks.matches("b+"), "abb", ["“bb”", "character 1"]),
        (checks.called_tool("fetch", times=2), messages("search", "search"), ["0 times", "2 wanted", "search × 2"]),
        (checks.tool_order(["a", "b"]), messages("b", "a"), ["a → b", "b → a"]),
        (checks.max_tool_calls(0), messages("search"), ["1 calls", "at most 0"]),
    ],
)
async def test_reasons(scorer: Scorer, output: Any, words: list[str]) -> None:
    reason = (await scorer.run(output=output)).reason
    for word in words:
        assert word in reason


@pytest.mark.parametrize(
    "make",
    [
        lambda: checks.includes(""),
        lambda: checks.includes([]),
        lambda: checks.includes(["a", " "]),
        lambda: checks.includes(["a", 3]),  # pyright: ignore
        lambda: checks.excludes(None),  # pyright: ignore
        lambda: checks.includes("a", normalize="NFX"),  # pyright: ignore
        lambda: checks.equals(42),  # pyright: ignore
        lambda: checks.similarity(["a"]),  # pyright: ignore
        lambda: checks.matches("("),
        lambda: checks.matches(None),  # pyright: ignore
        lambda: checks.called_tool(""),
        lambda: checks.called_tool("a", times=0),
        lambda: checks.called_tool("a", times=True),
        lambda: checks.called_tool("a", times=1.5),  # pyright: ignore
        lambda: checks.did_not_call(None),  # pyright: ignore
        lambda: checks.tool_order("search"),
        lambda: checks.tool_order([]),
        lambda: checks.max_tool_calls(-1),
        lambda: checks.max_tool_calls(None),  # pyright: ignore
        lambda: checks.max_tool_calls(1, name=" "),
        lambda: checks.includes("a", id=""),
    ],
)
def test_options_that_can_not_work(make: Any) -> None:
    with pytest.raises(UsageError):
        make()


async def test_as_gates() -> None:
    rows = [{"id": "a", "output": "It is in Paris."}, {"id": "b", "output": "It is in Rome."}]
    passing = await run_evals(data=rows, scorers=[checks.includes("It")], gates=[checks.excludes("Berlin")])
    assert passing.verdict == "passed"
    failing = await run_evals(data=rows, scorers=[checks.includes("It")], gates=[checks.includes("Paris", id="paris")])
    assert failing.verdict == "failed"
    assert "paris" in failing.problems[0]
    alike = {"scorer": checks.similarity("It is in Paris."), "threshold": 0.7}
    assert (await run_evals(data=rows, scorers=[checks.includes("It")], gates=[alike])).verdict == "passed"


@given(st.text(), st.text(min_size=1).filter(str.strip), st.booleans(), st.booleans(), st.sampled_from(["NFC", "NFKC"]))
def test_includes_and_excludes_are_opposites(output: str, text: str, case: bool, space: bool, form: Any) -> None:
    options: dict[str, Any] = {"ignore_case": case, "ignore_space": space, "normalize": form}
    found = checks.includes(text, **options).run_sync(output=output).score
    absent = checks.excludes(text, **options).run_sync(output=output).score
    assert found is not None
    assert absent is not None
    assert found + absent == 1


@given(st.text(max_size=30), st.text(max_size=30))
def test_similarity_is_symmetric_and_1_for_equal_texts_only(first: str, second: str) -> None:
    one = checks.similarity(first).run_sync(output=second)
    other = checks.similarity(second).run_sync(output=first)
    assert one.score == other.score
    if checks.equals(first).run_sync(output=second).score == 1:
        assert one.score == 1
