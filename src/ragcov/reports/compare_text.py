"""Comparisons as text for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragcov.attribution import Verdict
from ragcov.reports.compare import ComparedRun, Comparison, Flip
from ragcov.reports.text import format_mean, printable

__all__ = ["comparison_lines", "run_lines", "statement"]

_QUOTE_WIDTH = 200


def run_lines(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """Which letter is which run."""
    for run in runs:
        judges = ", ".join(run.info.judges)
        yield f"{run.label}: {printable(run.name)}" + (f" (judge: {printable(judges)})" if judges else "")


def statement(comparison: Comparison) -> str:
    """What the numbers say of B, in a plain sentence."""
    a, b = comparison.a, comparison.b
    if not comparison.difference.n:
        return f"{a} and {b} can't be compared: no sample was scored in both"
    if comparison.decision in ("better", "worse"):
        return f"{b} is {comparison.decision} than {a}"
    if comparison.decision == "same":
        return f"no difference: {b} scores the same as {a} on every sample"
    if comparison.needed is None:
        return f"not enough samples to tell: {a} and {b} have the same mean, but not the same scores"
    return (
        f"not enough samples: about {comparison.needed} more needed to see a difference of this size "
        "(80 % power); so far it may be chance"
    )


def comparison_lines(comparison: Comparison, *, several: bool = False) -> Iterator[str]:
    """The comparison in full: statement, numbers, what was left out, and the claims that flipped.

    Args:
        comparison: The comparison.
        several: Whether it is one of several, so that its p-value is corrected.
    """
    a, b, found = comparison.a, comparison.b, comparison.difference
    yield f"{comparison.scorer_id}: {statement(comparison)}"
    yield f"  {a}: mean {format_mean(comparison.mean_a)}" + _scale(comparison)
    yield f"  {b}: mean {format_mean(comparison.mean_b)}" + _scale(comparison)
    if found.difference is not None:
        yield f"  {b} - {a}: {_difference(comparison)}"
        corrected = " (Holm-corrected)" if several else ""
        effect = "" if found.effect is None else f", effect size d = {found.effect:+.2f}"
        yield f"  permutation p {_p(comparison.p_value)}{corrected}{effect}"
        yield f"  {b} wins {found.wins}, ties {found.ties}, losses {found.losses}"
    yield from _left_out(comparison)
    for warning in comparison.warnings:
        yield f"  warning: {printable(warning)}"
    for gained, title in ((True, "gained"), (False, "lost")):
        flips = [flip for flip in comparison.flips if flip.gained == gained]
        if flips:
            yield f"  claims that {b} {title} ({len(flips)}):"
        for flip in flips:
            yield from _flip_lines(flip, a, b)


def _scale(comparison: Comparison) -> str:
    return "" if comparison.scale == 1 else f" of {comparison.scale:g}"


def _difference(comparison: Comparison) -> str:
    found = comparison.difference
    interval = (
        "no interval" if found.low is None or found.high is None else f"95 % CI {found.low:+.2f} to {found.high:+.2f}"
    )
    return f"{found.difference:+.2f} ({interval}, n = {found.n} pairs)"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _left_out(comparison: Comparison) -> Iterator[str]:
    left_out = comparison.unpaired
    for ids, what in (
        (left_out.only_a, f"only in {comparison.a}"),
        (left_out.only_b, f"only in {comparison.b}"),
        (left_out.not_scored, "not scored in both"),
    ):
        if ids:
            yield f"  left out, {what} ({len(ids)}): {', '.join(map(printable, ids))}"
    if comparison.unmatched:
        names = ", ".join(map(printable, comparison.unmatched))
        yield f"  claims are worded differently, so not all flips can be told ({len(comparison.unmatched)}): {names}"


def _flip_lines(flip: Flip, a: str, b: str) -> Iterator[str]:
    yield f"    {printable(flip.sample_id)}: {printable(flip.before.claim.text)}"
    supported, other = (flip.after, flip.before) if flip.gained else (flip.before, flip.after)
    name, other_name = (b, a) if flip.gained else (a, b)
    for evidence in supported.evidence:
        yield f'      {name}, chunk {evidence.chunk}: "{printable(evidence.quote, _QUOTE_WIDTH)}"'
    yield f"      {other_name}: {_why(other)}"


def _why(verdict: Verdict) -> str:
    word = "contradicted" if verdict.contradicted else "missed"
    return f"{word} – {printable(verdict.reason)}" if verdict.reason else word
