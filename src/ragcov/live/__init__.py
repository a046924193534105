"""Scoring real traffic while an agent runs: in the background, without delaying an answer or raising into it.

agent = live.attach(agent, scorers={"faithfulness": scorer}, sampling=0.1, sink=live.JsonlSink("live.jsonl"))
answer = await agent.run("...")      # as before
await agent.drain()                  # before the process ends
"""

from __future__ import annotations

from ragcov.live.attached import Attached, attach
from ragcov.live.runs import LiveResult, LiveStats, run_id, sampled
from ragcov.live.sinks import JsonlSink, OpenTelemetrySink

__all__ = ["Attached", "JsonlSink", "LiveResult", "LiveStats", "OpenTelemetrySink", "attach", "run_id", "sampled"]
