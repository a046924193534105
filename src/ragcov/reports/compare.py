"""Runs compared sample by sample: is one better, and which claims flipped. Needs `ragcov[stats]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import msgspec

from ragcov.attribution import Verdict
from ragcov.errors import UsageError
from ragcov.reports.stats import ALPHA, PairedDifference, holm, paired_difference, samples_needed
from ragcov.results import ItemResult, Mean, RunInfo, ScorerResult, mean_of
from ragcov.settings import changed_settings

__all__ = ["ComparedRun", "Comparison", "Flip", "Unpaired", "compare_runs", "load_run"]

Decision = Literal["better", "worse", "unclear", "same"]


class ComparedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison needs of a run.

    Attributes:
        label: "A", "B", ... in the order given.
        name: What the user calls it.
        info: What was run.
        rows: By sample id.
    """

    label: str
    name: str
    info: RunInfo
    rows: dict[str, ItemResult]


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """A claim with another verdict in B than in A.

    Attributes:
        sample_id: The sample.
        gained: True when B supports it and A did not, False the other way.
        before: A's verdict.
        after: B's verdict.
    """

    sample_id: str
    gained: bool
    before: Verdict
    after: Verdict


class Unpaired(msgspec.Struct, frozen=True, kw_only=True):
    """Samples that the comparison leaves out, by id.

    Attributes:
        only_a: In A alone.
        only_b: In B alone.
        not_scored: In both, but not scored in one of them or in both.
    """

    only_a: tuple[str, ...] = ()
    only_b: tuple[str, ...] = ()
    not_scored: tuple[str, ...] = ()


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One scorer, two runs.

    Attributes:
        scorer_id: The scorer.
        a: Label of the first run.
        b: Label of the second.
        mean_a: A's mean over the pairs.
        mean_b: B's mean over the pairs.
        scale: The scores' upper end; 1 when the runs' scales differ, the scores then are divided by theirs.
        difference: The pairs in numbers.
        p_value: The permutation p-value, Holm-corrected when there are three runs or more.
        decision: Of B: "better" or "worse" when `p_value` is below 0.05 and the interval leaves out 0; "same" when
            no pair differs; "unclear" when there are too few samples to tell.
        needed: With "unclear", about how many more pairs show a difference of this size (80 % power, at the 5 %
            that the correction leaves); None when no number would.
        flips: Claims whose verdict changed, in the order of A's samples.
        unmatched: Paired samples whose claims are not the same in both runs, by id; their flips can't be told.
        unpaired: What was left out.
        warnings: Why the runs may not be comparable.
    """

    scorer_id: str
    a: str
    b: str
    mean_a: Mean
    mean_b: Mean
    scale: float
    difference: PairedDifference
    p_value: float
    decision: Decision
    needed: int | None
    flips: tuple[Flip, ...]
    unmatched: tuple[str, ...]
    unpaired: Unpaired
    warnings: tuple[str, ...]


def load_run(label: str, name: str, info: RunInfo, items: Iterable[ItemResult]) -> ComparedRun:
    """Reads a run's rows; a sample that comes twice counts with its last row, as in a resumed run."""
    return ComparedRun(label=label, name=name, info=info, rows={item.sample.id: item for item in items})


def compare_runs(runs: Sequence[ComparedRun], scorers: Sequence[str] = (), *, seed: int = 0) -> list[Comparison]:
    """Compares each pair of runs on each scorer that they share, A B, A C, B C, ..., scorer by scorer.

    Args:
        runs: Two or more.
        scorers: Scorer ids, also without their "-scorer"; empty for all that every run has.
        seed: Of the random resamples.

    Raises:
        UsageError: Fewer than two runs, a scorer that a run does not have, no sample that two runs scored, or
            scipy is missing.
    """
    if len(runs) < 2:
        raise UsageError("a comparison needs two runs or more")
    shared = [name for name in _scorers_of(runs[0]) if all(name in _scorers_of(run) for run in runs)]
    if not shared:
        raise UsageError("the runs share no scorer")
    comparisons: list[Comparison] = []
    for scorer_id in [_shared(name, shared) for name in scorers] or shared:
        pairs = [_compare(a, b, scorer_id, seed) for a, b in combinations(runs, 2)]
        corrected = holm([pair.p_value for pair in pairs])
        comparisons += [_decided(pair, p, len(pairs)) for pair, p in zip(pairs, corrected, strict=True)]
    if not any(comparison.difference.n for comparison in comparisons):
        raise UsageError("the runs share no scored sample: samples are paired by their id")
    return comparisons


def _shared(name: str, shared: Sequence[str]) -> str:
    for scorer_id in (name, f"{name}-scorer"):
        if scorer_id in shared:
            return scorer_id
    raise UsageError(f"not every run has the scorer {name}; they share: {', '.join(shared)}")


def _scorers_of(run: ComparedRun) -> dict[str, None]:
    found = dict.fromkeys(run.info.scorers)
    for item in run.rows.values():
        found.update(dict.fromkeys(item.scorer_results))
    return found


def _compare(a: ComparedRun, b: ComparedRun, scorer_id: str, seed: int) -> Comparison:
    pairs: list[tuple[str, ScorerResult, ScorerResult]] = []
    not_scored: list[str] = []
    for sample_id in a.rows:
        if sample_id in b.rows:
            one, other = (run.rows[sample_id].scorer_results.get(scorer_id) for run in (a, b))
            if one is not None and other is not None and one.scored and other.scored:
                pairs.append((sample_id, one, other))
            else:
                not_scored.append(sample_id)
    scales = {result.scale for _, one, other in pairs for result in (one, other)}
    scale = scales.pop() if len(scales) == 1 else 1.0
    scores_a = [(one.score or 0.0) * scale / one.scale for _, one, _ in pairs]
    scores_b = [(other.score or 0.0) * scale / other.scale for _, _, other in pairs]
    difference = paired_difference(scores_a, scores_b, seed=seed)
    flips, unmatched = _flips(pairs)
    return Comparison(
        scorer_id=scorer_id,
        a=a.label,
        b=b.label,
        mean_a=mean_of(scores_a, low=0, high=scale),
        mean_b=mean_of(scores_b, low=0, high=scale),
        scale=scale,
        difference=difference,
        p_value=difference.p_value,
        decision="unclear",
        needed=None,
        flips=flips,
        unmatched=unmatched,
        unpaired=Unpaired(
            only_a=tuple(key for key in a.rows if key not in b.rows),
            only_b=tuple(key for key in b.rows if key not in a.rows),
            not_scored=tuple(not_scored),
        ),
        warnings=tuple(_warnings(a, b, pairs)),
    )


def _decided(comparison: Comparison, p_value: float, family: int) -> Comparison:
    found = comparison.difference
    decision: Decision = "unclear"
    needed = None
    if found.n and found.wins == found.losses == 0:
        decision = "same"
    elif p_value < ALPHA and found.low is not None and found.low > 0:
        decision = "better"
    elif p_value < ALPHA and found.high is not None and found.high < 0:
        decision = "worse"
    elif found.difference:
        # The smallest of several p-values has to pass the strictest level, so that is what is planned for.
        total = samples_needed(found.effect if found.effect is not None else 10.0, alpha=ALPHA / family)
        needed = None if total is None else max(1, total - found.n)
    return msgspec.structs.replace(comparison, p_value=p_value, decision=decision, needed=needed)


def _flips(pairs: Sequence[tuple[str, ScorerResult, ScorerResult]]) -> tuple[tuple[Flip, ...], tuple[str, ...]]:
    """Claims are the same when their words are; a judge that words them anew leaves nothing to match."""
    flips: list[Flip] = []
    unmatched: list[str] = []
    for sample_id, one, other in pairs:
        before, after = _by_claim(one), _by_claim(other)
        if before.keys() != after.keys():
            unmatched.append(sample_id)
        for key, verdict in before.items():
            now = after.get(key)
            if now is not None and now.supported != verdict.supported:
                flips.append(Flip(sample_id=sample_id, gained=now.supported, before=verdict, after=now))
    return tuple(flips), tuple(unmatched)


def _by_claim(result: ScorerResult) -> dict[tuple[str, int], Verdict]:
    """Verdicts by the claim's words and how often these came before in the same answer."""
    seen: dict[str, int] = {}
    verdicts: dict[tuple[str, int], Verdict] = {}
    for verdict in result.verdicts:
        words = " ".join(verdict.claim.text.split())
        seen[words] = seen.get(words, 0) + 1
        verdicts[words, seen[words]] = verdict
    return verdicts


def _warnings(a: ComparedRun, b: ComparedRun, pairs: Sequence[tuple[str, ScorerResult, ScorerResult]]) -> Iterable[str]:
    judges_a = {one.judge for _, one, _ in pairs if one.judge is not None}
    judges_b = {other.judge for _, _, other in pairs if other.judge is not None}
    if judges_a and judges_b and judges_a != judges_b:
        yield (
            f"the judge changed from {_named(judges_a)} to {_named(judges_b)}: a difference may come from the judges, "
            "not from the retrieval; score both runs with the same judge"
        )
    for change in changed_settings(*(_scoring_settings(run.info.settings) for run in (a, b))):
        yield f"other settings: {change}"
    if a.info.version != b.info.version:
        yield f"different versions of ragcov scored them: {a.info.version} and {b.info.version}"
    moved = [
        sample_id
        for sample_id, _, _ in pairs
        if a.rows[sample_id].sample.ground_truth != b.rows[sample_id].sample.ground_truth
        or a.rows[sample_id].sample.input != b.rows[sample_id].sample.input
    ]
    if moved:
        yield f"the same id stands for another question or ground truth in {len(moved)} samples: {', '.join(moved)}"


def _named(judges: set[str]) -> str:
    return " and ".join(sorted(judges))


def _scoring_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    # Targets are what is compared.
    return {name: value for name, value in settings.items() if name != "target"}
