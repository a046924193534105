import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov.judges.offline.numbers import find_numbers, satisfies


def forms(text: str) -> list[str]:
    return [number.form for number in find_numbers(text, 0, len(text))]


@pytest.mark.parametrize(
    "text",
    [
        "4523000",
        "4,523,000",
        "4.523.000",
        "4.523 million",
        "$4.523m",
        "452.3万",
        "452万3000",
        "４５２３０００",
    ],
)
def test_one_number_in_many_forms(text: str):
    assert forms(text) == ["#4523000"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14 March 1879", ["#14", "#3m", "#1879"]),
        ("1879-03-14", ["#1879", "#3m", "#14"]),
        ("1879年3月14日", ["#1879", "#3m", "#14"]),
        ("3/14/1879", ["#3m", "#14", "#1879"]),
        ("31/12/98", ["#31", "#12m", "#1998"]),
        ("2024-99-14", ["#2024"]),
        ("8 pm", ["#1200t"]),
        ("8:00 p.m.", ["#1200t"]),
        ("20:00", ["#1200t"]),
        ("午後8時", ["#1200t"]),
        ("下午八点半", ["#1230t"]),
        ("12 am", ["#0t"]),
        ("9時15分", ["#555t"]),
        ("3点建议", ["#3"]),
        ("十二月", ["#12m"]),
        ("25%", ["#25%"]),
        ("25 per cent", ["#25%"]),
        ("百分之二十五", ["#25%"]),
        ("3割", ["#30%"]),
        ("两万公里", ["#20000"]),
        ("四百五十万人", ["#4500000"]),
        ("1亿2000万", ["#120000000"]),
        ("二〇二五年", ["#2025"]),
        ("第三次", ["#3"]),
        ("一般来说", []),
        ("日本で一番高い", []),
        ("two hundred and fifty-one", ["#251"]),
        ("two and a half million", ["#2500000"]),
        ("one and two", ["#1", "#2"]),
        ("twenty-first", ["#21"]),
        ("a dozen eggs, dozens of eggs", ["#12"]),
        ("five thousand", ["#5000"]),
        ("We may march in may.", []),
        ("in May", ["#5m"]),
        ("5 m long, 5 bn dollars", ["#5", "#5000000000"]),
        ("1,5 litres", ["#1.5"]),
    ],
)
def test_forms(text: str, expected: list[str]):
    assert forms(text) == expected


@pytest.mark.parametrize(
    ("claimed", "stated", "holds"),
    [
        ("over 20,000 km", "21,196 km", True),
        ("over 20,000 km", "19,000 km", False),
        ("fewer than 10", "7", True),
        ("fewer than 10", "at least 10", False),
        ("about 500", "488", True),
        ("about 500", "700", False),
        ("500", "about 500", True),
        ("500", "over 500", False),
        ("20,000人以上", "2万5000人", True),
        ("不到一万", "超过两万", False),
        ("5人以下", "4人", True),
        ("100名左右", "98名", True),
        ("7:15", "19:15", True),
        ("7:15 am", "7:15 pm", False),
        ("nine o'clock", "9:00", True),
        ("9:00", "10", None),
        ("in March", "4", None),
        ("in March", "April", False),
        ("25%", "25", None),
        ("25%", "30%", False),
    ],
)
def test_what_bears_a_quantity_out(claimed: str, stated: str, holds: bool | None):
    (one,), (other,) = (find_numbers(text, 0, len(text)) for text in (claimed, stated))
    assert satisfies(one, other) is holds


@given(
    st.text(
        alphabet=st.sampled_from("0123456789.,:/-%年月日時点分万亿百十二一第約over and million kpm ０９"), max_size=40
    )
)
def test_any_text_can_be_read(text: str):
    last = 0
    for number in find_numbers(text, 0, len(text)):
        assert last <= number.start < number.end <= len(text)
        assert number.value == number.value
        last = number.start


async def test_code_stays_one_claim():
    from ragcov.judges.offline import OfflineJudge

    text = "Run this:\n```sh\nmake demo\nmake test\n```\nIt takes a minute."
    assert [claim.text for claim in await OfflineJudge().extract_claims(text)] == [
        "make demo make test",
        "It takes a minute.",
    ]
