"""Where live scores go."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ragcov.errors import UsageError
from ragcov.live.runs import LiveResult
from ragcov.reports.files import ResultsWriter
from ragcov.results import ItemResult, RunInfo, ScorerResult
from ragcov.samples import Sample

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider

__all__ = ["JsonlSink", "OpenTelemetrySink"]

_logger = logging.getLogger("ragcov.live")


class JsonlSink:
    """Writes a results file, a line for each run: what reads files of `ragcov run` reads it too.

    A file that exists is continued. Each line is on disk before the next run is scored.

    Args:
        path: The file.
        texts: False leaves out what users and documents said: input, output, context, claims, verdicts and reasons.
    """

    def __init__(self, path: str | Path, *, texts: bool = True) -> None:
        self._path = path
        self._texts = texts
        self._writer: ResultsWriter | None = None
        self._count = 0

    def begin(self, info: RunInfo) -> None:
        """Opens the file.

        Raises:
            StoreError: When it can't be written.
        """
        self._writer = ResultsWriter(self._path, info, resume=True)

    def __call__(self, result: LiveResult) -> None:
        """Writes one run."""
        if self._writer is None:
            self.begin(RunInfo(version="", scorers=tuple(result.scorer_results)))
        assert self._writer is not None
        sample, scores = result.sample, result.scorer_results
        if not self._texts:
            sample, scores = Sample(id=sample.id), {name: _bare(score) for name, score in scores.items()}
        extra = {"time": result.time, "response_id": result.response_id}
        sample = msgspec.structs.replace(sample, extra=sample.extra | extra)
        self._writer.write(ItemResult(index=self._count, sample=sample, scorer_results=scores))
        self._count += 1

    def close(self) -> None:
        """Closes the file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _bare(result: ScorerResult) -> ScorerResult:
    return msgspec.structs.replace(result, reason="", claims=(), verdicts=(), step_results={}, warnings=())


class OpenTelemetrySink:
    """Emits a `gen_ai.evaluation.result` event for each score, in the trace in which the agent was called.

    The names are those of OpenTelemetry's semantic conventions for generative AI (model/gen-ai/events.yaml of
    open-telemetry/semantic-conventions-genai). Scores that don't count have no `gen_ai.evaluation.score.value`;
    their label is "not_scorable" or "failed". Needs `ragcov[otel]`.

    Args:
        logger_provider: The SDK's provider; None takes the one that the application has set.
        explanations: False leaves out the reasons, which quote what users and documents said.

    Raises:
        UsageError: When OpenTelemetry isn't installed.
    """

    def __init__(self, logger_provider: LoggerProvider | None = None, *, explanations: bool = True) -> None:
        try:
            from opentelemetry import _logs
        except ImportError as error:
            raise UsageError('OpenTelemetrySink needs: pip install "ragcov[otel]"') from error
        self._given = logger_provider
        self._logger = _logs.get_logger("ragcov", logger_provider=logger_provider)
        self._explanations = explanations

    def begin(self, info: RunInfo) -> None:
        """Warns when the events would go nowhere."""
        from opentelemetry import _logs

        provider = self._given or _logs.get_logger_provider()
        if type(provider).__module__.startswith("opentelemetry._logs"):
            _logger.warning("no OpenTelemetry logger provider is set: the events go nowhere until there is one")

    def __call__(self, result: LiveResult) -> None:
        """Emits the events of one run."""
        from opentelemetry._logs import LogRecord, SeverityNumber

        for name, score in result.scorer_results.items():
            attributes: dict[str, Any] = {"gen_ai.evaluation.name": name}
            if score.scored and score.score is not None:
                attributes["gen_ai.evaluation.score.value"] = float(score.score)
            else:
                attributes["gen_ai.evaluation.score.label"] = score.state
            if self._explanations and score.reason:
                attributes["gen_ai.evaluation.explanation"] = score.reason
            if score.error is not None:
                attributes["error.type"] = score.error.type
            if result.response_id is not None:
                attributes["gen_ai.response.id"] = result.response_id
            attributes["ragcov.run.id"] = result.run_id
            attributes["ragcov.scale"] = float(score.scale)
            self._logger.emit(
                LogRecord(
                    timestamp=int(result.time * 1e9),
                    context=result.trace,
                    severity_number=SeverityNumber.INFO,
                    event_name="gen_ai.evaluation.result",
                    attributes=attributes,
                )
            )
