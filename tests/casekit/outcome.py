"""What running a case gave, in one form for every kind of case."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from ragcov.errors import RagcovError, ScorerRunError
from ragcov.plain import plain
from ragcov.results import EvalsResult, ScorerResult
from ragcov.samples import Sample
from ragcov.scorers.base import claims_among


@dataclass
class Outcome:
    """One run of a case (one row, or a dataset)."""

    result: ScorerResult | None = None
    error: BaseException | None = None
    calls: int = 0
    extracted: list[str] = field(default_factory=list)
    context: list[str] | None = None
    samples: list[Sample] | None = None
    run: EvalsResult | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def error_text(self) -> str:
        if self.error is not None:
            return str(self.error)
        if self.result is not None and self.result.error is not None:
            return self.result.error.message
        return ""

    @property
    def claims(self) -> list[str]:
        return [claim.text for claim in self.result.claims] if self.result else self.extracted

    def claims_that_are(self, *, supported: bool) -> list[str]:
        return [v.claim.text for v in self.result.verdicts if v.supported is supported] if self.result else []

    @property
    def skipped(self) -> bool:
        return self.result is not None and self.result.state == "not_scorable"

    @property
    def score(self) -> float | None:
        return self.result.score if self.result else None

    def holds_nan(self) -> bool:
        return any(_has_nan(plain(value)) for value in (self.result, self.run) if value is not None)

    def comparable(self) -> str:
        assert self.result is not None, self.error
        r = self.result
        return json.dumps([self.claims, r.score, r.state, [v.supported for v in r.verdicts]], ensure_ascii=False)


def _has_nan(value: Any) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(_has_nan(item) for item in value.values())
    if isinstance(value, list):
        return any(_has_nan(item) for item in value)
    return False


def caught(error: BaseException) -> Outcome:
    """An outcome for an error that ragcov raised on purpose; anything else is a failure of the test."""
    if not isinstance(error, RagcovError):
        raise error
    completed = error.completed_steps if isinstance(error, ScorerRunError) else {}
    extracted = [claim.text for claim in claims_among(completed.get("preprocess"))]
    return Outcome(error=error.__cause__ if isinstance(error.__cause__, RagcovError) else error, extracted=extracted)
