"""Untrusted text for HTML: filters of the templates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from ragcov.language import detect_language
from ragcov.reports.excerpts import Excerpt
from ragcov.results import Mean

__all__ = ["FILTERS"]

_SHORT = 1_000
# Controls, marks that turn the direction of what follows, and characters without any width that hide in a text; not
# the joiners that Persian and emoji need.
_HIDDEN = re.compile(
    "([\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f])\\1*"
)


def visible(text: str) -> Markup:
    """Escapes a text and shows its hidden characters by their number, so that they can neither act nor deceive."""
    text = text.replace("\r\n", "\n")
    parts: list[Markup] = []
    at = 0
    for match in _HIDDEN.finditer(text):
        parts.append(escape(text[at : match.start()]))
        name = unicodedata.name(match[1], "control character")
        times = f" ×{len(match[0]):,}" if len(match[0]) > 1 else ""
        shape = Markup('<span class="ctl" title="{}">U+{:04X}{}</span>')
        parts.append(shape.format(name, ord(match[1]), times))
        at = match.end()
    parts.append(escape(text[at:]))
    return Markup("").join(parts)


def visible_plain(text: str) -> str:
    """The same without any markup, for places that hold text only."""
    return _HIDDEN.sub(lambda match: f"[U+{ord(match[1]):04X}]", text)


def shorten(text: str) -> str:
    """At most a thousand characters, and how many more there are."""
    return text if len(text) <= _SHORT else f"{text[:_SHORT]} […{len(text) - _SHORT:,} more characters]"


def lang(text: str | Excerpt, hint: str = "") -> Markup:
    """A lang attribute for Chinese and Japanese, whose characters look alike and are drawn differently.

    A short text may have no character that tells them apart; the hint, a text beside it, then does.
    """
    if isinstance(text, Excerpt):
        text = "".join(piece.text for piece in text.pieces[:50])
    language = detect_language(text)
    if language != "en" and hint:
        language = detect_language(f"{text} {hint}")
    return Markup("") if language == "en" else Markup(' lang="{}"').format(language)


def interval(mean: Mean) -> str:
    """The mean's n and interval."""
    if mean.low is None or mean.high is None:
        return f"n = {mean.n}, too few for an interval"
    return f"95 % CI {mean.low:.2f} to {mean.high:.2f}, n = {mean.n}"


FILTERS: Mapping[str, Callable[..., Any]] = {
    "visible": visible,
    "visible_plain": visible_plain,
    "shorten": shorten,
    "lang": lang,
    "interval": interval,
    "url": quote,
}
"""By the name that the templates use."""
