"""Text of chunks, results and loose values, whatever holds it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec

__all__ = [
    "chunk_text",
    "content_text",
    "find_chunk_text",
    "get",
    "get_str",
    "json_text",
    "plain_fields",
    "plain_text",
    "result_text",
]

_CHUNK_FIELDS = ("text", "page_content", "pageContent", "content", "chunk", "passage", "document")
_PLAIN_FIELDS = (
    "question",
    "query",
    "input",
    "prompt",
    "user_input",
    "answer",
    "output",
    "final_output",
    "response",
    "result",
    "text",
    "content",
)
_TEXT_PARTS = frozenset({"text", "input_text", "output_text", "text-content"})


def get(value: Any, *names: str) -> Any:
    """The first of these keys (of a mapping) or attributes (of an object) that holds something, else None."""
    for name in names:
        found: Any
        if isinstance(value, Mapping):
            found = cast("Mapping[str, Any]", value).get(name)
        elif isinstance(value, str | bytes | Sequence) or value is None:
            return None
        else:
            found = getattr(value, name, None)
        # LangChain's text is a string that can be called as well; methods are no data.
        if found is not None and (isinstance(found, str) or not callable(found)):
            return found
    return None


def get_str(value: Any, *names: str) -> str | None:
    """As `get`, but None for anything that isn't text."""
    found = get(value, *names)
    return found if isinstance(found, str) else None


def json_text(value: Any) -> str:
    """The value as JSON with its characters unescaped."""
    return json.dumps(msgspec.to_builtins(value, str_keys=True, enc_hook=plain_fields), ensure_ascii=False)


def plain_fields(value: Any) -> Any:
    """An object that JSON has no form for, as its fields, items or text."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    for convert in ("tolist", "isoformat"):
        method = getattr(value, convert, None)
        if callable(method):
            return method()
    return dict(cast("Mapping[Any, Any]", value)) if isinstance(value, Mapping) else str(value)


def find_chunk_text(value: Any) -> str | None:
    """The text of a retrieved chunk: a string, or what documents of the retrieval libraries hold; None if unknown.

    Known are the fields text, page_content, pageContent, content, chunk, passage and document, the node of a scored
    node, the text among the metadata of a vector search hit, and pairs of a document and its score.
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list | tuple):
        pair = cast("Sequence[Any]", value)
        return find_chunk_text(pair[0]) if len(pair) == 2 and isinstance(pair[1], float | int) else None
    for name in _CHUNK_FIELDS:
        found = get(value, name)
        if isinstance(found, str):
            return str(found)
        text = content_text(found)
        if text is not None:
            return text
    node = get(value, "node")
    return find_chunk_text(node) if node is not None else get_str(get(value, "metadata"), "text")


def chunk_text(value: Any) -> str:
    """The text of a retrieved chunk; None and NaN give "", what isn't known as a chunk its JSON."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    text = find_chunk_text(value)
    return json_text(value) if text is None else text


def content_text(parts: Any) -> str | None:
    """The text of a list of content parts, one a line; None when it is anything else, or holds no text."""
    if not isinstance(parts, list | tuple) or not parts:
        return None
    texts = [
        get_str(part, "text", "content") if get_str(part, "type", "kind") in _TEXT_PARTS else None
        for part in cast("Sequence[Any]", parts)
    ]
    if any(text is None for text in texts):
        return None
    return "\n".join(cast("list[str]", texts))


def result_text(value: Any) -> str:
    """The text of a tool's result; "" when it holds nothing.

    Text stays as it is, also when it holds JSON. Content parts and MCP results give their text, documents theirs,
    a list of anything is one JSON text.
    """
    if isinstance(value, str):
        return str(value)
    if value is None or (isinstance(value, list | tuple | Mapping) and not value):
        return ""
    text = content_text(value)
    if text is None and isinstance(value, Mapping):
        text = content_text(get(value, "content"))
    if text is None and not isinstance(value, Mapping | list | tuple):
        text = find_chunk_text(value)
    return json_text(value) if text is None else text


def plain_text(value: Any) -> str:
    """The text of input or output that isn't agent-shaped."""
    if value is None:
        return ""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list | tuple):
        items = cast("Sequence[Any]", value)
        return "\n".join(items) if all(isinstance(item, str) for item in items) else json_text(items)
    for name in _PLAIN_FIELDS:
        found = get(value, name)
        if isinstance(found, str):
            return str(found)
    return json_text(value)
