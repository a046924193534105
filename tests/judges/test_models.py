"""Model configs: what resolves, and what the errors say to do."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from ragcov import load_judge
from ragcov.errors import FatalProviderError, ModelConfigError, UsageError
from ragcov.judges.llm import LLMJudge
from ragcov.judges.models import is_loopback, resolve_models

KEYS = {
    "openai/gpt-5.6-sol": "OPENAI_API_KEY",
    "openai-responses/gpt-5-pro": "OPENAI_API_KEY",
    "anthropic/claude-haiku-4-5": "ANTHROPIC_API_KEY",
    "google/gemini-3-pro": "GOOGLE_API_KEY",
    "openrouter/meta-llama/llama-3.3-70b-instruct": "OPENROUTER_API_KEY",
    "groq/llama-3.3-70b-versatile": "GROQ_API_KEY",
    "mistral/mistral-large-latest": "MISTRAL_API_KEY",
}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in {*KEYS.values(), "GEMINI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_BASE_URL"}:
        monkeypatch.delenv(key, raising=False)


@pytest.mark.parametrize("config", KEYS)
def test_a_name_resolves_with_its_key(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEYS[config], "a-key-for-tests")
    judge = load_judge(config)
    assert judge.id == config
    [spec] = resolve_models(config)
    assert spec.build().model_name == config.split("/", 1)[1]
    assert spec.secrets == ("a-key-for-tests",)


@pytest.mark.parametrize("config", KEYS)
def test_a_missing_key_is_named(config: str) -> None:
    with pytest.raises(ModelConfigError, match=KEYS[config]):
        load_judge(config)


@pytest.mark.parametrize("config", KEYS)
def test_a_missing_extra_is_named(config: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEYS[config], "a-key-for-tests")
    found = importlib.util.find_spec

    def find_spec(name: str, package: str | None = None) -> Any:
        return None if name in ("openai", "anthropic", "google.genai", "groq", "mistralai") else found(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)
    extra = config.split("/")[0].replace("-responses", "")
    with pytest.raises(ModelConfigError, match=rf'pip install "ragcov\[{extra}\]"'):
        load_judge(config)


def test_ollama_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve_models("ollama/qwen3:8b")[0].endpoint == "http://localhost:11434/v1"
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:5/v1")
    [spec] = resolve_models("ollama/qwen3:8b")
    assert spec.endpoint == "http://127.0.0.1:5/v1"
    assert (spec.build().base_url or "").rstrip("/") == spec.endpoint


def test_openai_at_another_address_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:5/v1")
    assert resolve_models("openai/gpt-5.6-sol")[0].endpoint == "http://127.0.0.1:5/v1"


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("unknown/model", ["unknown provider", '"unknown"', "openai", "anthropic", "url"]),
        ("gpt-4o", ["provider/model", "openai"]),
        ("openai/", ["names no model"]),
        ("", ["needed"]),
        (None, ["needed"]),
        ([], ["needed"]),
        (42, ["int is no model config"]),
        ({"id": "m"}, ['"url"']),
        ({"url": "http://127.0.0.1/v1"}, ['"id"']),
        ({"id": "m", "url": "127.0.0.1"}, ["http://"]),
        ({"id": "m", "url": "http://127.0.0.1/v1", "apikey": "x"}, ["apikey"]),
        (["openai/gpt-4o"], ["OPENAI_API_KEY"]),
    ],
)
def test_configs_that_can_not_work(config: Any, words: list[str]) -> None:
    with pytest.raises(ModelConfigError) as caught:
        load_judge(config)
    assert isinstance(caught.value, UsageError)
    for word in words:
        assert word in str(caught.value)


def test_an_endpoint_never_gets_the_key_for_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "meant-for-openai")
    model: Any = resolve_models({"id": "m", "url": "http://127.0.0.1:5/v1"})[0].build()
    assert model.client.api_key == "none"


async def test_headers_of_an_endpoint_are_sent() -> None:
    from ragcov.testing import FakeServer

    async with FakeServer() as server:
        judge = LLMJudge({**server.config, "headers": {"X-Team": "evals"}}, cache=False)
        await judge.extract_claims("A rose is red.")
        assert server.headers[0]["x-team"] == "evals"
        assert server.headers[0]["authorization"] == "Bearer not-a-key"


def test_models_that_think_get_no_temperature(monkeypatch: pytest.MonkeyPatch) -> None:
    from ragcov.judges.asking import _Manner  # pyright: ignore[reportPrivateUsage]

    for key in KEYS.values():
        monkeypatch.setenv(key, "a-key-for-tests")
    manners = {
        config: _Manner(resolve_models(config)[0].build()) for config in ("openai/gpt-4o-mini", "openai/o3", "groq/any")
    }
    assert [manner.temperature for manner in manners.values()] == [True, False, True]
    assert [manner.mode for manner in manners.values()] == ["native", "native", "tool"]


async def test_a_real_model_is_not_asked_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-tests")
    with pytest.raises(FatalProviderError, match="blocked"):
        await LLMJudge("openai/gpt-5.6-sol", cache=False).extract_claims("A rose is red.")


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:80/", True),
        ("https://api.openai.com/v1", False),
        ("http://localhost.evil.example/", False),
        ("", False),
    ],
)
def test_loopback(url: str, here: bool) -> None:
    assert is_loopback(url) is here


@pytest.mark.parametrize("config", ["nli:", "nli:  "])
def test_an_nli_judge_needs_a_model(config: str) -> None:
    with pytest.raises(ModelConfigError, match="names no model"):
        load_judge(config)


def test_settings_name_every_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    settings = getattr(load_judge("openai/gpt-5.6-sol", cache=False), "settings")  # noqa: B009
    assert {"claims_prompt", "verdicts_prompt", "relevance_prompt"} <= set(settings)


def test_a_password_in_an_endpoints_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(ModelConfigError, match='"headers"') as caught:
        load_judge({"id": "m", "url": "https://ada:hush-hush@llm.example/v1"})
    assert "hush" not in str(caught.value)
    assert load_judge({"id": "m", "url": "https://llm.example/v1/@team", "api_key": "k"}).id == "m"
