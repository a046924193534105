"""The scorers that go by a name, on the command line and in pytest."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ragcov.errors import UsageError
from ragcov.judges import JudgeConfig
from ragcov.scorers.base import Scorer
from ragcov.scorers.context import FROM_SAMPLE
from ragcov.scorers.context_precision import create_context_precision_scorer
from ragcov.scorers.context_recall import create_context_recall_scorer
from ragcov.scorers.context_relevance import create_context_relevance_scorer
from ragcov.scorers.faithfulness import create_faithfulness_scorer

__all__ = ["SCORERS", "make_scorer"]

SCORERS: Mapping[str, Callable[..., Scorer]] = {
    "context-recall": create_context_recall_scorer,
    "context-precision": create_context_precision_scorer,
    "context-relevance": create_context_relevance_scorer,
    "faithfulness": create_faithfulness_scorer,
}
"""By name, the function that makes the scorer."""


def make_scorer(name: str, *, model: JudgeConfig, scale: float = 1, **options: Any) -> Scorer:
    """A scorer by its name, taking its context from the samples unless the options say otherwise.

    Raises:
        UsageError: For an unknown name, an unknown option, or one that can't work.
    """
    make = SCORERS.get(name.removesuffix("-scorer"))
    if make is None:
        raise UsageError(f'unknown scorer "{name}"; there are: {", ".join(SCORERS)}')
    known = list(inspect.signature(make).parameters)
    if unknown := sorted(set(options) - set(known)):
        raise UsageError(f"unknown option of {name}: {', '.join(unknown)}; there are: {', '.join(known)}")
    if not options.get("context_extractor"):
        options.setdefault("context", FROM_SAMPLE)
    return make(model=model, scale=scale, **options)
