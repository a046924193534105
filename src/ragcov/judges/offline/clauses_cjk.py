"""Splitting a Chinese or Japanese sentence into clauses that stand alone, where that is safe."""

from __future__ import annotations

import re

from ragcov.judges.offline.clauses import Draft

__all__ = ["split_chinese", "split_japanese", "topic_of"]

_QUOTED = re.compile(r"「[^」]*」|『[^』]*』|“[^”]*”|《[^》]*》|（[^）]*）|\([^)]*\)|\"[^\"]*\"")
_ZH_CONDITION = re.compile(
    r"如果|若|假如|要是|只要|只有|除非|当|當|因为|因為|由于|由於|虽然|雖然|尽管|儘管|即使|为了|為了|无论|無論|不但|不仅|不僅|既|越|随着|隨著|根据|根據"
)
_ZH_PREDICATE = re.compile(
    r"是|有|位于|位於|建于|建於|属于|屬於|成为|成為|为|為|由|可|能|会|會|在|以|包括|包含|具有|拥有|擁有|采用|採用|使用|需|须|須|应|應|被|获|獲|於|于"
    r"|出生|毕业|畢業|成立|创立|創立|发明|發明|发现|發現|提出|开始|開始|结束|結束|完成|开放|開放|关闭|關閉|达|達|超过|超過|约|約|不|没|沒|负责|負責|担任|擔任|设计|設計|支持|提供|产生|產生|连接|連接|种|種|住|长|長|高|卖|賣|讲|講|写|寫"
    r"|吃|喝|做|看|用|走|飞|飛|生活|绕|繞|转|轉|流经|流經|支援|包围|包圍|举办|舉辦|登陆|登陸|创办|創辦|领导|領導|建造|重建|制造|製造|组成|組成"
)
_ZH_LEAD = re.compile(
    r"^(?:并且|並且|并|並|也|还|還|而且|而|同时|同時|其中|则|則|后来|後來|后|後|又|但是|但|不过|不過)?"
)
_ZH_VERB_FIRST = re.compile(
    r"^(?:是|有|位于|位於|建于|建於|属于|屬於|成为|成為|由|可|能|会|會|在|以|包括|包含|具有|拥有|擁有|采用|採用|使用|需|须|須|应|應|被|获|獲|于|於|出生|毕业|畢業"
    r"|成立|发明|發明|发现|發現|提出|开始|開始|完成|开放|開放|达|達|超过|超過|约|約|不|没|沒|负责|負責|担任|擔任|提供|产生|產生|连接|連接|曾|已|将|將|每|从|從|全)"
    r"|^(?:流经|流經|支援|吃|喝|创办|創辦|领导|領導|重建|举办|舉辦|组成|組成|周|每|今|明|昨|早|晚|上午|下午|平日|假日)"
    r"|^(?:高度|长度|長度|宽度|寬度|深度|面积|面積|人口|海拔|重量|容量|价格|價格|总|總|全长|全長)"
)
_JA_CONDITION = re.compile(
    r"もし|場合|ならば|なければ|たら、|れば、|とき、|時、|ため、|ので、|から、|けれど|のに、|ても、|でも、|と、"
)
_JA_JOINT = re.compile(r"(?<=[でしりれくがきいびみちえけげてせ])、|、(?=[^、]{1,12}は[^、]*[0-9０-９])")
_JA_LINK = re.compile(r"(?:であり|で|し|り|され|おり|れ|く|が|て|き|び|み|ち|い|え|け|げ|せ)$")

_ZH_JOINT = re.compile("[，；;]")
_LONGEST = 600


def _protected(text: str, at: int) -> bool:
    return any(match.start() < at < match.end() for match in _QUOTED.finditer(text))


def _parts(text: str, marks: re.Pattern[str]) -> list[tuple[int, int]]:
    cuts = [match.span() for match in marks.finditer(text) if not _protected(text, match.start())]
    begins = [0, *(end for _, end in cuts)]
    ends = [*(start for start, _ in cuts), len(text)]
    return [(begin, end) for begin, end in zip(begins, ends, strict=True) if text[begin:end].strip()]


def topic_of(text: str) -> str | None:
    """What a sentence is about: in Japanese the part before は, in Chinese the part before its predicate."""
    if re.search("[\u3041-\u3096]", text):
        match = re.match(r"^([^、。「」]{1,24}?)は(?!、?じめ)", text)
        return match.group(1) if match else None
    match = _ZH_PREDICATE.search(text, 1)
    if match is None or match.start() > 16:
        return None
    subject = text[: match.start()]
    return (
        None
        if re.search(r"[，、,\d]", subject)
        else re.sub(r"(?:也|还|還|曾|曾经|共|都|最早|正式|主要|一般|通常)$", "", subject) or None
    )


def split_chinese(text: str, start: int) -> list[Draft]:
    """The clauses of one Chinese sentence that stands at `start` of its text."""
    whole = [Draft(text, start, start + len(text))]
    if len(text) > _LONGEST or _ZH_CONDITION.search(text):
        return whole
    spans = _parts(text, _ZH_JOINT)
    if len(spans) < 2:
        return whole
    subject = topic_of(text[slice(*spans[0])])
    drafts: list[Draft] = []
    for n, (begin, end) in enumerate(spans):
        clause = text[begin:end].rstrip("。.!！")
        bare = clause[_ZH_LEAD.match(clause).end() :]  # pyright: ignore[reportOptionalMemberAccess]
        predicate = _ZH_PREDICATE.search(bare, 1) if n else _ZH_PREDICATE.search(bare)
        if n and subject and _ZH_VERB_FIRST.match(bare):
            drafts.append(Draft(f"{subject}{bare}。", start + begin, start + end))
        elif predicate and len(bare) >= 4 and (n == 0 or topic_of(bare)):
            drafts.append(Draft(bare + "。", start + begin, start + end))
            subject = topic_of(bare) or subject
        elif drafts:
            last = drafts[-1]
            drafts[-1] = Draft(f"{last.text.rstrip('。')}，{clause}。", last.start, start + end)
        else:
            return whole
    return drafts


def split_japanese(text: str, start: int) -> list[Draft]:
    """The clauses of one Japanese sentence that stands at `start` of its text."""
    whole = [Draft(text, start, start + len(text))]
    if len(text) > _LONGEST or _JA_CONDITION.search(text):
        return whole
    topic = topic_of(text)
    spans = _parts(text, _JA_JOINT)
    if len(spans) < 2 or topic is None:
        return whole
    drafts: list[Draft] = []
    for n, (begin, end) in enumerate(spans):
        clause = text[begin:end].rstrip("。")
        own = re.match(r"^[^、]{1,16}?[はが](?!、)", clause)
        predicate = n == len(spans) - 1 or _JA_LINK.search(clause) or re.search(r"は.*[0-9０-９]", clause)
        if n == 0 and (not predicate or len(clause) < len(topic) + 4):
            return whole
        if not predicate or len(clause) < 4:
            last = drafts[-1]
            drafts[-1] = Draft(f"{last.text}、{clause}", last.start, start + end)
        elif n == 0 or own:
            drafts.append(Draft(clause, start + begin, start + end))
        else:
            drafts.append(Draft(f"{topic}は{clause}", start + begin, start + end))
    return [
        Draft(draft.text.rstrip("が") + ("" if draft.text.endswith("。") else "。"), draft.start, draft.end)
        for draft in drafts
    ]
