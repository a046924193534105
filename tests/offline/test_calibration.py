"""Confidence means what it says: among invented facts, told in other words or about something else."""

import pytest

from ragcov import Claim
from ragcov.judges.offline import OfflineJudge
from ragcov.judges.offline.decide import THRESHOLD

# A claim, and a chunk that states it.
FACTS = [
    ("The Orlan bridge opened in 1934.", "After six years of work the Orlan bridge was opened to traffic in 1934."),
    ("The Tarn mill opened in 1951.", "The Tarn mill has been running since it opened in 1951."),
    (
        "Ada Brandt designed the Orlan bridge.",
        "The plans of the Orlan bridge were designed by the engineer Ada Brandt.",
    ),
    ("Imre Kovats founded the Melby clinic.", "The Melby clinic was founded by the physician Imre Kovats."),
    ("Paula Dane led the Melby clinic until 1970.", "Until 1970 the Melby clinic was led by Paula Dane."),
    ("The ferry to Harn leaves at 07:15.", "Every morning at 7:15 am a ferry leaves for Harn."),
    ("Dogs travel free on the ferry to Harn.", "Dogs and bicycles travel free on the ferry to Harn."),
    ("A permit costs 80 euros.", "Visitors pay for the permit: it costs 80 euros."),
    ("A permit is valid for two years.", "The permit is valid for 2 years from the day of issue."),
    ("Brightmill Ltd has 80 employees.", "Brightmill Ltd, a maker of lamps, has eighty employees."),
    ("The lake is 60 metres deep.", "At its middle the lake is 60 metres deep."),
    ("The museum is closed on Mondays.", "On Mondays the museum is closed; on other days it opens at nine."),
    ("长桥建于1934年。", "长桥于1934年建成，是当地最早的桥。"),
    ("长桥的设计者是林岚。", "林岚是长桥的设计者，也设计了钟楼。"),
    ("成人票价为120元。", "博物馆的成人票价为120元，儿童免费。"),
    ("圖書館有三個樓層。", "這座圖書館共有三個樓層，每天開放。"),
    ("渡輪於早上八點出發。", "前往離島的渡輪於早上8點出發。"),
    ("定員は25名です。", "会場の定員は25名で、予約が必要です。"),
    ("営業時間は午前9時からです。", "当店の営業時間は午前9時から午後5時までです。"),
    ("琵琶湖は滋賀県にある。", "琵琶湖は滋賀県にある日本最大の湖である。"),
]


async def confidences() -> list[tuple[float, bool]]:
    """Each claim against its own chunk, and against those of other facts."""
    judge = OfflineJudge()
    found: list[tuple[float, bool]] = []
    for n, (claim, _) in enumerate(FACTS):
        for shift in (0, 1, 2):
            (verdict,) = await judge.attribute([Claim(claim)], [FACTS[(n + shift) % len(FACTS)][1]])
            assert verdict.confidence is not None
            found.append((verdict.confidence, shift == 0))
    return found


async def test_confidence_is_the_share_of_supported_claims():
    found = await confidences()
    error = 0.0
    for low in (0.0, 0.2, 0.4, 0.6, 0.8):
        part = [(value, label) for value, label in found if low <= value < low + 0.2 or value == low + 0.2 == 1.0]
        if part:
            stated = sum(value for value, _ in part) / len(part)
            true = sum(label for _, label in part) / len(part)
            error += abs(stated - true) * len(part) / len(found)
    assert error < 0.15


async def test_high_and_low_confidence_are_rarely_wrong():
    found = await confidences()
    high = [label for value, label in found if value >= 0.75]
    low = [label for value, label in found if value < 0.1]
    assert len(high) >= 10
    assert len(low) >= 25
    assert sum(high) / len(high) >= 0.95
    assert sum(low) / len(low) <= 0.05


async def test_the_threshold_separates_them():
    found = await confidences()
    right = sum((value >= THRESHOLD) == label for value, label in found)
    assert right / len(found) >= 0.95


@pytest.mark.parametrize(("claim", "chunk"), FACTS[:3])
async def test_what_is_said_word_for_word_is_nearly_certain(claim: str, chunk: str):
    (verdict,) = await OfflineJudge().attribute([Claim(claim)], [f"{chunk} {claim}"])
    assert (verdict.confidence or 0) >= 0.8
