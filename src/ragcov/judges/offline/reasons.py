"""The short sentences of verdicts, in the language of the claim."""

from __future__ import annotations

from typing import Literal

from ragcov.language import Language, detect_language

__all__ = ["say"]

Message = Literal["supported", "together", "missing", "nothing", "contradicted", "number", "no_chunks"]

_TEXTS: dict[Language, dict[Message, str]] = {
    "en": {
        "supported": "stated in chunk {chunks}",
        "together": "follows from chunks {chunks} together",
        "missing": "not stated: {missing}",
        "nothing": "no chunk states it",
        "contradicted": 'contradicted: chunk {chunks} says "{quote}"',
        "number": "contradicted: chunk {chunks} says {stated}, the claim {claimed}",
        "no_chunks": "no context to find it in",
    },
    "zh-Hans": {
        "supported": "见片段 {chunks}",
        "together": "由片段 {chunks} 共同支持",
        "missing": "未提及：{missing}",
        "nothing": "没有片段提及",
        "contradicted": "矛盾：片段 {chunks} 说“{quote}”",
        "number": "矛盾：片段 {chunks} 说的是 {stated}，而陈述说的是 {claimed}",
        "no_chunks": "没有可供查找的上下文",
    },
    "zh-Hant": {
        "supported": "見片段 {chunks}",
        "together": "由片段 {chunks} 共同支持",
        "missing": "未提及：{missing}",
        "nothing": "沒有片段提及",
        "contradicted": "矛盾：片段 {chunks} 說「{quote}」",
        "number": "矛盾：片段 {chunks} 說的是 {stated}，而陳述說的是 {claimed}",
        "no_chunks": "沒有可供查找的上下文",
    },
    "ja": {
        "supported": "チャンク {chunks} に記載あり",
        "together": "チャンク {chunks} を合わせて裏付けられる",
        "missing": "記載なし：{missing}",
        "nothing": "どのチャンクにも記載なし",
        "contradicted": "矛盾：チャンク {chunks} には「{quote}」とある",
        "number": "矛盾：チャンク {chunks} では {stated}、主張では {claimed}",
        "no_chunks": "探すコンテキストがない",
    },
}


def say(message: Message, claim: str, **parts: str) -> str:
    """One of the sentences, in the language of the claim."""
    return _TEXTS[detect_language(claim)][message].format(**parts)


def listed(items: list[str], claim: str) -> str:
    """Items joined as the claim's language lists them."""
    return (", " if detect_language(claim) == "en" else "、").join(items)
