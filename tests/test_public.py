"""The public surface: names, import cost, layers of import."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ragcov

HEAVY = (
    "numpy",
    "pyarrow",
    "pydantic",
    "pydantic_ai",
    "rich",
    "sqlalchemy",
    "onnxruntime",
    "scipy",
    "asyncio",
    "msgspec",
)


def test_exact_names() -> None:
    assert sorted(ragcov.__all__) == sorted(
        [
            "FROM_SAMPLE",
            "Claim",
            "EvalsResult",
            "Evidence",
            "ItemResult",
            "Judge",
            "PromptStep",
            "RagcovError",
            "Run",
            "Sample",
            "Scorer",
            "ScorerResult",
            "StepInput",
            "Tally",
            "Usage",
            "Verdict",
            "create_context_precision_scorer",
            "create_context_recall_scorer",
            "create_context_relevance_scorer",
            "create_faithfulness_scorer",
            "create_scorer",
            "load_judge",
            "not_scorable",
            "read_samples",
            "run_evals",
            "run_evals_sync",
        ]
    )


def test_every_name_can_be_had() -> None:
    for name in ragcov.__all__:
        assert getattr(ragcov, name) is not None
    assert set(ragcov.__all__) <= set(dir(ragcov))
    with pytest.raises(AttributeError, match="nothing_like_it"):
        ragcov.nothing_like_it  # noqa: B018 # pyright: ignore


@pytest.mark.parametrize("code", ["import ragcov", "import ragcov.cli; ragcov.cli.build_parser().format_help()"])
def test_imports_nothing_heavy(code: str) -> None:
    probe = f"{code}\nimport sys\nprint([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
