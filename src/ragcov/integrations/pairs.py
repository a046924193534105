"""What the frameworks hand over, as a pair to score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ragcov.plain import plain
from ragcov.samples import Sample, clean, sample_from
from ragcov.scorers.base import Run
from ragcov.targets import read_reply

__all__ = ["pair"]


def pair(
    *, id: str | None, input: Any, returned: Any, expected: Any, metadata: Any, context: Sequence[str] | None
) -> Run:
    """A pair from a case and what came of it.

    Output and context are read from what was returned, as `run_evals` reads its target. The ground truth is the
    expected value, else the metadata's; the context is the one given here, else the reply's, else the metadata's.

    Raises:
        TargetError: When the reply can't be read.
        DataError: When the expected value can't be read as a ground truth.
    """
    reply = read_reply(returned)
    brought = _brought(metadata)
    truth = None if expected is None else sample_from({"ground_truth": plain(expected)}, index=0).ground_truth
    chunks = next((found for found in (context, reply.context, brought.context) if found is not None), None)
    return Run(
        input=clean(plain(input)),
        output=reply.output,
        ground_truth=truth or brought.ground_truth,
        context=None if chunks is None else list(chunks),
        id=id,
        context_given=context is not None,
    )


def _brought(metadata: Any) -> Sample:
    if isinstance(metadata, Mapping):
        fields = cast("Mapping[str, Any]", metadata)
        known = {name: fields[name] for name in fields if name in ("ground_truth", "reference", "context", "contexts")}
        if known:
            return sample_from(known, index=0)
    return Sample(id="")
