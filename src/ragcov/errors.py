"""Every exception that ragcov raises on purpose.

RagcovError
├── UsageError                 an argument or option that can't work (also a ValueError)
│   └── ModelConfigError       unknown provider, missing key, missing extra
├── DataError                  a record that can't be read: file, line, field, what was expected
├── JudgeError                 the judge could not decide about this row
│   ├── ProviderError          the provider answered with an error, or not at all
│   │   ├── ContextLengthError the prompt was too long for the model
│   │   └── FatalProviderError wrong key, unknown model: no row can succeed, the run stops
│   ├── RefusalError           the model refused to answer
│   └── UnreadableReplyError   replies that can't be read as one verdict per claim
├── TargetError                the system under test raised, or returned nothing
├── RowTimeoutError            a row took longer than the row timeout
├── ScorerRunError             a step of a scorer failed; says which, and what the earlier ones returned
└── StoreError                 results or caches could not be written or read
RunInterrupted                 Ctrl-C; carries the finished rows (also a KeyboardInterrupt)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "ContextLengthError",
    "DataError",
    "FatalProviderError",
    "JudgeError",
    "ModelConfigError",
    "ProviderError",
    "RagcovError",
    "RefusalError",
    "RowTimeoutError",
    "RunInterrupted",
    "ScorerRunError",
    "StoreError",
    "TargetError",
    "UnreadableReplyError",
    "UsageError",
    "described",
    "message_of",
]


class RagcovError(Exception):
    """Base of every exception that ragcov raises on purpose."""


class UsageError(RagcovError, ValueError):
    """An argument, option or configuration that can't work. Nothing was judged."""


class ModelConfigError(UsageError):
    """A model config that can't be used: unknown provider, missing key, missing extra."""


class DataError(RagcovError):
    """A record that can't be read.

    Attributes:
        file: Where the record came from, as the user named it; None for data given in memory.
        line: Physical line (from 1) or, for formats without lines, record number (from 1); None if unknown.
        field: The field at fault; None when the whole record is.
    """

    def __init__(
        self, problem: str, *, file: str | None = None, line: int | None = None, field: str | None = None
    ) -> None:
        place = ", ".join(
            part
            for part in (
                file,
                f"line {line}" if line is not None else None,
                f'field "{field}"' if field else None,
            )
            if part
        )
        super().__init__(f"{place}: {problem}" if place else problem)
        self.problem = problem
        self.file = file
        self.line = line
        self.field = field


class JudgeError(RagcovError):
    """The judge could not decide about this row; the row is failed, never scored."""


class ProviderError(JudgeError):
    """The provider answered with an error, or could not be reached, also after retries.

    Attributes:
        status: The HTTP status, or None when there was no response.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ContextLengthError(ProviderError):
    """The prompt was longer than the model accepts."""


class FatalProviderError(ProviderError):
    """Wrong key, no permission or unknown model: no row can succeed, so the run stops at once.

    Attributes:
        result: The `EvalsResult` of the rows that had finished, when `run_evals` raised it.
    """

    result: Any = None


class RefusalError(JudgeError):
    """The model refused to answer; the message holds its words."""


class UnreadableReplyError(JudgeError):
    """The judge's replies could not be read as exactly one verdict per claim, also when asked again."""


class TargetError(RagcovError):
    """The system under test raised, or returned nothing to score."""


class RowTimeoutError(RagcovError):
    """A row took longer than the row timeout."""


class ScorerRunError(RagcovError):
    """A step of a scorer failed.

    Attributes:
        scorer_id: The scorer.
        failed_step: One of "prepare_run", "preprocess", "analyze", "generate_score", "generate_reason".
        completed_steps: What the steps before it returned, by step name, in order.
        sample_id: The sample; None when it was not named.
    """

    def __init__(
        self,
        scorer_id: str,
        failed_step: str,
        problem: str,
        completed_steps: Mapping[str, Any],
        sample_id: str | None = None,
    ) -> None:
        sample = "" if sample_id is None else f" (sample {sample_id})"
        super().__init__(f"{scorer_id}: step {failed_step} failed{sample}: {problem}")
        self.scorer_id = scorer_id
        self.failed_step = failed_step
        self.completed_steps = dict(completed_steps)
        self.sample_id = sample_id


class StoreError(RagcovError):
    """Results or caches could not be written or read; says where and what to do."""


class RunInterrupted(KeyboardInterrupt):
    """The run was stopped with Ctrl-C.

    Attributes:
        result: The `EvalsResult` of the rows that had finished.
    """

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


def message_of(error: BaseException) -> str:
    """What an exception says; its type's name when it says nothing, or can't."""
    try:
        return str(error) or type(error).__name__
    except Exception:  # noqa: BLE001 - a fault in reporting must not hide the fault that is reported
        return type(error).__name__


def described(error: BaseException) -> str:
    """An exception's type and what it says."""
    kind, message = type(error).__name__, message_of(error)
    return kind if message == kind else f"{kind}: {message}"
