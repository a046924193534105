"""A claim: one atomic, self-contained statement taken from a text."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

__all__ = ["Claim", "number_claims"]


class Claim(msgspec.Struct, frozen=True):
    """One atomic, self-contained statement. `Claim("text")` is enough to make one.

    Attributes:
        text: The statement, readable without the text that it came from.
        span: Start and end (exclusive) in characters of the passage of the source text that states it;
            None when it was not taken from a text, or the judge could not place it.
        id: Unique within one text ("c1", "c2", ...); verdicts are joined by it. Empty until numbered.
    """

    text: str
    span: tuple[int, int] | None = None
    id: str = ""


def number_claims(claims: Iterable[Claim]) -> list[Claim]:
    """Gives each claim its id, "c1", "c2", ... in order, replacing ids it had."""
    return [Claim(claim.text, claim.span, f"c{number}") for number, claim in enumerate(claims, 1)]
