"""The LLM judge: any provider's model, asked for claims and for verdicts with quotes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragcov.attribution import Verdict
from ragcov.claims import Claim, number_claims
from ragcov.database import default_location
from ragcov.errors import UsageError
from ragcov.judges.asking import Asker, JsonSchema
from ragcov.judges.attributing import Attribution, TokenBudget, together
from ragcov.judges.cache import ClaimsCache, cache_key
from ragcov.judges.extracting import place_claims, read_claims
from ragcov.judges.models import resolve_models
from ragcov.judges.packing import estimate_tokens, split_text
from ragcov.judges.prompts import fenced, load_prompt
from ragcov.judges.replies import UnreadableError, read_json
from ragcov.judges.settling import ASK_AGAIN, RawReply, unreadable

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = ["LLMJudge"]

SchemaT = TypeVar("SchemaT", bound="BaseModel")
_EXTRACTION_BUDGET = 3000
_SMALLEST_EXTRACTION = 50


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_CLAIMS = JsonSchema("claims", _object(claims={"type": "array", "items": {"type": "string"}}))
# Quotes come before verdicts, so that a model looks before it decides; flat lists keep replies short.
_VERDICTS = JsonSchema(
    "verdicts",
    _object(
        evidence={
            "type": "array",
            "items": _object(
                id={"type": "integer"},
                chunk={"type": "integer"},
                quote={"type": "string"},
                enough={"type": "boolean"},
            ),
        },
        verdicts={
            "type": "array",
            "items": _object(
                id={"type": "integer"},
                verdict={"type": "string", "enum": ["yes", "no", "contradicted"]},
                reason={"type": "string"},
            ),
        },
    ),
)


class LLMJudge:
    """Asks a large language model of any provider.

    One request extracts the claims of a text, and is kept for the next run; one decides about up to
    `claims_per_batch` claims. Every supported claim carries quotes that stand in the chunks: support without such a
    quote is asked about again once, then counts as none, with a warning.

    Args:
        config: `"provider/model"`; an OpenAI-compatible endpoint `{"id", "url", "api_key", "headers"}`; an instance
            of the LLM library's model class; or a list of these, tried in order when one fails.
        cache: Where claims are kept between runs: a directory, or a PostgreSQL URL; True or None for the default
            place (the environment variable RAGCOV_CACHE, else `.ragcov` in the working directory); False for memory
            only.
        claims_per_batch: The most claims in a request; 1 or more.
        token_budget: The most tokens of chunks in a request, by a careful estimate; longer chunks are cut into
            windows that overlap.
        timeout: Seconds for one request; above 0.
        retries: How often a request that failed for a passing reason is sent again.
        retry_delay: Seconds before the first repetition, 0 or more; doubled each time.
        concurrency: The most requests that are open at once, 1 or more. Fewer while the provider says that it is
            too much.
        settings: Further settings of the LLM library for each request (`{"max_tokens": 4000}`).

    Raises:
        ModelConfigError: Unknown provider, missing key or missing extra. Nothing was asked yet.
        UsageError: Another argument that can't work.
    """

    def __init__(
        self,
        config: Any,
        *,
        cache: bool | str | Path | None = None,
        claims_per_batch: int = 20,
        token_budget: int = 24_000,
        timeout: float = 60.0,
        retries: int = 4,
        retry_delay: float = 0.5,
        concurrency: int = 64,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        for name, value, least in (
            ("claims_per_batch", claims_per_batch, 1),
            ("token_budget", token_budget, 100),
            ("retries", retries, 0),
            ("concurrency", concurrency, 1),
        ):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise UsageError(f"{name} must be a whole number of at least {least}, got {value!r}")
        for name, seconds, least in (("timeout", timeout, 0.001), ("retry_delay", retry_delay, 0)):
            if isinstance(seconds, bool) or not least <= seconds < math.inf:
                raise UsageError(f"{name} must be a number of seconds of at least {least}, got {seconds!r}")
        specs = resolve_models(config)
        self._id = " | ".join(spec.id for spec in specs)
        self._settings = dict(settings or {})
        self._endpoints = [spec.endpoint for spec in specs]
        self._batch = claims_per_batch
        self._budget = TokenBudget(token_budget)
        self._asker = Asker(
            specs,
            timeout=timeout,
            retries=retries,
            retry_delay=retry_delay,
            concurrency=concurrency,
            settings=self._settings,
        )
        self._cache = ClaimsCache(default_location() if cache is None or cache is True else cache or None)

    @property
    def id(self) -> str:
        """The model, as the config names it: "openai/gpt-5.6-sol"; fallbacks after " | "."""
        return self._id

    @property
    def settings(self) -> dict[str, str]:
        """What its decisions depend on beside the model: versions of the prompts, and digests of what may be secret."""
        return {
            "claims_prompt": load_prompt("claims").version,
            "verdicts_prompt": load_prompt("verdicts").version,
            "relevance_prompt": load_prompt("relevance").version,
            "endpoint": cache_key(self._endpoints)[:12],
            "model_settings": cache_key(self._settings, self._batch)[:12],
        }

    async def extract_claims(self, text: str, *, question: str | None = None) -> list[Claim]:
        """The claims of a text, from the cache or by one request (more for a very long text).

        Raises:
            JudgeError: The model could not be asked, or its reply not be read.
        """
        if not text.strip():
            return []
        question = (question or "").strip()
        prompt = load_prompt("claims")
        key = cache_key("claims", self._id, self._endpoints, prompt.version, self._settings, question, text)
        return await self._cache.get(key, lambda: self._extract(text, question))

    async def attribute(self, claims: Sequence[Claim], chunks: Sequence[str]) -> list[Verdict]:
        """One verdict a claim; no request without claims or without a chunk that isn't blank.

        Raises:
            JudgeError: The model could not be asked, or its replies not be read as one verdict a claim.
        """
        if not claims or not any(chunk.strip() for chunk in chunks):
            return [Verdict(claim=claim, supported=False) for claim in claims]
        instructions = load_prompt("verdicts").text

        async def send(prompt: str) -> RawReply:
            return await self._asker.request(instructions, prompt, _VERDICTS)

        return await Attribution(claims, chunks, send, self._budget, self._batch).verdicts()

    async def ask(self, instructions: str, prompt: str, schema: type[SchemaT]) -> SchemaT:
        """One structured answer to a prompt of your own.

        Raises:
            JudgeError: The model could not be asked, or its replies not be read as an instance of the schema.
        """
        form = JsonSchema(schema.__name__, schema.model_json_schema())
        reply, problem = RawReply(""), ""
        for _ in range(1 + ASK_AGAIN):
            reply = await self._asker.request(instructions, prompt, form)
            try:
                return schema.model_validate(read_json(reply.text, _fits(schema), [prompt]))
            except UnreadableError as error:
                problem = str(error)
        raise unreadable(f"the answer is no {schema.__name__} ({problem})", reply)

    async def aclose(self) -> None:
        """Closes connections and cache; both are opened again when needed. An event loop that ends does it too."""
        await self._asker.aclose()
        self._cache.close()

    async def _extract(self, text: str, question: str) -> list[Claim]:
        spans = split_text(text, _EXTRACTION_BUDGET)
        parts = await together(*(self._extract_part(text, span, question) for span in spans))
        unique = {claim.text: claim for part in reversed(parts) for claim in reversed(part)}
        return number_claims(reversed(unique.values()))

    async def _extract_part(self, text: str, span: tuple[int, int], question: str) -> list[Claim]:
        part = text[span[0] : span[1]]
        if not part.strip():
            return []
        sections = [("question", question)] if question else []
        prompt = fenced([*sections, ("text", part)], [question, part])
        reply, problem = RawReply(""), ""
        for _ in range(1 + ASK_AGAIN):
            reply = await self._asker.request(load_prompt("claims").text, prompt, _CLAIMS)
            if reply.finish_reason == "length" and estimate_tokens(part) > _SMALLEST_EXTRACTION:
                return await self._extract_halves(text, span, question)
            try:
                return place_claims(read_claims(reply.text, part), text, span)
            except UnreadableError as error:
                problem = str(error)
        raise unreadable(f"no readable list of claims ({problem})", reply)

    async def _extract_halves(self, text: str, span: tuple[int, int], question: str) -> list[Claim]:
        """The claims of a part whose list of claims is longer than the model's output limit."""
        part = text[span[0] : span[1]]
        halves = split_text(part, (estimate_tokens(part) + 1) // 2)
        spans = [(span[0] + start, span[0] + end) for start, end in halves]
        found = await together(*(self._extract_part(text, half, question) for half in spans))
        return [claim for part_claims in found for claim in part_claims]


def _fits(schema: type[BaseModel]) -> Any:
    from pydantic import ValidationError

    def fits(value: dict[str, Any]) -> bool:
        try:
            schema.model_validate(value)
        except ValidationError:
            return False
        return True

    return fits
