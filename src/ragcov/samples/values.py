"""Reading the values of a record: texts, lists of chunks, ids, and what counts as missing."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from collections.abc import Mapping
from typing import Any, cast

from ragcov.errors import DataError
from ragcov.messages import find_chunk_text, is_agent_input

__all__ = [
    "chunks_of",
    "describe",
    "ground_truth_of",
    "id_of",
    "is_missing",
    "list_in_cell",
    "messages_in",
    "plain_array",
    "unwrapped",
]

_ANSWER_FIELDS = (
    "answer",
    "output",
    "response",
    "ground_truth",
    "groundTruth",
    "reference",
    "expected",
    "text",
    "content",
)
_SHORT = 40
# A Python literal of this many characters takes about a second and 100 MB; JSON has no limit.
_LITERAL_LIMIT = 2_000_000
# A list whose end was cut off, as spreadsheets do after 32,767 characters: a second text begins, or no bracket follows.
_BREAKS_OFF = re.compile(r"""\[\s*(["'])(?:[^\]]*\Z|.*?\1\s*,\s*\1)""", re.DOTALL)
_LOOKS_LIKE_LIST = re.compile(r"\[\s*(?:[bru]?[\"']|\{|(?:Document|TextNode|NodeWithScore|array)\()", re.IGNORECASE)


def describe(value: Any) -> str:
    """What a value is, in a few words, for error messages."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return f"number {value!r}"[:_SHORT]
    if isinstance(value, str):
        return f'text "{value[:_SHORT]}{"..." if len(value) > _SHORT else ""}"'
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, Mapping) else f"a value of type {type(value).__name__}"


def plain_array(value: Any) -> Any:
    """Arrays, series and scalars of numpy and its kin as Python's own lists and numbers."""
    convert = None if isinstance(value, str | list | tuple | Mapping) else getattr(value, "tolist", None)
    return convert() if callable(convert) else cast("Any", value)


def is_missing(value: Any, cells: bool = False) -> bool:
    """Whether a value stands for nothing: None, NaN, pandas' NA and NaT; in an untyped table also a blank cell."""
    if value is None or (isinstance(value, float) and value != value):
        return True
    if cells and isinstance(value, str):
        return not value.strip()
    return type(value).__name__ in ("NAType", "NaTType")


def _text(value: Any) -> str:
    """Text as it is; numbers and booleans as JSON writes them, so 42 is "42"."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    raise DataError(f"expected text, got {describe(value)}")


def id_of(value: Any) -> str:
    """An id as text: 42 is "42".

    Raises:
        DataError: When it is neither text nor a number.
    """
    value = plain_array(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        if type(value).__name__ == "UUID":
            return str(value)
        raise DataError(f"expected text or a number, got {describe(value)}")
    return _text(value)


def ground_truth_of(value: Any) -> str:
    """The right answer as text. A list of texts (ragas' old `ground_truths`) is joined, one text a line.

    Raises:
        DataError: When there is no text in it.
    """
    value = plain_array(value)
    if isinstance(value, Mapping):
        answer = _answer(cast("Mapping[str, Any]", value))
        if answer is None:
            raise DataError("expected text, got an object without a field named answer, output or the like")
        value = answer
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        return "\n".join(_text(item) for item in items if not is_missing(item))
    return _text(value)


def _answer(value: Mapping[str, Any]) -> Any:
    for name in _ANSWER_FIELDS:
        if not is_missing(value.get(name)):
            return value[name]
    single = unwrapped(value)
    return None if single is value else single


def unwrapped(value: Any) -> Any:
    """The only entry of a dict that holds just one text or one list of messages; anything else as it is."""
    if isinstance(value, Mapping) and len(cast("Mapping[str, Any]", value)) == 1 and not is_agent_input(value):
        (single,) = cast("Mapping[str, Any]", value).values()
        if isinstance(single, str) or is_agent_input(single):
            return single
    return cast("Any", value)


def messages_in(text: str) -> Any:
    """The agent messages that a cell holds as JSON, or the text itself."""
    if not text.lstrip().startswith(("[", "{")):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if is_agent_input(value) else text


def list_in_cell(value: Any) -> Any:
    """The list that a cell holds as JSON, or the value itself."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return plain_array(value)


def chunks_of(value: Any) -> list[str]:
    """The retrieved chunks. One text is one chunk, unless it holds a list written as JSON or as a Python literal.

    Items may be texts or documents of the retrieval libraries. Missing items become "", so that ranks stay.

    Raises:
        DataError: When it isn't a list of texts.
    """
    value = plain_array(value)
    if isinstance(value, str):
        items = _list_in(value)
        if items is None:
            return [value]
    elif isinstance(value, list | tuple):
        items = list(cast("list[Any]", value))
    else:
        text = find_chunk_text(value)
        if text is None or isinstance(value, bool | int | float):
            raise DataError(f"expected a list of texts, got {describe(value)}")
        return [text]
    return [_chunk(item, number) for number, item in enumerate(items, 1)]


def _chunk(item: Any, number: int) -> str:
    if is_missing(item):
        return ""
    text = find_chunk_text(item)
    if text is None:
        without = " without text" if isinstance(item, Mapping) else ""
        raise DataError(f"expected a list of texts, but item {number} is {describe(item)}{without}")
    return text


def _list_in(text: str) -> list[Any] | None:
    """The list that a text holds; None when it is just text.

    Raises:
        DataError: When it was surely meant as a list, but can't be read as one.
    """
    bare = text.strip()
    if not bare.startswith("["):
        return None
    if not bare.endswith("]"):
        if _BREAKS_OFF.match(bare):
            problem = "expected a list of texts, got a list that breaks off before its end"
            raise DataError(f"{problem}: ...{bare[-_SHORT:]}")
        return None
    try:
        items = json.loads(bare)
    except (ValueError, RecursionError):
        items = _literal(bare)
        if items is None and _LOOKS_LIKE_LIST.match(bare):
            problem = "expected a list of texts, got text that looks like a list but is neither JSON nor a Python list"
            raise DataError(f"{problem}: {bare[:_SHORT]}") from None
    if not isinstance(items, list):
        return None
    # "[1]" or "[2024, 2025]" is text, such as a citation, but a list with any text in it is a list.
    of_text = not items or any(isinstance(item, str | dict) or item is None for item in cast("list[Any]", items))
    return cast("list[Any]", items) if of_text else None


def _literal(text: str) -> list[Any] | None:
    """A list written as a Python literal, also as numpy prints one, without commas; never executed."""
    if len(text) > _LITERAL_LIMIT:
        return None
    parts: list[str] = []
    try:
        string_before = False
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in (tokenize.STRING, tokenize.NAME, tokenize.NUMBER, tokenize.OP):
                continue
            is_string = token.type == tokenize.STRING
            if is_string and string_before:
                # Python would glue two strings in a row together; numpy's output means two items.
                parts.append(",")
            parts.append("None" if token.string == "nan" else token.string)
            string_before = is_string
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(" ".join(parts))
    except (ValueError, SyntaxError, tokenize.TokenError, MemoryError, RecursionError):
        return None
    return cast("list[Any]", value) if isinstance(value, list) else None
