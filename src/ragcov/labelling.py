"""Which claims to ask a person about, the most informative first, so that the answers still estimate the whole run."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

import msgspec

from ragcov.attribution import Verdict
from ragcov.judges import Judge
from ragcov.reports.agreement import RECALL, Label
from ragcov.results import ItemResult
from ragcov.samples import Sample

__all__ = ["GROUPS", "Question", "opinions_of", "plan_questions", "second_opinions", "verdicts_of"]

GROUPS = ("differs", "unsure", "rest")
"""Two judges differ; the judge's confidence is near one half; neither. The most informative first."""

_UNSURE = (0.2, 0.8)
# Every so many questions one comes from the other groups: without it nothing is known of the judge's errors there.
_TURN = 4

Opinions = Mapping[tuple[str, str], bool]


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A claim to ask about.

    Attributes:
        sample: The sample, with its retrieved chunks.
        verdict: What the run's judge decided; not to be shown, it would sway the answer.
        label: The line of the labels file, still open.
    """

    sample: Sample
    verdict: Verdict
    label: Label


def verdicts_of(items: Iterable[ItemResult]) -> Iterable[tuple[ItemResult, Verdict]]:
    """The recall verdicts of the scored rows."""
    for item in items:
        result = item.scorer_results.get(RECALL)
        if result is not None and result.scored:
            for verdict in result.verdicts:
                yield item, verdict


def opinions_of(items: Iterable[ItemResult]) -> dict[tuple[str, str], bool]:
    """What another run decided, by sample id and claim text."""
    return {(item.sample.id, verdict.claim.text): verdict.supported for item, verdict in verdicts_of(items)}


async def second_opinions(items: Iterable[ItemResult], judge: Judge) -> dict[tuple[str, str], bool]:
    """What another judge decides about the claims of a run, by sample id and claim text."""
    opinions: dict[tuple[str, str], bool] = {}
    for item in items:
        claims = [verdict.claim for _, verdict in verdicts_of([item])]
        for verdict in await judge.attribute(claims, item.sample.context or []):
            opinions[item.sample.id, verdict.claim.text] = verdict.supported
    return opinions


def plan_questions(items: Iterable[ItemResult], opinions: Opinions, *, seed: int = 0) -> list[Question]:
    """All claims of a run in the order to ask about them.

    Three questions come from the most informative group that is left, the fourth from the others in turn. Within a
    group the order is by chance, so that answers can stand for the claims of the group that were not asked about.

    Args:
        items: The rows of the run.
        opinions: What somebody else decided, by sample id and claim text; claims without one don't count as differing.
        seed: Of the order within groups.
    """
    queues: dict[str, list[Question]] = {group: [] for group in GROUPS}
    for item, verdict in verdicts_of(items):
        group = _group(verdict, opinions.get((item.sample.id, verdict.claim.text)))
        label = Label(id=item.sample.id, claim_id=verdict.claim.id, claim=verdict.claim.text, group=group)
        queues[group].append(Question(sample=item.sample, verdict=verdict, label=label))
    rng = random.Random(seed)
    for queue in queues.values():
        rng.shuffle(queue)
    planned: list[Question] = []
    turn = 0
    while left := [group for group in GROUPS if queues[group]]:
        group = left[0]
        if len(planned) % _TURN == _TURN - 1:
            turn += 1
            group = left[-1 - turn % (len(left) - 1)] if len(left) > 1 else group
        planned.append(queues[group].pop())
    return planned


def _group(verdict: Verdict, opinion: bool | None) -> str:
    if opinion is not None and opinion != verdict.supported:
        return "differs"
    if verdict.confidence is not None and _UNSURE[0] <= verdict.confidence <= _UNSURE[1]:
        return "unsure"
    return "rest"
