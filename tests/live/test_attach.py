"""Live scoring: answers pass through untouched, a share of them is scored behind their back, losses are counted."""

from __future__ import annotations

import asyncio
import logging
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov import FROM_SAMPLE, create_context_recall_scorer, create_scorer, live
from ragcov.errors import FatalProviderError, StoreError, UsageError
from ragcov.reports.files import read_results
from ragcov.testing import ScriptedJudge


def scorer(id: str = "length", score: Any = None) -> Any:
    return create_scorer(id=id, generate_score=score or (lambda step: 1.0 if step.run.output else 0.0))


class Collected(list[live.LiveResult]):
    """A sink that keeps what it gets."""

    def __call__(self, result: live.LiveResult) -> None:
        self.append(result)


class Answer:
    """What only its own caller knows to read."""


class TestPassingThrough:
    async def test_an_async_function(self) -> None:
        sink = Collected()

        async def ask(question: str, *, shout: bool = False) -> str:
            return question.upper() if shout else question

        async with live.attach(ask, scorers={"length": scorer()}, sampling=1, sink=sink) as attached:
            assert await attached("hello", shout=True) == "HELLO"
        (result,) = sink
        assert (result.sample.input, result.sample.output) == ("hello", "HELLO")
        assert result.scorer_results["length"].score == 1

    def test_a_sync_function(self) -> None:
        sink = Collected()
        with live.attach(lambda question: f"{question}!", scorers={"length": scorer()}, sampling=1, sink=sink) as ask:
            assert ask("hello") == "hello!"
            assert ask.drain_sync(30)
            assert len(sink) == 1

    async def test_methods_and_all_other_attributes(self) -> None:
        sink = Collected()

        class Agent:
            name = "guide"

            async def run(self, question: str) -> Any:
                return {"output": question, "context": ["c"]}

            def run_sync(self, question: str) -> Any:
                return {"output": question, "context": ["c"]}

            async def run_stream(self, question: str) -> str:
                return question

        agent = live.attach(Agent(), scorers={"length": scorer()}, sampling=1, sink=sink)
        assert agent.name == "guide"
        assert await agent.run("a") == agent.run_sync("a") == {"output": "a", "context": ["c"]}
        assert await agent.run_stream("b") == "b"
        assert await agent.drain(30)
        assert [(result.sample.output, result.sample.context) for result in sink] == [("a", ["c"])] * 2
        with pytest.raises(AttributeError, match="nothing"):
            agent.nothing  # noqa: B018
        agent.close()

    async def test_the_very_answer_and_the_very_exception(self) -> None:
        answer, problem = Answer(), ValueError("index is missing")

        def ask(question: str) -> Answer:
            if question == "bad":
                raise problem
            return answer

        with live.attach(ask, scorers={"length": scorer()}, sampling=1, sink=Collected()) as attached:
            assert attached("good") is answer
            with pytest.raises(ValueError, match="index is missing") as caught:
                attached("bad")
            assert caught.value is problem
            attached.drain_sync(30)
            # An answer that can't be read is a failure of the scoring alone; a call that raised gave no answer.
            assert attached.stats == live.LiveStats(seen=1, chosen=1, failed=1)

    async def test_an_agent_that_is_a_context_manager(self) -> None:
        events: list[str] = []

        class Agent:
            async def __aenter__(self) -> None:
                events.append("enter")

            async def __aexit__(self, *_: object) -> None:
                events.append("exit")

            async def run(self, question: str) -> str:
                return question

        async with live.attach(Agent(), scorers={"length": scorer()}, sampling=1, sink=Collected()) as agent:
            await agent.run("x")
        assert events == ["enter", "exit"]
        assert agent.stats.scored == 1


class TestFrameworks:
    async def test_pydantic_ai(self) -> None:
        from pydantic_ai import Agent
        from pydantic_ai.models.test import TestModel

        agent = Agent(TestModel(custom_output_text="東京です。"))

        @agent.tool_plain
        def search() -> str:
            return "東京は日本の首都です。"

        sink = Collected()
        recall = create_context_recall_scorer(model=ScriptedJudge(), context=FROM_SAMPLE)
        async with live.attach(agent, scorers={"recall": recall}, sampling=1, sink=sink) as attached:
            returned = await attached.run("日本の首都は？")
            assert returned.output == "東京です。"
        (result,) = sink
        assert result.run_id == returned.run_id
        assert result.sample.context == ["東京は日本の首都です。"]
        assert result.scorer_results["recall"].state == "not_scorable"

    async def test_langchain(self) -> None:
        from langchain_core.runnables import RunnableLambda

        sink = Collected()
        chain = RunnableLambda(lambda question: f"{question}!")
        async with live.attach(chain, scorers={"length": scorer()}, sampling=1, sink=sink) as attached:
            assert attached.invoke("a") == "a!"
            assert await attached.ainvoke("b") == "b!"
        assert sorted(result.sample.output for result in sink) == ["a!", "b!"]

    async def test_openai_agents(self) -> None:
        from agents import Agent, set_tracing_disabled
        from agents.testing import ScriptedModel, assistant_message

        set_tracing_disabled(True)
        sink = Collected()
        agent = Agent(name="guide", model=ScriptedModel([[assistant_message("Hi.")]]))
        async with live.attach(agent, scorers={"length": scorer()}, sampling=1, sink=sink) as attached:
            assert (await attached.run("Hello?")).final_output == "Hi."
        assert len(sink) == 1


class TestSampling:
    @given(st.text(), st.floats(0, 1), st.floats(0, 1))
    def test_follows_from_the_id(self, id: str, one: float, other: float) -> None:
        assert not live.sampled(id, 0)
        assert live.sampled(id, 1)
        assert live.sampled(id, one) == live.sampled(id, one)
        assert live.sampled(id, min(one, other)) <= live.sampled(id, max(one, other))

    def test_is_a_share(self) -> None:
        chosen = sum(live.sampled(f"request-{number}", 0.1) for number in range(10_000))
        assert 900 < chosen < 1100

    def test_of_each_scorer(self) -> None:
        sink = Collected()
        scorers = {
            "all": {"scorer": scorer("a"), "sampling": 1},
            "some": scorer("b"),
            "none": {"scorer": scorer("c"), "sampling": 0},
        }
        with live.attach(lambda question: question, scorers=scorers, sampling=0.3, sink=sink) as ask:
            for number in range(40):
                with live.run_id(f"request-{number}"):
                    ask("x")
        found = {result.run_id: set(result.scorer_results) for result in sink}
        assert found == {
            f"request-{number}": {"all", "some"} if live.sampled(f"request-{number}", 0.3) else {"all"}
            for number in range(40)
        }
        assert len({len(names) for names in found.values()}) == 2
        assert {result.scorer_results["all"].scorer_id for result in sink} == {"all"}

    async def test_ids_of_concurrent_requests(self) -> None:
        sink = Collected()

        async def ask(question: str) -> str:
            await asyncio.sleep(0)
            return question

        async with live.attach(ask, scorers={"length": scorer()}, sampling=1, sink=sink) as attached:

            async def request(number: int) -> None:
                with live.run_id(f"r{number}"):
                    await attached(f"q{number}")

            await asyncio.gather(*(request(number) for number in range(20)))
        assert {result.run_id: result.sample.input for result in sink} == {f"r{n}": f"q{n}" for n in range(20)}


class TestTrouble:
    async def test_answers_do_not_wait_and_what_is_too_much_is_dropped_and_counted(self) -> None:
        release = threading.Event()

        def slow(step: Any) -> float:
            release.wait(30)
            return 1.0

        attached = live.attach(
            lambda question: question,
            scorers={"slow": scorer("slow", slow)},
            sampling=1,
            sink=Collected(),
            queue_size=3,
            concurrency=1,
        )
        for _ in range(10):
            attached("x")
        assert attached.stats == live.LiveStats(seen=10, chosen=10, dropped=7, waiting=3)
        assert not await attached.drain(0.01)
        release.set()
        assert await attached.drain(30)
        assert attached.stats == live.LiveStats(seen=10, chosen=10, scored=3, dropped=7)
        assert attached.close()
        attached("x")
        assert attached.stats.dropped == 8

    @pytest.mark.parametrize("fault", [ValueError("broken"), FatalProviderError("401: wrong key")])
    def test_a_scorer_that_fails(self, fault: Exception, caplog: pytest.LogCaptureFixture) -> None:
        def broken(step: Any) -> float:
            raise fault

        sink = Collected()
        scorers = {"fine": scorer(), "broken": scorer("broken", broken)}
        with (
            caplog.at_level(logging.WARNING, "ragcov.live"),
            live.attach(lambda question: question, scorers=scorers, sampling=1, sink=sink) as ask,
            live.run_id("request-7"),
        ):
            assert ask("x") == "x"
        assert (ask.stats.failed, ask.stats.scored) == (1, 0)
        assert "request-7" in caplog.text
        assert str(fault) in caplog.text
        if isinstance(fault, ValueError):
            assert {name: result.state for name, result in sink[0].scorer_results.items()} == {
                "fine": "scored",
                "broken": "failed",
            }

    def test_a_sink_that_fails(self, caplog: pytest.LogCaptureFixture) -> None:
        def sink(result: live.LiveResult) -> None:
            raise OSError("disk full")

        with live.attach(lambda question: question, scorers={"length": scorer()}, sampling=1, sink=sink) as ask:
            assert [ask("x"), ask("y")] == ["x", "y"]
        assert ask.stats.failed == 2
        assert "disk full" in caplog.text

    async def test_an_async_sink(self) -> None:
        seen: list[str] = []

        async def sink(result: live.LiveResult) -> None:
            await asyncio.sleep(0)
            seen.append(result.run_id)

        async with live.attach(lambda question: question, scorers={"length": scorer()}, sampling=1, sink=sink) as ask:
            ask("x")
        assert len(seen) == 1

    def test_a_scorer_that_takes_too_long(self) -> None:
        async def hang(step: Any) -> float:
            await asyncio.Event().wait()
            return 1.0

        sink = Collected()
        with live.attach(
            lambda question: question, scorers={"hang": scorer("hang", hang)}, sampling=1, sink=sink, timeout=0.05
        ) as ask:
            ask("x")
        assert sink[0].scorer_results["hang"].error is not None
        assert ask.stats.failed == 1

    def test_what_the_caller_changes_afterwards_is_not_scored(self) -> None:
        release = threading.Event()

        async def scored(step: Any) -> float:
            return 1.0 if step.run.context == ["chunk"] else 0.0

        def sink(result: live.LiveResult) -> None:
            release.wait(30)
            seen.append(result.scorer_results["s"].score)

        seen: list[Any] = []
        with live.attach(
            lambda question: ["chunk"], scorers={"s": scorer("s", scored)}, sampling=1, sink=sink, concurrency=1
        ) as ask:
            ask("first")
            ask("second").clear()
            release.set()
        assert seen == [1, 1]

    def test_a_process_that_ends_too_early_says_so(self) -> None:
        import subprocess
        import sys

        code = (
            "import time, ragcov\nfrom ragcov import live\n"
            "scorer = ragcov.create_scorer(id='slow', generate_score=lambda step: time.sleep(60) or 1.0)\n"
            "ask = live.attach(lambda q: q, scorers={'slow': scorer}, sampling=1, sink=print)\n"
            "print(ask('x'))\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50)
        assert done.stdout == "x\n"
        assert "1 runs were not scored" in done.stderr


class TestJsonl:
    def run(self, path: Path, **options: Any) -> None:
        recall = create_context_recall_scorer(model=ScriptedJudge(), context=["A. B."])
        with live.attach(
            lambda question: "答え",
            scorers={"recall": recall, "length": scorer()},
            sampling=1,
            sink=live.JsonlSink(path, **options),
        ) as ask:
            ask("問い")

    def test_is_a_results_file_that_grows(self, tmp_path: Path) -> None:
        self.run(tmp_path / "live.jsonl")
        self.run(tmp_path / "live.jsonl")
        info, items = read_results(tmp_path / "live.jsonl")
        assert info.scorers == ("recall", "length")
        assert info.settings["sampling"] == {"recall": 1, "length": 1}
        found = list(items)
        assert [item.sample.input for item in found] == ["問い", "問い"]
        assert found[0].scorer_results["length"].score == 1
        assert found[0].sample.extra["time"] > 0

    def test_without_texts(self, tmp_path: Path) -> None:
        self.run(tmp_path / "live.jsonl", texts=False)
        text = (tmp_path / "live.jsonl").read_text(encoding="utf-8")
        assert "問い" not in text
        assert "答え" not in text
        assert next(read_results(tmp_path / "live.jsonl")[1]).scorer_results["length"].score == 1

    def test_a_file_that_can_not_be_written_is_told_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="no directory"):
            self.run(tmp_path / "missing" / "live.jsonl")


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"sampling": 1.5}, "from 0 to 1"),
            ({"sampling": True}, "from 0 to 1"),
            ({"sampling": float("nan")}, "from 0 to 1"),
            ({"scorers": {}}, "at least one scorer"),
            ({"scorers": {"a": "recall"}}, "must be a scorer"),
            ({"scorers": {"a": {"scorer": scorer(), "rate": 1}}}, "unknown keys"),
            ({"scorers": {"a": scorer(), "b": scorer()}}, "duplicate"),
            ({"queue_size": 0}, "queue_size"),
            ({"concurrency": 1.5}, "concurrency"),
            ({"timeout": 0}, "timeout"),
            ({"sink": "live.jsonl"}, "sink"),
            ({"agent": object()}, "can't attach to object"),
        ],
    )
    def test_refused(self, options: dict[str, Any], problem: str) -> None:
        given_ = {"agent": str, "scorers": {"length": scorer()}, "sink": Collected(), **options}
        with pytest.raises(UsageError, match=problem):
            live.attach(given_.pop("agent"), **given_)
