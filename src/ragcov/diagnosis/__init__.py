"""Why a claim was missed: searches the whole corpus for it and asks a judge about what is found."""

from ragcov.diagnosis.causes import ACTIONS, Cause, Diagnosis, Finding, Place, diagnose
from ragcov.diagnosis.corpus import Corpus, CorpusChunk, read_corpus
from ragcov.diagnosis.index import Bm25Index, Searcher

__all__ = [
    "ACTIONS",
    "Bm25Index",
    "Cause",
    "Corpus",
    "CorpusChunk",
    "Diagnosis",
    "Finding",
    "Place",
    "Searcher",
    "diagnose",
    "read_corpus",
]
