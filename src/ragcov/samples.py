"""A sample, and datasets of them: reading and writing."""

from __future__ import annotations

import re
from typing import Any

import msgspec

__all__ = ["Sample", "clean_text"]

_SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Replaces lone surrogates, which no UTF-8 file can hold, by U+FFFD; lengths and positions stay."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a dataset.

    Attributes:
        id: Unique in its dataset.
        input: The question: text, or agent-shaped messages.
        ground_truth: The right answer; None when there is none.
        context: The retrieved chunks, ranked; None when the sample brings none (an empty list is a retrieval
            that found nothing).
        output: The system's answer: text, or agent-shaped messages; None when it is still to be produced.
        extra: Fields that ragcov does not know, carried to the results untouched.
    """

    id: str
    input: Any = None
    ground_truth: str | None = None
    context: list[str] | None = None
    output: Any = None
    extra: dict[str, Any] = {}
