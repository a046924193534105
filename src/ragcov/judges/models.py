"""From a model config to a model of the LLM library, with errors that say what to set or install."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ragcov.errors import ModelConfigError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

__all__ = ["ModelSpec", "is_loopback", "resolve_models"]


class _Provider(msgspec.Struct, frozen=True):
    name: str  # what the LLM library calls it
    package: str
    extra: str
    keys: tuple[str, ...] = ()
    url_key: str | None = None


# Chat completions for OpenAI: the one interface that proxies and compatible servers have as well.
_PROVIDERS = {
    "openai": _Provider("openai-chat", "openai", "openai", ("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
    "openai-responses": _Provider("openai", "openai", "openai", ("OPENAI_API_KEY",), "OPENAI_BASE_URL"),
    "anthropic": _Provider("anthropic", "anthropic", "anthropic", ("ANTHROPIC_API_KEY",)),
    "google": _Provider("google", "google.genai", "google", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
    "openrouter": _Provider("openrouter", "openai", "openrouter", ("OPENROUTER_API_KEY",)),
    "ollama": _Provider("ollama", "openai", "ollama"),
    "groq": _Provider("groq", "groq", "groq", ("GROQ_API_KEY",)),
    "mistral": _Provider("mistral", "mistralai", "mistral", ("MISTRAL_API_KEY",)),
}
_OLLAMA_URL = "http://localhost:11434/v1"
_ENDPOINT_KEYS = {"id", "url", "api_key", "headers"}
_FORMS = (
    'known: "offline", "provider/model" with a provider of '
    + ", ".join(sorted(_PROVIDERS))
    + ', or {"id": "...", "url": "https://.../v1", "api_key": "..."} for any OpenAI-compatible endpoint'
)


class ModelSpec(msgspec.Struct, frozen=True):
    """One model, checked but not yet connected.

    Attributes:
        id: What the user calls it: "openai/gpt-5.6-sol".
        endpoint: Base URL where it isn't the provider's usual one; a part of cache keys.
        build: Makes a model with an HTTP client of its own that repeats no request: repeating is ragcov's. An instance
            of the user's is returned as it is.
        secrets: Values that no message may show.
    """

    id: str
    build: Callable[[], Model]
    endpoint: str = ""
    secrets: tuple[str, ...] = ()


def resolve_models(config: object) -> list[ModelSpec]:
    """The models of a config, in the order in which they are tried; nothing is asked.

    Raises:
        ModelConfigError: Unknown provider, missing key, missing extra, or a config of another form.
    """
    if isinstance(config, list | tuple):
        parts = cast("Sequence[object]", config)
        if not parts:
            raise ModelConfigError(f"an empty list of models; {_FORMS}")
        return [spec for part in parts for spec in resolve_models(part)]
    if isinstance(config, str):
        return [_from_name(config)]
    if isinstance(config, Mapping):
        return [_from_endpoint(cast("Mapping[str, Any]", config))]
    return [_from_instance(config)]


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine."""
    from urllib.parse import urlsplit

    host = (urlsplit(url).hostname or "").lower()
    return host in ("localhost", "::1") or host.startswith("127.")


def _from_name(config: str) -> ModelSpec:
    provider_name, slash, model_name = config.partition("/")
    provider = _PROVIDERS.get(provider_name.lower())
    if not slash or not model_name.strip() or provider is None:
        problem = (
            f'unknown provider "{provider_name}" in model "{config}"'
            if slash and model_name.strip()
            else f'model "{config}" names no model: "provider/model" is expected'
        )
        raise ModelConfigError(f"{problem}; {_FORMS}")
    _check_provider(config, provider)
    endpoint = os.environ.get(provider.url_key, "") if provider.url_key else ""
    if provider.name == "ollama":
        endpoint = os.environ.get("OLLAMA_BASE_URL") or _OLLAMA_URL

    def build() -> Model:
        from pydantic_ai.models import infer_model
        from pydantic_ai.providers import infer_provider

        if provider.name == "ollama":
            from pydantic_ai.providers.ollama import OllamaProvider

            return _without_retries(infer_model(f"ollama:{model_name}", lambda _: OllamaProvider(base_url=endpoint)))
        return _without_retries(infer_model(f"{provider.name}:{model_name}", infer_provider))

    return ModelSpec(config, build, endpoint, tuple(filter(None, map(os.environ.get, provider.keys))))


def _check_provider(config: str, provider: _Provider) -> None:
    problems: list[str] = []
    if not _installed("pydantic_ai") or not _installed(provider.package):
        problems.append(f'install what it needs: pip install "ragcov[{provider.extra}]"')
    has_url = provider.url_key is not None and bool(os.environ.get(provider.url_key))
    if provider.keys and not has_url and not any(os.environ.get(key) for key in provider.keys):
        problems.append(f"set the environment variable {' or '.join(provider.keys)} to your API key")
    if problems:
        raise ModelConfigError(f'model "{config}" can\'t be used yet: {", and ".join(problems)}')


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _from_endpoint(config: Mapping[str, Any]) -> ModelSpec:
    unknown = sorted(set(config) - _ENDPOINT_KEYS)
    if unknown:
        raise ModelConfigError(f"unknown key {unknown[0]!r} in a model config; {_FORMS}")
    for key in ("id", "url"):
        if not isinstance(config.get(key), str) or not config[key].strip():
            raise ModelConfigError(f'a model config of an endpoint needs "{key}", a text; {_FORMS}')
    if not config["url"].startswith(("http://", "https://")):
        raise ModelConfigError(f'"url" must begin with http:// or https://, got {config["url"]!r}')
    if "@" in config["url"].split("://", 1)[1].split("/", 1)[0]:
        # Libraries write the URLs they ask to their logs. The message must not repeat it either.
        raise ModelConfigError('"url" holds a user and password; give them as "api_key" or in "headers"')
    if not _installed("pydantic_ai") or not _installed("openai"):
        raise ModelConfigError('an OpenAI-compatible endpoint needs: pip install "ragcov[openai]"')
    headers: dict[str, str] = dict(config.get("headers") or {})
    api_key: str | None = config.get("api_key")

    def build() -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
        from pydantic_ai.providers.openai import OpenAIProvider

        # Without a key of its own an endpoint must not get the one that is meant for OpenAI.
        provider = OpenAIProvider(base_url=config["url"], api_key=api_key or "none")
        settings = OpenAIChatModelSettings(extra_headers=headers) if headers else None
        return _without_retries(OpenAIChatModel(config["id"], provider=provider, settings=settings))

    secrets = tuple(filter(None, [api_key, *headers.values()]))
    return ModelSpec(config["id"], build, config["url"], secrets)


def _without_retries(model: Model[Any]) -> Model[Any]:
    # As a setting of each request it would make the SDK copy its client each time, which costs a thread and 2 ms.
    if (client := getattr(model, "client", None)) is not None and hasattr(client, "max_retries"):
        client.max_retries = 0
    return model


def _from_instance(config: object) -> ModelSpec:
    if _installed("pydantic_ai"):
        from pydantic_ai.models import Model

        if isinstance(config, Model):
            model = cast("Model[Any]", config)
            return ModelSpec(f"{model.system}/{model.model_name}", lambda: model, model.base_url or "")
    raise ModelConfigError(f"{type(config).__name__} is no model config; {_FORMS}")
