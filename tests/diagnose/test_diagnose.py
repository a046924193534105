"""`ragcov diagnose`: planted causes, options, what goes wrong."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from diagnose.planted import planted
from ragcov import load_judge
from ragcov.attribution import Verdict, locate
from ragcov.claims import Claim
from ragcov.cli import main
from ragcov.diagnosis import Corpus, CorpusChunk, Diagnosis, Finding, diagnose
from ragcov.diagnosis.text import actions, diagnosis_lines
from ragcov.errors import FatalProviderError, JudgeError, UsageError
from ragcov.reports.files import write_results
from ragcov.results import ItemResult, RunInfo, ScorerResult
from ragcov.samples import Sample
from ragcov.testing import ScriptedJudge

RECALL = "context-recall-scorer"
TEXTS = ["Harn has a castle.", "The castle was built in 1274.", "The ferry to Skell takes an hour.", "港口很大。"]
CORPUS = Corpus(CorpusChunk(f"d{number}", text, f"d{number}") for number, text in enumerate(TEXTS))


def missed(
    claim: str, *, name: str = "x", context: list[str] | None = None, verdicts: bool = True, **extra: object
) -> ItemResult:
    verdict = Verdict(claim=Claim(claim, id="c1"), supported=False)
    result = ScorerResult(
        scorer_id=RECALL, state="scored", score=0.0, verdicts=(verdict,) if verdicts else (), judge="scripted"
    )
    sample = Sample(id=name, input="Castle?", ground_truth=claim, context=context or [], extra=dict(extra))
    return ItemResult(index=0, sample=sample, scorer_results={RECALL: result})


async def one(item: ItemResult, judge: ScriptedJudge | None = None, corpus: Corpus = CORPUS, **options: int) -> Finding:
    (finding,) = (await diagnose([item], corpus, judge or ScriptedJudge(), **options)).findings
    return finding


async def test_planted_causes_are_named_in_three_languages() -> None:
    judge = load_judge("offline")
    data = await planted(judge)
    diagnosis = await diagnose(data.items, data.corpus, judge)
    assert len(data.causes) >= 40
    right = Counter(
        data.languages[finding.sample_id]
        for finding in diagnosis.findings
        if finding.cause == data.causes[finding.sample_id]
    )
    assert {language: right[language] >= 12 for language in ("en", "zh-Hant", "ja")} == dict.fromkeys(right, True)
    for cause in ("not_retrieved", "below_k", "split", "contradicted", "not_in_corpus"):
        planted_so = {name for name, planted_cause in data.causes.items() if planted_cause == cause}
        found_so = {finding.sample_id for finding in diagnosis.findings if finding.cause == cause}
        assert len(planted_so & found_so) >= 7, cause


async def test_in_the_corpus_not_retrieved_names_the_chunk_and_its_ranks() -> None:
    finding = await one(missed("The castle was built in 1274", context=[TEXTS[2]]))
    assert finding.cause == "not_retrieved"
    (place,) = finding.places
    assert (place.id, place.claim_rank) == ("d1", 1)
    assert place.question_rank in (1, 2)
    assert place.quote == "The castle was built in 1274"


async def test_nowhere_in_the_corpus() -> None:
    finding = await one(missed("The castle has nine towers"))
    assert finding.cause == "not_in_corpus"
    finding = await one(missed("Wombats gnaw"))
    assert (finding.cause, finding.places) == ("not_in_corpus", ())


@pytest.mark.parametrize("entry", ["d1", TEXTS[1]])
async def test_below_k_by_the_ranking_of_the_sample(entry: str) -> None:
    finding = await one(missed("The castle was built in 1274", context=[TEXTS[2]], ranking=["d2", "d0", entry]))
    assert (finding.cause, finding.rank) == ("below_k", 3)


async def test_below_k_by_a_smaller_k() -> None:
    verdict = Verdict(
        claim=Claim("The castle was built in 1274"), supported=True, evidence=(locate(TEXTS, 1, 0, len(TEXTS[1])),)
    )
    result = ScorerResult(scorer_id=RECALL, state="scored", score=1.0, verdicts=(verdict,))
    item = ItemResult(index=0, sample=Sample(id="x", ground_truth="y", context=TEXTS), scorer_results={RECALL: result})
    finding = await one(item, k=1)
    assert (finding.cause, finding.rank, finding.places[0].id) == ("below_k", 2, "d1")
    diagnosis = await diagnose([item], CORPUS, ScriptedJudge(), k=2)
    assert diagnosis.findings == ()
    assert diagnosis.recalls == [1.0]


async def test_split_needs_neighbours_of_one_document() -> None:
    halves = ["The castle was", "built in 1274."]
    item = missed("The castle was built in 1274")
    together = Corpus(CorpusChunk(str(number), text, "d") for number, text in enumerate(halves))
    finding = await one(item, corpus=together)
    assert finding.cause == "split"
    assert [place.id for place in finding.places] == ["0", "1"]
    apart = Corpus(CorpusChunk(str(number), text, f"d{number}") for number, text in enumerate(halves))
    assert (await one(item, corpus=apart)).cause == "not_in_corpus"


async def test_contradicted_by_the_corpus() -> None:
    judge = ScriptedJudge(verdicts=lambda claim, chunks: "contradicted")
    finding = await one(missed("The castle was built in 1300"), judge)
    assert finding.cause == "contradicted"


async def test_a_supporting_chunk_that_was_retrieved_points_at_the_judge() -> None:
    finding = await one(missed("The castle was built in 1274", context=[TEXTS[1]]))
    assert (finding.cause, finding.rank) == ("overlooked", 1)


async def test_claims_of_an_empty_retrieval_are_extracted() -> None:
    item = missed("The castle was built in 1274. Wombats gnaw.", verdicts=False)
    diagnosis = await diagnose([item], CORPUS, ScriptedJudge())
    assert [finding.cause for finding in diagnosis.findings] == ["not_retrieved", "not_in_corpus"]
    assert diagnosis.claims == {"x": 2}
    assert diagnosis.gain("not_retrieved") == 0.5


async def test_one_claim_that_can_not_be_judged_costs_no_other() -> None:
    items = [missed("The castle was built in 1274", name="a"), missed("The ferry to Skell takes an hour", name="b")]
    judge = ScriptedJudge(faults={"ferry": JudgeError("no answer")})
    diagnosis = await diagnose(items, CORPUS, judge)
    assert [(finding.cause, finding.error) for finding in diagnosis.findings] == [
        ("not_retrieved", None),
        (None, "no answer"),
    ]
    assert diagnosis.usage.calls == judge.calls
    assert "failed (1): the judge could not decide" in "\n".join(diagnosis_lines(diagnosis))


async def test_a_wrong_key_stops_at_once() -> None:
    judge = ScriptedJudge(faults={"castle": FatalProviderError("wrong key")})
    with pytest.raises(FatalProviderError, match="wrong key"):
        await diagnose([missed("The castle was built in 1274")], CORPUS, judge)


async def test_a_further_search_adds_its_candidates() -> None:
    class Synonyms:
        def search(self, query: str, n: int) -> list[int]:
            return [3]

    judge = ScriptedJudge(verdicts=lambda claim, chunks: any("港口" in chunk for chunk in chunks))
    alone = await diagnose([missed("The harbour is big")], CORPUS, judge)
    helped = await diagnose([missed("The harbour is big")], CORPUS, judge, searchers=[Synonyms()])
    assert alone.findings[0].cause == "not_in_corpus"
    assert helped.findings[0].cause == "not_retrieved"


@pytest.mark.parametrize("options", [{"k": 0}, {"candidates": 0}, {"concurrency": 0}])
async def test_options_that_can_not_work(options: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="must be 1 or more"):
        await one(missed("x"), **options)


async def test_a_ranking_that_is_none_is_named() -> None:
    with pytest.raises(UsageError, match=r'sample x: the field "ranking" must be a list'):
        await one(missed("The castle was built in 1274", ranking="d1"))


async def test_a_run_without_recall_is_refused() -> None:
    item = ItemResult(index=0, sample=Sample(id="x"), scorer_results={})
    with pytest.raises(UsageError, match="run it with context-recall"):
        await diagnose([item], CORPUS, ScriptedJudge())


def test_the_three_actions_are_those_that_gain_most() -> None:
    causes = ["not_retrieved", "split", "split", "contradicted", "not_in_corpus", "not_in_corpus", "not_in_corpus"]
    findings = tuple(
        Finding(sample_id=f"s{number}", claim=Claim("c"), cause=cause)  # pyright: ignore[reportArgumentType]
        for number, cause in enumerate(causes)
    )
    claims = {f"s{number}": 1 for number in range(7)}
    claims["s3"] = 4
    diagnosis = Diagnosis(
        findings=findings,
        claims=claims,
        skipped=(),
        failed={},
        judge="j",
        usage=ScorerResult(scorer_id="", state="scored", score=0.0).usage,
    )
    first, second, third = actions(diagnosis)
    assert first.startswith("Extend the knowledge base (3 claims, up to +0.43 mean recall)")
    assert second.startswith("Chunk with more overlap")
    assert third.startswith("Improve the retriever (1 claim, up to +0.14")


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"id": c.id, "text": c.text}) + "\n" for c in CORPUS.chunks), encoding="utf-8")
    info = RunInfo(version="1", scorers=(RECALL,), judges=("offline@1",))
    rows = [missed("The castle was built in 1274."), missed("Wombats\x1b[31m gnaw.", name="y")]
    write_results("run.jsonl", info, rows)
    assert main(["diagnose", "run.jsonl", "--corpus", "corpus.jsonl", "--out", "findings.jsonl"]) == 0
    first = capsys.readouterr().out
    assert "missed: 2 of 2 claims in 2 samples" in first
    assert "in the corpus, not retrieved (1): improve the retriever" in first
    assert "1. " in first
    assert "\x1b" not in first
    findings = [json.loads(line) for line in (tmp_path / "findings.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [finding["cause"] for finding in findings] == ["not_retrieved", "not_in_corpus"]
    assert main(["diagnose", "run.jsonl", "--corpus", "corpus.jsonl"]) == 0
    again = capsys.readouterr().out
    assert "(index from the cache)" in again
    assert again.replace(" (index from the cache)", "") == first
    assert main(["diagnose", "run.jsonl", "--corpus", "missing"]) == 2
    assert main(["diagnose", "run.jsonl", "--corpus", "corpus.jsonl", "--k", "0"]) == 2


def test_a_judge_that_is_gone_asks_for_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"id": "1", "text": "x"}\n', encoding="utf-8")
    run = tmp_path / "run.jsonl"
    write_results(run, RunInfo(version="1", scorers=(RECALL,), judges=("nowhere/model",)), [missed("x y")])
    assert main(["diagnose", str(run), "--corpus", str(corpus)]) == 2
    assert "--judge" in capsys.readouterr().err
    assert main(["diagnose", str(run), "--corpus", str(corpus), "--judge", "offline"]) == 0
