"""OpenTelemetry events, through the official SDK."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider

from ragcov import create_scorer, live
from ragcov.scorers.base import not_scorable


@pytest.fixture
def exporter() -> InMemoryLogRecordExporter:
    return InMemoryLogRecordExporter()


@pytest.fixture
def provider(exporter: InMemoryLogRecordExporter) -> Any:
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    yield provider
    provider.shutdown()


def broken(step: Any) -> float:
    raise ValueError("broken")


SCORERS = {
    "half": create_scorer(id="half", generate_score=lambda step: 0.5, generate_reason=lambda step: "一半"),
    "nothing": create_scorer(id="nothing", generate_score=lambda step: not_scorable("nothing to measure")),
    "broken": create_scorer(id="broken", generate_score=broken),
}


def test_one_event_for_each_score(provider: LoggerProvider, exporter: InMemoryLogRecordExporter) -> None:
    answer = {
        "object": "chat.completion",
        "id": "chatcmpl-1",
        "choices": [{"message": {"role": "assistant", "content": "x"}}],
    }
    tracer = TracerProvider().get_tracer("test")
    with (
        live.attach(lambda q: answer, scorers=SCORERS, sampling=1, sink=live.OpenTelemetrySink(provider)) as ask,
        tracer.start_as_current_span("request") as span,
        live.run_id("r1"),
    ):
        ask("question")
    records = [data.log_record for data in exporter.get_finished_logs()]
    assert {record.event_name for record in records} == {"gen_ai.evaluation.result"}
    assert {record.trace_id for record in records} == {span.get_span_context().trace_id}
    assert {record.span_id for record in records} == {span.get_span_context().span_id}
    common = {"gen_ai.response.id": "chatcmpl-1", "ragcov.run.id": "r1", "ragcov.scale": 1.0}
    assert [dict(record.attributes or {}) for record in records] == [
        {
            "gen_ai.evaluation.name": "half",
            "gen_ai.evaluation.score.value": 0.5,
            "gen_ai.evaluation.explanation": "一半",
            **common,
        },
        {
            "gen_ai.evaluation.name": "nothing",
            "gen_ai.evaluation.score.label": "not_scorable",
            "gen_ai.evaluation.explanation": "nothing to measure",
            **common,
        },
        {
            "gen_ai.evaluation.name": "broken",
            "gen_ai.evaluation.score.label": "failed",
            "gen_ai.evaluation.explanation": "failed: broken",
            "error.type": "ValueError",
            **common,
        },
    ]


def test_without_explanations(provider: LoggerProvider, exporter: InMemoryLogRecordExporter) -> None:
    sink = live.OpenTelemetrySink(provider, explanations=False)
    with live.attach(lambda q: q, scorers={"half": SCORERS["half"]}, sampling=1, sink=sink) as ask:
        ask("question")
    (data,) = exporter.get_finished_logs()
    assert "gen_ai.evaluation.explanation" not in dict(data.log_record.attributes or {})


def test_events_that_would_go_nowhere_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    live.attach(lambda q: q, scorers={"half": SCORERS["half"]}, sink=live.OpenTelemetrySink()).close()
    assert "no OpenTelemetry logger provider" in caplog.text
