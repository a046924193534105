"""Fakes for tests: yours and ragcov's own.

`ScriptedJudge` answers by a script and needs nothing else.
"""

from ragcov.testing.scripted import ScriptedJudge

__all__ = ["ScriptedJudge"]
