"""The pytest plugin, used by test suites of their own in processes of their own."""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from typing import Any

import pytest

pytest_plugins = ["pytester"]

ROWS: list[dict[str, Any]] = [
    {"id": "castle", "input": "Castle?", "ground_truth": "Harn has a castle.", "context": ["Harn has a castle."]},
    {"id": "fee", "input": "Fee?", "ground_truth": "The fee is 80 euros.", "context": ["Parking is free."]},
    {
        "id": "龍山寺",
        "input": "誰？",
        "ground_truth": "寺內供奉觀世音菩薩。龍山寺建於1738年。",
        "context": ["寺內供奉觀世音菩薩。"],
    },
]


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    # Other plugins that happen to be installed take their time, and load what this one must not.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyprojecttoml(
        '[tool.pytest.ini_options]\naddopts = "-p no:cacheprovider"\nfilterwarnings = ["error"]\n'
    )
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS)
    (pytester.path / "qa.jsonl").write_text(text, encoding="utf-8")
    return pytester


def run(suite: pytest.Pytester, test: str, *arguments: str) -> pytest.RunResult:
    suite.makepyfile(test)
    return suite.runpytest_subprocess("--strict-markers", "-p", "ragcov.pytest_plugin", *arguments)


def test_pytest_finds_it() -> None:
    (entry,) = entry_points(group="pytest11", name="ragcov")
    assert entry.value == "ragcov.pytest_plugin"


def test_unused_it_says_and_loads_nothing(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
        import sys

        def test_nothing_is_loaded():
            mine = sorted(name for name in sys.modules if name.startswith("ragcov"))
            assert mine == ["ragcov", "ragcov.pytest_plugin"]
            heavy = {"msgspec", "rich", "sqlalchemy", "jinja2", "rapidfuzz", "numpy", "scipy", "pydantic"}
            assert not heavy & set(sys.modules)
        """,
    )
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*ragcov: coverage*")


def test_check_names_the_missed_claims(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
        def test_low(ragcov):
            ragcov.check(
                input="Harn?",
                ground_truth="Harn has a castle. The fee is 80 euros.",
                context=["Harn has a castle."],
                min_recall=0.8,
            )

        def test_high(ragcov):
            result = ragcov.check(
                {"question": "Harn?", "ground_truth": "Harn has a castle."}, context=["Harn has a castle."]
            )
            assert result.score == 1.0
        """,
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            '*Error: context recall 0.50 is below 0.8 (1 of 2 claims supported, sample "test_low", judge offline@*',
            "*missed: The fee is 80 euros.*",
            "*ragcov: coverage of retrieval*",
            "context-recall-scorer: mean 0.75 (*n = 2); 0 not scorable, 0 failed",
            "*test_low*0.50*0.80*1/2*The fee is 80 euros.*",
            "*1 at the full score*",
        ]
    )
    # The message is all that a reader needs: no frame of the library.
    result.stdout.no_fnmatch_line("*pytest_plugin.py*")


def test_without_a_threshold_every_claim_is_wanted(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
        def test_one(ragcov):
            ragcov.check(ground_truth="Harn has a castle. The fee is 80 euros.", context=["Harn has a castle."])
        """,
    )
    result.assert_outcomes(failed=1)


def test_nothing_to_score_fails(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
        def test_no_truth(ragcov):
            ragcov.check(input="?", context=["x"], min_recall=0)
        """,
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Not scorable: the sample has no ground truth*"])


def test_dataset_mean(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
        import pytest

        @pytest.mark.ragcov(dataset="qa.jsonl", min_score=0.5)
        def test_reached(): ...

        @pytest.mark.ragcov(dataset="qa.jsonl", min_score=0.6)
        def test_missed(): ...
        """,
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        ["*mean 0.50 (95 % CI*n = 3) is below 0.6", "*0.00 is below 1 *fee*", "*missed: The fee is 80 euros.*"]
    )


def test_dataset_with_a_target(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
        import pytest

        def retrieve(question):
            return ["The fee is 80 euros."] if "Fee" in question else ["寺內供奉觀世音菩薩。龍山寺建於1738年。"]

        def broken(question):
            raise ConnectionError("index is down")

        @pytest.mark.ragcov(dataset="qa.jsonl", min_score=0.66, target=retrieve)
        def test_works(): ...

        @pytest.mark.ragcov(dataset="qa.jsonl")
        def test_fails(ragcov):
            ragcov.evaluate(target=broken)

        def test_result(ragcov):
            result = ragcov.evaluate("qa.jsonl", target=retrieve)
            assert result.summary.total_items == 3
        """,
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*3 of 3 samples failed*", "*index is down*"])


PER_SAMPLE = """
import pytest

@pytest.mark.ragcov(dataset="qa.jsonl", min_score=0.4)
def test_own_context(ragcov_sample): ...

@pytest.mark.ragcov(dataset="qa.jsonl", min_score=0.4)
def test_retrieved(ragcov, ragcov_sample):
    ragcov.check(ragcov_sample, context=[ragcov_sample.ground_truth])
"""


@pytest.mark.parametrize("arguments", [(), ("-p", "xdist", "-n", "2")], ids=["one process", "xdist"])
def test_a_test_for_each_sample(arguments: tuple[str, ...], suite: pytest.Pytester) -> None:
    result = run(suite, PER_SAMPLE, *arguments)
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*missed: The fee is 80 euros.*",
            "*ragcov: coverage of retrieval*",
            "context-recall-scorer: mean 0.75 (*n = 6); 0 not scorable, 0 failed",
            "  fee *0.00*0/1*",
            "*4 at the full score*",
        ]
    )


def test_only_the_sample_asked_for_runs(suite: pytest.Pytester) -> None:
    result = run(suite, PER_SAMPLE, "-k", "castle")
    result.assert_outcomes(passed=2, deselected=4)


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ('dataset="absent.jsonl"', "*there is no dataset absent.jsonl; looked for*"),
        ('dataset="bad.jsonl"', '*bad.jsonl, line 1, field "context"*'),
        ('dataset="qa.jsonl", min_scor=1', "*no option min_scor; it takes dataset, judge, min_score, scorer, target*"),
        ('dataset="qa.jsonl", min_score=80', "*min_score must be a number from 0 to 1, got 80*"),
        ('dataset="qa.jsonl", scorer="recal"', '*unknown scorer "recal"*'),
        ('dataset="qa.jsonl", judge="nowhere/model"', "*nowhere*"),
        ("", "*evaluate needs a dataset*"),
    ],
)
def test_what_cannot_work_is_said(marker: str, message: str, suite: pytest.Pytester) -> None:
    (suite.path / "bad.jsonl").write_text('{"ground_truth": "x", "context": 5}\n', encoding="utf-8")
    result = run(suite, f"import pytest\n\n@pytest.mark.ragcov({marker})\ndef test_it(): ...\n")
    assert result.ret == 1
    result.stdout.fnmatch_lines([message])


def test_sample_without_marker(suite: pytest.Pytester) -> None:
    result = run(suite, "def test_it(ragcov_sample): ...")
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*ragcov_sample needs @pytest.mark.ragcov(dataset=...)*"])


def test_the_judge_comes_from_the_command_line(suite: pytest.Pytester) -> None:
    test = 'def test_it(ragcov):\n    ragcov.check(ground_truth="Tea.", context=["Tea."])\n'
    result = run(suite, test, "--ragcov-judge", "nowhere/model")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*nowhere*"])


def test_async_tests_can_check(suite: pytest.Pytester) -> None:
    result = run(
        suite,
        """
        async def test_it(ragcov):
            ragcov.check(ground_truth="Harn has a castle.", context=["Harn has a castle."])
        """,
        *(
            "-p",
            "pytest_asyncio.plugin",
            "-o",
            "asyncio_mode=auto",
            "-o",
            "asyncio_default_fixture_loop_scope=function",
        ),
    )
    result.assert_outcomes(passed=1)
