"""A run's totals as JSON, for programs."""

from __future__ import annotations

from typing import Any

import msgspec

from ragcov.reports.files import to_json
from ragcov.results import EvalsResult, RunInfo

__all__ = ["summary_json"]


def summary_json(
    result: EvalsResult, info: RunInfo, *, exit_code: int, fail_under: float | None = None, skipped: int = 0
) -> str:
    """The totals as a JSON object.

    Args:
        result: The run; its items are not looked at.
        info: What was run.
        exit_code: What the command ends with.
        fail_under: The threshold that was asked for.
        skipped: Records that could not be read and were left out.
    """
    scorers: dict[str, Any] = {}
    for scorer_id, scorer in result.summary.scorers.items():
        mean = scorer.mean.value
        below = None if fail_under is None else mean is None or mean < fail_under - 1e-9
        scorers[scorer_id] = {**msgspec.structs.asdict(scorer), "below_threshold": below}
    document = {
        "info": {name: getattr(info, name) for name in ("version", "dataset", "scorers", "judges", "settings")},
        "total_items": result.summary.total_items,
        "failed_items": result.summary.failed_items,
        "skipped_records": skipped,
        "scorers": scorers,
        "usage": result.summary.usage,
        "fail_under": fail_under,
        "warnings": result.warnings,
        "exit_code": exit_code,
    }
    return msgspec.json.format(to_json(document)).decode()
