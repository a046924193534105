"""Telling messages from other values, and finding them in what agents return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ragcov.messages.texts import get, get_str

__all__ = ["ITEM_TYPES", "agent_input", "bare_message", "is_message", "messages_of", "role_of"]

_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}

# LangChain names the speaker in `type`; a chunk of a stream by its class.
_LANGCHAIN_TYPES = {name: _ROLES[name] for name in ("human", "ai", "system", "tool", "function")} | {
    "HumanMessageChunk": "user",
    "AIMessageChunk": "assistant",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
}

# Items of the Responses API that have no role; each is a message of its own.
ITEM_TYPES = frozenset(
    {
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "file_search_call",
        "web_search_call",
        "code_interpreter_call",
        "mcp_call",
        "reasoning",
    }
)

_BODY_FIELDS = ("content", "parts", "tool_calls", "toolInvocations", "tool_invocations", "function_call")


def bare_message(message: Any) -> Any:
    """The message without the wrapping of the Agents SDK (`raw_item`) or LangChain's serialised forms."""
    raw = get(message, "raw_item")
    if raw is not None:
        return raw
    kind = get_str(message, "type")
    if kind in _LANGCHAIN_TYPES or get(message, "lc") is not None:
        for name in ("kwargs", "data"):
            inner = get(message, name)
            if isinstance(inner, Mapping):
                return {**cast("Mapping[str, Any]", inner), "type": get(inner, "type") or kind}
    return message


def role_of(message: Any) -> str | None:
    """Who speaks: "user", "assistant", "system" or "tool"; None when it is no message with a speaker."""
    role = get_str(message, "role")
    return _ROLES.get(role or "") or _LANGCHAIN_TYPES.get(get_str(message, "type") or "")


def is_message(value: Any) -> bool:
    """Whether this is one message, or one item of a response."""
    if value is None or isinstance(value, str | bytes | list | tuple):
        return False
    message = bare_message(value)
    if get_str(message, "kind") in ("request", "response"):
        return isinstance(get(message, "parts"), list | tuple)
    kind = get_str(message, "type")
    if kind in ITEM_TYPES:
        return True
    if role_of(message) is None:
        return False
    if isinstance(message, Mapping):
        return any(name in message for name in _BODY_FIELDS)
    return any(hasattr(message, name) for name in _BODY_FIELDS)


def messages_of(value: Any) -> list[Any] | None:
    """The messages that a value is or holds, at least one; None when it isn't agent-shaped."""
    if value is None or isinstance(value, str | bytes | float | int):
        return None
    if isinstance(value, list | tuple):
        items = list(cast("Sequence[Any]", value))
        return items if items and all(is_message(item) for item in items) else None
    if is_message(value):
        return [value]
    return _held_messages(value)


def _held_messages(value: Any) -> list[Any] | None:
    if not isinstance(value, Mapping):
        new_messages = getattr(value, "new_messages", None)  # a run of pydantic-ai
        if callable(new_messages):
            return messages_of(new_messages())
        for name in ("new_items", "output"):  # a run of the Agents SDK, a response
            found = get(value, name)
            if isinstance(found, list):
                return messages_of(found)
    elif get(value, "object") == "response":
        return messages_of(get(value, "output"))
    choices = get(value, "choices")
    if isinstance(choices, list) and choices:
        return messages_of(get(choices[0], "message"))
    # A dict that brings a context of its own is a sample's result; its context is not to be lost.
    if get(value, "context", "contexts", "documents") is not None:
        return None
    held = get(value, "messages")
    return messages_of(held) if isinstance(held, list | tuple) else None


def agent_input(value: Any) -> tuple[list[Any], list[Any]] | None:
    """The remembered and the new messages of `{inputMessages, rememberedMessages, ...}`; None for other values."""
    new = get(value, "inputMessages", "input_messages")
    if not isinstance(new, list | tuple):
        return None
    remembered = get(value, "rememberedMessages", "remembered_messages")
    return list(cast("Sequence[Any]", remembered or ())), list(cast("Sequence[Any]", new))
