"""From a text to its claims."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragcov.claims import Claim
from ragcov.judges.offline.answers import is_bare, state
from ragcov.judges.offline.blocks import Block, blocks
from ragcov.judges.offline.chaff import states_nothing
from ragcov.judges.offline.clauses import Draft, split_english, subject_of
from ragcov.judges.offline.clauses_cjk import split_chinese, split_japanese, topic_of
from ragcov.judges.offline.segment import sentences
from ragcov.judges.offline.verbs import has_verb, is_verb
from ragcov.language import detect_language

__all__ = ["extract"]

_CITATION = re.compile(r"\s?\[\d{1,3}(?:\s*[,-]\s*\d{1,3})*\]")
_MARKUP = re.compile(r"\*\*|__(?=\w)|(?<=\w)__|(?<!\w)\*(?=\w)|(?<=[\w.])\*(?!\w)")
_LEADING_YES = re.compile(
    r"^(?:yes|no|yeah|nope|correct|indeed)\s*[,:;–—-]\s*(?=\w)|^(?:是的|对|對|不是|はい|いいえ)[，,、]\s*", re.I
)
_PRONOUN = re.compile(r"^(?P<who>He|She|It|They)\s+(?=(?P<next>[\w'’]+))")
_POSSESSIVE = re.compile(r"^(?:His|Her|Its|Their)\s+(?=\w)")
_EXPLETIVE = re.compile(
    r"^It\s+(?:is|was|has been|may be|can be)\s+(?:\w+\s+){1,3}?(?:that|to)\b|^It\s+(?:takes|took|seems)\b"
)
_CJK_PRONOUN = re.compile(
    r"^(?:他们|她们|它们|他們|她們|牠們|他|她|它|牠|祂|该(?=[是在有])|彼女ら|彼ら|彼女|彼|それ|これ|同氏)(?P<mark>は|が|の|的)?(?!人|日)"
)
_BULLET_ONLY = re.compile(r"^[\W\d_]*$")


def extract(text: str, question: str | None = None) -> list[Claim]:
    """The claims of a text, in its order; see `Judge.extract_claims`."""
    parts = blocks(text)
    answer = _whole_answer(text, parts, question)
    if answer is not None:
        return [answer]
    claims: list[Claim] = []
    subject: str | None = None
    for block in parts:
        if block.kind == "row":
            claims.extend(_row(block))
        elif block.kind == "code":
            claims.append(Claim(_tidy(text[slice(*block.span)]), block.span))
        else:
            drafts, subject = _drafts(text, block, subject, question)
            claims.extend(_claims(drafts))
    return claims


def _tidy(text: str) -> str:
    return " ".join(_MARKUP.sub("", _CITATION.sub("", text)).split())


def _claims(drafts: Iterable[Draft]) -> Iterable[Claim]:
    for draft in drafts:
        text = _tidy(draft.text)
        if text and re.search(r"\w", text):
            yield Claim(text, (draft.start, draft.end))


def _whole_answer(text: str, parts: list[Block], question: str | None) -> Claim | None:
    """The claim of a text that is no more than a bare answer."""
    if not question or not question.strip() or len(parts) > 1:
        return None
    body = text.strip()
    if not body or states_nothing(body) or len(sentences(text)) > 1:
        return None
    if not is_bare(body):
        return None
    start = text.index(body)
    return Claim(_tidy(state(question, body)), (start, start + len(body)))


def _row(block: Block) -> Iterable[Claim]:
    cells = block.cells
    if not cells:
        return
    named = [f"{head} {cell}".strip() for head, cell in cells]
    if len(cells) == 1:
        yield Claim(_tidy(named[0]), block.span)
    for value in named[1:]:
        yield Claim(_tidy(f"{named[0]}: {value}"), block.span)


def _drafts(text: str, block: Block, subject: str | None, question: str | None) -> tuple[list[Draft], str | None]:
    drafts: list[Draft] = []
    for start, end in sentences(text, *block.span):
        sentence = text[start:end]
        if states_nothing(_MARKUP.sub("", sentence)):
            continue
        if agreed := _LEADING_YES.match(sentence):
            start += agreed.end()
            sentence = sentence[agreed.end() :]
            if not sentence.strip():
                continue
        language = detect_language(sentence)
        fragment = block.kind == "item" and len(sentence.split()) <= 8 and not has_verb(sentence)
        if fragment and (block.lead or question) and language == "en" and not is_verb(sentence.split()[0]):
            lead = f"{block.lead}: " if block.lead else ""
            drafts.append(Draft(lead + sentence, start, end))
            continue
        if language == "en":
            found, subject = _english(sentence, start, subject)
        else:
            found, subject = _cjk(sentence, start, subject, japanese=language == "ja")
        drafts.extend(found)
    return drafts, subject


def _english(sentence: str, start: int, subject: str | None) -> tuple[list[Draft], str | None]:
    found: list[Draft] = []
    for draft in split_english(sentence, start):
        resolved, own = _resolve(draft.text, subject)
        subject = own or subject
        found.append(Draft(resolved, draft.start, draft.end))
    return found, subject


def _resolve(text: str, subject: str | None) -> tuple[str, str | None]:
    """The clause with its leading pronoun replaced, and the subject that it brings itself."""
    text = text[:1].upper() + text[1:] if _PRONOUN.match(text[:1].upper() + text[1:]) else text
    if _EXPLETIVE.match(text):
        return text, None
    pronoun = _PRONOUN.match(text)
    if pronoun:
        return (f"{subject} {text[pronoun.end() :]}" if subject else text), None
    possessive = _POSSESSIVE.match(text)
    if possessive:
        return (f"{_owner(subject)} {text[possessive.end() :]}" if subject else text), None
    own = subject_of(text)
    if own is None or re.match(r"(?:there|this|these|those|that|we|you|i|one|some|many)\b", own, re.I):
        return text, None
    return text, own


def _owner(subject: str) -> str:
    return subject + ("'" if subject.endswith("s") else "'s")


def _cjk(sentence: str, start: int, subject: str | None, *, japanese: bool) -> tuple[list[Draft], str | None]:
    found: list[Draft] = []
    for draft in (split_japanese if japanese else split_chinese)(sentence, start):
        text = draft.text
        pronoun = _CJK_PRONOUN.match(text)
        if pronoun and subject:
            text = subject + text[pronoun.end() - len(pronoun["mark"] or "") :]
        elif not pronoun:
            subject = topic_of(text) or subject
        found.append(Draft(text, draft.start, draft.end))
    return found, subject
