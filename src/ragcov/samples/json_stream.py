"""Reading the records of a JSON document one by one, without holding the document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import IO, Any

from ragcov.errors import DataError
from ragcov.samples.text_files import check_bytes

__all__ = ["json_rows"]

_DECODER = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_CHUNK = 1 << 16
# Under these names files of other tools keep their list of records.
_LIST_KEYS = frozenset(
    {"data", "dataset", "samples", "test_cases", "testcases", "goldens", "items", "rows", "examples", "records"}
)


def json_rows(text: IO[str]) -> Iterator[tuple[int, Any]]:
    """The records of a JSON document with the physical line on which each begins.

    The document may be a list of records, an object that holds one under a common name, one record, or records
    after one another. Where it is no JSON a `DataError` takes the place of the rest.
    """
    stream = _Stream(text)
    try:
        yield from _document(stream)
    except json.JSONDecodeError as error:
        yield stream.line, DataError(f"not valid JSON: {error.msg}; nothing after it can be read")
    except DataError as error:
        yield stream.line, error
    except RecursionError:
        yield stream.line, DataError("nested too deeply to be read; nothing after it can be read")
    except ValueError as error:
        yield stream.line, DataError(f"not valid JSON: {error}; nothing after it can be read")


def _document(stream: _Stream) -> Iterator[tuple[int, Any]]:
    first = True
    while stream.peek():
        if stream.peek() == "[":
            yield from _list(stream)
        elif stream.peek() == "{" and first:
            yield from _object(stream)
        else:
            yield stream.line, stream.value()
        first = False


def _list(stream: _Stream) -> Iterator[tuple[int, Any]]:
    stream.take("[")
    if stream.peek() == "]":
        stream.take("]")
        return
    while True:
        stream.peek()
        line = stream.line
        yield line, stream.value()
        if stream.peek() == "]":
            stream.take("]")
            return
        stream.take(",")


def _object(stream: _Stream) -> Iterator[tuple[int, Any]]:
    """A record, or the records of the list that an object holds beside other things."""
    line = stream.line
    record: dict[str, Any] = {}
    streamed = False
    stream.take("{")
    while stream.peek() != "}":
        key = stream.value()
        if not isinstance(key, str):
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", "", 0)
        stream.take(":")
        if key.lower() in _LIST_KEYS and stream.peek() == "[" and not streamed:
            streamed = True
            yield from _list(stream)
        else:
            record[key] = stream.value()
        if stream.peek() != "}":
            stream.take(",")
    stream.take("}")
    if not streamed:
        yield line, record


class _Stream:
    """A cursor in a text that is read bit by bit; `line` is the physical line on which it stands."""

    def __init__(self, text: IO[str]) -> None:
        self._text = text
        self._buffer = ""
        self._at = 0
        self._ended = False
        self.line = 1

    def peek(self) -> str:
        """The next character after white space, "" at the end."""
        while True:
            end = _SPACE.match(self._buffer, self._at).end()  # pyright: ignore[reportOptionalMemberAccess]
            self._move(end)
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more(_CHUNK):
                return ""

    def take(self, character: str) -> None:
        """Passes the next character, which must be this one."""
        if self.peek() != character:
            raise json.JSONDecodeError(f"Expecting '{character}'", "", 0)
        self._move(self._at + 1)

    def value(self) -> Any:
        """Reads and passes the next value."""
        self.peek()
        size = _CHUNK
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except json.JSONDecodeError as error:
                if not self._cut_short(error) or not self._more(size):
                    raise
            else:
                # A number at the end of what was read may go on.
                if end < len(self._buffer) or not self._more(size):
                    self._move(end)
                    return value
            size *= 2

    def _cut_short(self, error: json.JSONDecodeError) -> bool:
        """Whether more text may mend the error: it is at the end of what was read, but for a literal's start."""
        return error.msg.startswith("Unterminated") or error.pos >= len(self._buffer) - 10

    def _move(self, to: int) -> None:
        self.line += self._buffer.count("\n", self._at, to)
        self._at = to

    def _more(self, size: int) -> bool:
        text = "" if self._ended else self._text.read(size)
        self._ended = not text
        check_bytes(text)
        if text:
            self._buffer = self._buffer[self._at :] + text
            self._at = 0
        return bool(text)
