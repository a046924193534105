import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from ragcov import Claim
from ragcov.judges.offline import OfflineJudge

GOLD = [
    json.loads(line) for line in (Path(__file__).parent / "gold_claims.jsonl").read_text(encoding="utf-8").splitlines()
]


async def texts(text: str, question: str | None = None) -> list[str]:
    return [claim.text for claim in await OfflineJudge().extract_claims(text, question=question)]


def plain(text: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", text.lower()).split())


def hits(found: list[str], gold: list[str]) -> int:
    left, count = [plain(claim) for claim in gold], 0
    for claim in found:
        best = max(left, key=lambda other: fuzz.ratio(plain(claim), other), default=None)
        if best is not None and fuzz.ratio(plain(claim), best) >= 88:
            left.remove(best)
            count += 1
    return count


def test_gold_set_is_large_enough():
    assert len(GOLD) >= 150
    assert sum(row["lang"] != "en" for row in GOLD) >= 60


@pytest.mark.parametrize(
    ("language", "precision", "recall"),
    [("en", 0.95, 0.92), ("zh-Hans", 0.84, 0.88), ("zh-Hant", 0.94, 0.94), ("ja", 0.91, 0.89)],
)
async def test_claims_against_those_written_by_hand(language: str, precision: float, recall: float):
    right = found = wanted = 0
    for row in GOLD:
        if row["lang"] == language:
            claims = await texts(row["text"], row.get("question"))
            right += hits(claims, row["claims"])
            found += len(claims)
            wanted += len(row["claims"])
    assert right / found >= precision
    assert right / wanted >= recall


async def test_spans_are_the_passages_that_state_the_claims():
    text = "Einstein was born in 1879. He developed relativity. He won the Nobel Prize."
    claims = await OfflineJudge().extract_claims(text)
    assert [(claim.id, claim.text) for claim in claims] == [
        ("c1", "Einstein was born in 1879."),
        ("c2", "Einstein developed relativity."),
        ("c3", "Einstein won the Nobel Prize."),
    ]
    assert [text[slice(*claim.span)] for claim in claims if claim.span] == [
        "Einstein was born in 1879.",
        "He developed relativity.",
        "He won the Nobel Prize.",
    ]


async def test_a_coordinated_list_shares_its_subject():
    text = (
        "Green tea contains antioxidants that reduce inflammation, L-theanine that improves focus, and catechins"
        " that boost metabolism."
    )
    assert await texts(text) == [
        "Green tea contains antioxidants that reduce inflammation.",
        "Green tea contains L-theanine that improves focus.",
        "Green tea contains catechins that boost metabolism.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "?",
        "I don't know.",
        "Sorry, I can't help with that.",
        "不知道。",
        "わかりません。",
        "🙂🙂",
        "N/A",
        "---",
    ],
)
async def test_texts_that_state_nothing_have_no_claims(text: str):
    assert await texts(text) == []


@pytest.mark.parametrize(
    ("question", "answer", "claim"),
    [
        ("How many lamps are there?", "42", "42 lamps are there."),
        ("Is the museum open on Mondays?", "Yes", "The museum is open on Mondays."),
        ("Is the museum open on Mondays?", "No", "The museum is not open on Mondays."),
        ("Who built the mill?", "Ada Brandt", "Ada Brandt built the mill."),
        ("首都是哪里？", "维尔姆", "首都是维尔姆。"),
        ("定員は何名ですか？", "25名", "定員は25名です。"),
        ("Price?", "12 euros", "Price: 12 euros"),
    ],
)
async def test_bare_answers_become_claims_with_the_question(question: str, answer: str, claim: str):
    assert await texts(answer, question) == [claim]


async def test_urls_decimals_abbreviations_and_code_are_not_cut():
    text = "See https://tarn.example/v2.1/a.html. Dr. Holm pays 12.50 euros, e.g. for `a.b. C`."
    assert len(await texts(text)) == 2


async def test_citations_and_emphasis_are_no_part_of_a_claim():
    assert await texts("The **fee** is 80 euros [4].") == ["The fee is 80 euros."]


TEXT = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("ab .,;:!?\n|-*#1234567890。、，はがで是了的人日「」AB and")),
    max_size=300,
)


@given(text=TEXT, question=st.none() | TEXT)
async def test_any_text_gives_claims_whose_spans_lie_in_it(text: str, question: str | None):
    claims = await OfflineJudge().extract_claims(text, question=question)
    for claim in claims:
        assert claim.text.strip()
        assert claim.span is not None
        start, end = claim.span
        assert 0 <= start < end <= len(text)
    assert claims == await OfflineJudge().extract_claims(text, question=question)
    assert [claim.id for claim in claims] == [f"c{i}" for i in range(1, len(claims) + 1)]


async def test_huge_and_odd_texts():
    judge = OfflineJudge()
    many = await judge.extract_claims("\n".join(f"Lamp {i} costs {i} euros." for i in range(10_000)))
    assert len(many) == 10_000
    for odd in (
        "a" * 100_000,
        "長" * 100_000,
        "\ud800\udfff" * 500,
        "\x00\x01\xff" * 1000,
        "🙂" * 10_000,
        "a, " * 30_000,
    ):
        claims = await judge.extract_claims(odd)
        verdicts = await judge.attribute([*claims[:3], Claim(odd)], [odd, ""])
        assert all(0 <= (verdict.confidence or 0) <= 1 for verdict in verdicts)
