"""Claims are asked for once: in this run, in the next, and by rows that come at the same time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ragcov import Claim
from ragcov.errors import ProviderError
from ragcov.judges import keep_ledger
from ragcov.judges.cache import ClaimsCache
from ragcov.judges.llm import LLMJudge
from ragcov.results import Usage
from ragcov.testing import FakeServer, Fault

TEXT = '愛因斯坦生於1879年。He developed relativity. He won "the" prize.\n\u2028 \\frac{1}{2}.'


async def extracted(server: FakeServer, cache: Any, text: str = TEXT, **settings: Any) -> tuple[list[Claim], Usage]:
    judge = LLMJudge(server.config, cache=cache, **settings)
    with keep_ledger() as ledger:
        claims = await judge.extract_claims(text, question="Who?")
    await judge.aclose()
    return claims, ledger.usage


async def test_the_next_run_asks_nothing(tmp_path: Path) -> None:
    async with FakeServer() as server:
        first, asked = await extracted(server, tmp_path / "cache")
        second, cached = await extracted(server, tmp_path / "cache")
        assert first == second
        assert (asked.calls, asked.cached_calls) == (1, 0)
        assert cached == Usage(cached_calls=1)
        assert server.calls == 1


@pytest.mark.parametrize("setting", [None, True])
async def test_the_default_place_comes_from_the_environment(
    setting: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGCOV_CACHE", str(tmp_path / "elsewhere"))
    async with FakeServer() as server:
        await extracted(server, setting)
    assert (tmp_path / "elsewhere").is_dir()
    monkeypatch.delenv("RAGCOV_CACHE")
    monkeypatch.chdir(tmp_path)
    async with FakeServer() as server:
        await extracted(server, setting)
    assert (tmp_path / ".ragcov" / ".gitignore").read_text(encoding="utf-8") == "*\n"


@pytest.mark.parametrize("off", ["argument", "environment"])
async def test_it_can_be_switched_off(off: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if off == "environment":
        monkeypatch.setenv("RAGCOV_CACHE", "off")
    async with FakeServer() as server:
        for _ in range(2):
            await extracted(server, False if off == "argument" else None)
        assert server.calls == 2
    assert not (tmp_path / ".ragcov").exists()


async def test_what_makes_a_difference_is_part_of_the_key(tmp_path: Path) -> None:
    async with FakeServer() as server, FakeServer() as other:
        judges = [
            LLMJudge(server.config, cache=tmp_path),
            LLMJudge({**server.config, "id": "another"}, cache=tmp_path),
            LLMJudge(other.config, cache=tmp_path),
            LLMJudge(server.config, cache=tmp_path, settings={"seed": 1}),
        ]
        for judge in judges:
            await judge.extract_claims(TEXT)
        assert server.calls + other.calls == 4
        await judges[0].extract_claims(TEXT + " More.")
        await judges[0].extract_claims(TEXT, question="Who?")
        assert server.calls + other.calls == 6
        await judges[0].extract_claims(TEXT, question=" Who? ")
        assert server.calls + other.calls == 6
        for judge in judges:
            await judge.aclose()


async def test_rows_at_the_same_time_share_one_request(tmp_path: Path) -> None:
    async with FakeServer(latency=0.1) as server:
        judge = LLMJudge(server.config, cache=tmp_path)
        with keep_ledger() as ledger:
            results = await asyncio.gather(*(judge.extract_claims(TEXT) for _ in range(10)))
        await judge.aclose()
        assert server.calls == 1
        assert all(result == results[0] for result in results)
        assert (ledger.usage.calls, ledger.usage.cached_calls) == (1, 9)


async def test_when_the_one_that_asks_fails_the_others_fail_with_it() -> None:
    async with FakeServer([Fault(kind="500", times=1)], latency=0.05) as server:
        judge = LLMJudge(server.config, cache=False, retries=0)
        results = await asyncio.gather(*(judge.extract_claims(TEXT) for _ in range(3)), return_exceptions=True)
        assert all(isinstance(result, ProviderError) for result in results)
        assert await judge.extract_claims(TEXT)
        assert server.calls == 2


async def test_when_the_one_that_asks_is_cancelled_another_takes_its_place() -> None:
    async with FakeServer(latency=0.2) as server:
        judge = LLMJudge(server.config, cache=False)
        first = asyncio.create_task(judge.extract_claims(TEXT))
        await asyncio.sleep(0.05)
        second = asyncio.create_task(judge.extract_claims(TEXT))
        await asyncio.sleep(0.05)
        first.cancel()
        assert len(await second) == 4
        with pytest.raises(asyncio.CancelledError):
            await first
        assert server.calls == 2


async def test_failures_are_not_kept(tmp_path: Path) -> None:
    async with FakeServer([Fault(kind="malformed", times=3)]) as server:
        judge = LLMJudge(server.config, cache=tmp_path)
        assert isinstance((await asyncio.gather(judge.extract_claims(TEXT), return_exceptions=True))[0], Exception)
        assert len(await judge.extract_claims(TEXT)) == 4
        await judge.aclose()


async def test_a_place_that_can_not_be_written_costs_a_warning(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("not a directory", encoding="utf-8")
    async with FakeServer() as server:
        judge = LLMJudge(server.config, cache=place)
        for _ in range(2):
            with keep_ledger() as ledger:
                assert len(await judge.extract_claims(TEXT)) == 4
        assert server.calls == 1
        with keep_ledger() as ledger:
            await judge.extract_claims("Another text.")
        assert len(ledger.warnings) == 1
        assert str(place) in ledger.warnings[0]
        assert "RAGCOV_CACHE" in ledger.warnings[0]


async def test_two_caches_share_a_directory(tmp_path: Path) -> None:
    caches = [ClaimsCache(tmp_path), ClaimsCache(tmp_path)]

    async def make(number: int) -> list[Claim]:
        return [Claim(f"Claim {number}", (0, number), "c1")]

    for number in range(40):
        await asyncio.gather(*(cache.get(f"key {number}", lambda n=number: make(n)) for cache in caches))
    third = ClaimsCache(tmp_path)

    async def never() -> list[Claim]:
        raise AssertionError("it was kept")

    assert [await third.get(f"key {number}", never) for number in range(40)] == [await make(n) for n in range(40)]
    for cache in (*caches, third):
        cache.close()


def holds(directory: Path, words: bytes) -> bool:
    return any(words in file.read_bytes() for file in directory.iterdir())


async def test_no_secret_is_stored(tmp_path: Path) -> None:
    async with FakeServer() as server:
        judge = LLMJudge({**server.config, "api_key": "planted-secret-value"}, cache=tmp_path)
        await judge.extract_claims(TEXT)
        await judge.aclose()
    assert not holds(tmp_path, b"planted-secret-value")
