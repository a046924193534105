"""What the report says of one sample, worked out before there is any HTML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ragcov.attribution import Evidence, Verdict
from ragcov.messages import input_text, output_text
from ragcov.plain import plain
from ragcov.reports.excerpts import Excerpt, Kind, Mark, excerpt
from ragcov.results import Failure, ItemResult, ScorerResult, Tally
from ragcov.samples import Sample

__all__ = ["ChunkView", "ClaimView", "Limits", "ResultView", "SampleView", "view_sample"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much of long things is shown.

    Attributes:
        chunk: Characters of a chunk.
        text: Characters of a question, ground truth or output.
        idle: Chunks that support no claim; the others are all shown.
    """

    chunk: int = 4000
    text: int = 20_000
    idle: int = 50


class Link(msgspec.Struct, frozen=True):
    """A link to evidence: its target ("" when it stands in no chunk of the sample), its text, the quoted passage."""

    anchor: str
    label: str
    quote: str


class ClaimView(msgspec.Struct, frozen=True, kw_only=True):
    """A claim, what became of it, and where its evidence stands.

    Attributes:
        number: Counts the claims of the sample from 1, over all scorers.
        anchor: Its name in the page.
        text: The claim.
        kind: What became of it.
        reason: The judge's.
        confidence: As the judge gave it, or None.
        ways: Each a passage that is enough by itself, or several that are enough together.
        in_text: Whether it is marked in the text it was taken from.
    """

    number: int
    anchor: str
    text: str
    kind: Kind
    reason: str
    confidence: float | None
    ways: tuple[tuple[Link, ...], ...]
    in_text: bool


class ResultView(msgspec.Struct, frozen=True, kw_only=True):
    """One scorer's result on the sample."""

    scorer_id: str
    state: str
    score: float | None
    scale: float
    tally: Tally | None
    reason: str
    error: Failure | None
    warnings: tuple[str, ...]
    judge: str | None
    claims: tuple[ClaimView, ...]
    source: str


class ChunkView(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk with its evidence marked.

    Attributes:
        index: Its rank, from 0.
        anchor: Its name in the page.
        evidence: Names of the passages in it, also of those that its excerpt leaves out.
        body: Its text.
        supports: Numbers and anchors of the claims that it supports, alone or with others.
        contradicts: Those that it contradicts.
    """

    index: int
    anchor: str
    evidence: tuple[str, ...]
    body: Excerpt
    supports: tuple[tuple[int, str], ...]
    contradicts: tuple[tuple[int, str], ...]


class SampleView(msgspec.Struct, frozen=True, kw_only=True):
    """A sample.

    Attributes:
        anchor: Its name in the page.
        id: The sample's id.
        question: The input as text; None when there is none.
        ground_truth: With the claims marked that were taken from it; None when there is none.
        output: Likewise.
        results: One for each scorer.
        error: When the target or the reading failed.
        chunks: Those that are shown; None when the sample has no context of its own.
        chunks_left_out: Indexes of those that are not: they support no claim.
        judged: Whether claims were checked against the chunks, so that a chunk can be said to support none.
        hint: The beginning of its texts, from which the language of the others is told.
    """

    anchor: str
    id: str
    question: Excerpt | None
    ground_truth: Excerpt | None
    output: Excerpt | None
    results: tuple[ResultView, ...]
    error: Failure | None
    chunks: tuple[ChunkView, ...] | None
    chunks_left_out: tuple[int, ...]
    judged: bool
    hint: str


class _Numbered(msgspec.Struct, frozen=True):
    """A verdict with its place among the claims of the sample."""

    number: int
    verdict: Verdict
    source: str

    def anchor(self, sample: str) -> str:
        return f"{sample}c{self.number}"


def _kind(verdict: Verdict) -> Kind:
    return "found" if verdict.supported else "contradicted" if verdict.contradicted else "missed"


def view_sample(item: ItemResult, limits: Limits) -> SampleView:
    """What the report shows of a sample."""
    anchor, sample = f"s{item.index}", item.sample
    texts = {"ground truth": sample.ground_truth or "", "output": _text(sample.output, output_text)}
    numbered = list(_number(item, texts))
    marks = {name: _claim_marks(name, texts[name], numbered) for name in texts}
    shown = {name: excerpt(text, marks[name], limit=limits.text) if text else None for name, text in texts.items()}
    chunks, left_out = _chunks(anchor, sample, numbered, limits)
    targets = _targets(chunks)
    question = _text(sample.input, input_text)
    return SampleView(
        anchor=anchor,
        id=sample.id,
        question=excerpt(question, limit=limits.text) if question else None,
        ground_truth=shown["ground truth"],
        output=shown["output"],
        results=tuple(_results(anchor, item, numbered, marks, targets)),
        error=item.error,
        chunks=None if sample.context is None else tuple(chunks),
        chunks_left_out=tuple(left_out),
        judged=bool(numbered),
        hint=f"{question[:100]} {texts['ground truth'][:100]}",
    )


def _text(value: Any, reader: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return reader(value) or json.dumps(plain(value), ensure_ascii=False)


def _number(item: ItemResult, texts: Mapping[str, str]) -> Iterator[_Numbered]:
    number = 0
    for result in item.scorer_results.values():
        source = _source(result, texts)
        for verdict in result.verdicts:
            number += 1
            yield _Numbered(number, verdict, source)


def _source(result: ScorerResult, texts: Mapping[str, str]) -> str:
    """Which of the texts the claims were taken from: the one in which their spans read like them."""
    from rapidfuzz.fuzz import token_set_ratio

    def likeness(text: str) -> float:
        spans = [(verdict.claim.text, verdict.claim.span) for verdict in result.verdicts if verdict.claim.span]
        return sum(token_set_ratio(claim, text[span[0] : span[1]]) for claim, span in spans)

    return max(texts, key=lambda name: likeness(texts[name]) if texts["output"] else name == "ground truth")


def _claim_marks(source: str, text: str, numbered: Sequence[_Numbered]) -> list[Mark]:
    marks: list[Mark] = []
    for entry in numbered:
        span = entry.verdict.claim.span
        if entry.source == source and span is not None and 0 <= span[0] < span[1] <= len(text):
            marks.append(Mark(*span, entry.number, _kind(entry.verdict)))
    return marks


def _evidence_anchor(sample: str, number: int, position: int, evidence: Evidence) -> str:
    return f"{sample}k{evidence.chunk}e{number}.{position}"


def _chunks(
    sample_anchor: str, sample: Sample, numbered: Sequence[_Numbered], limits: Limits
) -> tuple[list[ChunkView], list[int]]:
    context = sample.context or []
    marks: dict[int, list[Mark]] = {}
    supports: dict[int, dict[int, str]] = {}
    contradicts: dict[int, dict[int, str]] = {}
    for entry in numbered:
        kind = _kind(entry.verdict)
        claim = entry.anchor(sample_anchor)
        for position, evidence in enumerate(entry.verdict.evidence):
            # A scorer may have looked at other chunks than the sample's.
            if evidence.chunk >= len(context) or context[evidence.chunk][slice(*evidence.span)] != evidence.quote:
                continue
            anchor = _evidence_anchor(sample_anchor, entry.number, position, evidence)
            shown: Kind = "near" if kind == "missed" else kind
            marks.setdefault(evidence.chunk, []).append(Mark(*evidence.span, entry.number, shown, anchor))
            if kind != "missed":
                role = supports if kind == "found" else contradicts
                role.setdefault(evidence.chunk, {})[entry.number] = claim
    views: list[ChunkView] = []
    left_out: list[int] = []
    idle = 0
    for index, text in enumerate(context):
        idle += index not in marks
        if index not in marks and idle > limits.idle:
            left_out.append(index)
            continue
        views.append(
            ChunkView(
                index=index,
                evidence=tuple(mark.anchor for mark in marks.get(index, ())),
                anchor=f"{sample_anchor}k{index}",
                body=excerpt(text, marks.get(index, ()), limit=limits.chunk),
                supports=tuple(supports.get(index, {}).items()),
                contradicts=tuple(contradicts.get(index, {}).items()),
            )
        )
    return views, left_out


def _targets(chunks: Sequence[ChunkView]) -> dict[str, str]:
    """Where a link to a passage leads: to the passage, or to its chunk when the excerpt leaves it out."""
    return {name: name if name in chunk.body.anchors else chunk.anchor for chunk in chunks for name in chunk.evidence}


def _results(
    sample: str,
    item: ItemResult,
    numbered: Sequence[_Numbered],
    marks: Mapping[str, Sequence[Mark]],
    targets: Mapping[str, str],
) -> Iterator[ResultView]:
    rest = iter(numbered)
    marked = {mark.number for found in marks.values() for mark in found}
    for result in item.scorer_results.values():
        entries = [next(rest) for _ in result.verdicts]
        yield ResultView(
            scorer_id=result.scorer_id,
            state=result.state,
            score=result.score,
            scale=result.scale,
            tally=result.tally,
            # A list of claims says all that the reason says.
            reason="" if entries or result.state == "failed" else result.reason,
            error=result.error,
            warnings=result.warnings,
            judge=result.judge,
            claims=tuple(_claim(sample, entry, targets, in_text=entry.number in marked) for entry in entries),
            source=entries[0].source if entries else "",
        )


def _claim(sample: str, entry: _Numbered, targets: Mapping[str, str], *, in_text: bool) -> ClaimView:
    verdict = entry.verdict
    ways: dict[Any, list[Link]] = {}
    for position, evidence in enumerate(verdict.evidence):
        anchor = targets.get(_evidence_anchor(sample, entry.number, position, evidence), "")
        key = ("alone", position) if evidence.group is None else ("group", evidence.group)
        ways.setdefault(key, []).append(Link(anchor, f"chunk {evidence.chunk}", evidence.quote))
    return ClaimView(
        number=entry.number,
        anchor=entry.anchor(sample),
        text=verdict.claim.text,
        kind=_kind(verdict),
        reason=verdict.reason,
        confidence=verdict.confidence,
        ways=tuple(tuple(links) for links in ways.values()),
        in_text=in_text,
    )
