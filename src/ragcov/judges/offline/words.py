"""Words: the form that is compared, and how much each one weighs."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

from ragcov.language import fold_han

__all__ = ["STOP", "irregular_past", "plain_form", "related", "stem", "terms", "weight"]

STOP = frozenset(
    """a an the of in on at to for from by with and or but as is are was were be been being am it its this that
    these those he she they his her hers their theirs them him i we you our your my me us who whom whose which
    what when where how why than then so such do does did done doing has have had having will would can could
    may might shall should must also into about there here s t d ll re ve just itself himself herself
    themselves if while upon onto via per etc very too""".split()
)
_IRREGULAR: dict[str, str] = {
    pair.partition(":")[0]: pair.partition(":")[2]
    for pair in """won:win led:lead built:build wrote:write written:write born:bear bore:bear made:make held:hold
    began:begin begun:begin took:take taken:take gave:give given:give went:go gone:go came:come became:become
    said:say saw:see seen:see found:find left:leave lost:lose met:meet paid:pay ran:run sold:sell sent:send
    spent:spend spoke:speak spoken:speak stood:stand taught:teach thought:think told:tell grew:grow
    grown:grow knew:know known:know kept:keep fell:fall fallen:fall fought:fight flew:fly flown:fly drew:draw
    drawn:draw drove:drive driven:drive ate:eat eaten:eat chose:choose chosen:choose bought:buy
    brought:bring caught:catch broke:break broken:break felt:feel forgot:forget got:get
    gotten:get hid:hide hidden:hide heard:hear rose:rise risen:rise rode:ride ridden:ride sang:sing sung:sing
    sank:sink sunk:sink sat:sit slept:sleep stole:steal stolen:steal struck:strike swam:swim swept:sweep
    threw:throw thrown:throw understood:understand woke:wake wore:wear worn:wear wound:wind shot:shoot shook:shake
    laid:lay lay:lie lain:lie dealt:deal meant:mean sought:seek shown:show children:child men:man women:woman
    people:person feet:foot teeth:tooth mice:mouse wives:wife lives:life leaves:leaf better:good best:good
    worse:bad worst:bad died:die dying:die dies:die lying:lie tied:tie using:use used:use""".split()
}


def irregular_past() -> Mapping[str, str]:
    """Irregular past forms of verbs (and a few plurals) to their base form."""
    return _IRREGULAR


_SUFFIXES = (
    "ingly", "edly", "ments", "ment", "ations", "ation", "ings", "ing", "ies", "ied",
    "ers", "er", "ors", "or", "ed", "es", "s", "ly", "e",
)  # fmt: skip


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The form of a lower-case word that is compared: irregular forms resolved, English endings cut."""
    word = _IRREGULAR.get(word, word)
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            root = word[: -len(suffix)]
            if suffix in ("ies", "ied"):
                return root + "y"
            if root[-1] == root[-2] and root[-1] not in "sl":
                return root[:-1]
            return root
    return word


@lru_cache(maxsize=1)
def _levels() -> dict[str, int]:
    table = resources.files("ragcov").joinpath("data", "commonness_en.txt")
    levels: dict[str, int] = {}
    for level, line in enumerate(table.read_text(encoding="utf-8").splitlines()):
        levels.update(dict.fromkeys(line.split(), level))
    return levels


@lru_cache(maxsize=65536)
def weight(form: str) -> float:
    """How much a stemmed word tells, from 0.3 (in every text) to 1 (rare, or unknown as most names are)."""
    return 1.0 - 0.12 * _levels().get(form, 0)


@lru_cache(maxsize=1)
def _related() -> dict[str, str]:
    table = resources.files("ragcov").joinpath("data", "related_en.txt").read_text(encoding="utf-8")
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in table.splitlines()}


@lru_cache(maxsize=16384)
def related(form: str) -> tuple[tuple[tuple[str, float], ...], tuple[str, ...]]:
    """The stemmed words that bear a word out, each with how well (0 to 1), and those that say the opposite."""
    entries = _related().get(form, "").split()
    same = tuple((entry[:-1], int(entry[-1]) / 10) for entry in entries if entry[0] != "!")
    return same, tuple(entry[1:-1] for entry in entries if entry[0] == "!")


class Terms(NamedTuple):
    """Chinese and Japanese words, in folded characters.

    Attributes:
        pattern: Finds any of them; the longest first.
        same: By word: the words that bear it out.
        opposite: By word: the words that say the opposite.
    """

    pattern: re.Pattern[str]
    same: dict[str, frozenset[str]]
    opposite: dict[str, frozenset[str]]


@lru_cache(maxsize=1)
def terms() -> Terms:
    """The Chinese and Japanese words that others bear out or contradict."""
    table = resources.files("ragcov").joinpath("data", "related_cjk.txt").read_text(encoding="utf-8")
    same: dict[str, set[str]] = {}
    opposite: dict[str, set[str]] = {}
    for line in fold_han(table).splitlines():
        mark, *words = line.split()
        for word in words[:1] if mark == "<" else words:
            (opposite if mark == "!" else same).setdefault(word, set()).update(words)
    every = sorted({*same, *opposite}, key=lambda word: (-len(word), word))
    return Terms(
        re.compile("|".join(map(re.escape, every))),
        {word: frozenset(others - {word}) for word, others in same.items()},
        {word: frozenset(others - {word}) for word, others in opposite.items()},
    )


@lru_cache(maxsize=65536)
def plain_form(word: str) -> str:
    """Lower case, compatibility forms and accents folded."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKD", word).casefold()
    return "".join(char for char in folded if not unicodedata.combining(char)) or word
