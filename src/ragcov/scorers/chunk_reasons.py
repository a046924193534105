"""Reasons about chunks: which are relevant, and the sum that makes the score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragcov.language import Language
from ragcov.results import round_score

__all__ = ["ChunkPhrases", "chunk_phrases", "list_items", "number"]


@dataclass(frozen=True)
class ChunkPhrases:
    """The sentences about chunks in one language. `{…}` stand for values."""

    ranked: str
    average: str
    relevant: str
    irrelevant: str
    copy: str
    supports: str
    level: str
    used: str
    unused: str
    missing: str
    sum: str
    unused_penalty: str
    missing_penalty: str
    capped: str
    levels: dict[str, str]
    between: str
    end: str


_PHRASES: dict[Language, ChunkPhrases] = {
    "en": ChunkPhrases(
        ranked="{relevant} of {total} chunks support the expected text ({what}).",
        average="Mean average precision: {sum}.",
        relevant="chunk {chunk} is relevant: it supports {claims}",
        irrelevant="chunk {chunk} is not relevant",
        copy="chunk {chunk} repeats chunk {first} and is left out",
        supports=", ",
        level="chunk {chunk}: {level} ({relevant}/{total} sentences)",
        used=", used by the output",
        unused=", not used by the output",
        missing="Missing information: ",
        sum="Sum: {sum}.",
        unused_penalty=" (high but unused)",
        missing_penalty=" (missing information)",
        capped=" (missing information, at most {cap})",
        levels={"high": "high", "medium": "medium", "low": "low", "none": "none"},
        between="; ",
        end=".",
    ),
    "zh-Hant": ChunkPhrases(
        ranked="{total} 個 chunk 中有 {relevant} 個支持預期內容（{what}）。",
        average="平均精確率（mean average precision）：{sum}。",
        relevant="chunk {chunk} 相關，支持{claims}",
        irrelevant="chunk {chunk} 不相關",
        copy="chunk {chunk} 與 chunk {first} 重複，不列入計算",
        supports="、",
        level="chunk {chunk}：{level}（{total} 句中有 {relevant} 句相關）",
        used="，輸出有使用",
        unused="，輸出未使用",
        missing="缺少的資訊：",
        sum="算式：{sum}。",
        unused_penalty="（高度相關卻未使用）",
        missing_penalty="（缺少的資訊）",
        capped="（缺少的資訊，上限 {cap}）",
        levels={"high": "高度相關", "medium": "中度相關", "low": "低度相關", "none": "不相關"},
        between="；",
        end="。",
    ),
    "zh-Hans": ChunkPhrases(
        ranked="{total} 个 chunk 中有 {relevant} 个支持预期内容（{what}）。",
        average="平均精确率（mean average precision）：{sum}。",
        relevant="chunk {chunk} 相关，支持{claims}",
        irrelevant="chunk {chunk} 不相关",
        copy="chunk {chunk} 与 chunk {first} 重复，不计入",
        supports="、",
        level="chunk {chunk}：{level}（{total} 句中有 {relevant} 句相关）",
        used="，输出已使用",
        unused="，输出未使用",
        missing="缺少的信息：",
        sum="算式：{sum}。",
        unused_penalty="（高度相关但未使用）",
        missing_penalty="（缺少的信息）",
        capped="（缺少的信息，上限 {cap}）",
        levels={"high": "高度相关", "medium": "中度相关", "low": "低度相关", "none": "不相关"},
        between="；",
        end="。",
    ),
    "ja": ChunkPhrases(
        ranked="{total} 個のチャンクのうち {relevant} 個が期待される内容（{what}）を裏付けています。",
        average="平均適合率（mean average precision）：{sum}。",
        relevant="チャンク {chunk} は関連あり（裏付ける主張：{claims}）",
        irrelevant="チャンク {chunk} は関連なし",
        copy="チャンク {chunk} はチャンク {first} と同じため対象外",
        supports="、",
        level="チャンク {chunk}：{level}（{total} 文中 {relevant} 文が関連）",
        used="、出力で使用",
        unused="、出力では未使用",
        missing="不足している情報：",
        sum="計算式：{sum}。",
        unused_penalty="（関連性が高いのに未使用）",
        missing_penalty="（不足している情報）",
        capped="（不足している情報、上限 {cap}）",
        levels={"high": "関連性が高い", "medium": "関連性は中程度", "low": "関連性が低い", "none": "関連なし"},
        between="；",
        end="。",
    ),
}


def chunk_phrases(language: Language) -> ChunkPhrases:
    """The sentences of a language."""
    return _PHRASES[language]


def number(value: float) -> str:
    """A number in a sum: at most two decimals, and at least one ("1.0", "0.7", "0.83")."""
    text = f"{round_score(value):.2f}".rstrip("0")
    return text + "0" if text.endswith(".") else text


def list_items(items: Sequence[str], words: ChunkPhrases) -> str:
    """Items as one sentence; "" when there are none."""
    if not items:
        return ""
    joined = words.between.join(items)
    return joined[0].upper() + joined[1:] + words.end
