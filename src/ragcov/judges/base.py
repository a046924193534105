"""What a judge is, and the ledger that it writes its calls and warnings into."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from ragcov.attribution import Verdict
from ragcov.claims import Claim
from ragcov.results import Usage

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["AskingJudge", "ConfiguredJudge", "Judge", "Ledger", "keep_ledger", "record_usage", "record_warning"]


SchemaT = TypeVar("SchemaT", bound="BaseModel")


@runtime_checkable
class Judge(Protocol):
    """Extracts claims from a text and attributes claims to chunks.

    A judge keeps no result of a call on itself, so that one judge can serve many rows at once.
    """

    @property
    def id(self) -> str:
        """What the judge is, with its version: "offline@1", "openai/gpt-5.6-sol". Part of every cache key."""
        ...

    async def extract_claims(self, text: str, *, question: str | None = None) -> list[Claim]:
        """The atomic claims of a text, in its order, numbered "c1", "c2", ...

        Args:
            text: The text; blank text has no claims.
            question: What the text answers; a bare answer ("42") becomes a claim with its help.

        Returns:
            Possibly none: a refusal or a greeting states nothing.

        Raises:
            JudgeError: When the judge could not be asked or its reply not be read.
        """
        ...

    async def attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        """Exactly one verdict a claim, in the order of the claims, with all chunks that support it.

        Without chunks every claim is unsupported.

        Raises:
            JudgeError: When the judge could not be asked or its reply not be read.
        """
        ...


@runtime_checkable
class AskingJudge(Protocol):
    """A judge that can be asked anything: an LLM."""

    async def ask(self, instructions: str, prompt: str, schema: type[SchemaT]) -> SchemaT:
        """One structured answer.

        Args:
            instructions: What to do; trusted.
            prompt: The material; untrusted text in it is the caller's to fence.
            schema: A pydantic model; the answer is an instance of it.

        Raises:
            JudgeError: When the judge could not be asked or its reply not be read.
        """
        ...


@runtime_checkable
class ConfiguredJudge(Protocol):
    """A judge that says what its decisions depend on beside its id."""

    @property
    def settings(self) -> Mapping[str, str]:
        """Versions of prompts, and digests of what may be secret; runs with other settings are other runs."""
        ...


class Ledger:
    """What judges did while a scorer ran: usage and warnings, in the order they were recorded."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.warnings: list[str] = []


_ledger: ContextVar[Ledger | None] = ContextVar("ragcov_ledger", default=None)


@contextmanager
def keep_ledger(ledger: Ledger | None = None) -> Generator[Ledger]:
    """Collects what judges record inside the block, also in tasks started there; in `ledger` when one is given."""
    ledger = ledger or Ledger()
    token = _ledger.set(ledger)
    try:
        yield ledger
    finally:
        _ledger.reset(token)


def record_usage(usage: Usage) -> None:
    """Adds to the usage of the running scorer; does nothing outside one."""
    if (ledger := _ledger.get()) is not None:
        ledger.usage = ledger.usage + usage


def record_warning(warning: str) -> None:
    """Adds a warning to the result of the running scorer, once; does nothing outside one."""
    if (ledger := _ledger.get()) is not None and warning not in ledger.warnings:
        ledger.warnings.append(warning)
