"""Sentences of a text, as spans."""

from __future__ import annotations

import re

import sentencex

from ragcov.language import detect_language
from ragcov.samples import clean_text

__all__ = ["CJK", "Span", "sentences", "trim"]

Span = tuple[int, int]

CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
_ARABIC = re.compile("[\u0600-\u06ff]")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_DEVANAGARI = re.compile("[\u0900-\u097f]")
_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_CLOSER = re.compile(r"[\s」』”’\"'）)】》〉\]]*(?:と|って|という|との)|[」』”’）】》]")
_ENDED_OPEN = re.compile(r"[.．][\s\"'”’)\]]*$")
# Words that the segmenter holds for abbreviations also at the end of a sentence.
_MISSED = re.compile(
    r"\b(?:May|No|art|min|sec|etc)\.(?P<gap>\s+)(?=[A-Z])"
    r"|\.(?P<space>\s+)(?=(?:The|It|He|She|They|This|These|Its|His|Her|Their|Nobody|Both)\s)"
)
# Beyond this, a piece without any sentence end is cut, so that no later step sees an endless "sentence".
_LONGEST = 4000


def trim(text: str, start: int, end: int) -> Span:
    """The span without white space at its ends; empty (start == end) when nothing else is there."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _code(text: str) -> str:
    language = detect_language(text)
    if language != "en":
        return language[:2]
    sample = text[:500]
    if not sample.isascii():
        for pattern, code in ((_ARABIC, "ar"), (_CYRILLIC, "ru"), (_DEVANAGARI, "hi")):
            if pattern.search(sample):
                return code
    return "en"


def sentences(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Spans of the sentences of `text[start:end]`, in order, trimmed; a line end always ends a sentence."""
    end = len(text) if end is None else end
    code = _code(text[start:end])
    spans: list[Span] = []
    for line in _LINE.finditer(text, start, end):
        spans.extend(_of_line(text, line.start(), line.end(), code))
    return spans


def _of_line(text: str, start: int, end: int, code: str) -> list[Span]:
    pieces: list[Span] = []
    at = start
    for piece in sentencex.segment(code, clean_text(text[start:end])):
        stop = min(end, at + len(piece))
        # A quotation that a clause follows ("...。」と言った。") is part of its sentence.
        if pieces and _CLOSER.match(text, at, stop) and not _ENDED_OPEN.search(text, *pieces[-1]):
            pieces[-1] = (pieces[-1][0], stop)
        else:
            pieces.append((at, stop))
        at = stop
    if at < end:
        pieces.append((at, end))
    spans: list[Span] = []
    for first, last in _missed(text, pieces) if code == "en" else pieces:
        for cut in range(first, last, _LONGEST):
            span = trim(text, cut, min(last, cut + _LONGEST))
            if span[0] < span[1]:
                spans.append(span)
    return spans


def _missed(text: str, pieces: list[Span]) -> list[Span]:
    spans: list[Span] = []
    for first, last in pieces:
        for match in _MISSED.finditer(text, first, last):
            gap = match.span("gap" if match["gap"] else "space")
            if not text[max(0, gap[0] - 4) : gap[0] - 1].endswith((" v", " vs", ".", " ")):
                spans.append((first, gap[0]))
                first = gap[1]
        spans.append((first, last))
    return spans
