"""The scorers that go by a name, on the command line and in pytest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ragcov.errors import UsageError
from ragcov.judges import JudgeConfig
from ragcov.scorers.base import Scorer
from ragcov.scorers.context import FROM_SAMPLE
from ragcov.scorers.context_recall import create_context_recall_scorer

__all__ = ["SCORERS", "make_scorer"]

SCORERS: Mapping[str, Callable[..., Scorer]] = {
    "context-recall": create_context_recall_scorer,
}
"""By name, the function that makes the scorer."""


def make_scorer(name: str, *, model: JudgeConfig, scale: float = 1, **options: Any) -> Scorer:
    """A scorer by its name, taking its context from the samples.

    Raises:
        UsageError: For an unknown name.
    """
    make = SCORERS.get(name.removesuffix("-scorer"))
    if make is None:
        raise UsageError(f'unknown scorer "{name}"; there are: {", ".join(SCORERS)}')
    return make(model=model, context=FROM_SAMPLE, scale=scale, **options)
