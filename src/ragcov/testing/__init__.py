"""Fakes for tests: yours and ragcov's own.

`ScriptedJudge` answers by a script and needs nothing else. `FakeServer` is a provider on this machine, with faults on
demand, for tests of the whole path (`pip install "ragcov[testing]"`). `block_model_requests` stops all requests to
real models.
"""

from ragcov.testing.blocking import block_model_requests
from ragcov.testing.brain import Fault
from ragcov.testing.scripted import ScriptedJudge
from ragcov.testing.server import FakeServer

__all__ = ["FakeServer", "Fault", "ScriptedJudge", "block_model_requests"]
