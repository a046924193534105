"""A corpus with planted causes: for each claim the cause is known because its document was written so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from ragcov.claims import Claim
from ragcov.diagnosis import Cause, Corpus, CorpusChunk
from ragcov.judges import Judge
from ragcov.results import ItemResult, ScorerResult, Tally
from ragcov.samples import Sample

ROWS = Path(__file__).with_name("planted.jsonl")
LAST_RANK = 4


class Planted(NamedTuple):
    corpus: Corpus
    items: list[ItemResult]
    causes: dict[str, Cause]
    languages: dict[str, str]


async def planted(judge: Judge) -> Planted:
    """Each row is a document: chunk 0 is what the retriever brought, the others hold what the cause needs.

    "not_retrieved": a later chunk states the claim. "below_k": likewise, and the sample's full ranking holds it.
    "split": two chunks that follow each other state it, cut in the middle. "contradicted": a later chunk states it
    otherwise. "not_in_corpus": the document is about the same subject, and silent about the claim. The judge decides
    about chunk 0, as in a run; a claim that it takes for covered there is not missed.
    """
    rows: list[dict[str, Any]] = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]
    corpus = Corpus(
        CorpusChunk(f"{row['id']}/{number}", text, row["id"])
        for row in rows
        for number, text in enumerate(row["chunks"])
    )
    return Planted(
        corpus,
        [await item(index, row, rows, judge) for index, row in enumerate(rows)],
        {row["id"]: row["cause"] for row in rows},
        {row["id"]: row["language"] for row in rows},
    )


async def item(index: int, row: dict[str, Any], rows: list[dict[str, Any]], judge: Judge) -> ItemResult:
    claim = Claim(row["claim"], (0, len(row["claim"])), "c1")
    extra: dict[str, Any] = {}
    if row["cause"] == "below_k":
        others = [f"{rows[(index + step) % len(rows)]['id']}/0" for step in range(1, LAST_RANK - 1)]
        extra["ranking"] = [f"{row['id']}/0", *others, f"{row['id']}/{len(row['chunks']) - 1}"]
    sample = Sample(
        id=row["id"], input=row["question"], ground_truth=row["claim"], context=[row["chunks"][0]], extra=extra
    )
    verdicts = await judge.attribute([claim], [row["chunks"][0]])
    result = ScorerResult(
        scorer_id="context-recall-scorer",
        state="scored",
        score=float(verdicts[0].supported),
        tally=Tally(int(verdicts[0].supported), 1),
        claims=(claim,),
        verdicts=tuple(verdicts),
        judge=judge.id,
    )
    return ItemResult(index=index, sample=sample, scorer_results={result.scorer_id: result})
