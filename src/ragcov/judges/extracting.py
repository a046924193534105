"""From a reply with claims to claims that are placed in the text they were taken from."""

from __future__ import annotations

from typing import cast

from ragcov.claims import Claim, number_claims
from ragcov.judges.replies import UnreadableError, read_json

__all__ = ["read_claims"]


def read_claims(reply: str, text: str) -> list[Claim]:
    """Reads `{"claims": ["...", ...]}`; claims that say the same twice are kept once.

    Raises:
        UnreadableError: No such JSON, or a claim that isn't a text.
    """
    items = read_json(reply, "claims", [text])["claims"]
    if not isinstance(items, list) or not all(isinstance(item, str) for item in cast("list[object]", items)):
        raise UnreadableError('"claims" is not a list of texts')
    statements = (" ".join(item.split()) for item in cast("list[str]", items))
    unique = dict.fromkeys(statement for statement in statements if any(char.isalnum() for char in statement))
    return number_claims(Claim(statement) for statement in unique)
