"""Asking the system under test, and reading what it answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import msgspec

from ragcov.concurrency import call
from ragcov.errors import TargetError, UsageError
from ragcov.messages import chunk_text, is_agent_output
from ragcov.samples import Sample, clean_text, sample_from

__all__ = ["answer", "check_target"]

_METHODS = ("generate", "run", "invoke", "retrieve")


def check_target(target: Any) -> Callable[..., Any]:
    """The function to call: the target itself, or its generate, run, invoke or retrieve, async ones first.

    Raises:
        UsageError: When it has none of them.
    """
    for name in _METHODS:
        for method in (getattr(target, f"a{name}", None), getattr(target, name, None)):
            if callable(method) and not isinstance(target, type):
                return method
    if callable(target):
        return target
    raise UsageError(
        f"target must be a function, or an object with one of {', '.join(_METHODS)}; got {type(target).__name__}"
    )


async def answer(target: Callable[..., Any], sample: Sample) -> tuple[Sample, Any]:
    """Calls the target with the sample's input.

    Returns:
        The sample with the output, and the context if the target gave one, filled in; and what it returned.

    Raises:
        TargetError: When the target raised or returned nothing.
    """
    try:
        returned = await call(target, sample.input)
    except Exception as error:
        raise TargetError(f"the target raised {type(error).__name__}: {error}") from error
    if returned is None:
        raise TargetError("the target returned None: nothing to score")
    return _filled(sample, returned), returned


def _filled(sample: Sample, returned: Any) -> Sample:
    if isinstance(returned, str):
        return msgspec.structs.replace(sample, output=clean_text(returned))
    if is_agent_output(returned):
        return msgspec.structs.replace(sample, output=returned)
    if isinstance(returned, Mapping):
        found = sample_from(cast("Mapping[str, Any]", returned), index=0)
        return msgspec.structs.replace(
            sample,
            output=found.output if found.output is not None else sample.output,
            context=found.context if found.context is not None else sample.context,
        )
    if isinstance(returned, Sequence):
        # What a retriever returns: a list of texts or of documents.
        chunks = [clean_text(chunk_text(chunk)) for chunk in cast("Sequence[Any]", returned)]
        return msgspec.structs.replace(sample, context=chunks)
    return msgspec.structs.replace(sample, output=returned)
