"""What a provider's error means: ask again, ask differently, fail the row, or stop the run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal, cast

import msgspec

from ragcov.errors import (
    ContextLengthError,
    FatalProviderError,
    ProviderError,
    RagcovError,
    RefusalError,
)

__all__ = ["Failed", "classify", "refuses"]

_CONTEXT = re.compile(
    r"context.{0,12}(?:length|window|size)|(?:prompt|input|request).{0,20}too (?:long|large)"
    r"|too many (?:input )?tokens",
    re.IGNORECASE,
)
_TEMPERATURE = re.compile(r"temperature|sampling", re.IGNORECASE)
_STRUCTURE = re.compile(r"response_format|json_?schema|structured output|tool_choice|\btools?\b", re.IGNORECASE)
_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|xai|key)[-_][A-Za-z0-9_-]{8,}|Bearer\s+\S+", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\b(?:sorry|apologi[sz]e|unable to|can(?:no|['’])t|won['’]t|not able to|refuse)\b"
    r"|抱歉|对不起|對不起|无法|無法|不能|申し訳|できません|お断り",
    re.IGNORECASE,
)


class Failed(msgspec.Struct, frozen=True):
    """A request that failed.

    Attributes:
        error: What to raise when it can't be helped.
        action: "retry" after a wait; "throttle": retry, and all workers slow down; "plain": ask again without
            temperature; "simpler": ask again with a simpler way of structured output; "raise" at once.
        retry_after: Seconds that the provider asked to wait, if it said.
    """

    error: RagcovError
    action: Literal["retry", "throttle", "plain", "simpler", "raise"] = "raise"
    retry_after: float | None = None


def classify(error: Exception, model_id: str, secrets: Sequence[str] = ()) -> Failed | None:
    """What an exception of the LLM library or a timeout means; None for one that isn't the provider's."""
    from pydantic_ai import exceptions as library

    if isinstance(error, TimeoutError | library.ModelRequestTimeout):
        return Failed(ProviderError(f"{model_id}: no answer within the request timeout"), "retry")
    if isinstance(error, library.FallbackExceptionGroup):
        return classify(error.exceptions[-1], model_id, secrets)
    if isinstance(error, library.ContentFilterError):
        return Failed(RefusalError(f"{model_id} refused: {_redact(str(error), secrets)}"))
    if isinstance(error, library.ModelAPIError):
        return _classify_api_error(error, model_id, secrets)
    if isinstance(error, library.UnexpectedModelBehavior):
        problem = _redact(str(error), secrets)
        return Failed(ProviderError(f"{model_id}: the answer isn't what the interface promises: {problem}"), "retry")
    if isinstance(error, library.UserError):
        return Failed(FatalProviderError(f"{model_id}: {_redact(str(error), secrets)}"))
    return None


def refuses(text: str) -> bool:
    """Whether a reply without any JSON reads as a refusal."""
    return "{" not in text and len(text) < 2000 and _REFUSAL.search(text) is not None


def _classify_api_error(error: Any, model_id: str, secrets: Sequence[str]) -> Failed:
    from pydantic_ai import exceptions as library

    status = cast("int | None", getattr(error, "status_code", None))
    words = _redact(_words(error), secrets)
    said = f"{model_id}: {words}" + (f" (HTTP {status})" if status is not None else "")
    fatal = (
        (library.ModelAuthenticationError, "Check the API key and what it may use."),
        (library.ModelNotFoundError, "Check the model's name and the endpoint's URL."),
        (library.ModelQuotaExceededError, "The account's quota or credit is used up."),
    )
    for kind, remedy in fatal:
        if isinstance(error, kind):
            return Failed(FatalProviderError(f"{said}. {remedy}", status=status))
    if isinstance(error, library.ModelContextWindowExceededError) or (
        status in (400, 413, 422) and _CONTEXT.search(words)
    ):
        return Failed(ContextLengthError(said, status=status))
    if isinstance(error, library.ModelRateLimitError | library.ModelOverloadedError) or status in (429, 529):
        return Failed(ProviderError(said, status=status), "throttle", _retry_after(error))
    if isinstance(error, library.ModelRequestRejectedError):
        action = "plain" if _TEMPERATURE.search(words) else "simpler" if _STRUCTURE.search(words) else "raise"
        return Failed(ProviderError(said, status=status), "retry" if status in (408, 409, 425) else action)
    return Failed(ProviderError(said, status=status), "retry", _retry_after(error))


def _retry_after(error: Any) -> float | None:
    if error.retry_after is not None:
        return error.retry_after
    # The library reads whole seconds only; some gateways send fractions.
    headers: dict[str, str] = getattr(error, "headers", None) or {}
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < math.inf else None


def _words(error: Any) -> str:
    """The provider's own words, out of the usual places of an error body."""
    body = error.body
    for key in ("error", "message", "detail"):
        if isinstance(body, dict) and key in body:
            body = cast("dict[str, Any]", body)[key]
    if isinstance(body, dict) or body is None:
        body = error.message
    return " ".join(str(body).split())[:500]


def _redact(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, "***")
    return _KEY_LIKE.sub("***", text)
