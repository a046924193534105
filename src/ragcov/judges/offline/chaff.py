"""Sentences that state nothing: questions, refusals, greetings, offers of help."""

from __future__ import annotations

import re

__all__ = ["states_nothing"]

_QUESTION = re.compile(r"[?？؟]['\"”’」』)）\s]*$")
_REFUSAL = re.compile(
    r"""^(?:(?:i['’]?m\s+|i\s+am\s+|we['’]?re\s+|we\s+are\s+)?(?:very\s+|so\s+|really\s+)?sorry\b
    |unfortunately,?\s+i\b
    |(?:i|we)\s+(?:do\s?n['’]?o?t|can\s?n?['’]?o?t|could\s?n['’]?o?t|am\s+(?:not|un)|are\s+(?:not|un)|was\s+(?:not|un))\s?
      (?:able\b|sure\b|know\b|find\b|answer\b|have\s+(?:any|enough|the|that|access|information)|provide\b|help\b|tell\b|aware\b)
    |(?:as|being)\s+an?\s+(?:ai|language\s+model|assistant)\b
    |(?:there\s+is\s+)?(?:no|not\s+enough|insufficient)\s+(?:information|data|answer|context)\b
      .{0,40}(?:available|provided|given|found|to\s+answer)?
    |(?:the\s+)?(?:context|documents?|passages?|text)\s+(?:does|do)\s?n['’]?o?t\s+(?:contain|mention|say|provide|include)
    |(?:n/?a|none|unknown|not\s+(?:known|available|applicable|specified|mentioned|provided)|unanswerable|null|nan|tbd|no\s+idea|idk)\W*$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_BOILERPLATE = re.compile(
    r"""^(?:(?:i\s+)?hope\s+(?:this|that|it)\s+helps\b
    |(?:please\s+)?(?:let\s+me\s+know|feel\s+free|do\s+not\s+hesitate|don['’]t\s+hesitate)\b
    |if\s+you\s+(?:have|need)\s+(?:any|more|further|other|additional)\b.{0,80}(?:ask|know|contact|questions?|reach)
    |(?:sure|certainly|of\s+course|absolutely|great|ok(?:ay)?|hello|hi|hey|thanks?(?:\s+you)?|you['’]re\s+welcome|good\s+question|great\s+question)\b
      [^.!]{0,40}[!.:]*$
    |(?:yes|no|correct|indeed)\W*$
    |here(?:['’]s|\s+is|\s+are)\b.{0,80}:$
    |(?:in\s+)?(?:conclusion|summary)\W*$
    |as\s+(?:follows|shown\s+below)\W*$
    |have\s+a\s+(?:nice|great|good)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_CJK = re.compile(
    r"""^(?:(?:很)?(?:抱歉|对不起|對不起|不好意思)|(?:我|我们|我們)?(?:不知道|不清楚|不了解|不瞭解|不确定|不確定)
    |(?:我|我们|我們)?(?:无法|無法|不能)(?:回答|提供|确定|確定|找到)|作为(?:一个)?(?:AI|人工智能|语言模型)|作為(?:一個)?(?:AI|人工智慧|語言模型)
    |(?:没有|沒有|暂无|暫無|未找到)(?:相关|相關|足够|足夠|任何)?(?:信息|資訊|资料|資料|答案)
    |希望(?:这|這|以上|能|对|對).{0,12}(?:帮助|幫助)|如(?:果|有|需).{0,20}(?:问题|問題|告诉我|告訴我|联系|聯絡|聯繫)|(?:您|你)好[，,！!。]?$
    |(?:好的|当然|當然|没问题|沒問題)[，,！!。]?$|(?:谢谢|謝謝|感谢|感謝)|以下(?:是|为|為).{0,20}[：:]$|如下[：:]?$
    |申し訳|すみません|わかりません|分かりません|存じません|(?:お答え|回答)(?:でき|いたしかね)|情報(?:が|は)(?:ありません|ない|見つかり)
    |お役に立て|(?:他|ほか)に(?:ご)?質問|ご質問(?:が|は)(?:ありましたら|ございましたら|あれば)|こんにちは|はじめまして|ありがとう|(?:かしこまりました|承知しました|もちろんです)[。！!]?$
    |以下(?:の通り|のとおり|に示し)|不明[。.]?$|(?:该|該)?(?:文|上下文|资料|資料)(?:中)?(?:没有|沒有|未)(?:提到|提及|说明|說明))""",
    re.VERBOSE,
)
_WORD = re.compile(r"\w")


def states_nothing(sentence: str) -> bool:
    """Whether a sentence is a question, a refusal, or talk around the answer."""
    if not _WORD.search(sentence) or _QUESTION.search(sentence):
        return True
    head = sentence[:300].lstrip(" \t\"'“‘「『*_")
    return bool(_REFUSAL.match(head) or _BOILERPLATE.match(head) or _CJK.match(head))
