"""Bare answers ("42", "Yes") made into statements with the question's help."""

from __future__ import annotations

import re

from ragcov.judges.offline.segment import CJK
from ragcov.judges.offline.verbs import has_verb, is_verb

__all__ = ["is_bare", "is_yes_or_no", "state"]

_YES = re.compile(
    r"^(?:yes|yeah|yep|true|correct|right|是的?|对的?|對的?|有|可以|能|はい|ええ|そうです)[.!。！\s]*$", re.I
)
_NO = re.compile(
    r"^(?:no|nope|false|incorrect|not|不是?的?|不|否|没有|沒有|不可以|不能|いいえ|いえ|違います)[.!。！\s]*$", re.I
)
_HAS_CJK = re.compile(f"[{CJK}]")
_POLAR = re.compile(
    r"^(?P<aux>is|are|was|were|do|does|did|can|could|will|would|has|have|had|should|must|may|might)\s+(?P<rest>.+)$",
    re.I | re.S,
)
_HOW_MANY = re.compile(r"^how\s+(?:many|much)\s+(?P<what>.+)$", re.I | re.S)
_WH = re.compile(r"^(?P<wh>what|who|which|where|when|whose)\s+(?P<aux>is|are|was|were)\s+(?P<rest>.+)$", re.I | re.S)
_WH_DONE = re.compile(
    r"^(?:where|when|how|why)\s+(?P<aux>is|are|was|were)\s+(?P<rest>.+)\s(?P<done>[a-z]+)$", re.I | re.S
)
_PREPOSITIONS = frozenset({"in", "on", "at", "by", "near", "from", "to", "under", "over", "since", "during", "about"})
_WHO_VERB = re.compile(r"^who\s+(?P<rest>(?!is\b|are\b|was\b|were\b|did\b|do\b|does\b).+)$", re.I | re.S)
_CJK_ASK = re.compile(
    r"是?(?:什么时候|什麼時候|什么|什麼|哪里|哪裡|哪儿|哪一年|哪年|哪个|哪個|哪些|哪位|谁|誰|几|幾|多少钱|多少錢|多少|何時|何日|何年|何人|何|どこ|だれ|いつ|どれ|いくら|どなた|なん)"
)
_CJK_POLAR = re.compile(r"(?:吗|嗎|么|呢|ですか|ますか|か)$")


def is_yes_or_no(text: str) -> bool:
    """Whether a text says yes or no and nothing else."""
    return bool(_YES.match(text.strip()) or _NO.match(text.strip()))


def is_bare(text: str) -> bool:
    """Whether a text answers a question without being a statement itself."""
    text = text.strip()
    if is_yes_or_no(text):
        return True
    if _HAS_CJK.search(text):
        return len(text) <= 24 and not re.search(
            r"[，,；;]|[。！!]\S|(?:です|ます|ました|である|だった|した|いる|ある|する)[。]?$|[是有在于於为為了可能会會]",
            text,
        )
    words = text.split()
    return len(words) <= 8 and not has_verb(text)


def state(question: str, answer: str) -> str:
    """The statement that a bare answer makes."""
    ask = " ".join(question.split()).rstrip("?？؟ 。.")
    said = answer.strip().rstrip(".。!！ ")
    positive, negative = _YES.match(answer.strip()), _NO.match(answer.strip())
    if _HAS_CJK.search(ask):
        return _state_cjk(ask, said, bool(positive), bool(negative))
    if positive or negative:
        return _polar(ask, said, bool(negative))
    if match := _HOW_MANY.match(ask):
        return f"{said} {match['what']}."
    if said and said.split(" ")[0].lower() in _PREPOSITIONS:
        said = said[0].lower() + said[1:]
    if (match := _WH_DONE.match(ask)) and is_verb(match["done"]):
        return f"{match['rest'][0].upper()}{match['rest'][1:]} {match['aux'].lower()} {match['done']} {said}."
    if match := _WH.match(ask):
        return f"{match['rest'][0].upper()}{match['rest'][1:]} {match['aux'].lower()} {said}."
    if match := _WHO_VERB.match(ask):
        return f"{said} {match['rest']}."
    return f"{ask}: {said}"


def _polar(ask: str, said: str, negative: bool) -> str:
    match = _POLAR.match(ask)
    if not match:
        return f"{ask}: {said}"
    rest = match["rest"]
    aux = match["aux"].lower()
    marker = f"{aux} not" if negative else ("" if aux in ("do", "does", "did") else aux)
    words = rest.split(" ")
    # The subject ends where it is safest to guess: after the article's noun, or the first word.
    cut = 2 if words[0].lower() in ("the", "a", "an", "this", "that", "these", "those", "his", "her", "its") else 1
    while cut < len(words) and words[cut - 1][:1].isupper() and words[cut][:1].isupper():
        cut += 1
    subject, predicate = " ".join(words[:cut]), " ".join(words[cut:])
    text = " ".join(part for part in (subject, marker, predicate) if part)
    return f"{text[0].upper()}{text[1:]}."


def _state_cjk(ask: str, said: str, positive: bool, negative: bool) -> str:
    if positive or negative:
        body = _CJK_POLAR.sub("", ask)
        if positive:
            return body + "。"
        return f"{ask}：{said}"
    if _CJK_ASK.search(ask):
        body = re.sub(r"(?:吗|嗎|呢|か)$", "", ask)
        copula = "是" if _CJK_ASK.search(ask).group().startswith("是") else ""  # pyright: ignore[reportOptionalMemberAccess]
        if re.search("[\u3041-\u3096]", ask):
            body = re.sub(r"(?:何|なん|幾)[名人個年月日時本枚回件つ]?", "何", body)
        return _CJK_ASK.sub(lambda _: copula + said, body, count=1) + "。"
    return f"{ask}：{said}"
