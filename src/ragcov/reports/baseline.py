"""A baseline: what a run found, small enough for a repository, and whether a later run has fallen behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragcov.errors import StoreError, UsageError
from ragcov.reports.stats import ALPHA, PairedDifference, paired_difference
from ragcov.reports.text import printable
from ragcov.results import ItemResult, RunInfo, ScorerResult

__all__ = [
    "Baseline",
    "Comparison",
    "check_baseline",
    "comparison_lines",
    "make_baseline",
    "read_baseline",
    "write_baseline",
]


class Found(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One scorer's result on one sample.

    Attributes:
        score: From 0 to 1, the scale taken off.
        found: Claims that were supported.
        missed: Claims that were not.
        keep: Claims among the found ones that must not be lost.
    """

    score: float
    found: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()


class Baseline(msgspec.Struct, frozen=True, kw_only=True, tag="ragcov-baseline", tag_field="kind"):
    """What is kept of a run.

    Attributes:
        dataset: The dataset's name.
        judges: The judges' ids: scores of different judges don't compare.
        samples: By sample id and scorer id what was found. Rows that were not scored are not in it.
        format: Of the file.
    """

    format: int = 1
    dataset: str | None = None
    judges: tuple[str, ...] = ()
    samples: dict[str, dict[str, Found]] = {}


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """A run against its baseline.

    Attributes:
        differences: By scorer id, run minus baseline on the samples that both scored, from -1 to 1.
        dropped: Scorers whose mean has fallen by more than chance explains.
        lost: Kept claims that the run does not support: sample id, scorer id, claim.
        gone: Kept claims that could not be checked, and why: sample id, scorer id, claim, reason.
        flipped: Other claims that were found and now are not, for information: sample id, claim.
        new_samples: Samples that the baseline does not know.
        missing_samples: Samples of the baseline that the run did not score.
        other_judges: Whether the judges differ.
    """

    differences: Mapping[str, PairedDifference]
    dropped: tuple[str, ...]
    lost: tuple[tuple[str, str, str], ...]
    gone: tuple[tuple[str, str, str, str], ...]
    flipped: tuple[tuple[str, str], ...]
    new_samples: tuple[str, ...]
    missing_samples: tuple[str, ...]
    other_judges: bool

    @property
    def failed(self) -> bool:
        """Whether the run has fallen behind: a drop that chance does not explain, or a kept claim lost."""
        return bool(self.dropped or self.lost)


def make_baseline(
    info: RunInfo, items: Iterable[ItemResult], *, keep: Sequence[str] = (), keep_all: bool = False
) -> Baseline:
    """The baseline of a run.

    Args:
        info: The run.
        items: Its rows.
        keep: Texts; each supported claim that contains one must not be lost. `sample-id:text` looks in that sample
            alone.
        keep_all: Every supported claim must not be lost.

    Raises:
        UsageError: When a text of `keep` is in no supported claim, or no row was scored.
    """
    samples: dict[str, dict[str, Found]] = {}
    met: set[str] = set()
    for item in items:
        results = {
            scorer_id: _found(item, result, keep, met, keep_all=keep_all)
            for scorer_id, result in item.scorer_results.items()
            if result.state == "scored" and result.score is not None
        }
        if results:
            samples[item.sample.id] = results
    if unmet := [text for text in keep if text not in met]:
        raise UsageError(f"no supported claim contains {', '.join(map(repr, unmet))}: it can't be kept")
    if not samples:
        raise UsageError("no row of the run was scored: there is nothing to keep as a baseline")
    return Baseline(dataset=info.dataset, judges=info.judges, samples=samples)


def _found(item: ItemResult, result: ScorerResult, keep: Sequence[str], met: set[str], *, keep_all: bool) -> Found:
    supported = [verdict.claim.text for verdict in result.verdicts if verdict.supported]
    kept: list[str] = []
    for claim in supported:
        asked = [text for text in keep if text in claim or _in_sample(text, item.sample.id, claim)]
        met.update(asked)
        if asked or keep_all:
            kept.append(claim)
    return Found(
        score=round((result.score or 0) / result.scale, 6),
        found=tuple(supported),
        missed=tuple(verdict.claim.text for verdict in result.verdicts if not verdict.supported),
        keep=tuple(kept),
    )


def _in_sample(text: str, sample_id: str, claim: str) -> bool:
    return text.startswith(f"{sample_id}:") and text[len(sample_id) + 1 :].strip() in claim


def write_baseline(path: str | Path, baseline: Baseline) -> None:
    """Writes a baseline, a line for each sample, so that version control shows what changed.

    Raises:
        StoreError: When it can't be written.
    """
    head = msgspec.to_builtins(msgspec.structs.replace(baseline, samples={}))
    lines = [f"{_json(name)}: {_json(value)}" for name, value in head.items() if name != "samples"]
    rows = [f"  {_json(sample)}: {_json(found)}" for sample, found in sorted(baseline.samples.items())]
    text = "{\n" + ",\n".join(lines) + ',\n"samples": {\n' + ",\n".join(rows) + "\n}\n}\n"
    try:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreError(f"{path} can't be written: {error.strerror or error}") from error


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def read_baseline(path: str | Path) -> Baseline:
    """Reads a baseline.

    Raises:
        UsageError: When there is none, or the file is something else.
    """
    try:
        baseline = msgspec.json.decode(Path(path).read_bytes(), type=Baseline)
    except FileNotFoundError:
        raise UsageError(f"there is no baseline {path}; make one: ragcov baseline save RUN --file {path}") from None
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror or error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a baseline of ragcov: {error}") from None
    if baseline.format != 1:
        raise UsageError(f"{path} is a baseline of format {baseline.format}, made by a newer ragcov; this one reads 1")
    return baseline


def check_baseline(baseline: Baseline, info: RunInfo, items: Iterable[ItemResult]) -> Comparison:
    """Compares a run with its baseline, sample by sample.

    A drop counts when the mean of the paired differences is below 0, its 95 % bootstrap interval lies below 0, and the
    sign-flip test gives p < 0.05; see `stats.paired_difference`. Claims are matched by their text.

    Raises:
        UsageError: When run and baseline share no scored sample.
    """
    now = make_baseline(info, items).samples
    lost: list[tuple[str, str, str]] = []
    gone: list[tuple[str, str, str, str]] = []
    flipped: list[tuple[str, str]] = []
    pairs: dict[str, list[tuple[float, float]]] = {}
    for sample_id, results in baseline.samples.items():
        for scorer_id, before in results.items():
            after = now.get(sample_id, {}).get(scorer_id)
            if after is None:
                gone += [(sample_id, scorer_id, claim, "the sample was not scored") for claim in before.keep]
                continue
            pairs.setdefault(scorer_id, []).append((before.score, after.score))
            for claim in before.found:
                # Nothing retrieved: no claim was asked for, and none is supported.
                if claim in after.missed or not (after.found or after.missed):
                    if claim in before.keep:
                        lost.append((sample_id, scorer_id, claim))
                    else:
                        flipped.append((sample_id, claim))
                elif claim not in after.found and claim in before.keep:
                    gone.append((sample_id, scorer_id, claim, "the judge no longer states this claim"))
    if not pairs:
        raise UsageError("run and baseline share no scored sample: are they of the same dataset and scorers?")
    differences = {name: paired_difference([a for a, _ in both], [b for _, b in both]) for name, both in pairs.items()}
    return Comparison(
        differences=differences,
        dropped=tuple(name for name, difference in differences.items() if _is_drop(difference)),
        lost=tuple(lost),
        gone=tuple(gone),
        flipped=tuple(flipped),
        new_samples=tuple(sample for sample in now if sample not in baseline.samples),
        missing_samples=tuple(sample for sample in baseline.samples if sample not in now),
        other_judges=baseline.judges != info.judges,
    )


def _is_drop(difference: PairedDifference) -> bool:
    if difference.difference is None or difference.difference >= 0 or difference.p_value >= ALPHA:
        return False
    # No interval: all pairs fell by the same amount, and the test has the last word.
    return difference.high is None or difference.high < 0


def comparison_lines(comparison: Comparison, *, listed: int = 20) -> Iterator[str]:
    """The comparison for people: what fails the check first."""
    for scorer_id, difference in comparison.differences.items():
        yield _difference_line(scorer_id, difference, dropped=scorer_id in comparison.dropped)
    yield from _claims("LOST, to be kept", [(s, c) for s, _, c in comparison.lost], len(comparison.lost))
    yield from _claims("can't be checked", [(s, f"{c} ({why})") for s, _, c, why in comparison.gone], listed)
    yield from _claims("no longer found", comparison.flipped, listed)
    for what, samples in (("new samples", comparison.new_samples), ("not scored now", comparison.missing_samples)):
        if samples:
            more = f" and {len(samples) - listed} more" if len(samples) > listed else ""
            yield f"{what} ({len(samples)}): {', '.join(printable(name, 40) for name in samples[:listed])}{more}"
    if comparison.other_judges:
        yield "warning: the baseline is of another judge; scores of different judges don't compare"


def _difference_line(scorer_id: str, difference: PairedDifference, *, dropped: bool) -> str:
    before, after = difference.mean_a or 0, difference.mean_b or 0
    interval = ""
    if difference.low is not None and difference.high is not None:
        interval = f", 95 % CI {difference.low:+.2f} to {difference.high:+.2f}"
    verdict = "DROPPED" if dropped else "no drop beyond chance"
    return (
        f"{printable(scorer_id)}: {before:.2f} -> {after:.2f} ({after - before:+.2f}{interval}, "
        f"p = {difference.p_value:.3f}, n = {difference.n}): {verdict}"
    )


def _claims(what: str, claims: Sequence[tuple[str, str]], listed: int) -> Iterator[str]:
    for sample_id, claim in claims[:listed]:
        yield f"{what}: {printable(sample_id, 40)}: {printable(claim)}"
    if len(claims) > listed:
        yield f"{what}: and {len(claims) - listed} more claims"
