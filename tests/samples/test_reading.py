import csv
import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov.errors import DataError, StoreError, UsageError
from ragcov.samples import Sample, count_samples, iter_samples, read_samples, samples_from, write_samples

GOOD = {"question": "長橋はどこ？", "ground_truth": "在美尔比。", "contexts": ["塔は美尔比にある。", "a|b\nc"]}
SAMPLE = Sample(id="1", input=GOOD["question"], ground_truth=GOOD["ground_truth"], context=GOOD["contexts"])


def lines(*records: Any) -> str:
    return "".join(
        f"{record if isinstance(record, str) else json.dumps(record, ensure_ascii=False)}\n" for record in records
    )


def read(path: Path, **options: Any) -> list[Sample]:
    return list(read_samples(path, **options))


def read_text(tmp_path: Path, name: str, text: str | bytes, **options: Any) -> list[Sample]:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, **options)


def good_and_bad(tmp_path: Path, name: str, text: str | bytes) -> tuple[list[str], list[DataError]]:
    """The ids of the good samples and the errors, after the first error has been seen to raise without `on_bad`."""
    bad: list[DataError] = []
    ids = [sample.id for sample in read_text(tmp_path, name, text, on_bad=bad.append)]
    if bad:
        with pytest.raises(DataError) as caught:
            read_text(tmp_path, name, text)
        assert str(caught.value) == str(bad[0])
    return ids, bad


def cells(record: dict[str, Any]) -> list[str]:
    return [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in record.values()]


def table(path: Path, rows: Iterable[list[str]], **options: Any) -> None:
    with path.open("w", encoding=options.pop("encoding", "utf-8"), newline="") as file:
        csv.writer(file, **options).writerows(rows)


# Every format


def test_all_formats_give_the_same(tmp_path: Path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    record = {"id": "1", **GOOD}
    paths = [tmp_path / f"d.{suffix}" for suffix in ("jsonl", "ndjson", "json", "csv", "tsv", "parquet", "JSONL")]
    for path in (paths[0], paths[1], paths[6]):
        path.write_text(lines(record), encoding="utf-8")
    paths[2].write_text(json.dumps([record], indent=2), encoding="utf-8")
    table(paths[3], [list(record), cells(record)])
    table(paths[4], [list(record), cells(record)], delimiter="\t")
    parquet.write_table(pyarrow.Table.from_pylist([record]), paths[5])
    for path in (paths[0], paths[2], paths[3]):
        packed = path.with_name(path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        paths.append(packed)
    for path in paths:
        assert read(path) == [SAMPLE], path
        assert count_samples(str(path)) == 1


def test_wrong_files_are_refused_at_once(tmp_path: Path):
    (tmp_path / "d.jsonl").mkdir()
    for name, problem in [
        ("absent.jsonl", "there is no such file"),
        ("d.jsonl", "is a directory"),
        ("data.xlsx", r"unknown format; known are \.jsonl, .*\.parquet"),
        ("data.parquet.gz", "unknown format"),
        ("data", "unknown format"),
    ]:
        with pytest.raises(UsageError, match=problem) as caught:
            read_samples(tmp_path / name)
        assert name in str(caught.value)


def test_bad_mappings_are_refused(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("frage,gold\nWo?,In Melby.\n", encoding="utf-8")
    assert read(path, mapping={"input": "frage", "ground_truth": "gold"})[0].ground_truth == "In Melby."
    with pytest.raises(UsageError, match=r'"golden", mapped to ground_truth, is not in the data; it has: frage, gold'):
        read(path, mapping={"input": "frage", "ground_truth": "golden"})
    with pytest.raises(UsageError, match="the fields of a sample are id, input, ground_truth, context, output"):
        read_samples(path, mapping={"gold": "ground_truth"})
    sparse = tmp_path / "sparse.jsonl"
    sparse.write_text(lines({"question": "a"}, {"question": "b", "gold": "B", "meta": {"x": "c"}}), encoding="utf-8")
    assert [s.ground_truth for s in read(sparse, mapping={"ground_truth": "gold"})] == [None, "B"]
    assert [s.context for s in read(sparse, mapping={"context": "meta.x"})] == [None, ["c"]]


def test_a_table_without_known_columns_is_refused_as_a_whole(tmp_path: Path):
    text = "frage,antwort\nWo?,Hier.\nWer?,Ich.\n"
    with pytest.raises(DataError, match=r"a\.csv, line 1: none of the fields found \(frage, antwort\) is known"):
        read_text(tmp_path, "a.csv", text, on_bad=lambda _: None)


# JSONL


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_jsonl_lines(tmp_path: Path, ending: str, mark: str):
    text = mark + ending.join([json.dumps(GOOD, ensure_ascii=False), "", "   ", json.dumps(GOOD)])
    first, second = read_text(tmp_path, "a.jsonl", text)
    assert first == SAMPLE
    assert second.id == "2"
    assert second.input == first.input


def test_jsonl_separators_within_text_are_text(tmp_path: Path):
    chunk = "a\u2028b\x85c\x00d\x1ee\tf"
    raw = '{"question": "Q", "contexts": ["' + chunk + '"]}\n'
    assert read_text(tmp_path, "a.jsonl", raw)[0].context == [chunk]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"question": "q3", "ground_truth":', "not valid JSON: Expecting value at character 35"),
        ("[1, 2]", "expected an object with named fields, got a list; name a file that holds one JSON list .json"),
        ("5", "expected an object with named fields, got number 5"),
        ("null", "expected an object with named fields, got null"),
        ('{"question": "a"} {"question": "b"}', "not valid JSON: Extra data at character 19"),
        ('{"question": ' + "[" * 100_000, "nested too deeply"),
        ('{"question": ' + "9" * 5000 + "}", "not valid JSON"),
        ('{"question": "q", "contexts": 5}', 'field "contexts": expected a list of texts, got number 5'),
        ('{"x": "q"}', "none of the fields found (x) is known"),
    ],
)
def test_jsonl_bad_records_are_named_and_the_rest_go_on(tmp_path: Path, line: str, problem: str):
    text = lines(GOOD, "", "  ", GOOD, line, GOOD)
    ids, (error,) = good_and_bad(tmp_path, "e.jsonl", text)
    assert ids == ["1", "2", "4"]
    assert error.line == 5
    assert str(error).startswith(f"{tmp_path / 'e.jsonl'}, line 5")
    assert problem in str(error)
    assert "line 1 column" not in str(error)


def test_bad_records_stand_in_their_place(tmp_path: Path):
    path = tmp_path / "e.jsonl"
    path.write_text(lines(GOOD, "{", GOOD), encoding="utf-8")
    kinds = [type(sample) for sample in iter_samples(path)]
    assert kinds == [Sample, DataError, Sample]


def test_bytes_that_are_not_utf8_spoil_their_record_only(tmp_path: Path):
    text = lines(GOOD).encode() + '{"question": "caf\xe9"}\n'.encode("latin-1") + lines(GOOD).encode()
    ids, (error,) = good_and_bad(tmp_path, "e.jsonl", text)
    assert ids == ["1", "3"]
    assert error.line == 2
    assert "not UTF-8: byte 0xE9 at character 18; save the file as UTF-8" in str(error)
    ids, (error,) = good_and_bad(tmp_path, "e.csv", b"question\nQ\ncaf\xe9\nR\n")
    assert (ids, error.line) == (["1", "3"], 3)
    ids, (error,) = good_and_bad(tmp_path, "e.json", b'[{"question": "caf\xe9"}]')
    assert (ids, error.line) == ([], 1)
    assert "byte 0xE9" in str(error)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.jsonl.gz"])
def test_utf16_with_a_mark_is_read(tmp_path: Path, name: str):
    text = f'question\n"{GOOD["question"]}"\n' if name.endswith(".csv") else lines({"question": GOOD["question"]})
    data = text.encode("utf-16")
    assert read_text(tmp_path, name, gzip.compress(data) if name.endswith(".gz") else data)[0].input == GOOD["question"]
    _, (error,) = good_and_bad(tmp_path, name, gzip.compress(data[:-1]) if name.endswith(".gz") else data[:-1])
    assert "utf-16" in str(error)


def test_a_damaged_gz_gives_its_good_rows_and_says_so(tmp_path: Path):
    packed = gzip.compress(lines(*({"question": os.urandom(40).hex()} for _ in range(2000))).encode())
    ids, (error,) = good_and_bad(tmp_path, "a.jsonl.gz", packed[: len(packed) // 2])
    assert ids
    assert "can't be read on from here" in str(error)
    ids, (error,) = good_and_bad(tmp_path, "b.jsonl.gz", b"not gzip")
    assert ids == []
    assert "can't be read on from here" in str(error)


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv"])
def test_empty_files_hold_no_samples(tmp_path: Path, name: str):
    assert read_text(tmp_path, name, "") == []
    assert read_text(tmp_path, name, "\n \n" if name != "a.csv" else "question,answer\n") == []


# Ids


def test_ids_that_come_twice_name_both_lines(tmp_path: Path):
    text = lines({"id": "a", **GOOD}, "", {"id": "b", **GOOD}, {"id": "a", **GOOD}, {"id": "c", **GOOD})
    ids, (error,) = good_and_bad(tmp_path, "e.jsonl", text)
    assert ids == ["a", "b", "c"]
    assert str(error).endswith('e.jsonl, line 4, field "id": "a" is the id of line 1 already; ids must be unique')


@pytest.mark.parametrize(
    ("given", "first", "again"),
    [
        ([None, None, 2], "record 2", 3),
        ([3, None, None], "line 1", 3),
        ([1, 2, 3, 1], "record 1", 4),
        (["x", "y", "x"], "line 1", 3),
    ],
)
def test_given_ids_and_counted_ids_don_t_mix(tmp_path: Path, given: list[Any], first: str, again: int):
    _, (error,) = good_and_bad(tmp_path, "e.jsonl", lines(*({"id": id, **GOOD} for id in given)))
    assert f"is the id of {first} already" in str(error)
    assert error.line == again


def test_ids_stay_when_records_are_bad():
    bad: list[DataError] = []
    samples = list(
        samples_from([{"question": "a"}, {"x": 1}, Sample(id="s", input="b"), {"question": "c"}], on_bad=bad.append)
    )
    assert [sample.id for sample in samples] == ["1", "s", "4"]
    assert len(bad) == 1
    with pytest.raises(DataError, match='"s" is the id of record 1 already'):
        list(samples_from([Sample(id="s"), Sample(id="s")]))


@given(st.lists(st.text(max_size=3), max_size=300))
def test_just_the_ids_that_came_before_are_refused(ids: list[str]):
    bad: list[DataError] = []
    samples = samples_from(({"id": f"x{id}", "input": "Q"} for id in ids), on_bad=bad.append)
    cleaned = [f"x{id}".encode("utf-8", "replace").decode().replace("?", "?") for id in ids]
    assert len(list(samples)) == len(set(cleaned))
    assert len(bad) == len(ids) - len(set(cleaned))


def test_many_ids(tmp_path: Path):
    records = ({"id": f"q-{n % 5000}", "input": "Q"} for n in range(5003))
    bad: list[DataError] = []
    assert sum(1 for _ in samples_from(records, on_bad=bad.append)) == 5000
    assert [str(error).split(": ")[1].split()[0] for error in bad] == ['"q-0"', '"q-1"', '"q-2"']


# JSON


@pytest.mark.parametrize("key", ["data", "samples", "test_cases", "testCases", "goldens"])
def test_json_objects_that_hold_the_list(tmp_path: Path, key: str):
    document = {"name": "set", "meta": {"data": [1]}, key: [GOOD, {**GOOD, "id": "x"}], "total": 2}
    samples = read_text(tmp_path, "a.json", "\ufeff" + json.dumps(document, ensure_ascii=False, indent=1))
    assert [sample.id for sample in samples] == ["1", "x"]
    assert samples[0] == SAMPLE


def test_json_one_record_or_records_after_one_another(tmp_path: Path):
    assert read_text(tmp_path, "a.json", json.dumps(GOOD)) == [SAMPLE]
    assert len(read_text(tmp_path, "a.json", lines(GOOD, GOOD, GOOD))) == 3
    assert read_text(tmp_path, "a.json", "[]") == []
    assert read_text(tmp_path, "a.json", '{"data": []}') == []
    number = '{"question": 12, "note": {"a": [1.5e3, true, null, "\\u6a4b"]}}'
    assert read_text(tmp_path, "a.json", number)[0].extra == {"note": {"a": [1500.0, True, None, "橋"]}}


def test_json_bad_records_name_the_line_on_which_they_begin(tmp_path: Path):
    text = '[\n  {"question": "a"},\n\n  5,\n  {\n "x": 1},\n{"question":\n"d"}, {"question": "e", "contexts": 1}\n]'
    ids, errors = good_and_bad(tmp_path, "e.json", text)
    assert ids == ["1", "4"]
    assert [error.line for error in errors] == [4, 5, 8]


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        ('{"question": "b"', "Expecting ','"),
        ('{"question": "b', "Unterminated string"),
        ("]x", "Expecting value"),
        ("{'question': 'b'}]", "Expecting"),
        ('{"question": tru}]', "Expecting value"),
        ('{"question": "\\x"}]', "Invalid"),
        ("", "Expecting value"),
        ("[" * 100_000, "nested too deeply"),
        ('{"question": ' + "9" * 5000 + "}]", "not valid JSON"),
    ],
)
def test_json_that_breaks_off_gives_what_came_before(tmp_path: Path, rest: str, problem: str):
    ids, errors = good_and_bad(tmp_path, "e.json", '[{"question": "a"},\n' + rest)
    assert ids == ["1"]
    assert problem in str(errors[-1])
    assert errors[-1].line == 2
    assert "can be read" in str(errors[-1])


def test_json_records_before_a_break_in_the_list_are_kept(tmp_path: Path):
    ids, (error,) = good_and_bad(tmp_path, "e.json", '[{"question": "a"},\n{"question": "b"}; 1]')
    assert ids == ["1", "2"]
    assert "line 2: not valid JSON: Expecting ','; nothing after it can be read" in str(error)


def test_json_objects_that_are_broken(tmp_path: Path):
    for text in ("{1: 2}", '{"a" 1}', '{"a": 1', '{"data": [{"question": "a"}', '{"a": 1 "b": 2}'):
        _, errors = good_and_bad(tmp_path, "e.json", text)
        assert "not valid JSON" in str(errors[-1])


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), max_size=5), st.integers(1, 7))
def test_json_is_the_same_however_it_is_cut(records: list[dict[str, Any]], size: int):
    import io

    from ragcov.samples import json_stream

    text = io.StringIO(json.dumps(records, ensure_ascii=True, indent=size % 3 or None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", size)
        assert [value for _, value in json_stream.json_rows(text)] == records


def test_json_with_a_record_larger_than_what_is_read_at_once(tmp_path: Path):
    big = "大" * 300_000
    samples = read_text(tmp_path, "a.json", json.dumps([{"question": big}, {"question": "b"}], ensure_ascii=False))
    assert [len(sample.input) for sample in samples] == [300_000, 1]


# CSV


def test_csv_cells(tmp_path: Path):
    rows = [
        ["question", "ground_truth", "contexts", "note", ""],
        ["q1", 'He said "no",\r\nthen left.', '["a", "b"]', "=1+1", ""],
        ["q2", "", "", "", ""],
        ["q3", "42", "one | two\nthree", "nan", "x"],
        ["q4", "None", "[]", "", ""],
    ]
    table(tmp_path / "a.csv", rows, encoding="utf-8-sig")
    samples = read(tmp_path / "a.csv")
    assert [sample.ground_truth for sample in samples] == ['He said "no",\r\nthen left.', None, "42", "None"]
    assert [sample.context for sample in samples] == [["a", "b"], None, ["one | two\nthree"], []]
    assert samples[0].extra == {"note": "=1+1"}
    assert samples[2].extra == {"note": "nan", "column 5": "x"}


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_csv_lines_are_physical_ones(tmp_path: Path, ending: str):
    rows = ["question,contexts", '"two', 'lines",a', "", "q2,b,surplus", 'q3,"[""a"", 5]"', "q4"]
    ids, errors = good_and_bad(tmp_path, "e.csv", ending.join(rows) + ending)
    assert ids == ["1", "4"]
    assert [error.line for error in errors] == [5, 6]
    assert "expected 2 cells, as in the header, got 3" in str(errors[0])
    assert errors[1].field == "contexts"


def test_csv_quotes_that_are_wrong_are_said_not_guessed(tmp_path: Path):
    ids, (error,) = good_and_bad(tmp_path, "e.csv", 'question,answer\na,b\nc,"open\nd,e\n')
    assert ids == ["1"]
    assert error.line == 3
    assert "a quote that opens in this record is never closed" in str(error)
    ids, (error,) = good_and_bad(tmp_path, "e.csv", 'question,answer\na,"b" c\nd,e\n')
    assert (ids, error.line) == (["2"], 2)
    assert "quotes within text are written twice" in str(error)


@pytest.mark.parametrize("text", ["question,question\na,b\n", '"question\na,b\n', "question,\xe9\n"])
def test_csv_headers_that_can_t_be_read(tmp_path: Path, text: str):
    with pytest.raises(DataError, match=r"a\.csv, line 1: "):
        read_text(tmp_path, "a.csv", text.encode("latin-1"), on_bad=lambda _: None)


@pytest.mark.parametrize("mark", [";", "\t"])
def test_csv_with_other_delimiters(tmp_path: Path, mark: str):
    table(tmp_path / "a.csv", [["question", "answer"], ["a, b", f"c{mark} d"]], delimiter=mark)
    assert read(tmp_path / "a.csv") == [Sample(id="1", input="a, b", output=f"c{mark} d")]
    text = f"question,answer\na{mark}b,c{mark}d\n"
    assert read_text(tmp_path, "b.csv", text)[0].input == f"a{mark}b"


def test_csv_blank_lines_before_the_header_and_huge_cells(tmp_path: Path):
    big = "長" * 200_000
    assert read_text(tmp_path, "a.csv", f"\n\nquestion,contexts\n\nQ,{big}\n")[0].context == [big]


@given(st.lists(st.tuples(st.text(), st.lists(st.text()))))
def test_csv_round_trip_of_json_cells(rows: list[tuple[str, list[str]]]):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        table(
            path,
            [
                ["id", "ground_truth", "contexts"],
                *([f"r{n}", truth, json.dumps(chunks)] for n, (truth, chunks) in enumerate(rows)),
            ],
        )
        samples = read(path)
    assert [sample.context for sample in samples] == [chunks for _, chunks in rows]
    assert [sample.ground_truth or "" for sample in samples] == [truth if truth.strip() else "" for truth, _ in rows]


# Parquet


def test_parquet_types(tmp_path: Path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = {
        "id": [10, 11, 12],
        "user_input": ["a", "b", "c"],
        "reference": ["A", None, "C"],
        "retrieved_contexts": [["長橋", None], [], None],
        "score": [0.5, float("nan"), None],
    }
    path = tmp_path / "a.parquet"
    parquet.write_table(pyarrow.table(rows), path)
    samples = read(path)
    assert [sample.id for sample in samples] == ["10", "11", "12"]
    assert [sample.ground_truth for sample in samples] == ["A", None, "C"]
    assert [sample.context for sample in samples] == [["長橋", ""], [], None]
    assert samples[0].extra == {"score": 0.5}
    parquet.write_table(pyarrow.table({"question": ["a", "b"], "contexts": [1, 2]}), path)
    ids, errors = good_and_bad(tmp_path, "a.parquet", path.read_bytes())
    assert (ids, [error.line for error in errors]) == ([], [1, 2])


def test_parquet_that_is_none_and_parquet_without_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("pyarrow")
    _, (error,) = good_and_bad(tmp_path, "a.parquet", b"PAR1 not really")
    assert "not readable as Parquet" in str(error)
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install \"ragcov\[parquet\]\""):
        read_samples(tmp_path / "a.parquet")


# Writing


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SAMPLES = st.builds(
    Sample,
    id=st.text(),
    input=st.none()
    | st.text()
    | st.dictionaries(st.text(), JSON, max_size=2)
    | st.just([{"role": "user", "content": "問"}]),
    ground_truth=st.none() | st.text(),
    context=st.none() | st.lists(st.text()),
    output=JSON,
    extra=st.dictionaries(st.text() | st.sampled_from(["question", "id", "extra", "answer"]), JSON, max_size=3),
)


@given(st.lists(SAMPLES, unique_by=lambda sample: sample.id, max_size=4))
def test_what_is_written_reads_back_equal(samples: list[Sample]):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        write_samples(path, samples)
        assert read(path) == samples


def test_written_text_is_utf8_with_its_characters(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    write_samples(path, [Sample(id="\ud800", input="長橋", extra={"nan": float("nan"), "obj": Path("x")})])
    assert "長橋" in path.read_text(encoding="utf-8")
    assert read(path) == [Sample(id="\ufffd", input="長橋", extra={"nan": None, "obj": "x"})]
    with pytest.raises(StoreError, match="can't be written: No such file"):
        write_samples(tmp_path / "no" / "a.jsonl", [])


# The machine


def test_reading_does_not_depend_on_the_locale(tmp_path: Path):
    for name, text in [
        ("a.jsonl", lines(GOOD)),
        ("a.json", json.dumps([GOOD], ensure_ascii=False)),
        ("a.csv", f"question\n{GOOD['question']}\n"),
    ]:
        (tmp_path / name).write_text(text, encoding="utf-8")
    code = (
        "import sys; from ragcov.samples import *\n"
        "for name in sys.argv[1:]:\n"
        "    samples = list(read_samples(name)); write_samples(name + '.jsonl', samples)\n"
        "    assert list(read_samples(name + '.jsonl')) == samples; print(ascii(samples[0].input))\n"
    )
    names = ["a.jsonl", "a.json", "a.csv"]
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii",
        "PYTHONCOERCECLOCALE": "0",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *names], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [ascii(GOOD["question"])] * 3


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv", "a.parquet"])
def test_memory_does_not_grow_with_the_rows(tmp_path: Path, name: str):
    few, many = (_peak(_big(tmp_path / f"{count}{name}", count)) for count in (500, 4_500))
    # What may grow is the table of the ids, by less than 64 bytes each, and buffers; the records would take 2.8 MB.
    assert many < few + 1_000_000


def _big(path: Path, count: int) -> Path:
    rows = (
        {"id": f"q-{n}", "question": f"Where is {n}?", "contexts": "a chunk of some length " * 3} for n in range(count)
    )
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
        return path
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".csv":
            file.write("id,question,contexts\n")
            file.writelines(",".join(row.values()) + "\n" for row in rows)
        elif path.suffix == ".json":
            file.write("[" + ",".join(map(json.dumps, rows)) + "]")
        else:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return path


def _peak(path: Path) -> int:
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_samples(path))
        assert count == int(path.name.split("a.")[0])
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
