"""Levels of relevance, asked of an LLM: exactly one for each chunk, whatever the order of its reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from ragcov.errors import UnreadableReplyError
from ragcov.judges.base import AskingJudge
from ragcov.judges.prompts import fenced, load_prompt
from ragcov.judges.settling import ASK_AGAIN
from ragcov.samples import clean_text
from ragcov.scorers.base import StepInput
from ragcov.scorers.coverage import GROUND_TRUTH, OUTPUT, question_of
from ragcov.scorers.levels import Grading, Level, Material

__all__ = ["Grade", "Grades", "grade_by_asking"]


def _word(value: Any) -> Any:
    return value.strip().strip("*.\"'`").lower() if isinstance(value, str) else value


class Grade(BaseModel):
    """What the model says about one chunk."""

    id: int = Field(description="number of the chunk")
    sentences: list[int] = Field(description="numbers of its sentences that help to answer the question")
    level: Annotated[Level, BeforeValidator(_word)]
    used: bool


class Grades(BaseModel):
    """The model's answer."""

    chunks: list[Grade]
    missing: list[str]


async def grade_by_asking(step: StepInput) -> Grading:
    """Grades by one prompt; chunks without exactly one readable grade are asked about again.

    Raises:
        UnreadableReplyError: Chunks are left over after further requests.
    """
    judge = step.judge
    assert isinstance(judge, AskingJudge)
    material = Material(step.run.context or [])
    grades: dict[int, Grade] = {}
    problems: dict[int, str] = {}
    missing: list[str] | None = None
    pending = [chunk for chunk, spans in material.spans.items() if spans]
    for _ in range(1 + ASK_AGAIN):
        if not pending:
            break
        reply = await judge.ask(load_prompt("relevance").text, _prompt(step, material, pending), Grades)
        # Only the first reply has seen all chunks: a later one can't tell what is missing from them.
        missing = reply.missing if missing is None else missing
        found, problems = _read(reply.chunks, material, pending)
        grades.update(found)
        pending = sorted(problems)
    if pending:
        named = ", ".join(f"chunk {chunk} ({problems[chunk]})" for chunk in pending[:10])
        raise UnreadableReplyError(f"no readable relevance for {named}, asked {1 + ASK_AGAIN} times")
    has_output = bool(OUTPUT.text(step.run).strip())
    items = dict.fromkeys(" ".join(item.split()) for item in missing or ())
    return Grading(
        chunks=tuple(
            material.graded(chunk, grade.sentences, grade.level, grade.used if has_output else None)
            if (grade := grades.get(chunk)) is not None
            else material.graded(chunk, (), "none", False if has_output else None)
            for chunk in material.spans
        ),
        missing=tuple(item for item in items if item),
    )


def _read(
    replied: Sequence[Grade], material: Material, asked: Sequence[int]
) -> tuple[dict[int, Grade], dict[int, str]]:
    """The chunks with exactly one grade that can be true, and what is wrong with that of each other one."""
    grades: dict[int, Grade] = {}
    problems = dict.fromkeys(asked, "no entry")
    for number, chunk in enumerate(asked):
        entries = [grade for grade in replied if grade.id == number]
        if not entries:
            continue
        grade, total = entries[0], len(material.spans[chunk])
        if any(other != grade for other in entries):
            problems[chunk] = "several entries that differ"
        elif any(not 0 <= sentence < total for sentence in grade.sentences):
            problems[chunk] = f"a sentence it does not have: it has 0 to {total - 1}"
        elif grade.level != "none" and not grade.sentences:
            problems[chunk] = f'"{grade.level}" without a relevant sentence'
        else:
            grades[chunk] = grade
            del problems[chunk]
    return grades, problems


def _prompt(step: StepInput, material: Material, asked: Sequence[int]) -> str:
    sections = [
        ("question", question_of(step.run) or ""),
        ("expected answer", clean_text(GROUND_TRUTH.text(step.run))),
        ("output", clean_text(OUTPUT.text(step.run))),
    ]
    for number, chunk in enumerate(asked):
        lines = (f"{n}. {' '.join(text.split())}" for n, text in enumerate(material.texts(chunk)))
        sections.append((f"chunk {number}", "\n".join(lines)))
    sections = [(title, body) for title, body in sections if body.strip()]
    return fenced(sections, [body for _, body in sections])
