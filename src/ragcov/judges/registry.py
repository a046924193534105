"""From a model config to a judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, cast

from ragcov.database import Location
from ragcov.errors import ModelConfigError
from ragcov.judges.base import Judge

__all__ = ["JudgeConfig", "load_judge"]

JudgeConfig: TypeAlias = str | dict[str, Any] | Judge | Sequence[Any] | object
"""`"offline"`, `"provider/model"`, `{"id", "url", "api_key", "headers"}`, an instance of the LLM library's own
model class, a list of these (fallbacks in order), or a judge, which is used as it is."""


def load_judge(config: JudgeConfig, *, cache: bool | Location | None = None) -> Judge:
    """The judge for a model config.

    Args:
        config: `"offline"`; `"provider/model"`; an OpenAI-compatible endpoint
            `{"id", "url", "api_key", "headers"}`; an instance of the LLM library's own model class; a list of
            these, tried in order when one fails; or a judge of your own, which is returned as it is.
        cache: Where an LLM judge keeps claims between runs: a directory or a PostgreSQL URL; None for the default
            place; False for memory only.

    Raises:
        ModelConfigError: Unknown provider, missing key or missing extra. Nothing was asked yet.
    """
    if config == "offline":
        from ragcov.judges.offline import OfflineJudge

        return OfflineJudge()
    if isinstance(config, str) and config.startswith("nli:"):
        from ragcov.judges.nli import NliJudge

        if not config.removeprefix("nli:").strip():
            raise ModelConfigError('"nli:" names no model: give a folder, an ONNX file or a hub id, "nli:owner/name"')
        return NliJudge(config.removeprefix("nli:"))
    if not isinstance(config, str | dict | list | tuple) and isinstance(config, Judge):
        return config
    if config is None or config == "" or config == []:
        raise ModelConfigError('a model is needed: "offline", "provider/model", or one of your own')
    from ragcov.judges.llm import LLMJudge

    return LLMJudge(cast(Any, config), cache=cache)
