"""A tool call and its outcome, joined over the messages that tell of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

__all__ = ["ToolCall", "join_calls"]


class ToolCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a tool.

    Attributes:
        name: The tool; "" when no message names it.
        args: Its arguments, JSON text read into values; None when no message holds them.
        state: "result" (it came back), "error" (it failed or was denied) or "call" (it never came back).
        result: Text of the result, or of the error; "" when there is none.
        id: The call's id, where the framework gives one.
    """

    name: str = ""
    args: Any = None
    state: Literal["result", "error", "call"] = "call"
    result: str = ""
    id: str | None = None


def join_calls(told: Iterable[Iterable[ToolCall]]) -> list[ToolCall]:
    """The calls in order of their first mention, each with its outcome; `told` is what each message tells."""
    calls: list[ToolCall] = []
    said_in: list[int] = []
    for number, events in enumerate(told):
        for event in events:
            place = _same_call(calls, said_in, event, number)
            if place is None:
                calls.append(event)
                said_in.append(number)
            elif calls[place].state == "call":
                calls[place] = _merged(calls[place], event)
    return calls


def _same_call(calls: list[ToolCall], said_in: list[int], event: ToolCall, number: int) -> int | None:
    """Where the call that this event tells of stands already.

    Some providers number calls anew for each reply ("call_0"), so the same id in a later message is another call
    unless the earlier one is still open or ended in just the same way. Without ids a result belongs to the first
    open call of that tool.
    """
    if event.id is None:
        if event.state == "call":
            return None
        return next(
            (i for i, call in enumerate(calls) if call.id is None and _open(call) and call.name == event.name),
            None,
        )
    for place in range(len(calls) - 1, -1, -1):
        call = calls[place]
        if call.id == event.id:
            again = said_in[place] == number or (call.state, call.result) == (event.state, event.result)
            return place if again or _open(call) else None
    return None


def _open(call: ToolCall) -> bool:
    return call.state == "call"


def _merged(known: ToolCall, event: ToolCall) -> ToolCall:
    return ToolCall(
        name=known.name or event.name,
        args=event.args if known.args is None else known.args,
        state=event.state,
        result=event.result,
        id=known.id,
    )
