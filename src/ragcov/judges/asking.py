"""One structured request: retries, adaptive limit, fallback models, errors that carry the provider's words."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import msgspec

from ragcov.errors import ContextLengthError, FatalProviderError, JudgeError, ProviderError, RefusalError
from ragcov.judges.base import record_usage, record_warning
from ragcov.judges.failures import Failed, classify, refuses
from ragcov.judges.limits import AdaptiveLimit
from ragcov.judges.models import ModelSpec, is_loopback
from ragcov.judges.settling import RawReply
from ragcov.results import Usage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

__all__ = ["Asker", "JsonSchema"]

Mode: TypeAlias = Literal["native", "tool", "prompted", "auto"]
_SIMPLER: dict[Mode, Mode] = {"native": "tool", "auto": "prompted", "tool": "prompted"}
_LONGEST_WAIT = 20.0


class JsonSchema(msgspec.Struct, frozen=True):
    """The form of a reply: a JSON schema with a name."""

    name: str
    schema: dict[str, Any]


class _Manner:
    """How a model wants to be asked: from its profile, and from what it rejected. Shared by all event loops."""

    def __init__(self, model: Model) -> None:
        try:
            profile = model.profile
        except NotImplementedError:  # a router of the LLM library, which decides for each of its models
            self.mode: Mode = "auto"
            self.temperature = False
            self.settings: dict[str, Any] = {}
            return
        native = profile.get("supports_json_schema_output", False)
        self.mode = "native" if native else "tool" if profile.get("supports_tools", True) else "prompted"
        thinks = profile.get("thinking_always_enabled", False) or profile.get("thinking_enabled_by_default", False)
        # Models that think, and some others, reject a temperature or warn about it.
        self.temperature = not thinks and not profile.get("anthropic_disallows_sampling_settings", False)
        retries = getattr(getattr(model, "client", None), "max_retries", 0)
        # A user's own client is not ragcov's to change; repeating is done here, for all workers at once.
        self.settings = {"max_retries": 0} if retries else {}


class _Session:
    """The models and the limit of one event loop: an HTTP client lives and dies with its loop."""

    def __init__(self, models: list[Model], limit: AdaptiveLimit, closing: AsyncGenerator[None]) -> None:
        self.models = models
        self.limit = limit
        self.closing = closing


_open_sessions: dict[asyncio.AbstractEventLoop, set[AsyncGenerator[None]]] = {}


async def _keep_open(models: Sequence[Model]) -> AsyncGenerator[None]:
    # An event loop that ends in order (asyncio.run and its like) closes its asynchronous generators: that closes
    # the HTTP clients as well, without anybody having to remember it. Until then the generator must not be collected.
    async with AsyncExitStack() as stack:
        for model in models:
            await stack.enter_async_context(model)
        yield


class Asker:
    """Sends requests to a model, or to the next one in the list when it fails.

    Args:
        specs: The models, in the order in which they are tried.
        timeout: Seconds for one request.
        retries: How often a request that failed for a passing reason is sent again; twice as often when the provider
            asked to slow down.
        retry_delay: Seconds before the first repetition; doubled each time, up to 20.
        concurrency: The most requests that may be open at once.
        settings: Settings of the LLM library that are added to each request.
    """

    def __init__(
        self,
        specs: Sequence[ModelSpec],
        *,
        timeout: float,
        retries: int,
        retry_delay: float,
        concurrency: int,
        settings: Mapping[str, Any],
    ) -> None:
        self._specs = list(specs)
        self._timeout = timeout
        self._retries = retries
        self._retry_delay = retry_delay
        self._concurrency = concurrency
        self._settings = dict(settings)
        self._models: list[Model] | None = [spec.build() for spec in self._specs]
        self._manners = [_Manner(model) for model in self._models]
        self._dead: dict[int, FatalProviderError] = {}
        self._sessions: dict[asyncio.AbstractEventLoop, _Session] = {}

    async def request(self, instructions: str, prompt: str, form: JsonSchema) -> RawReply:
        """The reply to one request, as text.

        Raises:
            FatalProviderError: Every model rejected the key or doesn't exist.
            ContextLengthError: The prompt is too long.
            RefusalError: The model refused, also when asked again.
            ProviderError: The provider failed, also after retries.
        """
        session = await self._session()
        failure: JudgeError | None = None
        for number, spec in enumerate(self._specs):
            if number in self._dead:
                failure = failure or self._dead[number]
                continue
            try:
                return await self._request(session, number, instructions, prompt, form)
            except ContextLengthError:
                raise
            except (ProviderError, RefusalError) as error:
                if isinstance(error, FatalProviderError):
                    self._dead[number] = error
                failure = error
                if number + 1 < len(self._specs):
                    record_warning(f"{spec.id} failed, {self._specs[number + 1].id} was asked instead: {error}")
        assert failure is not None
        raise failure

    async def aclose(self) -> None:
        """Closes the connections of the running event loop; the next request opens new ones."""
        loop = asyncio.get_running_loop()
        if (session := self._sessions.pop(loop, None)) is not None:
            await session.closing.aclose()
            _open_sessions[loop].discard(session.closing)

    async def _session(self) -> _Session:
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            models, self._models = self._models or [spec.build() for spec in self._specs], None
            session = _Session(models, AdaptiveLimit(self._concurrency), _keep_open(models))
            for sessions in (self._sessions, _open_sessions):
                for ended in [other for other in sessions if other.is_closed()]:
                    del sessions[ended]
            self._sessions[loop] = session
            _open_sessions.setdefault(loop, set()).add(session.closing)
            await anext(session.closing)
        return session

    async def _request(
        self, session: _Session, number: int, instructions: str, prompt: str, form: JsonSchema
    ) -> RawReply:
        attempts = refusals = 0
        while True:
            mode, temperature = self._manners[number].mode, self._manners[number].temperature
            outcome = await self._attempt(session, number, instructions, prompt, form)
            if isinstance(outcome, RawReply):
                return outcome
            attempts += 1
            if isinstance(outcome.error, RefusalError) and refusals == 0:
                refusals += 1  # models refuse at random: once more
                continue
            if outcome.action == "plain" and temperature:
                self._manners[number].temperature = False
                continue
            if outcome.action in ("simpler", "plain") and mode in _SIMPLER:
                self._manners[number].mode = _SIMPLER[mode]
                continue
            allowed = {"retry": self._retries, "throttle": 2 * self._retries}.get(outcome.action, 0)
            if attempts > allowed:
                raise outcome.error
            if outcome.retry_after is None or outcome.action == "retry":
                wait = min(_LONGEST_WAIT, self._retry_delay * 2 ** (attempts - 1)) * random.uniform(0.75, 1.25)
                await asyncio.sleep(max(wait, outcome.retry_after or 0))

    async def _attempt(
        self, session: _Session, number: int, instructions: str, prompt: str, form: JsonSchema
    ) -> RawReply | Failed:
        from pydantic_ai.direct import model_request

        spec, model, manner = self._specs[number], session.models[number], self._manners[number]
        check_allowed(model)
        messages, settings, parameters = _build(instructions, prompt, form, manner)
        settings |= self._settings
        async with session.limit.slot() as sent:
            try:
                async with asyncio.timeout(self._timeout):
                    response = await model_request(
                        model, messages, model_settings=cast(Any, settings), model_request_parameters=parameters
                    )
            except Exception as error:
                record_usage(Usage(calls=1))
                failed = classify(error, spec.id, spec.secrets)
                if failed is None:
                    raise
                if failed.action == "throttle":
                    session.limit.throttled(sent, failed.retry_after)
                failed.error.__cause__ = error
                return failed
            session.limit.succeeded()
        usage = response.usage
        record_usage(Usage(calls=1, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens))
        return _read(response, spec.id)


def _build(
    instructions: str, prompt: str, form: JsonSchema, manner: _Manner
) -> tuple[list[Any], dict[str, Any], ModelRequestParameters]:
    from pydantic_ai.messages import ModelRequest, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    settings = dict(manner.settings)
    if manner.temperature:
        settings["temperature"] = 0.0
    tools = [ToolDefinition(name=form.name, parameters_json_schema=form.schema, kind="output")]
    parameters = ModelRequestParameters(
        output_mode=manner.mode,
        output_object=None if manner.mode == "tool" else OutputObjectDefinition(form.schema, name=form.name),
        output_tools=tools if manner.mode in ("tool", "auto") else [],
        allow_text_output=manner.mode != "tool",
    )
    return [ModelRequest([UserPromptPart(prompt)], instructions=instructions)], settings, parameters


def _read(response: ModelResponse, model_id: str) -> RawReply | Failed:
    from pydantic_ai.messages import TextPart, ToolCallPart

    refusal = (response.provider_details or {}).get("refusal")
    calls = [part.args_as_json_str() for part in response.parts if isinstance(part, ToolCallPart)]
    text = calls[0] if calls else "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if refusal or (response.finish_reason == "content_filter" and not text):
        return Failed(RefusalError(f"{model_id} refused: {refusal or 'its content filter gave no reason'}"))
    if refuses(text):
        return Failed(RefusalError(f"{model_id} refused: {' '.join(text.split())}"))
    return RawReply(text, cast("str | None", response.finish_reason))


_requests_blocked = False
_ASK_NOBODY = ("pydantic_ai.models.function", "pydantic_ai.models.test")


def block_requests(blocked: bool) -> bool:
    """Blocks requests to any host but this machine, or allows them again; returns how it was before."""
    global _requests_blocked
    before, _requests_blocked = _requests_blocked, blocked
    return before


def check_allowed(model: Model) -> None:
    """Raises when requests are blocked and the model isn't on this machine."""
    if not _requests_blocked or type(model).__module__ in _ASK_NOBODY:
        return
    if routed := cast("Sequence[Model]", getattr(model, "models", ())):
        for part in routed:
            check_allowed(part)
    elif not is_loopback(model.base_url or ""):
        raise FatalProviderError(
            f"a request to {model.model_name} was stopped: model requests are blocked"
            " (ragcov.testing.block_model_requests)"
        )
