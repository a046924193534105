"""The shape of a text: prose, list items and table rows, each with the heading that it stands under."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from ragcov.judges.offline.chaff import states_nothing
from ragcov.judges.offline.segment import Span, sentences, trim

__all__ = ["Block", "blocks"]


class Block(NamedTuple):
    """A part of a text.

    Attributes:
        kind: What it is. A "row" holds the cells of a table row.
        span: Where it stands, without its bullet or number.
        lead: The line that introduces it ("Plans:"), without colon; empty when there is none.
        cells: For a row: column head and cell, by column.
    """

    kind: Literal["prose", "item", "row", "code"]
    span: Span
    lead: str = ""
    cells: tuple[tuple[str, str], ...] = ()


_LINE = re.compile(r"[^\r\n]+")
_BULLET = re.compile(
    r"\s*(?:[-*+•‣▪●○・‧–]\s+|[•●・]\s*|\(?\d{1,3}[.)](?=\s|\D)\s*|[(（]?\d{1,3}[)）、．]\s*|[①-⑳]\s*|\(?[a-zA-Z][.)]\s+"
    r"|[一二三四五六七八九十]{1,3}、\s*)"
)
_HEADING = re.compile(r"\s*#{1,6}\s+")
_RULE = re.compile(r"[\s|:+\-=]*")
_FENCE = re.compile(r"\s*(?:```|~~~)")


def blocks(text: str) -> list[Block]:
    """The parts of a text, in order; headings only lead what follows them."""
    lines = [match.span() for match in _LINE.finditer(text)]
    found: list[Block] = []
    lead = ""
    i = 0
    while i < len(lines):
        start, end = trim(text, *lines[i])
        line = text[start:end]
        if start == end or not _RULE.sub("", line):
            i += 1
        elif _FENCE.match(line):
            i, block = _code(text, lines, i)
            found.append(block)
        elif heading := _HEADING.match(line):
            lead = _lead(line[heading.end() :])
            i += 1
        elif line.count("|") >= 2 or (line.count("|") == 1 and _is_table(text, lines, i)):
            i, rows = _table(text, lines, i)
            found.extend(rows)
        else:
            bullet = _BULLET.match(text, start, end)
            # A lone "1. Foo" is a sentence like any other once its number is off; "42." is an answer.
            if bullet and bullet.end() < end:
                found.append(Block("item", (bullet.end(), end), lead))
            elif _introduces(line) and i + 1 < len(lines):
                spoken = [text[slice(*span)] for span in sentences(text, start, end)][-1:]
                lead = "" if not spoken or states_nothing(spoken[0]) else _lead(spoken[0])
            else:
                if not _follows_item(text, lines, i, found):
                    lead = ""
                found.append(Block("prose", (start, end), lead))
            i += 1
    return found


def _lead(line: str) -> str:
    return line.strip(" \t*_#").rstrip(":： ")


def _introduces(line: str) -> bool:
    return line.rstrip(" *_").endswith((":", "：")) and len(line) <= 200


def _follows_item(text: str, lines: list[Span], i: int, found: list[Block]) -> bool:
    """An indented line under a list item belongs to the item's heading too."""
    return bool(found and found[-1].kind == "item" and text[lines[i][0]] in " \t\u3000")


def _code(text: str, lines: list[Span], i: int) -> tuple[int, Block]:
    last = i + 1
    while last < len(lines) and not _FENCE.match(text, *lines[last]):
        last += 1
    inner = lines[i + 1 : last]
    span = (inner[0][0], inner[-1][1]) if inner else lines[i]
    return min(last + 1, len(lines)), Block("code", span)


def _is_table(text: str, lines: list[Span], i: int) -> bool:
    return i + 1 < len(lines) and not _RULE.sub("", text[slice(*lines[i + 1])])


def _table(text: str, lines: list[Span], i: int) -> tuple[int, list[Block]]:
    rows: list[tuple[Span, list[str]]] = []
    headed = False
    while i < len(lines) and "|" in text[slice(*lines[i])]:
        start, end = trim(text, *lines[i])
        if _RULE.sub("", text[start:end]):
            cells = re.split(r"(?<!\\)\|", text[start:end].strip("|"))
            rows.append(((start, end), [cell.strip() for cell in cells]))
        else:
            headed = headed or len(rows) == 1
        i += 1
    head = rows.pop(0)[1] if headed and len(rows) > 1 else []
    return i, [
        Block("row", span, "", tuple((head[n] if n < len(head) else "", cell) for n, cell in enumerate(cells) if cell))
        for span, cells in rows
    ]
