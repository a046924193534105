"""From whatever a target returned to output and context."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from ragcov.errors import DataError, TargetError
from ragcov.messages import (
    chunk_text,
    find_chunk_text,
    messages_of,
    output_text,
    plain_text,
    tool_calls,
    user_messages,
)
from ragcov.messages.events import Said, events
from ragcov.messages.shapes import bare_message, role_of
from ragcov.messages.texts import get, get_str
from ragcov.plain import plain
from ragcov.samples import clean, clean_text, sample_from

__all__ = ["Reply", "read_reply"]

_KNOWN = "return text, messages, a list of chunks, or a dict with output and context"


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a target answered.

    Attributes:
        returned: What it returned, as it is.
        output: Text, or plain messages; None when it only retrieved.
        context: The chunks, ranked; None when it brought none.
    """

    returned: Any
    output: Any = None
    context: list[str] | None = None

    def messages(self, input: Any) -> list[Any]:
        """The turn as messages: what the user said, and the output."""
        given: Any = self.output
        output: list[Any] = []
        if isinstance(given, list):
            output += cast("list[Any]", given)
        elif given is not None:
            output.append({"role": "assistant", "content": output_text(given)})
        said: list[Any] = plain(user_messages(input))
        return output if _begins_with_user(output) else [*said, *output]


def read_reply(returned: Any) -> Reply:
    """Reads texts, message lists, run results, documents and dicts, as functions and frameworks return them.

    Of a conversation's messages those from the last human one on are the output. Tool results among them are
    the context, unless the reply brings one itself.

    Raises:
        TargetError: When it is None, or holds neither output nor context.
    """
    if returned is None:
        raise TargetError("the target returned None: nothing to score")
    if isinstance(returned, str):
        # A framework's text may be of a class of its own.
        return Reply(returned=returned, output=clean_text(str(returned)))
    if isinstance(returned, bytes | bytearray | Iterator | AsyncIterator) or inspect.isawaitable(returned):
        kind = type(cast("object", returned)).__name__
        raise TargetError(f"the target returned a {kind}, which can't be read; {_KNOWN}")
    messages = _messages(returned)
    if messages is not None:
        return Reply(returned=returned, output=messages, context=_retrieved(returned, messages))
    if isinstance(returned, Mapping):
        return _read_dict(returned, cast("Mapping[str, Any]", returned))
    if isinstance(returned, list | tuple):
        return Reply(returned=returned, context=_chunks(cast("Sequence[Any]", returned)))
    return _read_object(returned)


def _messages(returned: Any) -> list[Any] | None:
    if callable(getattr(returned, "new_messages", None)):
        return _pydantic_ai_messages(returned)
    found = messages_of(returned)
    if found is None:
        return None
    # Handing over to another agent is no retrieval, though the Agents SDK has it look like a tool.
    kept = [item for item in found if not (get_str(item, "type") or "").startswith("handoff_")]
    return _last_turn(clean(plain([bare_message(item) for item in kept])))


def _last_turn(messages: list[Any]) -> list[Any]:
    users = [index for index, message in enumerate(messages) if role_of(message) == "user" and _says(message)]
    return messages[users[-1] :] if users else messages


def _says(message: Any) -> bool:
    return any(isinstance(event, Said) and event.role == "user" for event in events(message))


def _begins_with_user(messages: list[Any]) -> bool:
    said = (event for message in messages for event in events(message) if isinstance(event, Said))
    return next((event.role for event in said if event.role != "system"), None) == "user"


def _pydantic_ai_messages(result: Any) -> list[Any]:
    """The messages of a run; a structured output, which is called like a tool there, as the text of the answer."""
    messages: list[Any] = plain(result.new_messages())
    output_tool = getattr(result, "_output_tool_name", None)
    if output_tool is not None:
        for message in messages:
            message["parts"] = [part for part in message["parts"] if part.get("tool_name") != output_tool]
        text = plain_text(plain(result.output))
        messages = [message for message in messages if message["parts"]]
        messages.append({"kind": "response", "parts": [{"part_kind": "text", "content": text}]})
    return clean(messages)


def _retrieved(returned: Any, messages: list[Any]) -> list[str] | None:
    """The successful tool results; of one that kept its documents each document. None when no tool was called."""
    calls = tool_calls(messages)
    if not calls:
        return None
    documents = {
        get_str(message, "tool_call_id"): found
        for message in messages_of(returned) or ()
        if (found := _documents(get(message, "artifact"))) is not None
    }
    chunks: list[str] = []
    for call in calls:
        if call.state == "result":
            chunks += documents.get(call.id) or ([call.result] if call.result else [])
    return [clean_text(chunk) for chunk in chunks]


def _documents(artifact: Any) -> list[str] | None:
    if not isinstance(artifact, list | tuple):
        return None
    texts = [find_chunk_text(item) for item in cast("Sequence[Any]", artifact)]
    return None if None in texts else cast("list[str]", texts)


def _chunks(values: Sequence[Any]) -> list[str]:
    return [clean_text(chunk_text(value)) for value in values]


def _read_dict(returned: Any, fields: Mapping[str, Any]) -> Reply:
    try:
        found = sample_from(fields, index=0)
    except DataError as error:
        raise TargetError(f"the target returned a dict that can't be read: {error}; {_KNOWN}") from error
    output = found.output
    if output is None and "messages" in fields:
        output = fields["messages"]
    messages = None if output is None else _messages(output)
    output = clean(plain(output)) if messages is None else messages
    context = found.context
    if context is None and messages is not None:
        context = _retrieved(fields.get("messages"), messages)
    if output is None and context is None:
        raise TargetError(f"the target returned a dict without output or context ({', '.join(fields)}); {_KNOWN}")
    return Reply(returned=returned, output=output, context=context)


def _read_object(returned: Any) -> Reply:
    nodes = getattr(returned, "source_nodes", None)
    if isinstance(nodes, list):
        # A response of LlamaIndex.
        if hasattr(returned, "response_gen") and not isinstance(getattr(returned, "response", None), str):
            raise TargetError("the target streams its response: make the engine with streaming=False")
        text = clean_text(getattr(returned, "response", None) or "")
        return Reply(returned=returned, output=text, context=_chunks(cast("list[Any]", nodes)))
    if isinstance(returned, bool | int | float):
        return Reply(returned=returned, output=clean_text(plain_text(returned)))
    fields = _fields(returned)
    if fields is not None:
        return _read_dict(returned, fields)
    text = next((found for name in ("output", "answer", "response") if (found := get_str(returned, name))), None)
    text = text or find_chunk_text(returned)
    if text is None:
        raise TargetError(f"the target returned an object of type {type(returned).__name__}; {_KNOWN}")
    return Reply(returned=returned, output=clean_text(text))


def _fields(value: Any) -> dict[str, Any] | None:
    """The fields of a pydantic model, dataclass or struct; None for other objects."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return cast("dict[str, Any]", dump(mode="json"))
    if dataclasses.is_dataclass(value) or isinstance(value, msgspec.Struct):
        return cast("dict[str, Any]", plain(value))
    return None
