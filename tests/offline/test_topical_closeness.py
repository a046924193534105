"""Topical closeness is no support: a short claim with one content word that no chunk states is not covered.

These are everyday cases that a newcomer tries first; they matter more than any point of AUROC.
"""

from __future__ import annotations

import pytest

from ragcov import Claim, load_judge

NOT_STATED = [
    ("The Orlan bridge has a sauna.", "The Orlan bridge opened in 1934."),
    ("Marie Curie discovered radium.", "Marie Curie was born in Warsaw."),
    ("Paris is the capital of France.", "Paris is a city in France."),
    ("The tower is made of steel.", "The tower is made of wood."),
    (
        "Green tea contains catechins that boost metabolism.",
        "Green tea contains antioxidants that reduce inflammation.",
    ),
    ("Dogs travel free.", "Dogs must be kept on a lead."),
    ("The museum is closed on Mondays.", "The museum is open every day."),
    ("Ada Brandt designed the bridge.", "Ada Brandt painted the bridge."),
    ("The ferry leaves from Harn.", "The ferry arrives in Harn."),
    ("The permit is valid for one year.", "The permit costs 80 euros."),
    ("Bach wrote the Brandenburg Concertos.", "Bach was cantor in Leipzig."),
    ("The clinic was founded by Imre Kovats.", "The clinic was led by Imre Kovats."),
    ("Tickets include breakfast.", "Tickets include a map."),
    ("The lake is the deepest in the world.", "The lake is in Siberia."),
    ("長橋上有兩條鐵軌。", "長橋建於1934年。"),
    ("门票包含早餐。", "门票包含地图。"),
    ("この塔は鋼鉄でできている。", "この塔は木でできている。"),
    ("博物館星期一休館。", "博物館每天開放。"),
    ("橋の設計者は林さんです。", "橋は1934年に完成しました。"),
]
STATED = [
    ("The Orlan bridge opened in 1934.", "The Orlan bridge was opened to traffic in 1934, after six years of work."),
    ("Marie Curie discovered radium.", "In Paris, Marie Curie discovered the elements polonium and radium."),
    ("Dogs travel free.", "Dogs and bicycles travel free on all ferries."),
    ("Ada Brandt designed the bridge.", "The bridge was designed by the engineer Ada Brandt."),
    ("The fee is 80 euros.", "Visitors pay a fee of 80 euros at the gate."),
    ("The museum opens at nine.", "The museum opens at nine o'clock and closes at five."),
    ("長橋建於1934年。", "長橋於1934年建成，是當地最早的橋。"),
    ("门票包含早餐。", "门票价格包含早餐和地图。"),
    ("橋は1934年に完成した。", "この橋は1934年に完成しました。"),
]


@pytest.mark.parametrize(("claim", "chunk"), NOT_STATED)
async def test_not_stated(claim: str, chunk: str) -> None:
    (verdict,) = await load_judge("offline").attribute([Claim(claim)], [chunk, "Parking is behind the hall."])
    assert not verdict.supported, verdict


@pytest.mark.parametrize(("claim", "chunk"), STATED)
async def test_stated(claim: str, chunk: str) -> None:
    (verdict,) = await load_judge("offline").attribute([Claim(claim)], [chunk, "Parking is behind the hall."])
    assert verdict.supported, verdict
