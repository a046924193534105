"""Scorers by name."""

from __future__ import annotations

import pytest

from ragcov.errors import UsageError
from ragcov.scorers.registry import SCORERS, make_scorer


@pytest.mark.parametrize("name", ["context-recall", "context-precision", "context-relevance", "faithfulness"])
def test_by_name_and_by_id(name: str) -> None:
    assert (
        make_scorer(name, model="offline").id == make_scorer(f"{name}-scorer", model="offline").id == f"{name}-scorer"
    )


def test_unknown_name() -> None:
    with pytest.raises(UsageError, match=r'unknown scorer "recall"; there are: .*faithfulness'):
        make_scorer("recall", model="offline")


@pytest.mark.parametrize("name", SCORERS)
def test_unknown_option(name: str) -> None:
    with pytest.raises(UsageError, match=rf"unknown option of {name}: penalty; there are: .*scale"):
        make_scorer(name, model="offline", penalty=0.1)


async def test_context_comes_from_the_samples_unless_the_options_say_otherwise() -> None:
    truth = {"ground_truth": "Cats pay.", "output": "Cats pay."}
    own = await make_scorer("context-recall", model="offline").run(**truth, context=["Cats pay."])
    static = await make_scorer("context-recall", model="offline", context=["Cats pay."]).run(**truth)
    extracted = make_scorer("context-recall", model="offline", context_extractor=lambda input, output: [output])
    assert (own.score, static.score, (await extracted.run(**truth)).score) == (1, 1, 1)
