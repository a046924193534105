"""Reading replies: words, wrappings, and exactly one verdict for each claim, whatever comes."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragcov.judges.replies import UnreadableError, read_json, read_verdicts, read_word


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("yes", "yes"),
        ("Yes.", "yes"),
        ("**yes**", "yes"),
        (" **Yes.** ", "yes"),
        ("YES!", "yes"),
        ("“yes”", "yes"),
        ("ｙｅｓ", "yes"),
        ("\u200byes\u2060", "yes"),
        ("yes — the chunk says so", "yes"),
        ("yes (chunk 2)", "yes"),
        ("no", "no"),
        ("NO", "no"),
        (" No - because no year is given", "no"),
        ("No\nreason", "no"),
        ("`no`", "no"),
        ("Contradicted.", "contradicted"),
        ("yes and no", None),
        ("Yes, no", None),
        ("no, yes", None),
        ("maybe", None),
        ("nope", None),
        ("not stated", None),
        ("yesterday", None),
        ("partially", None),
        ("true", None),
        ("1", None),
        ("", None),
        (True, None),
        (1, None),
        (None, None),
        (["yes"], None),
    ],
)
def test_words(word: object, verdict: str | None) -> None:
    assert read_word(word) == verdict


def entry(number: Any, verdict: Any, reason: str = "") -> dict[str, Any]:
    return {"id": number, "verdict": verdict, "reason": reason}


def reply(*entries: dict[str, Any], evidence: list[dict[str, Any]] | None = None) -> str:
    return json.dumps({"evidence": evidence or [], "verdicts": list(entries)}, ensure_ascii=False)


GOOD = reply(entry(0, "yes"), entry(1, "no"))


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is my answer:\n{GOOD}\nI hope that this helps.",
        GOOD.replace("]}", ",]}"),
        "Sure!\n```\n" + GOOD.replace("]}", ",]}") + "\n```\n",
        f'<think>First guess: {{"verdicts": ["yes", "yes"]}} but no.</think>\n{GOOD}',
        f"<think>{reply(entry(0, 'no'), entry(1, 'yes'))}</think>{GOOD}",
        f"<thinking>it may be {{</thinking>\n```json\n{GOOD}```",
        f"{reply(entry(0, 'no'), entry(1, 'yes'))} let me look again </think> {GOOD}",
        f"{GOOD}\n{GOOD}",
        GOOD.replace('"id": 0', '"id": "0"').replace('"id": 1', '"id": "c1"'),
        "\ufeff" + GOOD,
        GOOD[:-1],
    ],
)
def test_wrappings(text: str) -> None:
    reading = read_verdicts(text, 2)
    assert reading.problems == {}
    assert [reading.answers[number].word for number in (0, 1)] == ["yes", "no"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "I can't say.",
        "[]",
        "{}",
        "null",
        '["yes", "no"]',
        '{"verdicts": "yes"}',
        '{"verdicts": ["yes", "no"]}',
        GOOD[:30],
        GOOD[:-3],
        f"<think>{GOOD}",
        f"{GOOD} or rather {reply(entry(0, 'no'), entry(1, 'no'))}",
        "{" * 5000,
        '{"verdicts":' * 3000,
        "Here is the result: {verdicts: [yes, no,",
    ],
)
def test_unreadable_replies_answer_nothing(text: str) -> None:
    reading = read_verdicts(text, 2)
    assert reading.answers == {}
    assert set(reading.problems) == {0, 1}


def test_missing_surplus_double_and_unreadable() -> None:
    text = reply(
        entry(0, "yes"), entry(1, "yes"), entry(1, "no"), entry(2, "perhaps"), entry(7, "yes"), entry(None, "yes")
    )
    reading = read_verdicts(text, 4)
    assert list(reading.answers) == [0]
    assert reading.problems[1] == 'two verdicts, "yes" and "no"'
    assert reading.problems[2] == 'unreadable verdict "perhaps"'
    assert reading.problems[3] == "no verdict"


def test_doubles_that_agree_are_one() -> None:
    reading = read_verdicts(reply(entry(0, "yes", "first"), entry(0, "Yes.", "second")), 1)
    assert reading.answers[0].reason == "first"


def test_three_verdicts_of_which_two_agree_are_none() -> None:
    assert read_verdicts(reply(entry(0, "yes"), entry(0, "no"), entry(0, "yes")), 1).answers == {}


def test_a_tag_in_a_quote_hides_nothing() -> None:
    quote = '</think>{"verdicts": [{"id": 0, "verdict": "yes"}]}'
    text = reply(entry(0, "no"), evidence=[{"id": 0, "chunk": 0, "quote": quote, "enough": True}])
    reading = read_verdicts(text, 1)
    assert reading.answers[0].word == "no"


LATEX = (
    r"The kinetic energy is $\frac{1}{2}mv^2$ and the beta term is $\beta$ with $\nabla\times\rho\theta\underline{x}$."
)


@pytest.mark.parametrize("escaped", [json.dumps(LATEX), f'"{LATEX}"'])
def test_latex_survives(escaped: str) -> None:
    assert read_json(f'{{"claims": [{escaped}]}}', lambda value: True, [LATEX]) == {"claims": [LATEX]}


def test_other_escapes_stay_escapes() -> None:
    text = '{"claims": ["a\\nb \\u00e9 \\"q\\" \\alpha"]}'
    assert read_json(text, lambda value: True)["claims"] == ['a\nb é "q" \\alpha']


def test_a_list_that_breaks_off_is_no_list() -> None:
    for text in ('{"claims": ["one", "two', '{"claims": ["one {x}", "two', '{"claims": ["one", "two"'):
        with pytest.raises(UnreadableError):
            read_json(text, lambda value: "claims" in value)


WORDS = ["yes", "no", "contradicted", "Yes.", "**no**", "maybe", "", "true", "yes and no", None, 1]
IDS = [0, 1, 2, 3, 4, -1, 6, "0", "c1", "x", None, True, 1.0, 2.5]
ODDITIES = ["yes", None, 3, [], {"id": 0}, {"verdict": "yes"}]
SCRAPS = ["{", "}", "[", "]", '"', ",", ":", "\\", "`" * 3, "</think>", "<think>", "\x00", "\n", "yes", "0", "\u200b"]


def mangled(random: Random) -> str:
    """A reply as a model might send it on a bad day."""
    fields = {
        key: [
            random.choice(ODDITIES) if random.random() < 0.1 else entry(random.choice(IDS), random.choice(WORDS))
            for _ in range(random.randrange(8))
        ]
        for key in ("evidence", "verdicts")
    }
    text = json.dumps(fields, ensure_ascii=random.random() < 0.5)
    for _ in range(random.randrange(4)):
        at = random.randint(0, len(text))
        scraps = "".join(random.choices(SCRAPS, k=random.randint(1, 4)))
        text = random.choice([text[:at], text[:at] + scraps + text[at:], text[:at] + text, text[:at] + text[at + 3 :]])
    return random.choice(["", "```json\n", "<think>x</think>", "Answer: "]) + text


@settings(max_examples=250)
@given(st.integers(0, 2**32))
def test_every_reply_is_one_verdict_or_a_problem_for_each_claim(seed: int) -> None:
    random = Random(seed)
    for _ in range(40):
        text, count = mangled(random), random.randint(1, 5)
        reading = read_verdicts(text, count)
        assert set(reading.answers) | set(reading.problems) == set(range(count)), text
        assert not set(reading.answers) & set(reading.problems), text
        assert {answer.word for answer in reading.answers.values()} <= {"yes", "no", "contradicted"}, text


@given(st.text(max_size=300), st.integers(1, 3))
def test_any_text_is_read_without_raising(text: str, count: int) -> None:
    reading = read_verdicts(text, count)
    assert set(reading.answers) | set(reading.problems) == set(range(count))


@given(st.lists(st.sampled_from(["yes", "no", "contradicted"]), min_size=1, max_size=12), st.randoms())
def test_a_sound_reply_is_read_as_it_is_in_any_order(verdicts: list[str], random: Any) -> None:
    order = list(enumerate(verdicts))
    random.shuffle(order)
    reading = read_verdicts(reply(*(entry(number, word) for number, word in order)), len(verdicts))
    assert [reading.answers[number].word for number in range(len(verdicts))] == verdicts
