"""What every test gets: no request to a real model, and a cache of its own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from ragcov.testing import block_model_requests

# Shared machines stall now and then: how long an example takes says nothing.
settings.register_profile("ragcov", deadline=None, print_blob=True)
settings.load_profile("ragcov")


# A run started in the background may have Ctrl-C ignored, and so would the processes that tests start and interrupt.
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def no_model_requests() -> Iterator[None]:
    with block_model_requests():
        yield


@pytest.fixture(autouse=True)
def cache_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGCOV_CACHE", str(tmp_path / ".ragcov"))
    for key in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(key, raising=False)
