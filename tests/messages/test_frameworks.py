"""The frameworks' own message classes, so that a new version that changes them is noticed."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)
from openai.types.chat import ChatCompletion
from openai.types.responses import Response
from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from ragcov.messages import (
    ToolCall,
    chunk_text,
    failed_tool_calls,
    input_text,
    is_agent_output,
    output_text,
    tool_calls,
    tool_results,
)

FOUND, ANSWER, QUESTION = "長橋は1934年に建てられた。", "1934年です。", "长桥何时建成？"

LANGCHAIN: list[BaseMessage] = [
    SystemMessage("Be brief."),
    HumanMessage(QUESTION),
    AIMessage(
        [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "a", "name": "search", "input": {"q": "x"}},
        ],
        tool_calls=[{"name": "search", "args": {"q": "x"}, "id": "a"}, {"name": "search", "args": {}, "id": "b"}],
    ),
    ToolMessage(FOUND, tool_call_id="a", artifact=[Document("not what the model saw")]),
    ToolMessage("index offline", tool_call_id="b", status="error"),
    AIMessage(ANSWER),
]


@pytest.mark.parametrize(
    "messages",
    [
        LANGCHAIN,
        messages_to_dict(LANGCHAIN),
        [dumpd(message) for message in LANGCHAIN],
        [message.model_dump() for message in LANGCHAIN],
        {"messages": LANGCHAIN},
    ],
    ids=["objects", "dicts", "serialised", "dumped", "graph state"],
)
def test_langchain(messages: Any):
    assert is_agent_output(messages)
    assert input_text(messages) == QUESTION
    assert output_text(messages) == f"Let me look.\n{ANSWER}"
    assert tool_results(messages) == [FOUND]
    assert failed_tool_calls(messages) == 1
    assert tool_calls(messages)[0] == ToolCall(name="search", args={"q": "x"}, state="result", result=FOUND, id="a")


def test_langchain_artifacts_stream_chunks_and_documents():
    assert tool_results([ToolMessage("", tool_call_id="a", artifact={"docs": ["城"]})]) == ['{"docs": ["城"]}']
    assert output_text([AIMessageChunk("1934")]) == "1934"
    assert chunk_text(Document("城は石造り。")) == "城は石造り。"
    assert chunk_text((Document("城は石造り。"), 0.4)) == "城は石造り。"


def _model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    if len(messages) == 1:
        call = ToolCallPart("search", {"q": "長橋"}, tool_call_id="a")
        return ModelResponse(parts=[TextPart("Let me look."), call, ToolCallPart("broken", {}, tool_call_id="b")])
    return ModelResponse(parts=[ThinkingPart("hm"), TextPart(ANSWER)])


async def test_pydantic_ai_run():
    agent = Agent(FunctionModel(_model), system_prompt="Be brief.", retries=3)

    @agent.tool_plain
    def search(q: str) -> list[str]:
        return [q, FOUND]

    @agent.tool_plain
    def broken() -> str:
        raise ModelRetry("index offline")

    run = await agent.run(QUESTION)
    as_dicts = ModelMessagesTypeAdapter.dump_python(run.all_messages(), mode="json")
    for output in (run, run.all_messages(), as_dicts):
        assert is_agent_output(output)
        assert input_text(output) == QUESTION
        assert output_text(output) == f"Let me look.\n{ANSWER}"
        assert tool_results(output) == [f'["長橋", "{FOUND}"]']
        assert [(call.name, call.state) for call in tool_calls(output)] == [("search", "result"), ("broken", "error")]
        assert failed_tool_calls(output) == 1


def test_pydantic_ai_parts():
    messages = [
        ModelRequest(parts=[SystemPromptPart("Be brief."), UserPromptPart(["Where", "is Harn?"])]),
        ModelResponse(parts=[ToolCallPart("search", '{"q": "Harn"}', tool_call_id="a")]),
        ModelRequest(parts=[ToolReturnPart("search", "not allowed", tool_call_id="a", outcome="denied")]),
    ]
    assert input_text(messages) == "Where\nis Harn?"
    assert tool_calls(messages) == [
        ToolCall(name="search", args={"q": "Harn"}, state="error", result="not allowed", id="a")
    ]


def test_openai_chat_completion():
    completion = ChatCompletion.model_validate(
        {
            "id": "c",
            "created": 0,
            "model": "m",
            "object": "chat.completion",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": None,
                        "tool_calls": [
                            {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
                        ],
                    },
                }
            ],
        }
    )
    for output in (completion, completion.model_dump(), [completion.choices[0].message]):
        assert tool_calls(output) == [ToolCall(name="search", args={"q": "x"}, id="a")]
        assert output_text(output) == ""


def test_openai_response():
    response = Response.model_validate(
        {
            "id": "r",
            "created_at": 0,
            "model": "m",
            "object": "response",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "output": [
                {
                    "type": "file_search_call",
                    "id": "f",
                    "queries": ["城"],
                    "status": "completed",
                    "results": [{"text": "城は石造り。", "filename": "a.md"}],
                },
                {
                    "type": "message",
                    "id": "m",
                    "role": "assistant",
                    "status": "completed",
                    "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
                },
            ],
        }
    )
    for output in (response, response.output, response.model_dump()):
        assert is_agent_output(output)
        assert output_text(output) == ANSWER
        assert len(tool_results(output)) == 1
        assert "城は石造り。" in tool_results(output)[0]
