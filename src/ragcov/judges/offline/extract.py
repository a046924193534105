"""From a text to its claims."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragcov.claims import Claim
from ragcov.judges.offline.answers import is_bare, is_yes_or_no, state
from ragcov.judges.offline.blocks import Block, blocks
from ragcov.judges.offline.chaff import states_nothing
from ragcov.judges.offline.clauses import Draft, is_plural, split_english, subject_of
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
_PRONOUN = re.compile(r"^(?P<who>He|She|It|They)\s+(?=[\w'’])")
_POSSESSIVE = re.compile(r"^(?P<who>His|Her|Its|Their)\s+(?=\w)")
_NO_NAME = re.compile(
    r"(?:there|this|these|those|that|we|you|i|one|some|many|another|he|she|it|they|his|her|its|their)\b", re.I
)
_EXPLETIVE = re.compile(
    r"^It\s+(?:is|was|has been|may be|can be)\s+(?:\w+\s+){1,3}?(?:that|to)\b|^It\s+(?:takes|took|seems)\b"
)
_CJK_PRONOUN = re.compile(
    r"^(?:他们|她们|它们|他們|她們|牠們|他|她|它|牠|祂|该(?=[是在有])|彼女ら|彼ら|彼女|彼|それ|これ|同氏)(?P<mark>は|が|の|的)?(?!人|日)"
)
_TRANSITION = re.compile(
    r"^(?:additionally|furthermore|moreover|however|therefore|thus|hence|consequently|similarly|likewise|besides|also"
    r"|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|lastly|overall|nevertheless|nonetheless|meanwhile|instead|indeed"
    r"|in (?:addition(?: to (?:this|that|these))?|summary|conclusion|short|fact|contrast|general|particular)"
    r"|in other words"
    r"|for (?:example|instance)|as a result|as mentioned|on the (?:other|one) hand|to summarize|that said|of course"
    r"|and|but|so)"
    r",?\s+(?=\S)",
    re.I,
)
_TRANSITION_CJK = re.compile(
    r"^(?:此外|另外|而且|并且|並且|因此|所以|然而|但是|不过|不過|同时|同時|首先|其次|最后|最後|总之|總之|例如|比如"
    r"|また|さらに|しかし|なお|そのため|したがって|ただし|例えば|たとえば|まず|次に|最後に|つまり)[，,、]\s*"
)


def extract(text: str, question: str | None = None) -> list[Claim]:
    """The claims of a text, in its order; see `Judge.extract_claims`."""
    parts = blocks(text)
    answer = _whole_answer(text, parts, question)
    if answer is not None:
        return [answer]
    claims: list[Claim] = []
    subjects: list[str] = []
    for block in parts:
        if block.kind == "row":
            claims.extend(_row(block))
        elif block.kind == "code":
            claims.append(Claim(_tidy(text[slice(*block.span)]), block.span))
        else:
            claims.extend(_claims(_drafts(text, block, subjects, question)))
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
    if not body or (states_nothing(body) and not is_yes_or_no(body)) or len(sentences(text)) > 1:
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


def _drafts(text: str, block: Block, subjects: list[str], question: str | None) -> list[Draft]:
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
        sentence, start = _without_transition(sentence, start)
        language = detect_language(sentence)
        fragment = (
            block.kind == "item"
            and len(sentence.split()) <= 8
            and not re.search(r"[.!:：]", sentence)
            and not has_verb(sentence)
        )
        if fragment and (block.lead or question) and language == "en" and not is_verb(sentence.split()[0]):
            lead = f"{block.lead}: " if block.lead else ""
            drafts.append(Draft(lead + sentence, start, end))
            continue
        if language == "en":
            drafts.extend(_english(sentence, start, subjects))
        else:
            drafts.extend(_cjk(sentence, start, subjects, japanese=language == "ja"))
    return drafts


def _without_transition(sentence: str, start: int) -> tuple[str, int]:
    """ "However," and the like tie a sentence to its neighbours and state nothing."""
    match = _TRANSITION.match(sentence) or _TRANSITION_CJK.match(sentence)
    if match is None or (
        "," not in match.group() and match.end() < 12 and "，" not in match.group() and "、" not in match.group()
    ):
        return sentence, start
    return sentence[match.end() :], start + match.end()


def _english(sentence: str, start: int, subjects: list[str]) -> list[Draft]:
    found: list[Draft] = []
    for draft in split_english(sentence, start):
        text = draft.text[:1].upper() + draft.text[1:] if draft.text[:1].islower() else draft.text
        resolved = _resolve(text, subjects)
        found.append(Draft(resolved, draft.start, draft.end))
        own = subject_of(text) if resolved == text else None
        if own and not _NO_NAME.match(own) and own not in subjects[-1:]:
            subjects.append(own)
    return found


def _resolve(text: str, subjects: list[str]) -> str:
    """The clause with its leading pronoun replaced by the latest subject that agrees with it."""
    if _EXPLETIVE.match(text):
        return text
    match = _PRONOUN.match(text) or _POSSESSIVE.match(text)
    if match is None:
        return text
    plural = match["who"] in ("They", "Their")
    subject = next((s for s in reversed(subjects[-4:]) if is_plural(s) == plural), None)
    if subject is None:
        subject = subjects[-1] if subjects and plural else None
    if subject is None:
        return text
    name = _owner(subject) if match["who"] in ("His", "Her", "Its", "Their") else subject
    return f"{name} {text[match.end() :]}"


def _owner(subject: str) -> str:
    return subject + ("'" if subject.endswith("s") else "'s")


def _cjk(sentence: str, start: int, subjects: list[str], *, japanese: bool) -> list[Draft]:
    found: list[Draft] = []
    for draft in (split_japanese if japanese else split_chinese)(sentence, start):
        text = draft.text
        pronoun = _CJK_PRONOUN.match(text)
        if pronoun and subjects:
            text = subjects[-1] + text[pronoun.end() - len(pronoun["mark"] or "") :]
        elif not pronoun and (topic := topic_of(text)) and topic not in subjects[-1:]:
            subjects.append(topic)
        found.append(Draft(text, draft.start, draft.end))
    return found
