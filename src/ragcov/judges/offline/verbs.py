"""Finite English verbs, as far as a list and a few endings tell."""

from __future__ import annotations

import re

from ragcov.judges.offline.words import irregular_past

__all__ = ["AUXILIARIES", "find_verb", "finite", "has_verb", "is_base", "is_present", "is_verb"]

AUXILIARIES = frozenset(
    """is are was were am has have had do does did can could will would shall should may might must cannot
    isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't can't couldn't won't wouldn't""".split()
)
_COMMON = """absorb accept achieve act add affect aim allow announce appear apply argue arrive ask attract bake base
become begin believe belong boil boost break bring build burn buy call carry cause change claim close
collapse collect combine come compete complete conduct connect consist contain continue contribute
control convert cook cool cost cover create cross deal decide define deliver depend describe design
destroy determine develop die differ direct discover dissolve divide draw drive earn eat eject employ
enable encourage end enjoy ensure enter erupt establish evaporate evolve exist expand expect experience
expire explain explode express extend face fail fall feature feed fight fill find finish fix float flow
fly focus follow force form found freeze gain generate get give go govern graduate grant grow happen heat
help hold host hunt identify improve include increase indicate influence inhabit introduce invent invest
involve isolate join keep kick kill know lack last launch lay lead learn leave let lie like limit link
list live load lock look lose lower make manage mark marry mean measure meet melt mention merge migrate
mine mix monitor move name need note obtain occur offer open operate orbit order organize own paint
participate pass pay perform play point possess prefer prepare present prevent produce promote protect
prove provide publish pull pump purify push qualify raise rank reach read receive recognize record reduce
refer reflect regulate reject relate release relieve rely remain remove repair replace report represent
require resign resist result retire return reveal rise rotate rule run sail save say see seek seem sell
send separate serve set share shine show shrink sign sing sink sit sleep slow solve speak spend split
spread stand start state stay stimulate stop store stretch study succeed suffer suggest supply support
surround swim take teach tell tend test think throw trade train transfer transform travel treat turn
understand use vanish vary visit vote walk want warn watch wear weigh win work write yield""".split()


def _third_person(verb: str) -> str:
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb[-1] == "y" and verb[-2] not in "aeiou" else verb + "s"


def _gerund(verb: str) -> str:
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "ye")):
        return verb[:-1] + "ing"
    return verb + "ing"


_GERUNDS = {_gerund(verb): verb for verb in _COMMON}


def finite(gerund: str, *, plural: bool) -> str | None:
    """The present form of a common verb given its -ing form; None for other words ("including")."""
    verb = _GERUNDS.get(gerund.lower())
    if verb is None or verb == "include":
        return None
    return verb if plural else _third_person(verb)


def is_present(word: str) -> bool:
    """Whether a word is the -s form of a common verb."""
    return word in _PRESENT


def is_base(word: str) -> bool:
    """Whether a word is the plain form of a common verb."""
    return word in _BASE


_PRESENT = frozenset(_third_person(verb) for verb in _COMMON)
_BASE = frozenset(_COMMON)
_WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")
_NOT_PAST = frozenset("need seed speed feed breed hundred red bed united weed deed indeed reed shed sacred".split())
_SUBJECT_PRONOUNS = frozenset("i you we they he she it this that these those who which".split())


def is_verb(word: str) -> bool:
    """Whether a word can be a finite verb: an auxiliary, a past form, or the -s form of a common verb."""
    lower = word.lower().replace("’", "'")
    if lower in AUXILIARIES or lower in _PRESENT or lower in irregular_past():
        return True
    return lower.endswith("ed") and len(lower) > 3 and lower not in _NOT_PAST and word[0].islower()


def find_verb(text: str, start: int = 0) -> re.Match[str] | None:
    """The first finite verb of a text that is not its first word; also a bare form after a plural or pronoun."""
    words = list(_WORD.finditer(text, start))
    for n in range(1, len(words)):
        word, before = words[n].group(), words[n - 1].group().lower()
        if before in _DETERMINERS and word.lower() not in AUXILIARIES:
            continue
        if is_verb(word):
            # "Other rules include": of two candidates in a row the first is a noun.
            follower = words[n + 1].group() if n + 1 < len(words) else ""
            noun = word.lower() in _PRESENT and text[words[n].end() : words[n].end() + 1] == " "
            if not (noun and follower and (is_verb(follower) or follower in _BASE)):
                return words[n]
        elif word in _BASE and (before in _SUBJECT_PRONOUNS or (before.endswith("s") and not before.endswith("ss"))):
            return words[n]
    return None


_DETERMINERS = frozenset("a an the its his her their our my your of in to for with by".split())


def has_verb(text: str) -> bool:
    """Whether a text has a finite verb after its first word."""
    return find_verb(text) is not None
