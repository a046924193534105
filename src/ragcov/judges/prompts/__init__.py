"""The prompts of the LLM judge: one file each, its version in the first line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import resources

import msgspec

__all__ = ["Prompt", "fenced", "load_prompt"]

_MARK = 8
_VERSION = re.compile(r"<!-- version: (\S+) -->\n")


class Prompt(msgspec.Struct, frozen=True):
    """Instructions for a model; a part of cache keys by name and version.

    Attributes:
        name: The file's name without its ending.
        version: Changes whenever the text does.
        text: The instructions.
    """

    name: str
    version: str
    text: str


@lru_cache
def load_prompt(name: str) -> Prompt:
    """The prompt of a name: "claims", "verdicts" or "relevance"."""
    source = resources.files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    match = _VERSION.match(source)
    assert match is not None, f"{name}.md has no version"
    return Prompt(name, match[1], source[match.end() :].strip())


def fenced(sections: Iterable[tuple[str, str]], texts: Sequence[str]) -> str:
    """Sections of untrusted text under headings that no text can forge.

    A heading begins with a mark that is derived from the texts and occurs in none of them, so the same input gives
    the same prompt.

    Args:
        sections: Title and text of each section.
        texts: The texts that the mark is derived from; requests that share their beginning share the mark when
            these are the same.
    """
    sections = list(sections)
    bodies = [body for _, body in sections]
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    while any((mark := digest[:_MARK]) in text for text in (*texts, *bodies)):
        digest = hashlib.sha256(digest.encode()).hexdigest()
    parts = [f"[{mark} {title}]\n{body}\n" for title, body in sections]
    return "".join(parts) + f"[{mark} end]"
