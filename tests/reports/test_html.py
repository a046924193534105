"""The coverage report as bytes: what is in it, what can't get in, how large runs are split."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov.attribution import Evidence, Verdict
from ragcov.claims import Claim
from ragcov.cli import main
from ragcov.errors import StoreError
from ragcov.reports.excerpts import Mark, excerpt
from ragcov.reports.html import HtmlReport, write_html
from ragcov.results import ItemResult, RunInfo
from ragcov.samples import Sample
from reports.small_run import HOSTILE, INFO, RECALL, quoting, scored, small_run

GOLD = Path(__file__).parent / "gold" / "small.html"
MB = 1_000_000


class Page(HTMLParser):
    """Ids, links, scripts and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src"):
                self.links.append(value or "")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def write(folder: Path, items: Iterable[ItemResult], info: RunInfo = INFO) -> dict[str, Page]:
    write_html(folder / "report.html", info, items)
    return {path.name: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.html"))}


def assert_links_lead_somewhere(pages: dict[str, Page], here: str = "report.html") -> None:
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids))
        for link in page.links:
            file, _, fragment = unquote(link).partition("#")
            target = pages[file or name]
            assert not fragment or fragment in target.ids, (name, link)


def test_gold_file(tmp_path: Path) -> None:
    """RAGCOV_UPDATE_GOLD=1 writes the file anew; look at it before it is committed."""
    write_html(tmp_path / "report.html", INFO, small_run())
    made = (tmp_path / "report.html").read_text(encoding="utf-8")
    if os.environ.get("RAGCOV_UPDATE_GOLD"):
        GOLD.parent.mkdir(exist_ok=True)
        GOLD.write_text(made, encoding="utf-8")
    assert made == GOLD.read_text(encoding="utf-8")


def test_worst_first_with_every_state(tmp_path: Path) -> None:
    page = write(tmp_path, small_run())["report.html"]
    order = [int(name[1:]) for name in page.ids if re.fullmatch(r"s\d+", name)]
    assert order == [5, 7, 6, 1, 3, 0, 2, 4]
    text = " ".join("".join(page.text).split())
    for said in (
        "supports no claim",
        "Nothing was retrieved.",
        "≠1 contradicted",
        "together",
        "Failed (target): ConnectionError: index is down",
        "no readable verdict for c1, asked 3 times",
        "Not scorable: the sample has no ground truth",
        "95 % CI",
        "chunks 0, 1 and 2 of 4 are relevant",
        "confidence 0.98",
    ):
        assert said in text, said


def test_links_lead_to_evidence(tmp_path: Path) -> None:
    pages = write(tmp_path, small_run())
    assert_links_lead_somewhere(pages)
    assert {"s0k1e2.0", "s0k2e2.1", "s1k0e1.0"} <= set(pages["report.html"].ids)


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    page = write(tmp_path, small_run())["report.html"]
    assert page.tags.count("script") == 1
    assert page.tags.count("style") == 1
    assert "img" not in page.tags
    assert not [name for name in page.attributes if name.startswith("on")]
    raw = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x07]", raw)
    assert 'title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>' in raw
    assert HOSTILE.split("\u202e")[0] in "".join(page.text)


def test_nothing_is_fetched(tmp_path: Path) -> None:
    write(tmp_path, small_run())
    raw = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"""(?:src|href|url|action)\s*[=(]\s*["']?(?:https?:)?//""", raw)
    assert "default-src 'none'" in raw


def test_languages_are_named(tmp_path: Path) -> None:
    write(tmp_path, small_run())
    raw = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'lang="zh-Hant">龍山寺供奉誰？' in raw
    assert 'lang="ja">' in raw


def test_same_rows_same_bytes(tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        write_html(tmp_path / name, INFO, small_run())
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def rows(count: int, *, chunks: int = 5, words: int = 60) -> list[ItemResult]:
    made: list[ItemResult] = []
    for index in range(count):
        truth = f"Fact {index} is known. Fact {index} has a source."
        context = [f"Fact {index} is known. " + "filler words " * (words // 2) for _ in range(chunks)]
        verdicts = [
            Verdict(
                claim=Claim(f"Fact {index} is known.", (0, truth.index(".") + 1), "c1"),
                supported=True,
                evidence=tuple(quoting(context, chunk, "Fact") for chunk in range(2)),
            ),
            Verdict(
                claim=Claim("Fact has a source.", (truth.index(".") + 2, len(truth)), "c2"),
                supported=False,
                reason="no source",
            ),
        ]
        sample = Sample(id=f"sample-{index}", input=f"What of fact {index}?", ground_truth=truth, context=context)
        made.append(ItemResult(index=index, sample=sample, scorer_results={RECALL: scored(RECALL, verdicts)}))
    return made


ONE = msgspec.structs.replace(INFO, scorers=(RECALL,))


@pytest.mark.parametrize("words", [60, 400, 3000], ids=["short", "page", "long"])
def test_200_samples_are_one_file_under_1_mb(words: int, tmp_path: Path) -> None:
    pages = write(tmp_path, rows(200, words=words), ONE)
    assert list(pages) == ["report.html"]
    assert (tmp_path / "report.html").stat().st_size < MB
    assert_links_lead_somewhere(pages)
    text = "".join(pages["report.html"].text)
    assert ("characters left out]" in text) == (words > 60)


def test_large_runs_are_split_and_nothing_is_lost(tmp_path: Path) -> None:
    pages = write(tmp_path, rows(2100, words=120), ONE)
    assert len(pages) > 3
    assert all(path.stat().st_size <= 1.05 * MB for path in tmp_path.glob("*.html"))
    assert_links_lead_somewhere(pages)
    shown = [name for page in pages.values() for name in page.ids if re.fullmatch(r"s\d+", name)]
    assert sorted(shown, key=lambda name: int(name[1:])) == [f"s{index}" for index in range(2100)]
    assert "samples 1 to 2,000 of 2,100" in "".join(pages["report.html"].text)
    assert "samples 2,001 to 2,100 of 2,100" in "".join(pages["report-2.html"].text)


def test_a_smaller_run_removes_the_pages_of_a_larger_one(tmp_path: Path) -> None:
    (tmp_path / "report-9.html").write_text("mine")
    assert len(write(tmp_path, rows(210, words=600), ONE)) > 3
    assert sorted(write(tmp_path, rows(3), ONE)) == ["report-9.html", "report.html"]


def test_a_chunk_of_1_mb_is_shown_in_part_with_its_evidence(tmp_path: Path) -> None:
    chunk = "x" * 500_000 + " the needle " + "y" * 500_000
    verdict = Verdict(claim=Claim("the needle"), supported=True, evidence=(quoting([chunk], 0, "the needle"),))
    sample = Sample(id="big", ground_truth="the needle", context=[chunk])
    item = ItemResult(index=0, sample=sample, scorer_results={RECALL: scored(RECALL, [verdict])})
    page = write(tmp_path, [item], ONE)["report.html"]
    text = "".join(page.text)
    assert "the needle" in text
    assert "of 1,000,012 characters shown" in text
    assert "s0k0e1.0" in page.ids
    assert (tmp_path / "report.html").stat().st_size < 100_000


def test_many_idle_chunks_are_counted(tmp_path: Path) -> None:
    context = [f"chunk text {number}" for number in range(80)]
    verdict = Verdict(claim=Claim("text 79"), supported=True, evidence=(quoting(context, 79, "text 79"),))
    sample = Sample(id="many", ground_truth="text 79", context=context)
    item = ItemResult(index=0, sample=sample, scorer_results={RECALL: scored(RECALL, [verdict])})
    page = write(tmp_path, [item], ONE)["report.html"]
    assert "29 more chunks, from 50 to 78, that support no claim are not shown" in "".join(page.text)
    assert "s0k79" in page.ids


def test_evidence_in_chunks_of_the_scorers_own_is_quoted(tmp_path: Path) -> None:
    verdict = Verdict(claim=Claim("x"), supported=True, evidence=(Evidence(0, (0, 5), "other"),))
    for context in (None, ["something else"]):
        sample = Sample(id="own", ground_truth="x", context=context)
        item = ItemResult(index=0, sample=sample, scorer_results={RECALL: scored(RECALL, [verdict])})
        pages = write(tmp_path, [item], ONE)
        assert_links_lead_somewhere(pages)
        raw = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert '<q dir="auto">other</q>' in raw


def test_a_run_without_rows(tmp_path: Path) -> None:
    page = write(tmp_path, [], ONE)["report.html"]
    assert "no score" in "".join(page.text)


def test_a_run_that_stops_early_keeps_its_rows_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    with pytest.raises(KeyboardInterrupt), HtmlReport(path, ONE) as report:
        report.write(rows(1)[0])
        raise KeyboardInterrupt
    text = "".join(Page(path.read_text(encoding="utf-8")).text)
    assert "The run stopped before its end" in text
    assert "sample-0" in text


def test_where_it_cannot_be_written_is_known_before_anything_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(StoreError, match="can't be written"):
        HtmlReport(tmp_path / "absent" / "report.html", ONE)
    (tmp_path / "d.jsonl").write_text('{"ground_truth": "x", "context": ["x"]}\n')
    code = main(["run", str(tmp_path / "d.jsonl"), "--html", str(tmp_path / "absent" / "r.html")])
    assert code == 3
    assert "can't be written" in capsys.readouterr().err


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo = Path(__file__).parents[2] / "examples" / "demo.jsonl"
    assert main(["run", str(demo), "--quiet", "--html", str(tmp_path / "report.html")]) == 0
    pages = {"report.html": Page((tmp_path / "report.html").read_text(encoding="utf-8"))}
    assert_links_lead_somewhere(pages)
    assert "offline@" in "".join(pages["report.html"].text)
    capsys.readouterr()


MARKS = st.lists(st.tuples(st.integers(0, 120), st.integers(0, 120)), max_size=6)


@given(st.text("ab ", max_size=120), MARKS, st.integers(1, 60))
def test_an_excerpt_leaves_nothing_out_unsaid(text: str, spans: list[tuple[int, int]], limit: int) -> None:
    marks = [Mark(min(span), max(span), number, "found", f"m{number}") for number, span in enumerate(spans)]
    found = excerpt(text, marks, limit=limit)
    at = 0
    for piece in found.pieces:
        assert bool(piece.text) != bool(piece.left_out)
        assert text[at : at + len(piece.text)] == piece.text
        covering = [mark for mark in marks if mark.start <= at and mark.end >= at + len(piece.text) > at]
        if piece.text and all(mark.end <= len(text) for mark in marks):
            assert (piece.kind is not None) == bool(covering)
        at += len(piece.text) + piece.left_out
    assert at == len(text) == found.length
    assert found.shown == sum(len(piece.text) for piece in found.pieces)


def test_marks_of_different_fates_may_overlap() -> None:
    marks = [Mark(0, 6, 1, "found"), Mark(3, 9, 2, "missed")]
    pieces: list[Any] = [
        (piece.text, piece.kind, len(piece.ends)) for piece in excerpt("aaabbbccc", marks, limit=99).pieces
    ]
    assert pieces == [("aaa", "found", 0), ("bbb", "mixed", 1), ("ccc", "missed", 1)]
