"""A fixed run, made by hand, that has one of everything a report must show."""

from __future__ import annotations

from ragcov.attribution import Evidence, Verdict
from ragcov.claims import Claim
from ragcov.results import Failure, ItemResult, RunInfo, ScorerResult, Tally, Usage
from ragcov.samples import Sample

RECALL, FAITHFUL, PRECISION = "context-recall-scorer", "faithfulness-scorer", "context-precision-scorer"
HOSTILE = '</style></script><script>document.title="owned"</script><img src=x onerror="document.title=1">\u202edetrever'

INFO = RunInfo(
    version="0.0.0",
    dataset="notes/<b>data</b>.jsonl",
    scorers=(RECALL, PRECISION, FAITHFUL),
    judges=("scripted",),
    settings={"timeout": 120.0, "scorers": {RECALL: {"scale": 1.0}}},
)


def claim(text: str, source: str, number: int, passage: str | None = None) -> Claim:
    start = source.find(passage or text)
    span = (start, start + len(passage or text)) if start >= 0 else None
    return Claim(text, span, f"c{number}")


def quoting(chunks: list[str], chunk: int, quote: str, group: int | None = None) -> Evidence:
    start = chunks[chunk].index(quote)
    return Evidence(chunk, (start, start + len(quote)), quote, group)


def scored(scorer_id: str, verdicts: list[Verdict], *, calls: int = 2) -> ScorerResult:
    tally = Tally(sum(verdict.supported for verdict in verdicts), len(verdicts))
    return ScorerResult(
        scorer_id=scorer_id,
        state="scored",
        score=tally.score(),
        reason="as the verdicts say",
        tally=tally,
        claims=tuple(verdict.claim for verdict in verdicts),
        verdicts=tuple(verdicts),
        usage=Usage(calls=calls, cached_calls=1, input_tokens=1200, output_tokens=90),
        judge="scripted",
    )


def plain_score(scorer_id: str, score: float, reason: str) -> ScorerResult:
    return ScorerResult(scorer_id=scorer_id, state="scored", score=score, reason=reason, judge="scripted")


def ulm() -> ItemResult:
    truth = "Einstein was born in Ulm. He moved to Princeton in 1933. He won the Nobel Prize."
    output = "He was born in Ulm. He liked jazz."
    chunks = [
        "Einstein was born on 14 March 1879 in Ulm.",
        "In 1933 he left.",
        "He settled in Princeton.",
        "Tea is hot.",
    ]
    verdicts = [
        Verdict(claim=claim("Einstein was born in Ulm.", truth, 1), supported=True, evidence=(
            quoting(chunks, 0, "born on 14 March 1879 in Ulm"),), confidence=0.98),
        Verdict(claim=claim("Einstein moved to Princeton in 1933.", truth, 2, "He moved to Princeton in 1933."),
                supported=True, evidence=(quoting(chunks, 1, "1933", 1), quoting(chunks, 2, "in Princeton", 1))),
        Verdict(claim=claim("Einstein won the Nobel Prize.", truth, 3, "He won the Nobel Prize."), supported=False,
                reason="no prize is named"),
    ]  # fmt: skip
    spoken = [
        Verdict(claim=claim("Einstein was born in Ulm.", output, 1, "He was born in Ulm."), supported=True,
                evidence=(quoting(chunks, 0, "in Ulm"),)),
        Verdict(claim=claim("Einstein liked jazz.", output, 2, "He liked jazz."), supported=False),
    ]  # fmt: skip
    results = {
        RECALL: scored(RECALL, verdicts),
        PRECISION: plain_score(PRECISION, 0.75, "chunks 0, 1 and 2 of 4 are relevant"),
        FAITHFUL: scored(FAITHFUL, spoken, calls=0),
    }
    sample = Sample(id="ulm", input="Who was Einstein?", ground_truth=truth, output=output, context=chunks)
    return ItemResult(index=0, sample=sample, scorer_results=results)


def temple() -> ItemResult:
    truth = "龍山寺建於1738年。寺內供奉觀世音菩薩。"
    chunks = ["艋舺龍山寺建於1740年，主祀觀世音菩薩。", "台北101高508公尺。"]
    verdicts = [
        Verdict(claim=claim("龍山寺建於1738年。", truth, 1), supported=False, contradicted=True,
                evidence=(quoting(chunks, 0, "建於1740年"),), reason="context 說是1740年"),
        Verdict(claim=claim("寺內供奉觀世音菩薩。", truth, 2), supported=True,
                evidence=(quoting(chunks, 0, "主祀觀世音菩薩"),)),
    ]  # fmt: skip
    sample = Sample(id="龍山寺", input="龍山寺供奉誰？", ground_truth=truth, context=chunks)
    return ItemResult(index=1, sample=sample, scorer_results={RECALL: scored(RECALL, verdicts)})


def fuji() -> ItemResult:
    truth = "富士山の高さは3776メートルである。"
    chunks = ["富士山の高さは3776メートルです。", "富士山は標高3776メートルの山。"]
    verdict = Verdict(claim=claim(truth, truth, 1), supported=True, evidence=(
        quoting(chunks, 0, "富士山の高さは3776メートル"), quoting(chunks, 1, "標高3776メートル")))  # fmt: skip
    sample = Sample(id="富士山", input="富士山の高さは？", ground_truth=truth, context=chunks)
    return ItemResult(index=2, sample=sample, scorer_results={RECALL: scored(RECALL, [verdict])})


def hostile() -> ItemResult:
    truth = f"{HOSTILE} is a claim. مرحبا بالعالم is another."
    chunks = [
        HOSTILE + " x" * 3000 + " the needle " + "y " * 3000,
        "مرحبا بالعالم \x00\x07 nul and bell",
        "",
        "a" * 9000,
    ]
    verdicts = [
        Verdict(claim=claim("the needle", truth, 1, HOSTILE), supported=True,
                evidence=(quoting(chunks, 0, "the needle"),)),
        Verdict(claim=claim("مرحبا بالعالم is another.", truth, 2), supported=False,
                evidence=(quoting(chunks, 1, "مرحبا بالعالم"),), reason=HOSTILE),
    ]  # fmt: skip
    sample = Sample(id=HOSTILE[:40], input=HOSTILE, ground_truth=truth, context=chunks)
    return ItemResult(index=3, sample=sample, scorer_results={RECALL: scored(RECALL, verdicts)})


def others() -> list[ItemResult]:
    blank = ScorerResult(
        scorer_id=RECALL,
        state="not_scorable",
        score=0.0,
        reason="Not scorable: the sample has no ground truth, so there is nothing to look for.",
        warnings=("no ground truth: the row is left out of the mean",),
    )
    broken = ScorerResult(
        scorer_id=RECALL,
        state="failed",
        score=None,
        error=Failure("UnreadableReplyError", "no readable verdict for c1, asked 3 times", "analyze"),
        usage=Usage(calls=3, input_tokens=900, output_tokens=10),
        judge="scripted",
    )
    empty = ScorerResult(
        scorer_id=RECALL,
        state="scored",
        score=0.0,
        reason="The context is empty: nothing was retrieved, so nothing of the ground truth is covered.",
    )
    down = Failure("TargetError", "ConnectionError: index is down", "target")
    return [
        ItemResult(index=4, sample=Sample(id="no-truth", input="?", context=["x"]), scorer_results={RECALL: blank}),
        ItemResult(
            index=5,
            sample=Sample(id="broken", input="Why?", ground_truth="Because.", context=["Because."]),
            scorer_results={RECALL: broken},
        ),
        ItemResult(
            index=6,
            sample=Sample(id="empty", input="What?", ground_truth="That.", context=[]),
            scorer_results={RECALL: empty},
        ),
        ItemResult(index=7, sample=Sample(id="down", input="When?", ground_truth="Now."), error=down),
    ]


def small_run() -> list[ItemResult]:
    return [ulm(), temple(), fuji(), hostile(), *others()]
