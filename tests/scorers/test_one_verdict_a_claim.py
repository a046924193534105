"""A judge of one's own that breaks the rule of one verdict a claim fails the row, whatever it gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from ragcov import FROM_SAMPLE, Claim, Verdict, create_context_recall_scorer, run_evals
from ragcov.claims import number_claims
from ragcov.errors import ScorerRunError, UnreadableReplyError

Change = Callable[[list[Verdict]], list[Verdict]]


class OwnJudge:
    """Supports its first claim only, and hands its verdicts out as `change` makes them."""

    id = "own"

    def __init__(self, change: Change) -> None:
        self.change = change

    async def extract_claims(self, text: str, *, question: str | None = None) -> list[Claim]:
        return number_claims(Claim(part) for part in text.split("; "))

    async def attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        return self.change([Verdict(claim=claim, supported=not number) for number, claim in enumerate(claims)])


BROKEN: list[Change] = [
    lambda verdicts: verdicts[:1],
    lambda verdicts: [],
    lambda verdicts: verdicts + verdicts[:1],
    lambda verdicts: [*verdicts, Verdict(claim=Claim("another"), supported=True)],
    lambda verdicts: [verdicts[0], verdicts[0]],
]


@pytest.mark.parametrize("change", BROKEN)
async def test_fewer_more_or_other_verdicts(change: Change) -> None:
    scorer = create_context_recall_scorer(model=OwnJudge(change), context=FROM_SAMPLE)
    with pytest.raises(ScorerRunError, match="exactly one verdict") as caught:
        await scorer.run(ground_truth="A fact; B fact", context=["x"])
    assert isinstance(caught.value.__cause__, UnreadableReplyError)
    result = await run_evals(data=[{"ground_truth": "A fact; B fact", "context": ["x"]}], scorers=[scorer])
    failed = result.items[0].scorer_results["context-recall-scorer"]
    assert failed.state == "failed"
    assert "exactly one verdict" in failed.reason


async def test_another_order_is_put_right() -> None:
    scorer = create_context_recall_scorer(model=OwnJudge(lambda verdicts: verdicts[::-1]), context=["x"])
    result = await scorer.run(ground_truth="A fact; B fact")
    assert [(v.claim.text, v.supported) for v in result.verdicts] == [("A fact", True), ("B fact", False)]


@pytest.mark.parametrize("confidence", [float("nan"), -0.1, 1.1])
def test_a_confidence_is_a_probability(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        Verdict(claim=Claim("A"), supported=True, confidence=confidence)
