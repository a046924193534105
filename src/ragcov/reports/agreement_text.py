"""Agreement as text for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterator

from ragcov.reports.agreement import Agreement
from ragcov.reports.judging import Estimate
from ragcov.reports.text import format_mean, printable

__all__ = ["agreement_lines"]

_FEW = 30


def agreement_lines(found: Agreement) -> Iterator[str]:
    """Numbers with their intervals, what the run's recall becomes, and each disagreement."""
    yield f"judge: {printable(', '.join(found.judges))}"
    labelled = f"{found.accuracy.n} of {found.claims} claims labelled"
    yield f"{labelled}, in {found.accuracy.clusters} of {found.samples} samples"
    if found.unmatched:
        names = "; ".join(map(printable, found.unmatched))
        yield f"labels without a claim in the run ({len(found.unmatched)}): {names}"
    yield ""
    yield f"accuracy       {_estimate(found.accuracy)}"
    yield f"precision      {_estimate(found.precision)} of the claims judged supported are"
    yield f"recall         {_estimate(found.recall)} of the supported claims are judged so"
    yield f"Cohen's kappa  {_estimate(found.kappa)}"
    yield ""
    yield f"mean recall, judge alone:         {format_mean(found.run_recall)}"
    yield f"mean recall, corrected by labels: {_corrected(found)}"
    if found.corrected.clusters < _FEW:
        yield f"  labels in fewer than {_FEW} samples: label more before relying on these intervals"
    if found.disagreements:
        yield ""
        yield f"disagreements ({len(found.disagreements)}):"
    for each in found.disagreements:
        verdict = each.verdict
        judged = "supported" if verdict.supported else "contradicted" if verdict.contradicted else "missed"
        label = "not supported" if verdict.supported else "supported"
        yield f"  {printable(each.sample_id)}: {printable(verdict.claim.text)}"
        reason = f" – {printable(verdict.reason)}" if verdict.reason else ""
        yield f"    label: {label}; judge: {judged}{reason}"
        for evidence in verdict.evidence:
            yield f'    chunk {evidence.chunk}: "{printable(evidence.quote, 200)}"'


def _estimate(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"can't be told (n = {estimate.n})"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.2f} (n = {estimate.n}, too few for an interval)"
    return f"{estimate.value:.2f} (95 % CI {estimate.low:.2f} to {estimate.high:.2f}, n = {estimate.n})"


def _corrected(found: Agreement) -> str:
    corrected = found.corrected
    if corrected.value is None:
        return "can't be told: label at least one claim of each group"
    n = f"n = {found.samples} samples, {corrected.n} labels"
    if corrected.low is None or corrected.high is None:
        return f"{corrected.value:.2f} ({n}, too few for an interval)"
    return f"{corrected.value:.2f} (95 % CI {corrected.low:.2f} to {corrected.high:.2f}, {n})"
