"""How often `ragcov diagnose` names the planted cause: a confusion matrix over the planted corpus.

    python bench/diagnose_causes.py [--judge MODEL] [--search-time]

`--search-time` also builds an index of 100,000 made-up chunks and searches it.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from ragcov import load_judge
from ragcov.diagnosis import ACTIONS, Bm25Index, Corpus, CorpusChunk, Diagnosis, diagnose

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "diagnose"))
from planted import Planted, planted

COLUMNS = ("not_retrieved", "below_k", "split", "contradicted", "not_in_corpus", "overlooked", "covered")
COVERED = COLUMNS[-1]
SYLLABLES = [consonant + vowel for consonant in "bdklmr" for vowel in "aeiou"]
HAN = "山水火木金土日月人口手足目耳心石田禾竹米糸羊羽老而耒"


async def diagnosed(name: str) -> tuple[Planted, Diagnosis]:
    judge = load_judge(name)
    data = await planted(judge)
    return data, await diagnose(data.items, data.corpus, judge)


def matrix(judge: str) -> None:
    data, diagnosis = asyncio.run(diagnosed(judge))
    found = {finding.sample_id: str(finding.cause) for finding in diagnosis.findings}
    counts = Counter((cause, found.get(name, COVERED)) for name, cause in data.causes.items())
    print(f"judge: {diagnosis.judge}; {len(data.causes)} claims, {len(data.corpus)} chunks")
    print(f"{'planted':<30}" + "".join(f"{cause:>15}" for cause in COLUMNS))
    for cause in COLUMNS[:-2]:
        print(f"{ACTIONS[cause][0]:<30}" + "".join(f"{counts[cause, other]:>15}" for other in COLUMNS))
    for language in dict.fromkeys(data.languages.values()):
        names = [name for name, spoken in data.languages.items() if spoken == language]
        print(
            f"{language}: {sum(found.get(name, COVERED) == data.causes[name] for name in names)} of {len(names)} right"
        )
    for name, cause in data.causes.items():
        if found.get(name, COVERED) != cause:
            print(f"  {name}: planted {cause}, found {found.get(name, COVERED)}")


def search_time(chunks: int = 100_000, queries: int = 100) -> None:
    rng = random.Random(1)
    words = ["".join(rng.choices(SYLLABLES, k=3)) for _ in range(20_000)]
    texts = [
        " ".join(rng.choices(words, k=60)) if number % 3 else "".join(rng.choices(HAN, k=120))
        for number in range(chunks)
    ]
    corpus = Corpus(CorpusChunk(str(number), text) for number, text in enumerate(texts))
    with tempfile.TemporaryDirectory() as folder:
        for what in ("built and kept", "loaded"):
            start = time.perf_counter()
            index = Bm25Index(corpus, Path(folder) / "corpus")
            print(f"{chunks} chunks, index {what}: {time.perf_counter() - start:.1f} s")
        start = time.perf_counter()
        for text in texts[:queries]:
            index.search(text[:60], 10)
        print(f"{queries} searches: {time.perf_counter() - start:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judge", default="offline")
    parser.add_argument("--search-time", action="store_true")
    options = parser.parse_args()
    matrix(options.judge)
    if options.search_time:
        search_time()


if __name__ == "__main__":
    main()
