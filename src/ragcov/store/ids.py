"""Ids of runs: short, and easy to say."""

from __future__ import annotations

import secrets

__all__ = ["new_id"]

_CONSONANTS = "bdfgklmnprstvz"
_VOWELS = "aeiou"


def new_id() -> str:
    """Three random syllables ("dunoki"), one of 343,000."""
    return "".join(secrets.choice(_CONSONANTS) + secrets.choice(_VOWELS) for _ in range(3))
