"""`ragcov label`: asks a person about a run's claims, in the terminal."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragcov.commands import EXIT_OK
from ragcov.concurrency import run_sync
from ragcov.errors import UsageError
from ragcov.judges import load_judge
from ragcov.labelling import Question, opinions_of, plan_questions, second_opinions
from ragcov.messages import input_text
from ragcov.reports.agreement import Label, read_labels, write_labels
from ragcov.reports.text import printable
from ragcov.store import open_run

__all__ = ["run"]

_LONGEST = 1_500
_ANSWERS = {"y": True, "yes": True, "n": False, "no": False}


def run(options: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if options.limit is not None and options.limit < 1:
        raise UsageError(f"--limit must be 1 or more, got {options.limit}")
    items = list(open_run(options.run, store=options.store))
    if options.against:
        opinions = opinions_of(open_run(options.against, store=options.store))
    else:
        opinions = run_sync(second_opinions(items, load_judge("offline")))
    questions = plan_questions(items, opinions)
    if not questions:
        raise UsageError("the run has no verdicts to ask about: run it with context-recall")
    path = Path(options.out)
    labels = _begun(path, questions) if path.exists() else [question.label for question in questions]
    by_key = {(question.label.id, question.label.claim_id): question for question in questions}
    write_labels(path, labels)
    done = _ask(path, labels, by_key, options.limit)
    answered = sum(label.label is not None for label in labels)
    print(f"{done} answered now, {answered} of {len(labels)} in all; kept in {printable(str(path))}")
    store = f" --store {printable(str(options.store))}" if options.store else ""
    print(f"see: ragcov agree {printable(options.run)} {printable(str(path))}{store}")
    return EXIT_OK


def _begun(path: Path, questions: Sequence[Question]) -> list[Label]:
    """The labels that were begun before, as long as they are of the same claims."""
    labels = read_labels(path)
    ours = {(question.label.id, question.label.claim_id, question.label.claim) for question in questions}
    theirs = {(label.id, label.claim_id, label.claim) for label in labels}
    if ours != theirs:
        raise UsageError(f"{path} holds labels of another run's claims; name another file with --out")
    return labels


def _ask(path: Path, labels: list[Label], questions: dict[tuple[str, str], Question], limit: int | None) -> int:
    """Asks about what is open and keeps each answer at once; returns how many were given."""
    answered = 0
    for place, label in enumerate(labels):
        if label.label is not None or (limit is not None and answered >= limit):
            continue
        for line in _shown(questions[label.id, label.claim_id], place + 1, len(labels)):
            print(line)
        answer = _answer()
        if answer == "q":
            break
        if isinstance(answer, bool):
            labels[place] = msgspec.structs.replace(label, label=answer)
            write_labels(path, labels)
            answered += 1
        print()
    return answered


def _shown(question: Question, number: int, total: int) -> list[str]:
    sample = question.sample
    lines = [f"[{number}/{total}] {printable(sample.id)}"]
    if question_text := input_text(sample.input):
        lines.append(f"question: {printable(question_text, _LONGEST)}")
    lines.append(f"claim: {printable(question.verdict.claim.text, _LONGEST)}")
    lines.append("retrieved chunks:")
    lines += [f"  {rank}: {printable(chunk, _LONGEST)}" for rank, chunk in enumerate(sample.context or [])]
    return lines


def _answer() -> bool | str:
    while True:
        try:
            word = input("Do the chunks state the claim? [y]es, [n]o, [s]kip, [q]uit: ").strip().lower()
        except EOFError:
            print()
            return "q"
        if word in _ANSWERS:
            return _ANSWERS[word]
        if word in ("s", "skip"):
            return "s"
        if word in ("q", "quit"):
            return "q"
        print("please answer y, n, s or q")
