"""Which of the languages of the reasons a text is in, and one form for Chinese characters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["Language", "detect_language", "fold_han"]

Language: TypeAlias = Literal["en", "zh-Hant", "zh-Hans", "ja"]

_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa\uff66-\uff9d]")
_HAN = re.compile("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_OTHER_WORDS = re.compile(r"[^\W\d_\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9d]+")
_SAMPLE = 4000


class _Hanzi(NamedTuple):
    traditional: frozenset[str]
    simplified: frozenset[str]
    japanese: frozenset[str]
    not_japanese: frozenset[str]
    fold: Mapping[int, str]


@lru_cache(maxsize=1)
def _hanzi() -> _Hanzi:
    text = resources.files("ragcov").joinpath("data", "hanzi.txt").read_text(encoding="utf-8")
    traditional, simplified, old, japanese, shared, only_japanese = text.splitlines()
    fold = dict(zip(map(ord, traditional), simplified, strict=True))
    for before, after in zip(old, japanese, strict=True):
        if after in only_japanese:
            fold[ord(after)] = fold.get(ord(before), before)
    return _Hanzi(
        frozenset(traditional),
        frozenset(simplified) - frozenset(shared),
        frozenset(only_japanese),
        frozenset(old) | (frozenset(simplified) - frozenset(shared) - frozenset(japanese)),
        fold,
    )


def detect_language(text: str) -> Language:
    """The language to write about a text in: English, Chinese (Traditional or Simplified) or Japanese.

    Kana make a text Japanese, characters that only one of the scripts has decide between the others, and
    Chinese text without any such character counts as Simplified.

    Returns:
        "en" also for blank text and for every other language.
    """
    if text.isascii():
        return "en"
    sample = text[:_SAMPLE]
    han = _HAN.findall(sample)
    kana = len(_KANA.findall(sample))
    # Chinese and Japanese have no spaces: a character there weighs about as much as a word elsewhere.
    if len(han) + kana <= len(_OTHER_WORDS.findall(sample)) or not (han or kana):
        return "en"
    if kana > 0.08 * len(han):
        return "ja"
    hanzi = _hanzi()
    traditional = sum(char in hanzi.traditional for char in han)
    simplified = sum(char in hanzi.simplified for char in han)
    japanese = sum(char in hanzi.japanese for char in han)
    if japanese > sum(char in hanzi.not_japanese for char in han):
        return "ja"
    return "zh-Hant" if traditional > simplified else "zh-Hans"


def fold_han(text: str) -> str:
    """Writes Traditional and Japanese character forms as Simplified ones; lengths and positions stay."""
    return text if text.isascii() else text.translate(_hanzi().fold)
