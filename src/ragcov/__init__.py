"""Coverage for retrieval: which claims of the right answer a retriever brought back, and which it missed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragcov.attribution import Evidence, Verdict
    from ragcov.claims import Claim
    from ragcov.errors import RagcovError
    from ragcov.evals import run_evals, run_evals_sync
    from ragcov.judges import Judge, load_judge
    from ragcov.results import EvalsResult, ItemResult, ScorerResult, Tally, Usage
    from ragcov.samples import Sample, read_samples
    from ragcov.scorers.base import PromptStep, Run, Scorer, StepInput, create_scorer, not_scorable
    from ragcov.scorers.context import FROM_SAMPLE
    from ragcov.scorers.context_precision import create_context_precision_scorer
    from ragcov.scorers.context_recall import create_context_recall_scorer
    from ragcov.scorers.context_relevance import create_context_relevance_scorer
    from ragcov.scorers.faithfulness import create_faithfulness_scorer

__version__ = "0.1.0"

# fmt: off
_HOMES = {
    "attribution": ("Evidence", "Verdict"), "claims": ("Claim",), "errors": ("RagcovError",),
    "evals": ("run_evals", "run_evals_sync"), "judges": ("Judge", "load_judge"),
    "results": ("EvalsResult", "ItemResult", "ScorerResult", "Tally", "Usage"), "samples": ("Sample", "read_samples"),
    "scorers.base": ("PromptStep", "Run", "Scorer", "StepInput", "create_scorer", "not_scorable"),
    "scorers.context": ("FROM_SAMPLE",),
    "scorers.context_precision": ("create_context_precision_scorer",),
    "scorers.context_recall": ("create_context_recall_scorer",),
    "scorers.context_relevance": ("create_context_relevance_scorer",),
    "scorers.faithfulness": ("create_faithfulness_scorer",),
}
_MODULES = {name: f"ragcov.{module}" for module, names in _HOMES.items() for name in names}

__all__ = [
    "FROM_SAMPLE", "Claim", "EvalsResult", "Evidence", "ItemResult", "Judge", "PromptStep", "RagcovError", "Run",
    "Sample", "Scorer", "ScorerResult", "StepInput", "Tally", "Usage", "Verdict", "create_context_precision_scorer",
    "create_context_recall_scorer", "create_context_relevance_scorer", "create_faithfulness_scorer", "create_scorer",
    "load_judge", "not_scorable", "read_samples", "run_evals", "run_evals_sync",
]
# fmt: on


def __getattr__(name: str) -> Any:
    # Public names load where they are first used: `import ragcov` stays cheap.
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'ragcov' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
