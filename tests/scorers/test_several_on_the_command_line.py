"""Several scorers in one run of the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path


def test_rows_reasons_and_totals_of_each(tmp_path: Path) -> None:
    rows = [
        {
            "id": "ferry",
            "input": "Can dogs ride the ferry?",
            "ground_truth": "Dogs travel free on the ferry.",
            "output": "Dogs travel free on the ferry.",
            "context": ["Breakfast is served from seven.", "Dogs travel free on the ferry."],
        },
        {"id": "silent", "input": "Can cats?", "ground_truth": "Cats pay.", "context": ["Cats pay."]},
    ]
    data, out = tmp_path / "data.jsonl", tmp_path / "out.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    names = ["context-recall", "context-precision", "context-relevance", "faithfulness"]
    options = [word for name in names for word in ("--scorer", name)]
    command = [sys.executable, "-m", "ragcov.cli", "run", str(data), *options, "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["ferry", "1.00", "1/1", "context-recall-scorer"] in lines
    assert ["ferry", "0.50", "context-precision-scorer"] in lines
    assert ["ferry", "0.50", "context-relevance-scorer"] in lines
    assert ["ferry", "1.00", "1/1", "faithfulness-scorer"] in lines
    assert "(1/2) / 1 = 0.5" in done.stdout
    assert "(0.0 + 1.0) / 2 = 0.5" in done.stdout
    assert "–  faithfulness-scorer: Not scorable: the sample has no output" in done.stdout
    assert "faithfulness-scorer: mean 1.00 (n = 1" in done.stdout
    assert "context-precision-scorer: mean 0.75" in done.stdout
    kept = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()][1]["scorer_results"]
    steps = kept["context-precision-scorer"]["step_results"]
    assert [chunk["relevant"] for chunk in steps["analyze"]] == [False, True]
