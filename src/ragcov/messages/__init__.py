"""Agent-shaped input and output: recognise them, and take the question, the answer and the tool results.

Shapes are told by their look, so no agent framework is imported. One normal form is behind all of them: who
said what (`events.Said`) and which tool was called with which outcome (`ToolCall`), in order. Read are the
messages of Mastra (stored messages, both `parts` and `toolInvocations`) and the AI SDK, OpenAI chat completions,
OpenAI Responses and Agents SDK items, LangChain, pydantic-ai, Anthropic content blocks and Gemini contents; as
dicts or as the frameworks' own objects, with camelCase or snake_case keys.
"""

from __future__ import annotations

from typing import Any

from ragcov.messages.calls import ToolCall, join_calls
from ragcov.messages.events import Said, events
from ragcov.messages.shapes import agent_input, messages_of
from ragcov.messages.texts import chunk_text, find_chunk_text, plain_text

__all__ = [
    "ToolCall",
    "chunk_text",
    "failed_tool_calls",
    "find_chunk_text",
    "input_text",
    "is_agent_input",
    "is_agent_output",
    "messages_of",
    "output_text",
    "plain_text",
    "said_by",
    "tool_calls",
    "tool_results",
    "user_messages",
]


def is_agent_input(value: Any) -> bool:
    """Whether this is agent-shaped input: `{inputMessages, ...}`, or a list of messages that isn't empty."""
    return agent_input(value) is not None or messages_of(value) is not None


def is_agent_output(value: Any) -> bool:
    """Whether this is agent-shaped output: a list of messages that isn't empty, or what an agent's run returns.

    The latter are objects or dicts that hold such a list: pydantic-ai and Agents SDK run results, LangGraph's
    `{"messages": [...]}`, a chat completion, a response, or a single message.
    """
    return messages_of(value) is not None


def input_text(value: Any) -> str:
    """The question: text as it is; of messages the text of the last human one, "" when there is none.

    Messages that only hand back tool results are no question. Remembered messages count when the new ones hold
    no human text. Of other dicts a field named like a question is taken, else all of it as JSON.
    """
    halves = agent_input(value)
    if halves is not None:
        return _last_question(halves[1]) or _last_question(halves[0])
    messages = messages_of(value)
    return plain_text(value) if messages is None else _last_question(messages)


def output_text(value: Any) -> str:
    """The answer: text as it is; of messages all that the assistant said after the last human message.

    Several texts are joined by line ends. Of other dicts a field named like an answer is taken, else all of it as
    JSON. None gives "".
    """
    messages = messages_of(value)
    if messages is None:
        return plain_text(value)
    texts: list[str] = []
    for said in _said(messages):
        if said.role == "user":
            texts.clear()
        elif said.role == "assistant":
            texts.append(said.text)
    return "\n".join(texts)


def tool_calls(output: Any) -> list[ToolCall]:
    """Every tool call in the messages, in order, each joined with its outcome; empty when there are none.

    A call that a message tells twice (Mastra's `parts` and `toolInvocations`) is one call.
    """
    messages = messages_of(output) or []
    return join_calls([event for event in events(m) if isinstance(event, ToolCall)] for m in messages)


def tool_results(output: Any) -> list[str]:
    """The texts of the successful tool results, in order: what an agent retrieved.

    One text a result: strings as they are, anything else as JSON with its characters unescaped. Results that hold
    nothing (empty text, list or object) are left out, as are calls that failed, were denied or never came back.
    """
    return [call.result for call in tool_calls(output) if call.state == "result" and call.result]


def user_messages(input: Any) -> list[Any]:
    """What the user says, as messages: those of agent-shaped input, else one that holds the text."""
    halves = agent_input(input)
    messages = messages_of(input) if halves is None else halves[0] + halves[1]
    return messages or [{"role": "user", "content": plain_text(input)}]


def said_by(value: Any) -> list[Said]:
    """Who said what in agent-shaped input or output, in order; empty for other values. Blank texts are left out."""
    halves = agent_input(value)
    return _said((messages_of(value) or []) if halves is None else halves[0] + halves[1])


def failed_tool_calls(output: Any) -> int:
    """How many tool calls brought no result: they failed, were denied, or never came back."""
    return sum(call.state != "result" for call in tool_calls(output))


def _said(messages: list[Any]) -> list[Said]:
    found = [event for message in messages for event in events(message)]
    return [event for event in found if isinstance(event, Said) and event.text.strip()]


def _last_question(messages: list[Any]) -> str:
    """The text of the last message in which a person says something."""
    for message in reversed(messages):
        texts = [said.text for said in _said([message]) if said.role == "user"]
        if texts:
            return "\n".join(texts)
    return ""
