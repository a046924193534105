"""No request leaves this machine while tests run."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["block_model_requests"]


@contextmanager
def block_model_requests() -> Generator[None]:
    """Stops every request of a judge to a model that isn't on this machine, so that no test costs money.

    A blocked request raises `FatalProviderError`. Requests to a `FakeServer`, or to any other server on this machine,
    go through. Works as a pytest fixture:

        @pytest.fixture(autouse=True)
        def no_model_requests():
            with ragcov.testing.block_model_requests():
                yield
    """
    from ragcov.judges.asking import block_requests

    before = block_requests(True)
    try:
        yield
    finally:
        block_requests(before)
