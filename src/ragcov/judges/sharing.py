"""One judge for several scorers of one sample: what was asked once is not asked again."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ragcov.attribution import Verdict, join_verdicts
from ragcov.claims import Claim
from ragcov.errors import UsageError
from ragcov.judges.base import AskingJudge, Judge, SchemaT

__all__ = ["SharedJudge"]


class SharedJudge:
    """Answers from memory what it was asked before. Made for one sample, and forgotten with it.

    The claims of a text are asked for once, and each statement is judged once against the same chunks: also when both
    the ground truth and the output make it.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._claims: dict[tuple[str, str | None], list[Claim]] = {}
        self._verdicts: dict[tuple[str, ...], dict[str, Verdict]] = {}

    @property
    def id(self) -> str:
        """The id of the judge that it asks."""
        return self._judge.id

    async def extract_claims(self, text: str, *, question: str | None = None) -> list[Claim]:
        """As `Judge.extract_claims`."""
        key = (text, question)
        if key not in self._claims:
            self._claims[key] = await self._judge.extract_claims(text, question=question)
        return self._claims[key]

    async def attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        """As `Judge.attribute`."""
        known = self._verdicts.setdefault(tuple(chunks), {})
        new = {claim.text: claim for claim in claims if claim.text not in known}
        if new:
            verdicts = await self._judge.attribute(list(new.values()), chunks)
            known.update(zip(new, join_verdicts(list(new.values()), verdicts), strict=True))
        return [msgspec.structs.replace(known[claim.text], claim=claim) for claim in claims]

    async def ask(self, instructions: str, prompt: str, schema: type[SchemaT]) -> SchemaT:
        """As `AskingJudge.ask`; never from memory."""
        if not isinstance(self._judge, AskingJudge):
            raise UsageError(f"the judge {self.id} answers no prompts: a prompt step needs an LLM judge")
        return await self._judge.ask(instructions, prompt, schema)
