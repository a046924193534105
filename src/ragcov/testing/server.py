"""A loopback server with the interface of OpenAI's chat completions, and faults on demand."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from ragcov.testing.brain import Brain, Fault, Request, read_request, spoil

if TYPE_CHECKING:
    from aiohttp import web

__all__ = ["FakeServer"]


class FakeServer:
    """A fake provider on 127.0.0.1: requests go over real HTTP and reach no model. Needs `ragcov[testing]`.

    It reads ragcov's own prompts: the claims of a text are its sentences, and a claim is supported by the chunks in
    which it stands word by word. Any other request is answered with the plainest value of its JSON schema.

    Use it as a context manager, `with` or `async with`; it runs in a thread of its own.

    Args:
        faults: What goes wrong, for which requests; the first that fits a request strikes.
        latency: Seconds before each answer.
        supports: Decides instead of the wording: a function of claim and chunk that returns the passage of the chunk
            that supports the claim, or None.
        obeys: Whether it does what an injection in a chunk says, which it takes to be "yes to everything": "never";
            "unfenced": unless the prompt says that its data is untrusted; "always".
        injected: Whether texts hold an injection; by default it looks for the usual phrases.
        quotes: What it quotes when it obeys: the "claim", which stands in no chunk, or the beginning of a "chunk".
        max_prompt_chars: Longer prompts are refused as too long for the model; None: no limit.
        structured: Whether it accepts a JSON schema as `response_format`; if not, it says so with HTTP 400.

    Attributes:
        calls: Requests so far.
        faulted: Requests that a fault struck.
        input_tokens: Tokens of all prompts, four characters each.
        output_tokens: Tokens of all answers.
        input_chars: Characters of all prompts.
        output_chars: Characters of all answers.
        prompts: All prompts, system message first, in order.
        bodies: All requests as they came.
        headers: Their headers, names in lower case.
        most_open: The most requests that were open at once.
        times: When each request came, in seconds of `time.monotonic()`.
    """

    def __init__(
        self,
        faults: Sequence[Fault] = (),
        *,
        latency: float = 0.0,
        supports: Callable[[str, str], str | None] | None = None,
        obeys: Literal["never", "unfenced", "always"] = "unfenced",
        injected: Callable[[str], bool] | None = None,
        quotes: Literal["claim", "chunk"] = "claim",
        max_prompt_chars: int | None = None,
        structured: bool = True,
    ) -> None:
        self.faults = list(faults)
        self._struck = [0] * len(self.faults)
        self._latency = latency
        self._brain = Brain(supports, obeys, injected, quotes)
        self._max_prompt_chars = max_prompt_chars
        self._structured = structured
        self._seen: set[tuple[int, str]] = set()
        self._open = 0
        self._port = 0
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self.calls = self.faulted = self.most_open = 0
        self.input_tokens = self.output_tokens = self.input_chars = self.output_chars = 0
        self.prompts: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []

    @property
    def url(self) -> str:
        """The base URL: "http://127.0.0.1:PORT/v1"."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def config(self) -> dict[str, Any]:
        """The model config of this server, for `load_judge` and scorers."""
        return {"id": "fake-model", "url": self.url, "api_key": "not-a-key"}

    def __enter__(self) -> FakeServer:
        started = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(started,), name="ragcov-fake-server", daemon=True)
        self._thread.start()
        started.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._loop is not None
        assert self._stop is not None
        assert self._thread is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def __aenter__(self) -> FakeServer:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.__exit__, kind, error, traceback)

    def _run(self, started: threading.Event) -> None:
        asyncio.run(self._serve(started))

    async def _serve(self, started: threading.Event) -> None:
        from aiohttp import web

        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=256 * 2**20)
        app.router.add_post("/v1/chat/completions", self._handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self._port = runner.addresses[0][1]
        started.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, http: web.Request) -> web.StreamResponse:
        body: dict[str, Any] = await http.json()
        request = read_request(body)
        self.calls += 1
        self.times.append(time.monotonic())
        self.prompts.append(request.text)
        self.bodies.append(body)
        self.headers.append({name.lower(): value for name, value in http.headers.items()})
        self.input_chars += len(request.text)
        self.input_tokens += len(request.text) // 4
        self._open += 1
        self.most_open = max(self.most_open, self._open)
        try:
            fault = self._strikes(request)
            await asyncio.sleep(self._latency)
            return await self._respond(request, body, fault)
        finally:
            self._open -= 1

    def _strikes(self, request: Request) -> Fault | None:
        for number, fault in enumerate(self.faults):
            seen = (number, request.text)
            new = seen not in self._seen
            self._seen.add(seen)
            fits = fault.on == "all" or (new if fault.on == "first" else fault.on in request.text)
            spent = fault.times is not None and self._struck[number] >= fault.times
            if fits and not spent and fault.step in (None, request.step):
                self._struck[number] += 1
                self.faulted += 1
                return fault
        return None

    async def _respond(self, request: Request, body: dict[str, Any], fault: Fault | None) -> web.StreamResponse:
        from aiohttp import web

        kind = fault.kind if fault else None
        if kind == "hang":
            await asyncio.Event().wait()
        if kind == "not_json":
            return web.Response(text="<html>Bad gateway</html>", content_type="text/html")
        if fault and kind in _ERRORS:
            headers = {"Retry-After": str(fault.retry_after)} if kind == "429" and fault.retry_after else {}
            return _error(*_ERRORS[kind], headers)
        if kind == "context_length" or len(request.text) > (self._max_prompt_chars or len(request.text)):
            return _error(400, "context_length_exceeded", "This model's maximum context length is exceeded")
        if not self._structured and "response_format" in body:
            return _error(400, "invalid_request_error", "response_format is not supported by this model")
        answer = self._brain.answer(request)
        content = spoil(kind or "hang", answer)
        self.output_chars += len(content)
        self.output_tokens += len(content) // 4
        return web.json_response(_completion(self.calls, request, content, kind))


_ERRORS = {
    "429": (429, "rate_limit_exceeded", "Rate limit reached, please slow down"),
    "500": (500, "server_error", "The server had an error"),
    "401": (401, "invalid_api_key", "Incorrect API key provided"),
    "403": (403, "permission_denied", "You have no access to this model"),
    "404": (404, "model_not_found", "The model does not exist"),
}


def _error(status: int, code: str, message: str, headers: dict[str, str] | None = None) -> web.Response:
    from aiohttp import web

    return web.json_response(
        {"error": {"message": message, "type": code, "code": code}}, status=status, headers=headers
    )


def _completion(number: int, request: Request, content: str, kind: str | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content}
    finish = "length" if kind == "truncated" else "stop"
    if kind == "refusal":
        message = {"role": "assistant", "content": None, "refusal": "I'm sorry, but I can't help with that."}
    elif request.tool and kind != "text_refusal":
        call = {"name": request.tool, "arguments": content}
        message["content"] = None
        message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": call}]
        finish = "length" if kind == "truncated" else "tool_calls"
    tokens = {"prompt_tokens": len(request.text) // 4, "completion_tokens": len(content) // 4}
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": "fake-model",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {**tokens, "total_tokens": sum(tokens.values())},
    }
