import csv
import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov.attribution import Verdict, locate
from ragcov.claims import Claim
from ragcov.errors import DataError, StoreError, UsageError
from ragcov.reports.files import ResultsCsvWriter, ResultsWriter, read_results, write_csv, write_results
from ragcov.results import Failure, ItemResult, RunInfo, ScorerResult, Tally, Usage
from ragcov.samples import Sample, read_samples

RECALL = "context-recall-scorer"
INFO = RunInfo(version="0.1.0", dataset="長橋.jsonl", scorers=(RECALL,), judges=("offline@1",), settings={"scale": 1})
CHUNKS = ["長橋は1934年に建てられた。", "| a | b |\nc; d"]


def scored(supported: tuple[bool, ...] = (True, False, False)) -> ScorerResult:
    claims = tuple(Claim(f"claim {n}, 長橋", (n, n + 3), f"c{n}") for n, _ in enumerate(supported, 1))
    verdicts = tuple(
        Verdict(claim=claim, supported=is_so, evidence=(locate(CHUNKS, 0, 0, 2),) if is_so else (), confidence=0.5)
        for claim, is_so in zip(claims, supported, strict=True)
    )
    tally = Tally(sum(supported), len(supported))
    return ScorerResult(
        scorer_id=RECALL,
        state="scored",
        score=tally.score(),
        reason="1 of 3, “quoted”\nand a line",
        tally=tally,
        claims=claims,
        verdicts=verdicts,
        warnings=("one", "two"),
        usage=Usage(calls=2),
        judge="offline@1",
    )


def item(index: int = 0, result: ScorerResult | None = None, **sample: Any) -> ItemResult:
    sample = {
        "input": "長橋は？",
        "ground_truth": "1934年。",
        "context": CHUNKS,
        "extra": {"主題": [1, None]},
        **sample,
    }
    results = {} if result is None else {RECALL: result}
    return ItemResult(index=index, sample=Sample(id=f"s{index}", **sample), scorer_results=results)


FAILED = ItemResult(index=9, sample=Sample(id="9"), error=Failure("TargetError", "=bad", "target"))
ITEMS = [
    item(0, scored()),
    item(
        1, ScorerResult(scorer_id=RECALL, state="not_scorable", score=0.0, reason="no ground truth"), ground_truth=None
    ),
    item(
        2, ScorerResult(scorer_id=RECALL, state="failed", score=None, error=Failure("ProviderError", "500", "analyze"))
    ),
    FAILED,
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


def test_results_read_back_equal(path: Path):
    write_results(path, INFO, ITEMS)
    info, items = read_results(str(path))
    assert info == INFO
    assert list(items) == ITEMS
    raw = path.read_bytes()
    assert raw.count(b"\n") == len(ITEMS) + 1
    assert "長橋".encode() in raw


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
RESULTS = st.builds(
    ScorerResult,
    scorer_id=st.text(),
    state=st.sampled_from(["scored", "not_scorable", "failed"]),
    score=st.none() | st.floats(0, 1),
    reason=st.text(),
    tally=st.none() | st.integers(0, 9).map(lambda n: Tally(n, 9)),
    claims=st.lists(st.builds(Claim, st.text(), st.none() | st.just((0, 1)))).map(tuple),
    warnings=st.lists(st.text()).map(tuple),
    step_results=st.dictionaries(st.text(), JSON, max_size=2),
)
FOUND = st.builds(
    ItemResult,
    index=st.integers(0),
    sample=st.builds(Sample, id=st.text(), input=JSON, context=st.none() | st.lists(st.text()), output=JSON),
    scorer_results=st.dictionaries(st.text(), RESULTS, max_size=2),
    error=st.none() | st.builds(Failure, st.text(), st.text()),
)


@given(st.lists(FOUND, max_size=3))
def test_any_results_read_back_equal(items: list[ItemResult]):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.jsonl")
        write_results(path, INFO, items)
        assert list(read_results(path)[1]) == items
        write_csv(Path(folder, "run.csv"), INFO, items)


class Thing:
    def __str__(self) -> str:
        return "a thing"


def test_what_json_can_not_hold_is_written_as_what_it_can(path: Path):
    strange = {"nan": math.nan, "surrogate \ud800": "\udfff", "thing": Thing(), "tuple": (1, 2), "set": {3}}
    write_results(path, INFO, [item(output=strange)])
    assert b"NaN" not in path.read_bytes()
    (read,) = read_results(path)[1]
    assert read.sample.output == {
        "nan": None,
        "surrogate \ufffd": "\ufffd",
        "thing": "a thing",
        "tuple": [1, 2],
        "set": [3],
    }


def test_each_row_is_on_disk_when_it_is_written(path: Path):
    with ResultsWriter(path, INFO) as writer:
        assert len(path.read_bytes().splitlines()) == 1
        for number, one in enumerate(ITEMS, 2):
            writer.write(one)
            assert len(path.read_bytes().splitlines()) == number


def test_an_old_file_is_replaced(path: Path):
    write_results(path, INFO, ITEMS)
    write_results(path, INFO, ITEMS[:1])
    assert list(read_results(path)[1]) == ITEMS[:1]


@pytest.mark.parametrize("cut", [1, 30, "\n"])
def test_a_killed_run_is_read_and_gone_on_with(path: Path, cut: Any):
    write_results(path, INFO, ITEMS[:2])
    whole = path.read_bytes()
    kept = 2 if cut == "\n" else 1
    path.write_bytes(whole[:-1] if cut == "\n" else whole[: -1 - cut])
    torn: list[str] = []
    assert list(read_results(path, on_torn=torn.append)[1]) == ITEMS[:kept]
    if kept == 1:
        (notice,) = torn
        assert notice.startswith(f"{path}, line 3: the last row is torn")
        with pytest.raises(DataError, match="line 3: the last row is torn; resume the run"):
            list(read_results(path)[1])
    with ResultsWriter(path, INFO, resume=True) as writer:
        for one in ITEMS[kept:]:
            writer.write(one)
    assert list(read_results(path)[1]) == ITEMS
    assert path.read_bytes().startswith(whole[: len(whole) // 2])


@pytest.mark.parametrize("content", [None, b"", b'{"kind": "run", "ver'])
def test_going_on_with_nothing_begins_anew(path: Path, content: bytes | None):
    if content is not None:
        path.write_bytes(content)
    with ResultsWriter(path, INFO, resume=True) as writer:
        writer.write(ITEMS[0])
    info, items = read_results(path)
    assert (info, list(items)) == (INFO, ITEMS[:1])


def test_damaged_files_name_the_line(path: Path):
    write_results(path, INFO, ITEMS)
    rows = path.read_bytes().split(b"\n")
    for damage in (b"{}", b'{"kind":"item","index":"x"}', b"\xff", b"[" * 100_000):
        path.write_bytes(b"\n".join([*rows[:2], b"", damage, *rows[2:]]))
        items = read_results(path, on_torn=lambda _: None)[1]
        assert next(items) == ITEMS[0]
        with pytest.raises(DataError, match=r"run\.jsonl, line 4: not a result: "):
            next(items)


def test_files_that_are_no_results(path: Path, tmp_path: Path):
    path.write_text('{"question": "Q"}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"run\.jsonl, line 1: not a results file of ragcov"):
        read_results(path)
    path.write_bytes(b"")
    with pytest.raises(DataError, match="not a results file"):
        read_results(path)
    with pytest.raises(UsageError, match="can't be read: No such file"):
        read_results(tmp_path / "absent.jsonl")


@pytest.mark.parametrize("writer", [ResultsWriter, ResultsCsvWriter])
def test_files_that_can_t_be_written(tmp_path: Path, writer: Any):
    with pytest.raises(StoreError, match=r"there is no directory .*no; make it first"):
        writer(tmp_path / "no" / "run", INFO)
    with pytest.raises(StoreError, match="can't be written: Is a directory"):
        writer(tmp_path, INFO)
    with pytest.raises(StoreError, match="can't be written: Is a directory"):
        ResultsWriter(tmp_path, INFO, resume=True)
    if Path("/dev/full").exists():
        with pytest.raises(StoreError, match="/dev/full can't be written: No space left on device"):
            writer("/dev/full", INFO)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a file that its owner can't write")
def test_no_permission(path: Path):
    path.touch(mode=0o400)
    with pytest.raises(StoreError, match="no permission"):
        ResultsWriter(path, INFO)


def test_a_full_disk_keeps_the_rows_written_before(path: Path):
    resource = pytest.importorskip("resource")
    signal = pytest.importorskip("signal")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        with ResultsWriter(path, INFO) as writer:
            writer.write(ITEMS[0])
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 50, limits[1]))
            with pytest.raises(StoreError, match="the rows written before are kept"):
                writer.write(ITEMS[1])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    torn: list[str] = []
    assert list(read_results(path, on_torn=torn.append)[1]) == ITEMS[:1]
    assert len(torn) == 1


# CSV


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_has_a_row_a_sample(tmp_path: Path):
    path = tmp_path / "run.csv"
    write_csv(path, INFO, ITEMS)
    assert path.read_bytes().startswith(b"\xef\xbb\xbfid,input,")
    first, unscorable, failed, target_failed = table(path)
    assert list(first) == [
        "id",
        "input",
        "ground_truth",
        "context",
        "output",
        "extra",
        "error",
        *(
            f"{RECALL} {name}"
            for name in ("score", "state", "reason", "attributed", "total", "missing", "warnings", "error")
        ),
    ]
    assert json.loads(first["context"]) == CHUNKS
    assert "\\u" not in first["context"]
    assert json.loads(first["extra"]) == {"主題": [1, None]}
    assert [first[f"{RECALL} {name}"] for name in ("score", "state", "attributed", "total")] == [
        "0.33",
        "scored",
        "1",
        "3",
    ]
    assert first[f"{RECALL} missing"] == "claim 2, 長橋\nclaim 3, 長橋"
    assert first[f"{RECALL} warnings"] == "one\ntwo"
    assert (unscorable[f"{RECALL} score"], unscorable[f"{RECALL} state"]) == ("", "not_scorable")
    assert (failed[f"{RECALL} score"], failed[f"{RECALL} error"]) == ("", "500")
    assert (target_failed["error"], target_failed[f"{RECALL} state"]) == ("'=bad", "")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"])
def test_csv_cells_that_a_spreadsheet_would_run_are_defused(tmp_path: Path, start: str):
    path = tmp_path / "run.csv"
    write_csv(path, INFO, [item(ground_truth=f"{start}1+1", output=f"a {start}")])
    (row,) = table(path)
    assert row["ground_truth"] == f"'{start}1+1"
    assert row["output"] == f"a {start}"


def test_csv_reads_back_as_a_dataset(tmp_path: Path):
    path = tmp_path / "run.csv"
    messages = [{"role": "user", "content": "長橋は？"}]
    items = [item(0, scored(), output="x,\r\ny"), item(1, input=messages, context=[]), item(2, ground_truth="42")]
    write_csv(path, INFO, items)
    samples = list(read_samples(path))
    for sample, one in zip(samples, items, strict=True):
        expected = one.sample
        assert (sample.id, sample.input, sample.ground_truth) == (expected.id, expected.input, expected.ground_truth)
        assert (sample.context, sample.output) == (expected.context, expected.output)


def test_csv_cleans_what_no_file_can_hold(tmp_path: Path):
    path = tmp_path / "run.csv"
    with ResultsCsvWriter(path, INFO) as writer:
        writer.write(item(input="a\ud800b", output={"nan": math.nan}))
    (row,) = table(path)
    assert (row["input"], row["output"]) == ("a\ufffdb", '{"nan":null}')
