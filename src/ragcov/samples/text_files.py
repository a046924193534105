"""Text files as UTF-8, whatever the locale."""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from ragcov.errors import DataError

__all__ = ["check_bytes", "open_text"]

# What "surrogateescape" makes of bytes that are no UTF-8.
_BAD_BYTES = re.compile("[\udc80-\udcff]")


@contextmanager
def open_text(path: Path, newline: str) -> Generator[IO[str]]:
    """Opens a text file, also a .gz, as UTF-8, or as UTF-16 when its byte order mark says so.

    Bytes that are no UTF-8 don't stop the reading: `check_bytes` finds them in the record in which they stand.
    """
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as binary:
        utf16 = binary.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff")
        yield io.TextIOWrapper(
            cast("IO[bytes]", binary),
            encoding="utf-16" if utf16 else "utf-8-sig",
            errors="strict" if utf16 else "surrogateescape",
            newline=newline,
        )


def check_bytes(text: str) -> None:
    """Raises `DataError` when the text was read from bytes that are no UTF-8."""
    bad = None if text.isascii() else _BAD_BYTES.search(text)
    if bad:
        byte = ord(bad.group()) - 0xDC00
        raise DataError(f"not UTF-8: byte 0x{byte:02X} at character {bad.start() + 1}; save the file as UTF-8")
