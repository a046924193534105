import math
from typing import Any
from uuid import UUID

import pytest
from langchain_core.documents import Document

from ragcov.errors import DataError, UsageError
from ragcov.samples import ALIASES, Sample, sample_from


def read(record: Any, **options: Any) -> Sample:
    return sample_from(record, index=0, **options)


def refused(record: Any, **options: Any) -> DataError:
    with pytest.raises(DataError) as caught:
        read(record, **options)
    return caught.value


WHOLE = Sample(id="7", input="Where?", ground_truth="In Melby.", context=["The tower is in Melby."], output="Melby")


@pytest.mark.parametrize(
    "record",
    [
        {"id": 7, "input": "Where?", "ground_truth": "In Melby.", "context": WHOLE.context, "output": "Melby"},
        {
            "id": "7",
            "user_input": "Where?",
            "reference": "In Melby.",
            "retrieved_contexts": WHOLE.context,
            "response": "Melby",
        },
        {"id": "7", "question": "Where?", "ground_truths": ["In Melby."], "contexts": WHOLE.context, "answer": "Melby"},
        {
            "id": "7",
            "input": "Where?",
            "expected_output": "In Melby.",
            "retrieval_context": WHOLE.context,
            "actual_output": "Melby",
        },
        {
            "id": "7",
            "input": "Where?",
            "expectedOutput": "In Melby.",
            "retrievalContext": WHOLE.context,
            "actualOutput": "Melby",
        },
        {"id": "7", "input": "Where?", "groundTruth": "In Melby.", "context": WHOLE.context, "output": "Melby"},
        {"ID": 7, "Query": "Where?", "Reference Answer": "In Melby.", "Documents": WHOLE.context, "Result": "Melby"},
    ],
    ids=["own", "ragas", "old ragas", "deepeval", "deepeval camel", "mastra", "other"],
)
def test_field_names_of_other_tools(record: dict[str, Any]):
    assert read(record) == WHOLE


def test_outputs_of_a_langsmith_run_are_the_answer_and_may_hold_the_contexts():
    outputs = {"answer": "Melby", "contexts": WHOLE.context}
    record = {
        "id": "7",
        "inputs": {"question": "Where?"},
        "outputs": outputs,
        "reference_outputs": {"answer": "In Melby."},
    }
    sample = read(record)
    assert (sample.input, sample.ground_truth, sample.context) == ("Where?", "In Melby.", WHOLE.context)
    assert sample.output == outputs
    assert read({**record, "outputs": {"answer": "Melby"}}).output == "Melby"
    assert read({**record, "contexts": ["other"]}).context == ["other"]


def test_outputs_of_a_langsmith_example_are_the_reference():
    sample = read({"id": "x", "inputs": {"question": "Q"}, "outputs": {"answer": "A"}, "metadata": {"split": "base"}})
    assert sample == Sample(id="x", input="Q", ground_truth="A", extra={"metadata": {"split": "base"}})
    assert read({"inputs": {"question": "Q", "k": 3}, "outputs": {"text": "A", "label": 1}}).ground_truth == "A"
    assert read({"inputs": {"question": "Q", "k": 3}}).input == {"question": "Q", "k": 3}


def test_the_ideal_context_of_deepeval_is_no_retrieval():
    sample = read({"input": "Q", "expected_output": "A", "context": ["ideal"], "retrieval_context": ["found"]})
    assert (sample.context, sample.extra) == (["found"], {"context": ["ideal"]})
    sample = read({"input": "Q", "expected_output": "A", "context": ["ideal"], "retrieval_context": None})
    assert (sample.context, sample.extra) == (None, {"context": ["ideal"]})


def test_reference_contexts_and_unknown_columns_are_carried_along_untouched():
    extra = {"reference_contexts": ["r"], "主題": {"a": [1, None]}, "persona": "p"}
    assert read({"question": "Q", **extra}).extra == extra


def test_entries_of_extra_are_taken_one_by_one_unless_one_would_be_lost():
    assert read({"question": "Q", "extra": {"a": 1, "question": "other"}}).extra == {"a": 1, "question": "other"}
    assert read({"question": "Q", "a": 2, "extra": {"a": 1}}).extra == {"a": 2, "extra": {"a": 1}}
    assert read({"question": "Q", "extra": {"extra": {"b": 1}}}).extra == {"extra": {"b": 1}}
    assert read({"question": "Q", "extra": "text"}).extra == {"extra": "text"}


def test_names_that_say_little_give_way_to_explicit_ones():
    sample = read(
        {
            "question": "Q",
            "prompt": "Answer: {question}",
            "contexts": ["c"],
            "documents": ["d"],
            "answer": None,
            "result": "R",
        }
    )
    assert (sample.input, sample.context, sample.output) == ("Q", ["c"], "R")
    assert sample.extra == {"prompt": "Answer: {question}", "documents": ["d"]}


def test_two_names_of_one_field_must_agree():
    assert read({"question": "Q", "input": "Q"}).input == "Q"
    assert read({"question": "Q", "input": None}).input == "Q"
    error = refused({"ground_truth": "In Harn.", "reference": "In Melby."}, file="a.jsonl", line=3)
    assert error.field == "reference"
    assert str(error) == (
        'a.jsonl, line 3, field "reference": "ground_truth" and "reference" both mean ground_truth, but disagree; '
        "choose one with --map ground_truth=reference or mapping={...}"
    )


def test_no_known_name_lists_what_was_found_and_how_to_map_it():
    error = refused({"frage": "Wo?", "lösung": "In Melby."}, file="a.jsonl", line=1)
    for part in ("a.jsonl, line 1", "frage, lösung", "--map ground_truth=NAME"):
        assert part in str(error)
    assert "none" in str(refused({}))


def test_mapping_stands_above_names():
    record = {"question": "Q", "answer": "gold", "response": "said", "meta": {"docs": ["d"], "n": 1}, "context": ["c"]}
    sample = read(record, mapping={"ground_truth": "answer", "context": "meta.docs"})
    assert sample == Sample(
        id="1",
        input="Q",
        ground_truth="gold",
        output="said",
        context=["d"],
        extra={"meta": {"docs": ["d"], "n": 1}, "context": ["c"]},
    )
    assert read({"a.b": "Q"}, mapping={"input": "a.b"}).input == "Q"
    assert read({"question": "Q"}, mapping={"context": "absent"}).context is None
    with pytest.raises(UsageError, match=r'can\'t map "truth": .*ground_truth'):
        read(record, mapping={"truth": "answer"})


def test_ids():
    assert sample_from({"input": "Q"}, index=41).id == "42"
    assert read({"id": 42, "input": "Q"}).id == "42"
    assert read({"id": " x ", "sample_id": 3, "input": "Q"}) == Sample(id=" x ", input="Q", extra={"sample_id": 3})
    assert read({"case_id": "c7", "input": "Q"}).id == "c7"
    assert read({"id": UUID(int=1), "input": "Q"}).id == "00000000-0000-0000-0000-000000000001"
    assert "expected text or a number, got true" in str(refused({"id": True, "input": "Q"}))
    assert "expected text or a number, got a list" in str(refused({"id": ["x"], "input": "Q"}))


class NAType:
    """Stands for pandas' missing value, which is told by the name of its type."""


@pytest.mark.parametrize("missing", [None, math.nan, NAType()])
def test_missing_values(missing: Any):
    record = {"id": missing, "input": missing, "ground_truth": missing, "context": missing, "output": missing}
    assert read(record) == Sample(id="1")
    assert read({"context": ["a", missing, ""]}).context == ["a", "", ""]


def test_empty_is_not_missing_but_in_cells():
    record = {"input": "", "ground_truth": "", "context": [], "output": ""}
    assert read(record) == Sample(id="1", input="", ground_truth="", context=[], output="")
    cells = {"input": "Q", "ground_truth": " ", "context": "", "output": "nan", "note": ""}
    assert read(cells, cells=True) == Sample(id="1", input="Q", output="nan", extra={"note": ""})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (42, "42"),
        (0.1, "0.1"),
        (10**30, "1" + "0" * 30),
        (True, "true"),
        (["One.", None, "Two."], "One.\nTwo."),
        ({"answer": "A", "score": 1}, "A"),
        ({"label": "A"}, "A"),
        ("\ud83d\udca9 \ud800", "\ufffd\ufffd \ufffd"),
    ],
)
def test_ground_truth_is_text(value: Any, expected: str):
    assert read({"ground_truth": value}).ground_truth == expected


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"a": 1, "b": 2}, "expected text, got an object without"),
        ([["nested"]], "expected text, got a list"),
        ([{"text": "a"}], "expected text, got an object"),
        (b"bytes", "expected text, got a value of type bytes"),
    ],
)
def test_ground_truth_that_is_no_text(value: Any, problem: str):
    error = refused({"question": "Q", "reference": value}, file="f.json", line=9)
    assert (error.field, error.line, error.file) == ("reference", 9, "f.json")
    assert problem in str(error)


class Array:
    """Stands for an array of numpy, a series of pandas and their like."""

    def __init__(self, items: Any) -> None:
        self.items = items

    def tolist(self) -> Any:
        return self.items


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("one | two\nthree; four", ["one | two\nthree; four"]),
        ('["a", "b|c\\n[x]", null]', ["a", "b|c\n[x]", ""]),
        ("['it\\'s', \"b\", None, nan]", ["it's", "b", "", ""]),
        ("['a' 'b'\n 'c']", ["a", "b", "c"]),
        ("[\"it's\" 'b']", ["it's", "b"]),
        ("[u'長橋', r'\\d', 'bad \\d escape']", ["長橋", "\\d", "bad \\d escape"]),
        ('[{"text": "a", "score": 1}, {"page_content": "b"}]', ["a", "b"]),
        ("[{'text': 'a', 'score': 0.5}]", ["a"]),
        ("[]", []),
        (" [ ] ", []),
        ("[1]", ["[1]"]),
        ("[2024, 2025]", ["[2024, 2025]"]),
        ("[see note] and [more]", ["[see note] and [more]"]),
        ("{'a': 1}", ["{'a': 1}"]),
        ("", [""]),
        (["a", {"text": "b"}, Document("c"), (Document("d"), 0.3), {"node": {"text": "e"}}], list("abcde")),
        (("a", "b"), ["a", "b"]),
        (Array(["a", None]), ["a", ""]),
        (Document("a"), ["a"]),
        ({"content": "a"}, ["a"]),
        (["\ud800"], ["\ufffd"]),
    ],
)
def test_context_is_a_list_of_texts(value: Any, expected: list[str]):
    assert read({"contexts": value}).context == expected


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (5, "expected a list of texts, got number 5"),
        (False, "expected a list of texts, got false"),
        ({"a": 1}, "expected a list of texts, got an object"),
        ({"a", "b"}, "expected a list of texts, got a value of type set"),
        (["a", 5], "expected a list of texts, but item 2 is number 5"),
        ([["a", "b"]], "expected a list of texts, but item 1 is a list"),
        ([{"title": "t"}], "expected a list of texts, but item 1 is an object without text"),
        ('["a", 5]', "item 2 is number 5"),
        ('["a", "b]', "looks like a list"),
        ("['a', open('x')]", "looks like a list"),
        ("[Document(page_content='a')]", "looks like a list"),
        ("['" + "a" * 3_000_000 + "']", "looks like a list"),
    ],
)
def test_context_that_is_no_list_of_texts(value: Any, problem: str):
    error = refused({"question": "Q", "contexts": value})
    assert error.field == "contexts"
    assert problem in str(error)
    assert len(str(error)) < 300


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000 + "]" * 100_000,
        "['a'" + ",(" * 100_000 + "]",
        "['a', " + "-" * 100_000 + "1]",
        "['a', " + "1+" * 100_000 + "1]",
        "['a'" + ", 'b'" * 50_000 + ", {" + "]",
    ],
    ids=["brackets", "tuples", "signs", "sums", "many"],
)
def test_hostile_literals_are_data(text: str):
    try:
        assert read({"contexts": text}).context == [text]
    except DataError as error:
        assert "looks like a list" in str(error)


def test_agent_messages_stay_messages():
    messages = [{"role": "user", "content": "Q"}]
    assert read({"input": messages, "output": messages}).input == messages
    assert read({"messages": messages}).input == messages
    whole = {"inputMessages": messages, "rememberedMessages": [], "groundTruth": "A"}
    assert read(whole) == Sample(id="1", input={"inputMessages": messages, "rememberedMessages": []}, ground_truth="A")
    cell = '[{"role": "user", "content": "Q"}]'
    assert read({"input": cell, "output": cell}, cells=True).output == messages
    assert read({"input": cell}).input == cell
    assert read({"input": "[not JSON"}, cells=True).input == "[not JSON"
    assert read({"input": '["a"]'}, cells=True).input == '["a"]'


def test_columns_of_lists_are_refused():
    error = refused({"question": ["q1", "q2"], "answer": ["a1", "a2"]})
    assert "one record for each question" in str(error)


@pytest.mark.parametrize("record", [5, None, "text", ["q", "a"]])
def test_records_that_are_no_objects(record: Any):
    assert "expected an object with named fields" in str(refused(record))


def test_a_value_nested_too_deeply_is_the_records_fault():
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    try:
        error = refused({"question": "Q", "output": deep})
        assert "nested too deeply" in str(error)
    finally:
        while deep:
            deep = deep.pop()


def test_every_alias_is_its_own():
    names = [alias for aliases in ALIASES.values() for alias in aliases]
    assert len(names) == len(set(names))
    for field, aliases in ALIASES.items():
        for alias in aliases:
            value = ["x"] if field == "context" else "x"
            if alias == "input_messages":
                continue
            assert getattr(read({alias: value}), field) == value
