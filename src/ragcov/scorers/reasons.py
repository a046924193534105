"""Reasons, written from verdicts in the language of the text that was split into claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ragcov.attribution import Verdict, supporting_chunks
from ragcov.language import Language
from ragcov.results import Tally

__all__ = ["Phrases", "explain_verdicts", "join_sentences", "phrases", "quote_claim"]


@dataclass(frozen=True)
class Phrases:
    """The sentences of reasons in one language. `{…}` stand for values."""

    count: str
    supported: str
    missing: str
    unsure: str
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
    no_output: str
    no_expected: str
    no_question: str
    no_context: str
    no_chunks: str
    no_claims: str
    bare_verdict: str


_PHRASES: dict[Language, Phrases] = {
    "en": Phrases(
        count="{attributed} of {total} claims are supported by the context.",
        supported="Supported: ",
        missing="Missing: ",
        unsure="Not stated in the context: ",
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
        no_output="Not scorable: the sample has no output, so there is nothing to check.",
        no_expected="Not scorable: the sample has neither ground truth nor output, so no chunk can be judged by it.",
        no_question="Not scorable: the sample has no question, so no chunk can be relevant to it.",
        no_context="Not scorable: the sample brings no context, and the scorer was not given any.",
        no_chunks="Not scorable: nothing was retrieved, so there is no chunk to judge.",
        no_claims="Not scorable: the {what} states no claim that could be checked.",
        bare_verdict="not stated in the context",
    ),
    "zh-Hant": Phrases(
        count="{total} 項陳述中有 {attributed} 項得到 context 支持。",
        supported="已找到：",
        missing="缺少：",
        unsure="context 未提及：",
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
        no_output="無法評分：樣本沒有輸出（output），沒有可供核對的內容。",
        no_expected="無法評分：樣本既沒有標準答案（ground truth），也沒有輸出（output），無從判斷 chunk 是否相關。",
        no_question="無法評分：樣本沒有問題（input），無從判斷 chunk 是否相關。",
        no_context="無法評分：樣本沒有 context，scorer 也沒有設定 context。",
        no_chunks="無法評分：沒有擷取到任何內容，沒有 chunk 可供判斷。",
        no_claims="無法評分：{what} 中沒有可供核對的陳述。",
        bare_verdict="context 未提及",
    ),
    "zh-Hans": Phrases(
        count="{total} 条陈述中有 {attributed} 条得到 context 支持。",
        supported="已找到：",
        missing="缺少：",
        unsure="context 未提及：",
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
        no_output="无法评分：样本没有输出（output），没有可供核对的内容。",
        no_expected="无法评分：样本既没有标准答案（ground truth），也没有输出（output），无从判断 chunk 是否相关。",
        no_question="无法评分：样本没有问题（input），无从判断 chunk 是否相关。",
        no_context="无法评分：样本没有 context，scorer 也没有设定 context。",
        no_chunks="无法评分：没有检索到任何内容，没有 chunk 可供判断。",
        no_claims="无法评分：{what} 中没有可供核对的陈述。",
        bare_verdict="context 未提及",
    ),
    "ja": Phrases(
        count="{total} 件の主張のうち {attributed} 件がコンテキスト（context）で裏付けられています。",
        supported="見つかった主張：",
        missing="欠けている主張：",
        unsure="コンテキストに記載のない主張：",
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
        no_output="採点できません。サンプルに出力（output）がないため、照合するものがありません。",
        no_expected="採点できません。ground truth も output もないため、チャンクの関連性を判定できません。",
        no_question="採点できません。サンプルに質問（input）がないため、チャンクの関連性を判定できません。",
        no_context="採点できません。サンプルにコンテキスト（context）がなく、スコアラーにも設定されていません。",
        no_chunks="採点できません。何も検索されなかったため、判定するチャンクがありません。",
        no_claims="採点できません。{what} に照合できる主張がありません。",
        bare_verdict="コンテキストに記載なし",
    ),
}


def phrases(language: Language) -> Phrases:
    """The sentences of a language."""
    return _PHRASES[language]


def explain_verdicts(
    verdicts: Sequence[Verdict],
    tally: Tally,
    language: Language,
    *,
    unsupported: Literal["missing", "unsure"] = "missing",
) -> str:
    """Says n of total, each supported claim with its chunks, and each other one with what is missing.

    Args:
        verdicts: One for each claim.
        tally: Their counts.
        language: Of the sentences.
        unsupported: What a claim is that the chunks neither state nor contradict: missing from them (a claim of the
            right answer), or unsure (a claim of the output).
    """
    words = _PHRASES[language]
    supported = [v for v in verdicts if v.supported]
    contradicted = [v for v in verdicts if v.contradicted]
    others = [v for v in verdicts if not v.supported and not v.contradicted]
    heading = words.missing if unsupported == "missing" else words.unsure
    parts = [
        words.count.format(attributed=tally.attributed, total=tally.total),
        _list(words, words.supported, (_found(words, v) for v in supported)),
        _list(words, heading, (_lacking(words, v) for v in others)),
        _list(words, words.contradicted, (_lacking(words, v) for v in contradicted)),
    ]
    return join_sentences(parts, language)


def join_sentences(sentences: Iterable[str], language: Language) -> str:
    """Sentences in a row, blank ones left out, with the space between them that the language wants."""
    return ("" if language.startswith("zh") or language == "ja" else " ").join(part for part in sentences if part)


def quote_claim(text: str, language: Language) -> str:
    """A claim in quotation marks, without its full stop."""
    return _PHRASES[language].claim.replace("{text}", text.strip().rstrip(".。"))


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
