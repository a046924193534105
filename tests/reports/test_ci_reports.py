"""JUnit, GitHub and JSON: what CI systems read."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from ragcov.errors import StoreError
from ragcov.reports.github import GithubReport
from ragcov.reports.junit import JunitWriter
from ragcov.results import ItemResult, RunInfo, ScorerResult, Tally
from ragcov.samples import Sample
from reports.small_run import INFO, PRECISION, RECALL, small_run


def junit(folder: Path, fail_under: float | None = None) -> ET.Element:
    path = folder / "junit.xml"
    with JunitWriter(path, INFO, fail_under=fail_under) as writer:
        for item in small_run():
            writer.write(item)
    return ET.parse(path).getroot()


def test_junit_has_a_case_for_each_sample_and_one_for_the_mean(tmp_path: Path) -> None:
    root = junit(tmp_path)
    suite = root.find(f"testsuite[@name='{RECALL}']")
    assert suite is not None
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert len(cases) == 9
    assert suite.get("tests") == "9"
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("0", "2", "1")
    assert cases["no-truth"].find("skipped") is not None
    down = cases["down"].find("error")
    assert down is not None
    assert down.get("message") == "ConnectionError: index is down"
    assert "missed: Einstein won the Nobel Prize. - no prize is named" in (cases["ulm"].findtext("system-out") or "")
    assert "contradicted: 龍山寺建於1738年。" in (cases["龍山寺"].findtext("system-out") or "")


def test_junit_fails_where_the_exit_code_does(tmp_path: Path) -> None:
    root = junit(tmp_path, fail_under=0.6)
    failed = {case.get("classname") for case in root.iter("testcase") if case.find("failure") is not None}
    assert failed == {RECALL, "faithfulness-scorer"}
    assert root.get("failures") == "2"
    message = next(root.iter("failure")).get("message") or ""
    assert re.fullmatch(r"mean 0\.53 \(95 % CI .* n = 5\) is below 0\.6", message)


def test_junit_holds_characters_that_xml_cannot(tmp_path: Path) -> None:
    with JunitWriter(tmp_path / "j.xml", RunInfo(version="1", scorers=(RECALL,))) as writer:
        result = ScorerResult(scorer_id=RECALL, state="not_scorable", score=0.0, reason="nul \x00 <&> \ud800")
        writer.write(ItemResult(index=0, sample=Sample(id="\x1b[31m"), scorer_results={RECALL: result}))
    case = next(ET.parse(tmp_path / "j.xml").getroot().iter("testcase"))
    assert case.get("name") == "\ufffd[31m"
    skipped = case.find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "nul \ufffd <&> \ufffd"


def test_junit_of_a_run_that_stopped_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no more"), JunitWriter(tmp_path / "j.xml", INFO):
        raise ValueError("no more")
    assert 'message="stopped before its end: no more"' in (tmp_path / "j.xml").read_text(encoding="utf-8")
    with pytest.raises(StoreError, match="can't be written"):
        JunitWriter(tmp_path / "absent" / "j.xml", INFO)


def github(folder: Path, items: list[ItemResult], fail_under: float | None = None) -> tuple[str, list[str]]:
    path = folder / "summary.md"
    said: list[str] = []
    report = GithubReport(INFO, fail_under=fail_under, environment={"GITHUB_STEP_SUMMARY": str(path)}, say=said.append)
    with report:
        for item in items:
            report.write(item)
    return path.read_text(encoding="utf-8"), said


def test_github_summary(tmp_path: Path) -> None:
    (tmp_path / "summary.md").write_text("before\n")
    text, _ = github(tmp_path, small_run(), 0.6)
    assert text.startswith("before\n## ragcov")
    assert f"| {RECALL} | 0.53 (95 % CI" in text
    assert f"**{RECALL}: mean 0.53".replace(":", r"\:") in text
    assert "| broken | no readable verdict for c1, asked 3 times |" in text
    rows = [line for line in text.splitlines() if "0.50" in line and line.startswith("| 龍山寺")]
    assert rows == [f"| 龍山寺 | {RECALL} | 0.50 | 龍山寺建於1738年。 |"]


def test_github_text_is_escaped(tmp_path: Path) -> None:
    text, said = github(tmp_path, small_run(), 0.6)
    assert "<script" not in text
    assert "&lt;/style&gt;" in text
    assert "\u202e" not in text + "".join(said)
    assert f"**{PRECISION}" not in text
    for line in said:
        assert re.fullmatch(r"::(error|warning) (file=[^,:]*,)?title=[^,:]*::[^\n\r]+", line), line
    assert said[0].startswith("::error file=notes/<b>data</b>.jsonl,title=ragcov%3A below the threshold::")
    assert any(line.endswith("::ConnectionError: index is down") for line in said)
    hostile = Sample(id="x\n::error::injected, 100%: @me `code` [a](http://b) |", ground_truth="x")
    result = ScorerResult(scorer_id=RECALL, state="scored", score=0.0, tally=Tally(0, 1))
    text, said = github(tmp_path, [ItemResult(index=0, sample=hostile, scorer_results={RECALL: result})])
    assert len(said) == 1
    assert "title=ragcov%3A x %3A%3Aerror%3A%3Ainjected%2C 100%25%3A @me" in said[0]
    row = text.splitlines()[-1]
    assert row.startswith(r"| x \:\:error\:\:injected, 100%\: \@me \`code\` \[a\](http\://b) \| |")


def test_github_tells_what_it_does_not_show(tmp_path: Path) -> None:
    result = ScorerResult(scorer_id=RECALL, state="scored", score=0.5, tally=Tally(1, 2))
    items = [
        ItemResult(index=index, sample=Sample(id=f"s{index}"), scorer_results={RECALL: result}) for index in range(500)
    ]
    text, said = github(tmp_path, items)
    assert "480 more results below the full score are not listed." in text
    assert len(said) == 10
    assert said[-1].endswith("491 more of this kind; see the step summary and the results")
    assert said[0].startswith("::warning") and "s0" in said[0]


def ragcov(*arguments: str, cwd: Path, summary: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ragcov.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "GITHUB_STEP_SUMMARY": summary},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_command(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "ground_truth": "Harn has a castle.", "context": ["Harn has a castle."]},
        {"id": "b", "ground_truth": "The fee is 80 euros.", "context": ["Parking is free."]},
    ]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    reports = ("--junit", "junit.xml", "--github", "--json", "--fail-under", "0.8")
    done = ragcov("run", "data.jsonl", *reports, cwd=tmp_path, summary="summary.md")
    assert done.returncode == 1, done.stderr
    totals = json.loads(done.stdout)
    assert totals["exit_code"] == 1
    assert totals["info"]["dataset"] == "data.jsonl"
    assert totals["total_items"] == 2
    recall = totals["scorers"][RECALL]
    assert recall["below_threshold"] is True
    assert recall["mean"]["value"] == 0.5
    assert recall["tally"] == {"attributed": 1, "total": 2}
    assert "::error file=data.jsonl,title=ragcov%3A below the threshold::" in done.stderr
    assert "missed: The fee is 80 euros." in done.stderr
    assert ET.parse(tmp_path / "junit.xml").getroot().get("failures") == "1"
    assert "The fee is 80 euros." in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_without_a_step_summary_github_says_so(tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"ground_truth": "Tea.", "context": ["Tea."]}\n')
    done = ragcov("run", "data.jsonl", "--github", cwd=tmp_path)
    assert done.returncode == 0
    assert "GITHUB_STEP_SUMMARY is not set" in done.stderr
