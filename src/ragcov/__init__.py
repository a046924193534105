"""Coverage for retrieval: which claims of the right answer a retriever brought back, and which it missed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragcov.attribution import Evidence, Verdict
    from ragcov.claims import Claim
    from ragcov.errors import RagcovError
    from ragcov.judges import Judge, load_judge
    from ragcov.results import Tally
    from ragcov.samples import Sample

__all__ = ["Claim", "Evidence", "Judge", "RagcovError", "Sample", "Tally", "Verdict", "load_judge"]

_HOMES = {
    "Claim": "ragcov.claims",
    "Evidence": "ragcov.attribution",
    "Judge": "ragcov.judges",
    "RagcovError": "ragcov.errors",
    "Sample": "ragcov.samples",
    "Tally": "ragcov.results",
    "Verdict": "ragcov.attribution",
    "load_judge": "ragcov.judges",
}


def __getattr__(name: str) -> Any:
    # Public names load where they are first used: `import ragcov` stays cheap.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ragcov' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
