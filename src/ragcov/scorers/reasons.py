"""Reasons, written from verdicts in the language of the text that was split into claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ragcov.attribution import Verdict, supporting_chunks
from ragcov.language import Language
from ragcov.results import Tally

__all__ = ["Phrases", "explain_verdicts", "phrases"]


@dataclass(frozen=True)
class Phrases:
    """The sentences of reasons in one language. `{…}` stand for values."""

    count: str
    supported: str
    missing: str
    contradicted: str
    claim: str
    chunk: str
    chunks: str
    because: str
    between: str
    comma: str
    end: str
    nothing_retrieved: str
    no_ground_truth: str
    no_context: str
    no_claims: str
    bare_verdict: str


_PHRASES: dict[Language, Phrases] = {
    "en": Phrases(
        count="{attributed} of {total} claims are supported by the context.",
        supported="Supported: ",
        missing="Missing: ",
        contradicted="Contradicted: ",
        claim="“{text}”",
        chunk=" (chunk {chunks})",
        chunks=" (chunks {chunks})",
        because=" – {reason}",
        between="; ",
        comma=", ",
        end=".",
        nothing_retrieved="The context is empty: nothing was retrieved, so nothing of the ground truth is covered.",
        no_ground_truth="Not scorable: the sample has no ground truth, so there is nothing to look for.",
        no_context="Not scorable: the sample brings no context, and the scorer was not given any.",
        no_claims="Not scorable: the {what} states no claim that could be checked.",
        bare_verdict="not stated in the context",
    ),
    "zh-Hant": Phrases(
        count="{total} 項陳述中有 {attributed} 項得到 context 支持。",
        supported="已找到：",
        missing="缺少：",
        contradicted="與 context 矛盾：",
        claim="「{text}」",
        chunk="（chunk {chunks}）",
        chunks="（chunk {chunks}）",
        because="——{reason}",
        between="；",
        comma="、",
        end="。",
        nothing_retrieved="context 是空的：沒有擷取到任何內容，因此標準答案完全沒有被涵蓋。",
        no_ground_truth="無法評分：樣本沒有標準答案（ground truth），沒有可供核對的內容。",
        no_context="無法評分：樣本沒有 context，scorer 也沒有設定 context。",
        no_claims="無法評分：{what} 中沒有可供核對的陳述。",
        bare_verdict="context 未提及",
    ),
    "zh-Hans": Phrases(
        count="{total} 条陈述中有 {attributed} 条得到 context 支持。",
        supported="已找到：",
        missing="缺少：",
        contradicted="与 context 矛盾：",
        claim="“{text}”",
        chunk="（chunk {chunks}）",
        chunks="（chunk {chunks}）",
        because="——{reason}",
        between="；",
        comma="、",
        end="。",
        nothing_retrieved="context 是空的：没有检索到任何内容，因此标准答案完全没有被覆盖。",
        no_ground_truth="无法评分：样本没有标准答案（ground truth），没有可供核对的内容。",
        no_context="无法评分：样本没有 context，scorer 也没有设定 context。",
        no_claims="无法评分：{what} 中没有可供核对的陈述。",
        bare_verdict="context 未提及",
    ),
    "ja": Phrases(
        count="{total} 件の主張のうち {attributed} 件がコンテキスト（context）で裏付けられています。",
        supported="見つかった主張：",
        missing="欠けている主張：",
        contradicted="コンテキストと矛盾する主張：",
        claim="「{text}」",
        chunk="（チャンク {chunks}）",
        chunks="（チャンク {chunks}）",
        because="――{reason}",
        between="；",
        comma="、",
        end="。",
        nothing_retrieved="コンテキスト（context）が空です。何も検索されなかったため、正解データはまったく網羅されていません。",
        no_ground_truth="採点できません。サンプルに正解データ（ground truth）がないため、照合するものがありません。",
        no_context="採点できません。サンプルにコンテキスト（context）がなく、スコアラーにも設定されていません。",
        no_claims="採点できません。{what} に照合できる主張がありません。",
        bare_verdict="コンテキストに記載なし",
    ),
}


def phrases(language: Language) -> Phrases:
    """The sentences of a language."""
    return _PHRASES[language]


def explain_verdicts(verdicts: Sequence[Verdict], tally: Tally, language: Language) -> str:
    """Says n of total, each supported claim with its chunks, and each missing one with what is missing."""
    words = _PHRASES[language]
    supported = [v for v in verdicts if v.supported]
    contradicted = [v for v in verdicts if v.contradicted]
    missing = [v for v in verdicts if not v.supported and not v.contradicted]
    parts = [
        words.count.format(attributed=tally.attributed, total=tally.total),
        _list(words, words.supported, (_found(words, v) for v in supported)),
        _list(words, words.missing, (_lacking(words, v) for v in missing)),
        _list(words, words.contradicted, (_lacking(words, v) for v in contradicted)),
    ]
    return ("" if language.startswith("zh") or language == "ja" else " ").join(part for part in parts if part)


def _list(words: Phrases, heading: str, items: Iterable[str]) -> str:
    joined = words.between.join(items)
    return f"{heading}{joined}{words.end}" if joined else ""


def _claim(words: Phrases, verdict: Verdict) -> str:
    return words.claim.replace("{text}", verdict.claim.text.strip().rstrip(".。"))


def _found(words: Phrases, verdict: Verdict) -> str:
    chunks = supporting_chunks(verdict)
    if not chunks:
        return _claim(words, verdict)
    shape = words.chunk if len(chunks) == 1 else words.chunks
    return _claim(words, verdict) + shape.format(chunks=words.comma.join(map(str, chunks)))


def _lacking(words: Phrases, verdict: Verdict) -> str:
    reason = verdict.reason.strip().rstrip(".。") or words.bare_verdict
    return _claim(words, verdict) + words.because.replace("{reason}", reason)
