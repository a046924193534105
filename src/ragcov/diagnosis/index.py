"""Search over the whole corpus by BM25, with an index that is kept on disk. Needs `ragcov[diagnose]`."""

from __future__ import annotations

import importlib
import re
import shutil
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import add
from pathlib import Path
from typing import Any, Protocol

from ragcov.database import default_location, is_url
from ragcov.diagnosis.corpus import Corpus
from ragcov.errors import StoreError, UsageError
from ragcov.judges.offline.words import STOP, plain_form, stem
from ragcov.language import fold_han

__all__ = ["Bm25Index", "Searcher", "index_directory", "tokens"]

# Part of the key of an index on disk: another way to cut texts into tokens makes other indexes.
_TOKENS_VERSION = "1"
_CJK = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"\d+(?:[.,]\d+)*|[{_CJK}]+|[^\W\d_{_CJK}]+")
_FIRST_CJK = "\u3005"


class Searcher(Protocol):
    """What finds candidates for a claim: BM25, or an index of embeddings of your own."""

    def search(self, query: str, n: int) -> Sequence[int]:
        """Positions in the corpus of at most n chunks, best first."""
        ...


def tokens(text: str) -> Iterator[str]:
    """What BM25 counts: stemmed words without the commonest, numbers, and pairs of Chinese and Japanese characters.

    Traditional, Simplified and Japanese forms of a character count as one; a single character between other
    characters stands for itself.
    """
    folded = text if text.isascii() else fold_han(unicodedata.normalize("NFKC", text))
    for token in _TOKEN.findall(folded):
        if token[0] >= _FIRST_CJK:
            yield from map(add, token, token[1:]) if len(token) > 1 else (token,)
        elif (word := _word(token)) is not None:
            yield word


@lru_cache(maxsize=262_144)
def _word(token: str) -> str | None:
    if token[0].isdigit():
        return token.replace(",", "")
    word = plain_form(token)
    return None if word in STOP else stem(word)


def index_directory() -> Path | None:
    """Where indexes are kept: in `.ragcov`, or in the directory that RAGCOV_CACHE names; None when that is off."""
    location = default_location()
    if location is None:
        return None
    return (Path(".ragcov") if is_url(location) else Path(location)) / "corpus"


class Bm25Index:
    """BM25 over a corpus. Made once and then loaded from the directory, as long as the texts are the same.

    What is kept on disk are arrays and JSON, never pickles: loading an index runs no code.

    Args:
        corpus: The corpus.
        directory: Where indexes are kept; None keeps it in memory.

    Attributes:
        loaded: Whether it came from the disk.

    Raises:
        UsageError: When bm25s is missing.
        StoreError: When the directory can't be written.
    """

    def __init__(self, corpus: Corpus, directory: Path | None = None) -> None:
        self._bm25s = _bm25s()
        self._np: Any = importlib.import_module("numpy")
        self._size = len(corpus)
        self._last: tuple[str, Any] | None = None
        place = None
        if directory is not None:
            place = directory / f"{corpus.digest()}-{_TOKENS_VERSION}-{self._bm25s.__version__}"
        index = self._load(place) if place is not None else None
        self.loaded = index is not None
        self._index: Any = index if index is not None else self._build(corpus)
        if place is not None and not self.loaded:
            self._save(place)

    def search(self, query: str, n: int) -> list[int]:
        """Positions of at most n chunks that share a token with the query, best first; ties in corpus order."""
        scores = self._scores(query)
        count = min(n, int((scores > 0).sum()))
        if not count:
            return []
        least = self._np.partition(scores, self._size - count)[self._size - count]
        found = self._np.flatnonzero((scores >= least) & (scores > 0))
        return found[self._np.argsort(-scores[found], kind="stable")][:count].tolist()

    def rank(self, query: str, position: int) -> int | None:
        """At which place, from 1, BM25 finds this chunk; None when it shares no token with the query."""
        scores = self._scores(query)
        score = scores[position]
        if score <= 0:
            return None
        return 1 + int((scores > score).sum()) + int((scores[:position] == score).sum())

    def closeness(self, query: str, position: int) -> float:
        """The chunk's score in shares (0 to 1) of the best chunk's; 0.0 when none shares a token with the query."""
        scores = self._scores(query)
        best = float(scores.max())
        return float(scores[position]) / best if best > 0 else 0.0

    def _scores(self, query: str) -> Any:
        # Ranks are asked for right after a search for the same query.
        if self._last is None or self._last[0] != query:
            ids: list[int] = self._index.get_tokens_ids(sorted(set(tokens(query))))
            scores = self._index.get_scores_from_ids(ids) if ids else self._np.zeros(self._size)
            self._last = (query, scores)
        return self._last[1]

    def _build(self, corpus: Corpus) -> Any:
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        ids = [list(map(numbers.__getitem__, tokens(chunk.text))) for chunk in corpus.chunks]
        vocabulary = dict(numbers)
        if not vocabulary:
            # An index of nothing can't be made: a token that no query holds stands in.
            vocabulary[""] = 0
            ids[0] = [0]
        index = self._bm25s.BM25(backend="numpy")
        index.index((ids, vocabulary), show_progress=False)
        return index

    def _load(self, place: Path) -> Any:
        """The index kept there; None when there is none, or it is damaged and has to be made again."""
        if not place.is_dir():
            return None
        try:
            index = self._bm25s.BM25.load(place, load_corpus=False, mmap=True, allow_pickle=False)
        except (OSError, ValueError, KeyError, EOFError):
            return None
        return index if index.scores["num_docs"] == self._size else None

    def _save(self, place: Path) -> None:
        try:
            home = place.parent.parent
            if not home.is_dir():
                home.mkdir(parents=True)
                (home / ".gitignore").write_text("*\n", encoding="utf-8")
            place.parent.mkdir(exist_ok=True)
            made = Path(tempfile.mkdtemp(prefix=".new-", dir=place.parent))
            try:
                self._index.save(made, corpus=None, allow_pickle=False, show_progress=False)
                if place.exists():
                    shutil.rmtree(place)
                made.replace(place)
            finally:
                shutil.rmtree(made, ignore_errors=True)
        except OSError as error:
            raise StoreError(
                f"the index of the corpus can't be kept in {place.parent}: {error.strerror or error}; "
                "set RAGCOV_CACHE to another directory, or to off"
            ) from error


def _bm25s() -> Any:
    try:
        return importlib.import_module("bm25s")
    except ModuleNotFoundError as error:
        if error.name != "bm25s":
            raise
        raise UsageError('searching a corpus needs bm25s: pip install "ragcov[diagnose]"') from error
