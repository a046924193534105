"""Scorers that need the same thing: the judge does it once for a sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ragcov import Claim, run_evals
from ragcov.scorers.registry import SCORERS, make_scorer
from ragcov.testing import ScriptedJudge

DEMO = Path(__file__).parent.parent.parent / "examples" / "demo.jsonl"


class Counting:
    """A scripted judge that counts how often each claim is judged against each chunk, and each text split."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[str, str]] = Counter()
        self.texts: Counter[str] = Counter()
        self.judge = ScriptedJudge(verdicts=self._decide)

    def _decide(self, claim: Claim, chunks: Sequence[str]) -> bool:
        self.pairs.update((claim.text, chunk) for chunk in chunks)
        return any(claim.text in chunk for chunk in chunks)


async def test_precision_and_faithfulness_on_the_demo_judge_each_claim_and_chunk_once() -> None:
    counting = Counting()
    names = ["context-recall", "context-precision", "faithfulness"]
    await run_evals(data=DEMO, scorers=[make_scorer(name, model=counting.judge) for name in names])
    assert counting.pairs
    assert set(counting.pairs.values()) == {1}


async def test_relevance_adds_only_the_question() -> None:
    counting = Counting()
    options = {"context-relevance": {"levels": "claims"}}
    scorers = [make_scorer(name, model=counting.judge, **options.get(name, {})) for name in SCORERS]
    row = {
        "input": "Who pays?",
        "ground_truth": "Cats pay. Dogs travel free.",
        "output": "Cats pay.",
        "context": ["Cats pay. It rains."],
    }
    result = await run_evals(data=[row], scorers=scorers)
    assert all(r.scored for r in result.items[0].scorer_results.values())
    # The claims of two texts; their verdicts (the output's claim is one of the ground truth's); the question's.
    assert counting.judge.calls == 2 + 1 + 1
    assert set(counting.pairs.values()) == {1}


async def test_calls_of_one_sample() -> None:
    judge = ScriptedJudge()
    scorers = [make_scorer(name, model=judge) for name in ("context-recall", "context-precision", "faithfulness")]
    row = {"ground_truth": "Cats pay.", "output": "Dogs travel free.", "context": ["Cats pay.", "It rains."]}
    result = await run_evals(data=[row], scorers=scorers)
    assert judge.calls == 4  # claims and verdicts, of two texts
    assert [r.usage.calls for r in result.items[0].scorer_results.values()] == [2, 0, 2]


async def test_shared_verdicts_carry_the_claims_of_their_own_text() -> None:
    judge = ScriptedJudge()
    scorers = [make_scorer(name, model=judge) for name in ("context-recall", "faithfulness")]
    row = {"ground_truth": "It rains. Cats pay.", "output": "Cats pay.", "context": ["Cats pay."]}
    recall, faithfulness = (await run_evals(data=[row], scorers=scorers)).items[0].scorer_results.values()
    assert [v.claim for v in recall.verdicts] == list(recall.claims)
    assert [v.claim for v in faithfulness.verdicts] == list(faithfulness.claims)
    assert (recall.score, faithfulness.score) == (0.5, 1.0)


async def test_another_sample_is_judged_anew() -> None:
    judge = ScriptedJudge()
    row = {"ground_truth": "Cats pay.", "context": ["Cats pay."]}
    await run_evals(data=[row, row], scorers=[make_scorer("context-recall", model=judge)])
    assert judge.calls == 4
