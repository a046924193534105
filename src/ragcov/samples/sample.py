"""A sample, and the cleaning of its texts."""

from __future__ import annotations

import re
from typing import Any, cast

import msgspec

__all__ = ["Sample", "Turn", "clean", "clean_text"]

_SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Replaces lone surrogates, which no UTF-8 file can hold, by U+FFFD; lengths and positions stay."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


def clean(value: Any) -> Any:
    """The value with `clean_text` applied to every text in its dicts and lists; other objects stay as they are."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [clean(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in cast("dict[Any, Any]", value).items()}
    return value


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of a conversation: what the user says, and what comes of it.

    Attributes:
        input: What the user says: text, or agent-shaped messages.
        ground_truth: The right answer to this turn; None when there is none.
        context: The chunks retrieved in this turn, ranked; None when it brings none.
        output: The system's answer to this turn; None when it is still to be produced.
        scorers: What scores this turn alone: scorers, `{"scorer": ..., "threshold": ...}`, or ids of the run's
            scorers in their place. In results they are ids.
        gates: As `scorers`, but each must be perfect, or reach its threshold.
        extra: Fields that ragcov does not know.
    """

    input: Any
    ground_truth: str | None = None
    context: list[str] | None = None
    output: Any = None
    scorers: list[Any] = []
    gates: list[Any] = []
    extra: dict[str, Any] = {}


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
        turns: The turns of a conversation, in order; empty for a sample with one input. `input` then holds all that
            the user says, as messages.
    """

    id: str
    input: Any = None
    ground_truth: str | None = None
    context: list[str] | None = None
    output: Any = None
    extra: dict[str, Any] = {}
    turns: tuple[Turn, ...] = ()
