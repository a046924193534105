"""From a message of any known shape to what was said and which tools were called."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from ragcov.messages.calls import ToolCall
from ragcov.messages.shapes import ITEM_TYPES, bare_message, role_of
from ragcov.messages.texts import get, get_str, result_text

__all__ = ["Event", "Said", "events"]


class Said(NamedTuple):
    """Something said: the role ("user", "assistant", "system" or "tool") and the text."""

    role: str
    text: str


Event: TypeAlias = Said | ToolCall

_DONE_STATES = frozenset({"result", "output-available"})
_FAILED_STATES = frozenset({"error", "output-error", "output-denied"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})


def events(message: Any) -> Iterator[Event]:
    """What one message tells, in order; nothing for shapes that aren't known."""
    message = bare_message(message)
    kind = get_str(message, "type")
    if get_str(message, "kind") in ("request", "response"):
        for part in _sequence(get(message, "parts")):
            yield from _pydantic_ai_part(part)
    elif kind is not None and kind in ITEM_TYPES:
        yield from _response_item(message, kind)
    else:
        yield from _spoken(message, role_of(message))


def _sequence(value: Any) -> Sequence[Any]:
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()


def _arguments(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _call(id: Any, name: Any, args: Any) -> ToolCall:
    return ToolCall(name=_name(name), args=_arguments(args), id=_name(id) or None)


def _name(value: Any) -> str:
    return "" if value is None else str(value)


def _outcome(id: Any, name: Any, value: Any, *, failed: bool = False, args: Any = None) -> ToolCall:
    """A call that came back. Tools of MCP and Mastra may say within the result that they failed."""
    failed = failed or get(value, "isError", "is_error") is True or get(value, "error") is True
    return ToolCall(
        name=_name(name),
        args=_arguments(args),
        state="error" if failed else "result",
        result=result_text(value),
        id=_name(id) or None,
    )


def _says_error(value: Any) -> bool:
    return get(value, "isError", "is_error") is True or get_str(value, "status") in ("error", "failed")


# pydantic-ai


def _pydantic_ai_part(part: Any) -> Iterator[Event]:
    kind, content = get_str(part, "part_kind"), get(part, "content")
    if kind in ("user-prompt", "system-prompt", "text"):
        role = {"user-prompt": "user", "system-prompt": "system", "text": "assistant"}[kind]
        for piece in [content] if isinstance(content, str) else _sequence(content):
            text = piece if isinstance(piece, str) else get(piece, "content")
            if isinstance(text, str):
                yield Said(role, text)
    elif kind in ("tool-call", "builtin-tool-call"):
        yield _call(get(part, "tool_call_id"), get(part, "tool_name"), get(part, "args"))
    elif kind in ("tool-return", "builtin-tool-return"):
        failed = get_str(part, "outcome") not in (None, "success")
        yield _outcome(get(part, "tool_call_id"), get(part, "tool_name"), content, failed=failed)
    elif kind == "retry-prompt" and get(part, "tool_name"):
        yield _outcome(get(part, "tool_call_id"), get(part, "tool_name"), content, failed=True)


# OpenAI Responses and Agents SDK


def _response_item(item: Any, kind: str) -> Iterator[Event]:
    id = get(item, "call_id", "id")
    if kind in ("function_call", "custom_tool_call"):
        yield _call(id, get(item, "name"), get(item, "arguments", "input"))
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield _outcome(id, get(item, "name"), get(item, "output"))
    elif kind == "file_search_call":
        queries, results = get(item, "queries"), get(item, "results")
        yield (
            _call(id, "file_search", queries)
            if results is None and not _says_error(item)
            else _outcome(id, "file_search", results, failed=_says_error(item), args=queries)
        )
    elif kind == "mcp_call":
        name, args, error = get(item, "name"), get(item, "arguments"), get(item, "error")
        output = get(item, "output")
        if error is None and output is None:
            yield _call(id, name, args)
        else:
            yield _outcome(id, name, output if error is None else error, failed=error is not None, args=args)


# Messages with a speaker: OpenAI chat, LangChain, Anthropic, Gemini, AI SDK, Mastra


def _spoken(message: Any, role: str | None) -> Iterator[Event]:
    content = get(message, "content")
    if role is None:
        return
    if role == "tool" and not _holds_results(content):
        id, name = get(message, "tool_call_id", "toolCallId"), get(message, "name", "tool_name", "toolName")
        value = content if content not in (None, "", []) else get(message, "artifact")
        yield _outcome(id, name, value, failed=_says_error(message))
        return
    if isinstance(content, Mapping):
        yield from _stored_content(cast("Mapping[str, Any]", content), role)
    elif isinstance(content, str) and not get(message, "parts"):
        yield Said(role, content)
    for part in (*_sequence(content), *_sequence(get(message, "parts"))):
        yield from _part(part, role)
    for call in _sequence(get(message, "tool_calls")):
        function = get(call, "function")
        source = call if function is None else function
        yield _call(get(call, "id"), get(source, "name"), get(source, "args", "arguments"))
    legacy = get(message, "function_call")
    if legacy is not None:
        yield _call(None, get(legacy, "name"), get(legacy, "arguments"))
    for invocation in _sequence(get(message, "toolInvocations", "tool_invocations")):
        yield _invocation(invocation)


def _holds_results(content: Any) -> bool:
    kinds = [get_str(part, "type") or "" for part in _sequence(content)]
    return any(kind.endswith(("tool-result", "tool_result")) for kind in kinds)


def _stored_content(content: Mapping[str, Any], role: str) -> Iterator[Event]:
    """Mastra's stored content: `parts`, and in `toolInvocations` and `content` what older versions read."""
    told = [event for part in _sequence(content.get("parts")) for event in _part(part, role)]
    yield from told
    if not any(isinstance(event, Said) for event in told) and isinstance(content.get("content"), str):
        yield Said(role, content["content"])
    parts_call = any(isinstance(event, ToolCall) for event in told)
    for invocation in _sequence(get(content, "toolInvocations", "tool_invocations")):
        event = _invocation(invocation)
        if event.id is not None or not parts_call:
            yield event


def _part(part: Any, role: str) -> Iterator[Event]:
    invocation = get(part, "toolInvocation", "tool_invocation")
    if isinstance(part, str):
        yield Said(role, part)
    elif invocation is not None:
        yield _invocation(invocation)
    else:
        yield from _typed_part(part, get_str(part, "type"), role)


def _typed_part(part: Any, kind: str | None, role: str) -> Iterator[Event]:
    if kind is None:
        yield from _gemini_part(part, role)
    elif kind in _TEXT_TYPES or kind == "refusal":
        text = get(part, "text", "refusal")
        yield Said(role, text if isinstance(text, str) else get(text, "value") or "")
    elif kind == "tool-result":
        yield _ai_sdk_result(part)
    elif kind.endswith(("tool-call", "tool_call", "tool_use")):
        part = get(part, "payload") or part
        id, name = get(part, "toolCallId", "tool_call_id", "id"), get(part, "toolName", "name")
        yield _call(id, name, get(part, "args", "input"))
    elif kind.endswith("tool_result"):
        value = get(part, "content", "output")
        failed = _says_error(part) or (get_str(value, "type") or "").endswith("_error")
        yield _outcome(get(part, "tool_use_id", "tool_call_id"), get(part, "name"), value, failed=failed)
    elif kind == "dynamic-tool" or (kind.startswith("tool-") and get(part, "state") is not None):
        yield _invocation(part, name=kind.removeprefix("tool-"))


def _gemini_part(part: Any, role: str) -> Iterator[Event]:
    text = get(part, "text")
    call, response = get(part, "functionCall", "function_call"), get(part, "functionResponse", "function_response")
    if isinstance(text, str) and not get(part, "thought"):
        yield Said(role, text)
    if call is not None:
        yield _call(get(call, "id"), get(call, "name"), get(call, "args"))
    if response is not None:
        value = get(response, "response")
        failed = get(value, "error") is not None
        yield _outcome(get(response, "id"), get(response, "name"), value, failed=failed)


def _ai_sdk_result(part: Any) -> ToolCall:
    """A `tool-result` part. AI SDK 5 says in the output's own type what it is: text, json, error-text, ..."""
    part = get(part, "payload") or part
    value = get(part, "output", "result")
    kind = get_str(value, "type")
    failed = _says_error(part)
    if kind is not None and isinstance(value, Mapping) and "value" in value:
        failed = failed or kind.startswith(("error", "execution-denied"))
        value = cast("Any", value["value"])
    return _outcome(get(part, "toolCallId", "tool_call_id"), get(part, "toolName"), value, failed=failed)


def _invocation(invocation: Any, name: str | None = None) -> ToolCall:
    """A tool invocation of Mastra and the AI SDK, which carries its own state."""
    id = get(invocation, "toolCallId", "tool_call_id")
    name = get(invocation, "toolName", "tool_name") or name
    args = get(invocation, "args", "input")
    state = get_str(invocation, "state")
    if state in _FAILED_STATES:
        error = get(invocation, "errorText", "error_text", "result", "output", "error")
        return _outcome(id, name, error, failed=True, args=args)
    if state in _DONE_STATES:
        value = get(invocation, "result", "output")
        return _outcome(id, name, value, failed=_says_error(invocation), args=args)
    return _call(id, name, args)
