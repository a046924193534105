"""The offline judge: no key, no network, deterministic."""

from ragcov.judges.offline.judge import OfflineJudge

__all__ = ["OfflineJudge"]
