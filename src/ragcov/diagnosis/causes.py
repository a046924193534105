"""From a missed claim to the cause: what the corpus says, and where the retriever had it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeVar, cast

import msgspec

from ragcov.attribution import Evidence, Verdict, smallest_cutoff
from ragcov.claims import Claim
from ragcov.diagnosis.corpus import Corpus, join_texts
from ragcov.diagnosis.index import Bm25Index, Searcher
from ragcov.errors import FatalProviderError, JudgeError, UsageError
from ragcov.judges.base import Judge, Ledger, keep_ledger
from ragcov.messages import input_text
from ragcov.results import ItemResult, Usage, round_score
from ragcov.samples import clean_text

__all__ = ["ACTIONS", "Cause", "Diagnosis", "Finding", "Place", "diagnose"]

T = TypeVar("T")
Cause = Literal["not_retrieved", "below_k", "split", "contradicted", "not_in_corpus", "overlooked"]

ACTIONS: Mapping[Cause, tuple[str, str]] = {
    "not_retrieved": ("in the corpus, not retrieved", "improve the retriever"),
    "below_k": ("retrieved below k", "raise k or re-rank"),
    "split": ("split across chunks", "change chunk size or overlap"),
    "contradicted": ("contradicted by the corpus", "correct the label or the document"),
    "not_in_corpus": ("not in the corpus", "extend the knowledge base"),
    "overlooked": ("in a retrieved chunk", "check the judge: it decided otherwise in the run"),
}
"""By cause: its name, and what to do about it."""

RECALL = "context-recall-scorer"
_RANKING = "ranking"
# So many of the best candidates are also judged together with the chunk before and after them.
_JOINED = 5
# Judges that compare wording take a number of the same kind, about something else, for a contradiction.
_CLOSE = 0.5


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk of the corpus that matters for a claim.

    Attributes:
        id: The chunk.
        document: Its document, where the corpus says.
        quote: The passage in it.
        claim_rank: Where BM25 finds it for the claim, from 1; None when they share no word.
        question_rank: Where BM25 finds it for the sample's question, from 1; None likewise, or without question.
    """

    id: str
    document: str | None
    quote: str
    claim_rank: int | None
    question_rank: int | None


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One missed claim.

    Attributes:
        sample_id: The sample.
        claim: The claim.
        cause: Why it was missed; None when the judge could not decide, `error` then says why.
        places: The chunks that support it, or together support it, or contradict it; for a claim that is not in
            the corpus the nearest chunk, if any.
        rank: With "below_k": its place in the retrieved ranking, from 1.
        reason: The judge's words.
        error: Why the judge could not decide.
    """

    sample_id: str
    claim: Claim
    cause: Cause | None
    places: tuple[Place, ...] = ()
    rank: int | None = None
    reason: str = ""
    error: str | None = None


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """Why the claims of a run were missed.

    Attributes:
        findings: One for each missed claim, in the order of the samples.
        claims: How many claims each diagnosed sample has, by sample id: the missed and the covered ones.
        skipped: Samples without a scored recall, by id.
        failed: Samples whose claims could not be extracted, by id: why.
        judge: The judge's id.
        usage: What judging cost.
    """

    findings: tuple[Finding, ...]
    claims: dict[str, int]
    skipped: tuple[str, ...]
    failed: dict[str, str]
    judge: str
    usage: Usage

    @property
    def recalls(self) -> list[float]:
        """Recall (0 to 1, rounded as scores are) of each diagnosed sample, at k where one was given."""
        missed = Counter(finding.sample_id for finding in self.findings)
        return [round_score(1 - missed[name] / count) for name, count in self.claims.items()]

    def gain(self, cause: Cause) -> float:
        """By how much mean recall (0 to 1) would rise if no claim were missed for this cause."""
        lost = sum(1 / self.claims[finding.sample_id] for finding in self.findings if finding.cause == cause)
        return lost / len(self.claims) if self.claims else 0.0


async def diagnose(
    items: Iterable[ItemResult],
    corpus: Corpus,
    judge: Judge,
    *,
    index: Bm25Index | None = None,
    searchers: Sequence[Searcher] = (),
    k: int | None = None,
    ranking: str = _RANKING,
    candidates: int = 10,
    concurrency: int = 8,
    on_sample: Callable[[str], None] | None = None,
) -> Diagnosis:
    """Finds out why claims were missed.

    For each missed claim the best candidates of the whole corpus are judged; where none supports it alone, also with
    their neighbours. A sample whose retrieval was empty has its claims extracted first.

    Args:
        items: The rows of a run with the context recall scorer.
        corpus: All chunks.
        judge: Who decides; the run's own judge keeps verdicts comparable.
        index: A BM25 index of the corpus; None makes one in memory.
        searchers: Further ways to find candidates, for instance by embeddings; each adds its best.
        k: The retriever's cut-off, when the contexts of the run go on beyond it: claims that only later chunks
            support count as missed. None: the contexts are what was retrieved.
        ranking: The field of a sample that holds the full ranking, a list of chunk ids or texts; without it (or
            without the field) nothing is known of what the retriever ranked below its cut-off.
        candidates: How many chunks each search brings, 1 or more.
        concurrency: How many claims at a time.
        on_sample: Called with the id of each sample when it is done.

    Raises:
        UsageError: An option that can't work, or a run without context recall.
        FatalProviderError: No claim can be judged (wrong key, unknown model).
    """
    for name, value in (("k", k), ("candidates", candidates), ("concurrency", concurrency)):
        if value is not None and value < 1:
            raise UsageError(f"{name} must be 1 or more, got {value}")
    index = index or Bm25Index(corpus)
    ledger = Ledger()
    search = _Search(corpus, index, searchers, judge, k, ranking, candidates, asyncio.Semaphore(concurrency))
    rows = list(items)
    if rows and not any(RECALL in item.scorer_results for item in rows):
        raise UsageError(f"the run has no {RECALL}, so no claims of the ground truth: run it with context-recall")

    async def one(item: ItemResult) -> tuple[list[Finding], int | str | None]:
        found = await search.sample(item)
        if on_sample is not None:
            on_sample(item.sample.id)
        return found

    with keep_ledger(ledger):
        done = await _all([one(item) for item in rows])
    results = [(item.sample.id, findings, count) for item, (findings, count) in zip(rows, done, strict=True)]
    return Diagnosis(
        findings=tuple(finding for _, findings, _ in results for finding in findings),
        claims={name: count for name, _, count in results if isinstance(count, int) and count},
        skipped=tuple(name for name, _, count in results if not count),
        failed={name: count for name, _, count in results if isinstance(count, str)},
        judge=judge.id,
        usage=ledger.usage,
    )


class _Search:
    """What all claims of a run share."""

    def __init__(
        self,
        corpus: Corpus,
        index: Bm25Index,
        searchers: Sequence[Searcher],
        judge: Judge,
        k: int | None,
        ranking: str,
        candidates: int,
        slots: asyncio.Semaphore,
    ) -> None:
        self._corpus, self._index, self._searchers, self._judge = corpus, index, searchers, judge
        self._k, self._ranking, self._candidates, self._slots = k, ranking, candidates, slots

    async def sample(self, item: ItemResult) -> tuple[list[Finding], int | str | None]:
        """The findings of a sample, with how many claims it has, or why they can't be had, or None to skip it."""
        result = item.scorer_results.get(RECALL)
        if result is None or not result.scored or not item.sample.ground_truth:
            return [], None
        try:
            verdicts = result.verdicts or await self._unretrieved(item)
        except JudgeError as error:
            _stop_if_fatal(error)
            return [], str(error)
        missed = [self._claim(item, verdict) for verdict in verdicts if self._missed(verdict)]
        return await _all(missed), len(verdicts)

    async def _unretrieved(self, item: ItemResult) -> list[Verdict]:
        question = clean_text(input_text(item.sample.input)) or None
        async with self._slots:
            claims = await self._judge.extract_claims(item.sample.ground_truth or "", question=question)
        return [Verdict(claim=claim, supported=False) for claim in claims]

    def _missed(self, verdict: Verdict) -> bool:
        cutoff = smallest_cutoff(verdict)
        return not verdict.supported or (self._k is not None and cutoff is not None and cutoff > self._k)

    async def _claim(self, item: ItemResult, verdict: Verdict) -> Finding:
        cutoff = smallest_cutoff(verdict)
        question = clean_text(input_text(item.sample.input))
        view = _View(self._corpus, self._index, verdict.claim.text, question)
        finding = Finding(sample_id=item.sample.id, claim=verdict.claim, cause=None)
        if cutoff is not None:
            places = tuple(view.context(item.sample.context or [], evidence) for evidence in verdict.evidence)
            return msgspec.structs.replace(finding, cause="below_k", places=places, rank=cutoff, reason=verdict.reason)
        try:
            async with self._slots:
                return await self._search(item, finding, view)
        except JudgeError as error:
            _stop_if_fatal(error)
            return msgspec.structs.replace(finding, error=str(error))

    async def _search(self, item: ItemResult, finding: Finding, view: _View) -> Finding:
        positions = self._candidates_of(view)
        nearest = tuple(place for place in map(view.place, positions[:1]) if place.claim_rank is not None)
        if not positions:
            return msgspec.structs.replace(finding, cause="not_in_corpus", reason="no chunk shares a word with it")
        chunks = self._corpus.chunks
        (verdict,) = await self._judge.attribute([finding.claim], [chunks[position].text for position in positions])
        alone = [evidence for evidence in verdict.evidence if verdict.supported and evidence.group is None]
        if alone:
            best = sorted(alone, key=lambda evidence: view.order(positions[evidence.chunk]))
            places = tuple(view.place(positions[evidence.chunk], evidence.quote) for evidence in best)
            return self._located(item, finding, verdict, places, [chunks[positions[e.chunk]].text for e in best])
        if (split := await self._split(finding.claim, positions, view)) is not None:
            return msgspec.structs.replace(finding, cause="split", places=split)
        contradicted = verdict.contradicted and any(view.close(positions[e.chunk]) for e in verdict.evidence)
        places = tuple(view.place(positions[evidence.chunk], evidence.quote) for evidence in verdict.evidence)
        if verdict.supported:
            # The parts stand far from each other: no way to cut the documents brings them together.
            return msgspec.structs.replace(finding, cause="not_retrieved", places=places, reason=verdict.reason)
        if contradicted:
            return msgspec.structs.replace(finding, cause="contradicted", places=places, reason=verdict.reason)
        return msgspec.structs.replace(finding, cause="not_in_corpus", places=nearest, reason=verdict.reason)

    def _candidates_of(self, view: _View) -> list[int]:
        """The best by the claim, and by the claim with its question (which may name what a pronoun stands for)."""
        found = dict.fromkeys(self._index.search(view.claim, self._candidates))
        for position in list(found)[:_JOINED]:
            for neighbour in (position - 1, position + 1):
                if self._corpus.neighbours(min(position, neighbour), max(position, neighbour)):
                    found.setdefault(neighbour)
        if view.question:
            found.update(dict.fromkeys(self._index.search(f"{view.claim} {view.question}", self._candidates)))
        for searcher in self._searchers:
            found.update(dict.fromkeys(searcher.search(view.claim, self._candidates)))
        return list(found)

    def _located(
        self, item: ItemResult, finding: Finding, verdict: Verdict, places: tuple[Place, ...], texts: Sequence[str]
    ) -> Finding:
        context = item.sample.context or []
        ranks = [rank for place, text in zip(places, texts, strict=True) if (rank := _rank(place.id, text, context))]
        if ranks:
            late = self._k is not None and min(ranks) > self._k
            cause: Cause = "below_k" if late else "overlooked"
            return msgspec.structs.replace(finding, cause=cause, places=places, rank=min(ranks), reason=verdict.reason)
        full = self._full_ranking(item)
        ranks = [rank for place, text in zip(places, texts, strict=True) if (rank := _rank(place.id, text, full))]
        return msgspec.structs.replace(
            finding,
            cause="below_k" if ranks else "not_retrieved",
            places=places,
            rank=min(ranks) if ranks else None,
            reason=verdict.reason,
        )

    def _full_ranking(self, item: ItemResult) -> list[str]:
        value: Any = item.sample.extra.get(self._ranking)
        if value is None:
            return []
        if isinstance(value, list) and all(isinstance(entry, str) for entry in cast("list[Any]", value)):
            return cast("list[str]", value)
        raise UsageError(
            f'sample {item.sample.id}: the field "{self._ranking}" must be a list of chunk ids or texts, best first'
        )

    async def _split(self, claim: Claim, positions: Sequence[int], view: _View) -> tuple[Place, ...] | None:
        """Two neighbours that support the claim together, where no chunk does alone; None without any."""
        pairs = sorted(
            {
                pair
                for position in positions[:_JOINED]
                for pair in pairwise((position - 1, position, position + 1))
                if self._corpus.neighbours(*pair)
            },
            key=lambda pair: min(view.order(pair[0]), view.order(pair[1])),
        )
        if not pairs:
            return None
        chunks = self._corpus.chunks
        texts = [join_texts(chunks[first].text, chunks[second].text) for first, second in pairs]
        (verdict,) = await self._judge.attribute([claim], texts)
        enough = [evidence.chunk for evidence in verdict.evidence if verdict.supported and evidence.group is None]
        return tuple(view.place(position) for position in pairs[min(enough)]) if enough else None


class _View:
    """The corpus as seen from one claim."""

    def __init__(self, corpus: Corpus, index: Bm25Index, claim: str, question: str) -> None:
        self._corpus, self._index = corpus, index
        self.claim, self.question = claim, question

    def order(self, position: int) -> tuple[int, int]:
        rank = self._index.rank(self.claim, position)
        return (rank if rank is not None else len(self._corpus) + 1, position)

    def close(self, position: int) -> bool:
        """Whether a chunk is about what the claim is about, so that another number in it is another answer."""
        return self._index.closeness(self.claim, position) >= _CLOSE

    def place(self, position: int, quote: str | None = None) -> Place:
        chunk = self._corpus.chunks[position]
        return Place(
            id=chunk.id,
            document=chunk.document,
            quote=chunk.text if quote is None else quote,
            claim_rank=self._index.rank(self.claim, position),
            question_rank=self._index.rank(self.question, position) if self.question else None,
        )

    def context(self, context: Sequence[str], evidence: Evidence) -> Place:
        """A retrieved chunk, found again in the corpus by its text where it stands there."""
        text = _plain(context[evidence.chunk]) if evidence.chunk < len(context) else ""
        for position in self._index.search(evidence.quote, 20):
            if text and _plain(self._corpus.chunks[position].text) == text:
                return self.place(position, evidence.quote)
        return Place(
            id=f"context[{evidence.chunk}]", document=None, quote=evidence.quote, claim_rank=None, question_rank=None
        )


def _plain(text: str) -> str:
    return " ".join(text.split())


def _rank(chunk_id: str, text: str, ranking: Sequence[str]) -> int | None:
    """Where a chunk stands in a ranking of ids or texts, from 1; a longer chunk that holds its text counts as it."""
    words = _plain(text)
    for rank, entry in enumerate(ranking, 1):
        if entry == chunk_id or (words and words in _plain(entry)):
            return rank
    return None


async def _all(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """All results in order; the first that raises stops the others, and is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
    except BaseExceptionGroup as problems:
        raise problems.exceptions[0] from None
    return [task.result() for task in tasks]


def _stop_if_fatal(error: JudgeError) -> None:
    if isinstance(error, FatalProviderError):
        raise error
