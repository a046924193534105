"""Splitting an English sentence into clauses that stand alone, where that is safe."""

from __future__ import annotations

import re
from typing import NamedTuple

from ragcov.judges.offline.segment import trim
from ragcov.judges.offline.verbs import AUXILIARIES, find_verb, finite, is_base, is_present, is_verb

__all__ = ["Draft", "is_plural", "split_english", "subject_of"]


class Draft(NamedTuple):
    """A claim in the making: what it says, and the passage of the text that says so."""

    text: str
    start: int
    end: int


_PROTECTED = re.compile(
    r"\"[^\"]{1,300}\"|“[^”]{1,300}”|\([^()]{1,300}\)|\[[^\[\]]{1,300}\]|`[^`]{1,300}`|\$[^$]{1,300}\$"
)
_CONDITION = re.compile(
    r"^(?:if|when|unless|although|though|because|since|while|whereas|once|until|after|before|as|whether|provided)\b|"
    r"\b(?:if|unless|whether)\b",
    re.I,
)
_JOINT = re.compile(r",?\s+(?:and|but|yet|while|whereas)\s+(?:then\s+)?|;\s+(?:and\s+|but\s+|however,\s+)?", re.I)
_EMBEDDED = re.compile(r"\b(?:that|who|which|whose|whom|whether|because|where|how|why|to)\b", re.I)
_CLAUSE_START = re.compile(
    r"(?:the|a|an|it|he|she|they|we|you|i|this|these|those|there|its|his|her|their|some|many|most|all|no|each|every"
    r"|both|\d+|[A-Z][\w'’.-]*)\b"
)
_ADVERB = re.compile(r"(?:also|later|then|still|often|usually|not|never|\w+ly)\s+", re.I)
_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_TIME = re.compile(
    rf"\b(?:in|on|since|around|during)\s+(?:the\s+)?(?:early\s+|late\s+|mid-?\s?)?(?:\d{{1,2}}(?:st|nd|rd|th)?\s+)?"
    rf"(?:{_MONTH}\s*(?:\d{{1,2}},?)?\s*)?(?:\d{{4}}s?)\b|\bon\s+(?:\d{{1,2}}\s+{_MONTH}|{_MONTH}\s+\d{{1,2}})\b"
)
_PASSIVE = re.compile(
    r"^(?P<subject>[^,;]{2,80}?)\s(?P<aux>was|were|is|are)\s(?P<verb>\w+(?:ed|en|wn|lt|nt|ld|ught|de|rn|it|un|ung))\s(?P<rest>.+?)[.\s]*$",
    re.S,
)
_RELATIVE = re.compile(r",\s+(?:who|which)\s+(?=\w)")
_WITH_RELATIVE = re.compile(r"^(?:[\w'’-]+\s+){1,4}?(?:that|which|who)\s+\w+")
_ITEM_START = re.compile(r"^(?:an?|the|its|his|her|their|one|two|three|\d+)\s+\w+", re.I)
_LIST_MARK = re.compile(r",\s+(?:and\s+|or\s+)?|\s+and\s+")
_APPOSITION = re.compile(
    r"^(?P<name>[A-Z][^,;:.]{1,60}?),\s+(?P<what>(?:an?|the|one of)\s[^,;]{3,100}),\s+(?P<rest>.+)$", re.S
)
_PARTICIPLE = re.compile(r",\s+(?:(?:and\s+)?(?:thereby|thus|hence)\s+)?(?P<verb>[a-z]+ing)\b")
_UNCHANGED = frozenset({"cost", "cut", "put", "hit", "shut", "spread", "split", "let"})
_NO_SUBJECT = re.compile(
    r"(?:in|on|at|to|for|from|by|with|as|after|before|since|during|under|over|through|there|here|what|how)\b"
    r"|.*\b(?:i|we|you|which|who|that)\b",
    re.I,
)
_LONGEST = 1200


def subject_of(text: str) -> str | None:
    """The words before the first finite verb, when they look like a subject."""
    head = _APPOSITION.match(text)
    if head:
        return head["name"]
    verb = find_verb(text)
    if verb is None:
        return None
    subject, comma, _ = text[: verb.start()].strip().partition(",")
    if re.search(r"[;:]", subject) or len(subject.split()) > 10 or _NO_SUBJECT.match(subject):
        return None
    if comma and (len(subject.split()) > 6 or not _CLAUSE_START.match(subject)):
        return None
    return re.sub(r"\s+(?:also|later|then|still|often|usually|never|not|\w+ly)$", "", subject) or None


def split_english(text: str, start: int, depth: int = 0) -> list[Draft]:
    """The clauses of one sentence that stands at `start` of its text."""
    first, last = trim(text, 0, len(text))
    text, start = text[first:last], start + first
    whole = [Draft(text, start, start + len(text))]
    if depth > 8 or len(text) > _LONGEST or _CONDITION.search(text):
        return whole
    for split in (_apposition, _relative, _item_list, _verb_list, _coordination, _participle, _adjuncts):
        parts = split(text, start)
        if parts:
            return [
                clause
                for part in parts
                for clause in (
                    split_english(part.text, part.start, depth + 1)
                    if part.end - part.start == len(part.text)
                    else [part]
                )
            ]
    return whole


def _free(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _PROTECTED.finditer(text)]


def _inside(at: int, spans: list[tuple[int, int]]) -> bool:
    return any(first < at < last for first, last in spans)


def _apposition(text: str, start: int) -> list[Draft]:
    match = _APPOSITION.match(text)
    if not match or not _starts_with_verb(match["rest"]):
        return []
    first, last = match.span("what")
    copula = "are" if re.search(r"\sand\s", match["name"]) else "is"
    return [
        Draft(f"{match['name']} {copula} {match['what']}.", start + first, start + last),
        Draft(f"{match['name']} {match['rest']}", start + match.start("rest"), start + len(text)),
    ]


def _starts_with_verb(text: str) -> bool:
    adverb = _ADVERB.match(text)
    word = re.match(r"[A-Za-z'’]+", text[adverb.end() :] if adverb else text)
    return bool(word and (is_verb(word.group()) or word.group().lower() in _UNCHANGED))


def _relative(text: str, start: int) -> list[Draft]:
    """ "X, who was born in Y, won Z" and "... the bridge, which opened in 1934."""
    protected = _free(text)
    for match in _RELATIVE.finditer(text):
        if _inside(match.start(), protected) or not _starts_with_verb(text[match.end() :]):
            continue
        before = text[: match.start()]
        close = text.find(", ", match.end())
        clause_end = close if close > 0 else len(text)
        clause = text[match.end() : clause_end].rstrip(". ")
        after = text[close + 2 :] if close > 0 else ""
        if find_verb(before) is None:
            # The subject itself is described; the rest of the sentence must go on with its verb.
            if not after or not _starts_with_verb(after):
                continue
            return [
                Draft(f"{before} {clause}.", start + match.end(), start + clause_end),
                Draft(f"{before} {after}", start + close + 2, start + len(text)),
            ]
        if after:
            continue
        noun = re.search(
            r"(?:\b(?:the|a|an|its|his|her|their)\s+(?:[\w'’-]+\s+){0,3}[\w'’-]+|[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*)$",
            before,
        )
        if noun:
            thing = re.sub(r"^an?\s", "The ", noun.group())
            return [
                Draft(before, start, start + match.start()),
                Draft(f"{thing[0].upper()}{thing[1:]} {clause}.", start + match.end(), start + clause_end),
            ]
    return []


def _item_list(text: str, start: int) -> list[Draft]:
    """ "X contains A that ..., B that ..., and C that ..." with the shared subject and verb."""
    verb = find_verb(text)
    if verb is None:
        return []
    protected = _free(text)
    marks = [match for match in _LIST_MARK.finditer(text, verb.end()) if not _inside(match.start(), protected)]
    ends = [*(match.start() for match in marks), len(text)]
    begins = [verb.end() + 1, *(match.end() for match in marks)]
    items = [(begin, end, text[begin:end].rstrip(". ")) for begin, end in zip(begins, ends, strict=True)]
    if len(items) < 2 or re.search(r"[,;:]", text[: verb.end()]):
        return []
    described = all(_WITH_RELATIVE.match(item) for _, _, item in items)
    determined = (
        len(items) >= 3
        and all(_ITEM_START.match(item) for _, _, item in items)
        and all(find_verb("x " + item) is None for _, _, item in items)
    )
    if not (described or determined):
        return []
    shared = text[: verb.end()]
    return [
        Draft(f"{shared} {item}.", start if n == 0 else start + begin, start + end)
        for n, (begin, end, item) in enumerate(items)
    ]


def _coordination(text: str, start: int) -> list[Draft]:
    protected = _free(text)
    for match in _JOINT.finditer(text):
        if _inside(match.start(), protected):
            continue
        left, right = text[: match.start()], text[match.end() :]
        verb = find_verb(left)
        if verb is None or len(left[verb.end() :].split()) < 1:
            continue
        if _own_clause(right) or (match.group().startswith(";") and find_verb(right) is not None):
            return [
                Draft(left, start, start + match.start()),
                Draft(right, start + match.end(), start + len(text)),
            ]
        subject = subject_of(left)
        if (
            subject
            and not match.group().startswith(";")
            and (_starts_with_verb(right) or (is_plural(subject) and is_base(right.split(" ")[0])))
            and not _EMBEDDED.search(left, verb.end())
            and len(left[verb.end() :].split()) >= (2 if verb.group().lower() in AUXILIARIES else 1)
            and len(right.split()) >= 2
        ):
            word = re.match(r"[A-Za-z'’]+", right)
            helper = ""
            if verb.group().lower() in AUXILIARIES and word and word.group().lower() not in AUXILIARIES:
                helper = verb.group() + " "
                if not re.search(rf"\b{verb.group()}\s+(?:\w+ly\s+)?\w+(?:ed|en|wn|lt|nt|ld|ught|de)\b", left):
                    helper = ""
            return [
                Draft(left, start, start + match.start()),
                Draft(f"{subject} {helper}{right}", start + match.end(), start + len(text)),
            ]
    return []


def _verb_list(text: str, start: int) -> list[Draft]:
    """ "X grows quickly, needs little water and absorbs carbon" with the shared subject."""
    subject = subject_of(text)
    verb = find_verb(text)
    if subject is None or verb is None or _EMBEDDED.search(text):
        return []
    protected = _free(text)
    marks = [mark for mark in _LIST_MARK.finditer(text, verb.end()) if not _inside(mark.start(), protected)]
    if len(marks) < 2 or not all(is_present(text[mark.end() :].split(" ")[0]) for mark in marks):
        return []
    begins = [0, *(mark.end() for mark in marks)]
    ends = [*(mark.start() for mark in marks), len(text)]
    return [
        Draft(text[begin:end] if begin == 0 else f"{subject} {text[begin:end]}", start + begin, start + end)
        for begin, end in zip(begins, ends, strict=True)
    ]


def _participle(text: str, start: int) -> list[Draft]:
    """ "X converts A into B, producing C" says two things of X."""
    protected = _free(text)
    for match in _PARTICIPLE.finditer(text):
        if _inside(match.start(), protected):
            continue
        left, right = text[: match.start()], text[match.end("verb") :]
        subject = subject_of(left)
        if subject is None or find_verb(left) is None or not right.strip(" ."):
            continue
        verb = finite(match["verb"], plural=is_plural(subject))
        if verb is not None:
            return [
                Draft(left, start, start + match.start()),
                Draft(f"{subject} {verb}{right}", start + match.start("verb"), start + len(text)),
            ]
    return []


def is_plural(subject: str) -> bool:
    """Whether a subject takes a plural verb, as far as its last word tells."""
    last = re.sub(r"\s+(?:of|in|for|with|from|on|at|to|between|by)\s.*$", "", subject).split()[-1].lower()
    ends = last.endswith("s") and not last.endswith(("ss", "us", "is"))
    return " and " in subject or last in ("people", "children", "men", "women") or (ends and not subject.istitle())


def _own_clause(text: str) -> bool:
    if not _CLAUSE_START.match(text):
        return False
    verb = find_verb(text)
    if verb is None:
        return False
    subject = text[: verb.start()]
    return len(subject.split()) <= 8 and not re.search(r"[,;]|\b(?:that|who|which)\b", subject)


def _adjuncts(text: str, start: int) -> list[Draft]:
    """ "was launched in 1998 by the agency" says two things."""
    match = _PASSIVE.match(text)
    if not match:
        return []
    rest, at = match["rest"], match.start("rest")
    time = _TIME.search(rest)
    if time is None:
        return []
    before, after = rest[: time.start()].strip(" ,"), rest[time.end() :].strip(" ,")
    other = before or after
    if (before and after) or not re.match(r"(?:by|in|at|to|from|for|as)\s+\w", other) or _EMBEDDED.search(other):
        return []
    if other[:3].lower() == "in " and not other[3:4].isupper():
        return []
    head = f"{match['subject']} {match['aux']} {match['verb']}"
    where = at + rest.index(other)
    dated = Draft(f"{head} {time.group()}.", start + at + time.start(), start + at + time.end())
    placed = Draft(f"{head} {other}.", start + where, start + where + len(other))
    return [placed, dated] if before else [dated, placed]
