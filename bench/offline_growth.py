"""How the offline judge's time grows with the size of its input: twice the input, about twice the time.

python bench/offline_growth.py
"""

import asyncio
import resource
import time

from ragcov import Claim
from ragcov.judges.offline import OfflineJudge

SENTENCES = [
    "The ferry to Harn leaves at 07:15 on weekdays and at 09:00 on Sundays.",
    "Ada Brandt designed the Orlan bridge, which opened in 1934.",
    "Brightmill Ltd has 80 employees and its headquarters in Tallgrove.",
    "长桥建于1934年，是当地最早的桥。",
    "営業時間は午前9時から午後5時までです。",
]
CLAIM = [Claim("The Orlan bridge opened in 1934.")]
INPUTS = {
    "one chunk, characters": lambda n: (CLAIM, [" ".join(SENTENCES) * (n // 200)]),
    "one word, characters": lambda n: (CLAIM, ["a" * n]),
    "one Chinese character, repeated": lambda n: ([Claim("長" * 2000)], ["長" * n]),
    "emoji": lambda n: (CLAIM, ["🙂" * n]),
    "lone surrogates": lambda n: (CLAIM, ["\ud800" * n]),
    "binary junk": lambda n: (CLAIM, ["".join(chr(i % 256) for i in range(n))]),
    "different chunks (hundreds of characters)": lambda n: (
        CLAIM,
        [f"{SENTENCES[i % 5]} Note {i}. " * 3 for i in range(n // 200)],
    ),
    "claims (hundreds of characters)": lambda n: (
        [Claim(f"The Orlan bridge opened in {i}.") for i in range(n // 100)],
        SENTENCES,
    ),
}


async def spent(claims, chunks):
    started = time.process_time()
    await OfflineJudge().attribute(claims, chunks)
    return time.process_time() - started


async def extracted(n):
    text = "\n".join(SENTENCES[i % 5] for i in range(n // 50))
    started = time.process_time()
    await OfflineJudge().extract_claims(text)
    return time.process_time() - started


async def main():
    await spent(CLAIM, SENTENCES)
    sizes = (125_000, 250_000, 500_000, 1_000_000)
    print("CPU seconds at", ", ".join(f"{size:,}" for size in sizes), "characters")
    for name, make in INPUTS.items():
        print(f"{name}:", " ".join([f"{await spent(*make(size)):.2f}" for size in sizes]), flush=True)
    print("extract_claims:", " ".join([f"{await extracted(size):.2f}" for size in sizes]))
    print("peak memory, MB:", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


if __name__ == "__main__":
    asyncio.run(main())
