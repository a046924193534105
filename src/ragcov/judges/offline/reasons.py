"""The short sentences of verdicts, in the language of the claim."""

from __future__ import annotations

from typing import Literal

from ragcov.judges.offline.align import ClaimWords
from ragcov.language import Language, detect_language

__all__ = ["listed", "missing_terms", "say"]

Message = Literal["supported", "together", "missing", "nothing", "contradicted", "instead", "unlike", "no_chunks"]

_TEXTS: dict[Language, dict[Message, str]] = {
    "en": {
        "supported": "stated in chunk {chunks}",
        "together": "follows from chunks {chunks} together",
        "missing": "not stated: {missing}",
        "nothing": "no chunk states it",
        "contradicted": 'contradicted: chunk {chunks} says "{quote}"',
        "instead": "contradicted: chunk {chunks} says {stated}, the claim {claimed}",
        "unlike": "its words are there, but no chunk states it",
        "no_chunks": "no context to find it in",
    },
    "zh-Hans": {
        "supported": "见片段 {chunks}",
        "together": "由片段 {chunks} 共同支持",
        "missing": "未提及：{missing}",
        "nothing": "没有片段提及",
        "contradicted": "矛盾：片段 {chunks} 说“{quote}”",
        "instead": "矛盾：片段 {chunks} 说的是 {stated}，而陈述说的是 {claimed}",
        "unlike": "字词出现过，但没有片段这样陈述",
        "no_chunks": "没有可供查找的上下文",
    },
    "zh-Hant": {
        "supported": "見片段 {chunks}",
        "together": "由片段 {chunks} 共同支持",
        "missing": "未提及：{missing}",
        "nothing": "沒有片段提及",
        "contradicted": "矛盾：片段 {chunks} 說「{quote}」",
        "instead": "矛盾：片段 {chunks} 說的是 {stated}，而陳述說的是 {claimed}",
        "unlike": "字詞出現過，但沒有片段這樣陳述",
        "no_chunks": "沒有可供查找的上下文",
    },
    "ja": {
        "supported": "チャンク {chunks} に記載あり",
        "together": "チャンク {chunks} を合わせて裏付けられる",
        "missing": "記載なし：{missing}",
        "nothing": "どのチャンクにも記載なし",
        "contradicted": "矛盾：チャンク {chunks} には「{quote}」とある",
        "instead": "矛盾：チャンク {chunks} では {stated}、主張では {claimed}",
        "unlike": "語句は現れるが、そう述べたチャンクはない",
        "no_chunks": "探すコンテキストがない",
    },
}


def say(message: Message, claim: str, **parts: str) -> str:
    """One of the sentences, in the language of the claim."""
    return _TEXTS[detect_language(claim)][message].format(**parts)


def listed(items: list[str], claim: str) -> str:
    """Items joined as the claim's language lists them."""
    return (", " if detect_language(claim) == "en" else "、").join(items)


def missing_terms(text: str, words: ClaimWords, found: dict[int, float]) -> list[str]:
    """The parts of a claim that are not found, neighbours joined, in the claim's own words."""
    passage = words.passage
    terms: list[str] = []
    run: list[int] = []
    for i in range(len(passage.forms) + 1):
        absent = i < len(passage.forms) and found.get(i, 0.0) < 0.5 and (passage.weights[i] > 0.15 or bool(run))
        if absent and (not run or passage.spans[i][0] - passage.spans[run[-1]][1] <= 1):
            run.append(i)
            continue
        if run:
            terms.append(text[passage.spans[run[0]][0] : passage.spans[run[-1]][1]])
        run = [i] if absent else []
    return terms
