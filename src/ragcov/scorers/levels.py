"""How relevant chunks are: the levels, and how they are found from verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from ragcov.attribution import Verdict, supporting_chunks
from ragcov.claims import Claim, number_claims
from ragcov.judges.offline.segment import sentences
from ragcov.samples import clean_text
from ragcov.scorers.base import StepInput
from ragcov.scorers.context import first_copies
from ragcov.scorers.coverage import EXPECTED, GROUND_TRUTH, OUTPUT, attribute_claims, question_of

__all__ = ["WEIGHTS", "GradedChunk", "Grading", "Level", "Material", "grade_by_claims", "level_for", "lower"]

Level: TypeAlias = Literal["high", "medium", "low", "none"]

WEIGHTS: Mapping[Level, float] = {"high": 1.0, "medium": 0.7, "low": 0.3, "none": 0.0}
"""What a chunk of each level counts, the highest first."""

_PARTS = re.compile(r"[?？]+\s*|[,;]?\s+and\s+(?=(?:who|whose|what|when|where|why|how|which)\b)", re.IGNORECASE)
# No answer repeats the words that ask; English ones weigh nothing in an alignment, these would.
_ASKING = re.compile(
    "什[么麼](?:时候|時候|地方)?|甚麼|何[時时日年人処處]|哪(?:裡|里|儿|兒|一年|年|[个個些位])?|[谁誰]|多少|[几幾]|[为為]何|如何|怎[么麼样樣]+"
    "|多(?=[高長长大深重遠远久快])|是否|有[没沒]有|[吗嗎呢]$|いつ|どこ|だれ|どなた|どれ(?:くらい)?|どの(?:くらい)?|どう(?:やって)?|なぜ"
    "|いく[つら]|何(?=[がをはでに])|(?:です|でした|ます|ました)?か$"
)


class GradedChunk(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out about one chunk.

    Attributes:
        chunk: Its index.
        level: How relevant it is.
        used: Whether the output used it; None when there is no output.
        sentences: The indexes of its relevant sentences.
        total: How many sentences it has, at least 1.
    """

    chunk: int
    level: Level
    used: bool | None
    sentences: tuple[int, ...]
    total: int


class Grading(msgspec.Struct, frozen=True, kw_only=True):
    """All distinct chunks in rank order, and the information that none of them holds."""

    chunks: tuple[GradedChunk, ...]
    missing: tuple[str, ...]


class Material:
    """The chunks of a run, each distinct text once, with their sentences.

    Attributes:
        firsts: For each chunk the index of the first one with the same text.
        spans: By the index of a first one: the spans of its sentences.
    """

    def __init__(self, chunks: Sequence[str]) -> None:
        self.chunks = chunks
        self.firsts = first_copies(chunks)
        self.spans = {first: sentences(chunks[first]) for first in dict.fromkeys(self.firsts)}

    def texts(self, chunk: int) -> list[str]:
        """The sentences of a chunk."""
        return [self.chunks[chunk][start:end] for start, end in self.spans[chunk]]

    def graded(self, chunk: int, relevant: Iterable[int], stated: Level, used: bool | None) -> GradedChunk:
        """A chunk at the stated level, or at what its relevant sentences bear out if that is lower."""
        found = tuple(sorted(set(relevant)))
        total = max(1, len(self.spans[chunk]))
        level = lower(stated, level_for(len(found), total))
        return GradedChunk(chunk=chunk, level=level, used=used, sentences=found, total=total)


def level_for(relevant: int, total: int) -> Level:
    """The level that a chunk can have with so many relevant sentences of all its sentences.

    The level whose weight is nearest to the share of relevant sentences (the higher one of two), so that one relevant
    sentence among many can't make a chunk count in full; at least "low" when there is any.
    """
    if not relevant:
        return "none"
    share = relevant / total
    return "high" if share >= 0.85 else "medium" if share >= 0.5 else "low"


def lower(first: Level, second: Level) -> Level:
    """The lower of two levels."""
    return min(first, second, key=lambda level: WEIGHTS[level])


async def grade_by_claims(step: StepInput) -> Grading:
    """Grades by verdicts, so with any judge, and with those that recall and faithfulness have asked for already.

    A sentence is relevant when it holds evidence for the question, or for a claim of the expected text; a chunk is
    used when it supports a claim of the output; missing are the claims of the ground truth that are not supported.
    """
    material = Material(step.run.context or [])
    relevant: dict[int, set[int]] = {first: set() for first in material.spans}
    await _match_question(step, material, relevant)
    expected = await _verdicts(step, EXPECTED.text(step.run))
    _mark(expected, material, relevant)
    used: set[int] | None = None
    if OUTPUT.text(step.run).strip():
        verdicts = await _verdicts(step, OUTPUT.text(step.run))
        used = {material.firsts[chunk] for verdict in verdicts for chunk in supporting_chunks(verdict)}
    has_truth = GROUND_TRUTH.text(step.run).strip()
    return Grading(
        chunks=tuple(
            material.graded(chunk, relevant[chunk], "high", None if used is None else chunk in used)
            for chunk in material.spans
        ),
        missing=tuple(v.claim.text for v in expected if not v.supported) if has_truth else (),
    )


async def _verdicts(step: StepInput, text: str) -> list[Verdict]:
    if not text.strip():
        return []
    claims = await step.need_judge().extract_claims(clean_text(text), question=question_of(step.run))
    return await attribute_claims(step, claims)


def _mark(verdicts: Iterable[Verdict], material: Material, relevant: dict[int, set[int]]) -> None:
    for verdict in verdicts:
        for evidence in verdict.evidence if verdict.supported or verdict.contradicted else ():
            first = material.firsts[evidence.chunk]
            # A copy may differ in white space around it: its own sentences have the places of its evidence.
            spans = sentences(material.chunks[evidence.chunk])
            start, end = evidence.span
            relevant[first] |= {number for number, span in enumerate(spans) if span[0] < end and start < span[1]}


async def _match_question(step: StepInput, material: Material, relevant: dict[int, set[int]]) -> None:
    """Looks for what bears on the question, in whole chunks (a sentence may need the one before) and in sentences."""
    question = question_of(step.run)
    if question is None or not question.strip():
        return
    parts = [_ASKING.sub("", part.strip()) for part in [question.rstrip("?？ "), *_PARTS.split(question)]]
    claims = number_claims(Claim(text) for text in dict.fromkeys(part for part in parts if part.strip()))
    if not claims:
        return
    chunks = [chunk for chunk in material.spans if material.spans[chunk]]
    places = [(chunk, number) for chunk in chunks for number in range(len(material.spans[chunk]))]
    units = [*(material.chunks[chunk] for chunk in chunks), *(material.texts(c)[number] for c, number in places)]
    verdicts = await step.need_judge().attribute(claims, units)
    for verdict in verdicts:
        for evidence in verdict.evidence if verdict.supported else ():
            if evidence.chunk < len(chunks):
                chunk, (start, end) = chunks[evidence.chunk], evidence.span
                spans = material.spans[chunk]
                relevant[chunk] |= {number for number, span in enumerate(spans) if span[0] < end and start < span[1]}
            else:
                chunk, number = places[evidence.chunk - len(chunks)]
                relevant[chunk].add(number)
