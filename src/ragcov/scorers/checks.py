"""Ready-made checks of an output: no judge, no network, the same result every time; usable as gates.

Each function makes a scorer that gives 1 or 0 (`similarity` anything between), with a reason that says what was found.
Output is text, or agent-shaped messages, whose answer is compared. Checks of tool calls need the messages. A sample
without what a check looks at is not scorable, which a gate does not let pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, cast

from ragcov.errors import UsageError
from ragcov.messages import ToolCall, is_agent_output, output_text, tool_calls
from ragcov.scorers.base import Scorer, StepInput, create_scorer, not_scorable

__all__ = [
    "called_tool",
    "did_not_call",
    "equals",
    "excludes",
    "includes",
    "matches",
    "max_tool_calls",
    "no_tool_errors",
    "similarity",
    "tool_order",
]

Form: TypeAlias = Literal["NFC", "NFKC"]


def includes(
    texts: str | Sequence[str],
    *,
    ignore_case: bool = False,
    ignore_space: bool = False,
    normalize: Form = "NFC",
    id: str = "includes",
) -> Scorer:
    """1 when the output holds all of the texts, else 0.

    Args:
        texts: One text or several; none of them blank.
        ignore_case: Compare after Unicode case folding ("STRASSE" equals "straße").
        ignore_space: Take every run of white space as one space, and leave it out at the ends.
        normalize: Unicode form of both sides: "NFC" (composed and decomposed accents are the same) or "NFKC"
            (full-width and half-width characters are the same as well).
        id: The scorer's name in results.

    Raises:
        UsageError: When an option can't work.
    """
    wanted = _texts(texts)
    fold = _folding(ignore_case=ignore_case, ignore_space=ignore_space, normalize=normalize)

    def find(step: StepInput) -> tuple[float, str]:
        output = fold(_output(step))
        missing = [text for text in wanted if fold(text) not in output]
        return _verdict(not missing, f"the output holds {_listed(wanted)}", f"the output lacks {_listed(missing)}")

    return _check(id, "Whether the output holds certain texts.", find)


def excludes(
    texts: str | Sequence[str],
    *,
    ignore_case: bool = False,
    ignore_space: bool = False,
    normalize: Form = "NFC",
    id: str = "excludes",
) -> Scorer:
    """1 when the output holds none of the texts, else 0. Options as for `includes`."""
    unwanted = _texts(texts)
    fold = _folding(ignore_case=ignore_case, ignore_space=ignore_space, normalize=normalize)

    def find(step: StepInput) -> tuple[float, str]:
        output = fold(_output(step))
        found = [text for text in unwanted if fold(text) in output]
        return _verdict(
            not found, f"the output does not hold {_listed(unwanted)}", f"the output holds {_listed(found)}"
        )

    return _check(id, "Whether the output is free of certain texts.", find)


def equals(
    expected: str | None = None,
    *,
    ignore_case: bool = False,
    ignore_space: bool = False,
    normalize: Form = "NFC",
    id: str = "equals",
) -> Scorer:
    """1 when the output is the expected text, else 0.

    Args:
        expected: The text; None takes each sample's ground truth.
        ignore_case: As for `includes`.
        ignore_space: As for `includes`.
        normalize: As for `includes`.
        id: The scorer's name in results.
    """
    _check_expected(expected)
    fold = _folding(ignore_case=ignore_case, ignore_space=ignore_space, normalize=normalize)

    def find(step: StepInput) -> tuple[float, str]:
        wanted, output = _expected(step, expected), _output(step)
        same = fold(output) == fold(wanted)
        return _verdict(
            same, f"the output is {_quoted(wanted)}", f"the output is {_quoted(output)}, not {_quoted(wanted)}"
        )

    return _check(id, "Whether the output is a certain text.", find)


def matches(
    pattern: str | re.Pattern[str],
    *,
    ignore_case: bool = False,
    whole: bool = False,
    normalize: Form = "NFC",
    id: str = "matches",
) -> Scorer:
    """1 when the regular expression is found in the output, else 0.

    Args:
        pattern: In the syntax of Python's `re`.
        ignore_case: Adds `re.IGNORECASE`.
        whole: The whole output must match, not a part of it.
        normalize: Unicode form of the output; the pattern is taken as it is.
        id: The scorer's name in results.

    Raises:
        UsageError: When the pattern is no regular expression, or another option can't work.
    """
    try:
        compiled = re.compile(pattern)
        compiled = re.compile(compiled.pattern, compiled.flags | (re.IGNORECASE if ignore_case else 0))
    except (re.error, TypeError) as error:
        raise UsageError(f"matches needs a regular expression, got {pattern!r}: {error}") from None
    fold = _folding(ignore_case=False, ignore_space=False, normalize=normalize)

    def find(step: StepInput) -> tuple[float, str]:
        output = fold(_output(step))
        match = compiled.fullmatch(output) if whole else compiled.search(output)
        place = f"{_quoted(match[0])} at character {match.start()}" if match else ""
        return _verdict(match is not None, f"found {place}", f"nothing in the output matches {compiled.pattern!r}")

    return _check(id, "Whether the output matches a regular expression.", find)


def similarity(
    expected: str | None = None,
    *,
    ignore_case: bool = False,
    ignore_space: bool = False,
    normalize: Form = "NFC",
    id: str = "similarity",
) -> Scorer:
    """How alike the output and the expected text are, character by character, from 0 to 1.

    The normalised Indel similarity of rapidfuzz: 1 - (insertions + deletions that turn one text into the other) / (sum
    of both lengths). Two empty texts are alike. As a gate, give it a threshold: `{"scorer": similarity("..."),
    "threshold": 0.8}`. Options as for `equals`.
    """
    _check_expected(expected)
    fold = _folding(ignore_case=ignore_case, ignore_space=ignore_space, normalize=normalize)

    def find(step: StepInput) -> tuple[float, str]:
        from rapidfuzz.distance import Indel

        wanted = _expected(step, expected)
        value = Indel.normalized_similarity(fold(_output(step)), fold(wanted))
        return value, f"{value:.2f} of the characters of the output and of {_quoted(wanted)} agree"

    return _check(id, "How alike the output and the expected text are.", find)


def called_tool(name: str, *, times: int | None = None, id: str = "called-tool") -> Scorer:
    """1 when the agent called the tool, else 0; calls that failed count as well.

    Args:
        name: The tool's name, as the messages have it.
        times: How often, exactly; None: at least once.
        id: The scorer's name in results.

    Raises:
        UsageError: When the name is empty, or `times` is no whole number of 1 or more.
    """
    _check_name(name)
    if times is not None:
        _check_count("times", times, least=1)

    def find(step: StepInput) -> tuple[float, str]:
        calls = _calls(step)
        count = sum(call.name == name for call in calls)
        wanted = "" if times is None else f", {times} wanted"
        passed = count > 0 if times is None else count == times
        return _verdict(
            passed, f"{name} was called {count} times", f"{name} was called {count} times{wanted}; {_told(calls)}"
        )

    return _check(id, "Whether the agent called a tool.", find)


def did_not_call(name: str, *, id: str = "did-not-call") -> Scorer:
    """1 when the agent did not call the tool, not even in vain, else 0."""
    _check_name(name)

    def find(step: StepInput) -> tuple[float, str]:
        count = sum(call.name == name for call in _calls(step))
        return _verdict(count == 0, f"{name} was not called", f"{name} was called {count} times")

    return _check(id, "Whether the agent kept from calling a tool.", find)


def tool_order(names: Sequence[str], *, exact: bool = False, id: str = "tool-order") -> Scorer:
    """1 when the agent called the tools in this order, else 0.

    Args:
        names: The tools; a name may come more than once.
        exact: There must be no other call; else others may come before, between and after.
        id: The scorer's name in results.

    Raises:
        UsageError: When `names` is no list of names.
    """
    wanted = _texts(names, what="tool_order needs a list of tool names", single=False)

    def find(step: StepInput) -> tuple[float, str]:
        calls = _calls(step)
        called = [call.name for call in calls]
        left = iter(called)
        passed = called == wanted if exact else all(name in left for name in wanted)
        order = " → ".join(wanted)
        made = f"the calls were {' → '.join(called)}" if called else "no tool was called"
        return _verdict(passed, f"the tools were called in the order {order}", f"wanted {order}; {made}")

    return _check(id, "Whether the agent called tools in a certain order.", find)


def max_tool_calls(limit: int, *, name: str | None = None, id: str = "max-tool-calls") -> Scorer:
    """1 when the agent made at most so many tool calls, else 0.

    Args:
        limit: 0 or more.
        name: Count the calls of this tool alone.
        id: The scorer's name in results.

    Raises:
        UsageError: When the limit is no whole number of 0 or more.
    """
    _check_count("limit", limit, least=0)
    if name is not None:
        _check_name(name)

    def find(step: StepInput) -> tuple[float, str]:
        calls = [call for call in _calls(step) if name is None or call.name == name]
        count = f"{len(calls)} calls, at most {limit} allowed"
        return _verdict(len(calls) <= limit, count, f"{count}; {_told(calls)}")

    return _check(id, "Whether the agent made few enough tool calls.", find)


def no_tool_errors(*, id: str = "no-tool-errors") -> Scorer:
    """1 when no tool call failed or was denied, else 0; calls that are still open are no errors."""

    def find(step: StepInput) -> tuple[float, str]:
        calls = _calls(step)
        failed = [call for call in calls if call.state == "error"]
        errors = "; ".join(f"{call.name or 'a tool'} failed: {_quoted(call.result)}" for call in failed)
        return _verdict(not failed, f"none of {len(calls)} tool calls failed", errors)

    return _check(id, "Whether all tool calls went well.", find)


def _check(id: str, description: str, find: Callable[[StepInput], tuple[float, str]]) -> Scorer:
    async def analyze(step: StepInput) -> dict[str, Any]:
        return dict(zip(("score", "reason"), find(step), strict=True))

    async def generate_score(step: StepInput) -> float:
        return step.analyze_result["score"]

    async def generate_reason(step: StepInput) -> str:
        return step.analyze_result["reason"]

    return create_scorer(
        id=id,
        description=description,
        analyze=analyze,
        generate_score=generate_score,
        generate_reason=generate_reason,
        settings={"check": description},
    )


def _verdict(passed: bool, good: str, bad: str) -> tuple[float, str]:
    return (1.0, good) if passed else (0.0, bad)


def _output(step: StepInput) -> str:
    if step.run.output is None:
        not_scorable("Not scorable: the sample has no output.", warning="no output: the row is left out of the mean")
    return output_text(step.run.output)


def _calls(step: StepInput) -> list[ToolCall]:
    if not is_agent_output(step.run.output):
        not_scorable(
            "Not scorable: the output holds no messages, so its tool calls can't be seen.",
            warning="no messages in the output: the row is left out of the mean",
        )
    return tool_calls(step.run.output)


def _expected(step: StepInput, expected: str | None) -> str:
    text = step.run.ground_truth if expected is None else expected
    if text is None:
        not_scorable(
            "Not scorable: the sample has no ground truth to compare the output with.",
            warning="no ground truth: the row is left out of the mean",
        )
    return text


def _folding(*, ignore_case: bool, ignore_space: bool, normalize: Form) -> Callable[[str], str]:
    if normalize not in ("NFC", "NFKC"):
        raise UsageError(f'normalize must be "NFC" or "NFKC", got {normalize!r}')

    def fold(text: str) -> str:
        text = unicodedata.normalize(normalize, text)
        if ignore_case:
            # Folding can take a text out of its normal form.
            text = unicodedata.normalize(normalize, text.casefold())
        return " ".join(text.split()) if ignore_space else text

    return fold


def _texts(texts: Any, *, what: str = "give a text or a list of texts", single: bool = True) -> list[str]:
    items: list[Any] = [texts] if single and isinstance(texts, str) else []
    if not isinstance(texts, str) and isinstance(texts, Sequence):
        items = list(cast("Sequence[Any]", texts))
    if not items or not all(isinstance(item, str) and item.strip() for item in items):
        raise UsageError(f"{what}, none of them blank; got {texts!r}")
    return items


def _check_expected(expected: object) -> None:
    if expected is not None and not isinstance(expected, str):
        raise UsageError(f"expected must be a text, or None for the ground truth, got {type(expected).__name__}")


def _check_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip():
        raise UsageError(f"a tool's name must be a text that isn't blank, got {name!r}")


def _check_count(what: str, count: object, *, least: int) -> None:
    if isinstance(count, bool) or not isinstance(count, int) or count < least:
        raise UsageError(f"{what} must be a whole number of {least} or more, got {count!r}")


def _quoted(text: str) -> str:
    line = " ".join(text.split())
    return f"“{line if len(line) <= 80 else line[:79] + '…'}”"


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(_quoted(text) for text in texts)


def _told(calls: Sequence[ToolCall]) -> str:
    if not calls:
        return "no tool was called"
    counts = Counter(call.name or "a tool without a name" for call in calls)
    return "called: " + ", ".join(name if count == 1 else f"{name} × {count}" for name, count in counts.items())
