"""A diagnosis as text for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragcov.diagnosis.causes import ACTIONS, Cause, Diagnosis, Finding, Place
from ragcov.reports.text import format_mean, printable
from ragcov.results import mean_of

__all__ = ["actions", "diagnosis_lines"]

_QUOTE_WIDTH = 160
_NAMED = 3
_WITHIN = 10


def diagnosis_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Each claim under its cause, then the table of causes, then what to do first."""
    for cause in ACTIONS:
        findings = _of(diagnosis, cause)
        if findings:
            name, action = ACTIONS[cause]
            yield f"{name} ({len(findings)}): {action}"
        for finding in findings:
            yield from _finding_lines(finding)
        if findings:
            yield ""
    yield from _undecided(diagnosis)
    yield from _table(diagnosis)
    todo = actions(diagnosis)
    if todo:
        yield ""
        yield "do first:"
        yield from (f"{number}. {line}" for number, line in enumerate(todo, 1))


def _of(diagnosis: Diagnosis, cause: Cause) -> list[Finding]:
    return [finding for finding in diagnosis.findings if finding.cause == cause]


def _finding_lines(finding: Finding) -> Iterator[str]:
    yield f"  {printable(finding.sample_id)}: {printable(finding.claim.text)}"
    if finding.rank is not None:
        yield f"    at rank {finding.rank} of the retrieved ranking"
    if finding.cause == "not_in_corpus":
        if finding.places:
            place = finding.places[0]
            yield f'    nearest: {_name(place)}: "{printable(place.quote, _QUOTE_WIDTH)}"'
        return
    for place in finding.places:
        yield f'    {_name(place)} ({_ranks(place)}): "{printable(place.quote, _QUOTE_WIDTH)}"'
    if finding.cause == "contradicted" and finding.reason:
        yield f"    {printable(finding.reason)}"


def _name(place: Place) -> str:
    name = printable(place.id)
    inside = place.document is None or place.id.startswith(place.document)
    return name if inside else f"{name} of {printable(place.document or '')}"


def _ranks(place: Place) -> str:
    question = "not found" if place.question_rank is None else str(place.question_rank)
    claim = "not found" if place.claim_rank is None else str(place.claim_rank)
    return f"BM25 rank {claim} for the claim, {question} for the question"


def _undecided(diagnosis: Diagnosis) -> Iterator[str]:
    undecided = [finding for finding in diagnosis.findings if finding.cause is None]
    if undecided or diagnosis.failed:
        yield f"failed ({len(undecided) + len(diagnosis.failed)}): the judge could not decide"
        for name, problem in diagnosis.failed.items():
            yield f"  {printable(name)}: {printable(problem)}"
        for finding in undecided:
            yield f"  {printable(finding.sample_id)}: {printable(finding.claim.text)}: {printable(finding.error or '')}"
        yield ""


def _table(diagnosis: Diagnosis) -> Iterator[str]:
    claims = sum(diagnosis.claims.values())
    yield f"missed: {len(diagnosis.findings)} of {claims} claims in {len(diagnosis.claims)} samples"
    if diagnosis.skipped:
        names = ", ".join(map(printable, diagnosis.skipped))
        yield f"skipped ({len(diagnosis.skipped)}), no claims or no scored recall: {names}"
    if diagnosis.recalls:
        yield f"mean recall: {format_mean(mean_of(diagnosis.recalls, low=0, high=1))}"
    if not diagnosis.findings:
        return
    yield ""
    yield f"{'cause':<30} {'claims':>6}  {'recall gain':>11}  what to do"
    for cause, (name, action) in ACTIONS.items():
        findings = _of(diagnosis, cause)
        if findings or cause != "overlooked":
            gain = f"{diagnosis.gain(cause):+.2f}" if findings else ""
            yield f"{name:<30} {len(findings):>6}  {gain:>11}  {action}"


def actions(diagnosis: Diagnosis) -> list[str]:
    """The three most useful things to do, best first: those that would raise mean recall most."""
    causes: list[Cause] = [cause for cause in ACTIONS if cause != "overlooked" and _of(diagnosis, cause)]
    causes.sort(key=lambda cause: -diagnosis.gain(cause))
    return [_action(cause, _of(diagnosis, cause), diagnosis.gain(cause)) for cause in causes[:3]]


def _action(cause: Cause, findings: Sequence[Finding], gain: float) -> str:
    count = f"{len(findings)} claim{'s' if len(findings) != 1 else ''}, up to {gain:+.2f} mean recall"
    samples = _some(dict.fromkeys(finding.sample_id for finding in findings))
    if cause == "not_retrieved":
        return f"Improve the retriever ({count}). {_bm25_hint(findings)} Missed documents: {_places(findings)}."
    if cause == "below_k":
        deepest = max(finding.rank or 0 for finding in findings)
        return f"Raise k to {deepest}, or re-rank ({count}). Samples: {samples}."
    if cause == "split":
        return f"Chunk with more overlap or larger chunks ({count}). Cut apart: {_places(findings)}."
    if cause == "contradicted":
        return f"Correct the label or the document ({count}). They disagree in: {samples}; see {_places(findings)}."
    return f"Extend the knowledge base ({count}). Nothing states what these samples ask for: {samples}."


def _bm25_hint(findings: Sequence[Finding]) -> str:
    ranks = [[place.question_rank for place in finding.places if place.question_rank] for finding in findings]
    found = sum(bool(each) and min(each) <= _WITHIN for each in ranks)
    hint = f"BM25 brings {found} of {len(findings)} among its first {_WITHIN} for the question"
    return f"{hint}: combine it with yours." if found * 2 > len(findings) else f"{hint}."


def _places(findings: Sequence[Finding]) -> str:
    return _some(dict.fromkeys(place.document or place.id for finding in findings for place in finding.places[:2]))


def _some(names: dict[str, None]) -> str:
    shown = [printable(name) for name in list(names)[:_NAMED]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
