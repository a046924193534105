import json
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcov.messages import (
    ToolCall,
    chunk_text,
    failed_tool_calls,
    input_text,
    is_agent_input,
    is_agent_output,
    output_text,
    tool_calls,
    tool_results,
)


def invocation(id: str | None, state: str, **more: Any) -> dict[str, Any]:
    return {"state": state, "toolName": "search", "args": {"q": "長橋"}, **({"toolCallId": id} if id else {}), **more}


def stored(*parts: Any, role: str = "assistant", **content: Any) -> dict[str, Any]:
    return {
        "id": "m1",
        "role": role,
        "createdAt": "2026-01-01",
        "content": {"format": 2, "parts": list(parts), **content},
    }


def part(*args: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool-invocation", "toolInvocation": invocation(*args, **more)}


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


# What each shape holds, told once: the tool found "長橋は1934年に建てられた。", a second search failed.

FOUND, FAILED, ANSWER, QUESTION = "長橋は1934年に建てられた。", "index offline", "1934年です。", "长桥何时建成？"

SHAPES: dict[str, list[Any]] = {
    "mastra parts": [
        stored(text(QUESTION), role="user"),
        stored(part("a", "result", result=FOUND), part("b", "result", result=FAILED, isError=True)),
        stored(text(ANSWER)),
    ],
    "mastra tool invocations": [
        {"role": "user", "content": QUESTION},
        stored(
            content=ANSWER,
            toolInvocations=[
                invocation("a", "result", result=FOUND),
                invocation("b", "output-error", errorText=FAILED),
            ],
        ),
    ],
    "mastra in snake case": [
        {"role": "user", "content": {"format": 2, "parts": [text(QUESTION)]}},
        {
            "role": "assistant",
            "content": {
                "parts": [
                    {
                        "type": "tool-invocation",
                        "tool_invocation": {
                            "state": "result",
                            "tool_call_id": "a",
                            "tool_name": "search",
                            "args": {"q": "長橋"},
                            "result": FOUND,
                        },
                    },
                    text(ANSWER),
                ],
                "tool_invocations": [
                    {
                        "state": "error",
                        "tool_call_id": "b",
                        "tool_name": "search",
                        "args": {"q": "長橋"},
                        "error": FAILED,
                    }
                ],
            },
        },
    ],
    "ai sdk 4 interface messages": [
        {"role": "user", "content": QUESTION},
        {
            "role": "assistant",
            "content": ANSWER,
            "toolInvocations": [
                invocation("a", "result", result=FOUND),
                invocation("b", "result", result=FAILED, isError=True),
            ],
        },
    ],
    "ai sdk 5 interface messages": [
        {"role": "user", "parts": [text(QUESTION)]},
        {
            "role": "assistant",
            "parts": [
                {"type": "step-start"},
                {
                    "type": "tool-search",
                    "state": "output-available",
                    "toolCallId": "a",
                    "input": {"q": "長橋"},
                    "output": FOUND,
                },
                {
                    "type": "dynamic-tool",
                    "toolName": "search",
                    "state": "output-error",
                    "toolCallId": "b",
                    "input": {"q": "長橋"},
                    "errorText": FAILED,
                },
                text(ANSWER),
            ],
        },
    ],
    "ai sdk 5 model messages": [
        {"role": "user", "content": [text(QUESTION)]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "a", "toolName": "search", "input": {"q": "長橋"}},
                {"type": "tool-call", "toolCallId": "b", "toolName": "search", "input": {"q": "長橋"}},
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "a",
                    "toolName": "search",
                    "output": {"type": "text", "value": FOUND},
                },
                {
                    "type": "tool-result",
                    "toolCallId": "b",
                    "toolName": "search",
                    "output": {"type": "error-text", "value": FAILED},
                },
            ],
        },
        {"role": "assistant", "content": ANSWER},
    ],
    "openai responses": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
        {"type": "reasoning", "id": "r", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "search", "arguments": '{"q": "長橋"}'},
        {"type": "function_call_output", "call_id": "a", "output": FOUND},
        {"type": "mcp_call", "id": "b", "name": "search", "arguments": '{"q": "長橋"}', "error": FAILED},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
        },
    ],
    "anthropic": [
        {"role": "user", "content": QUESTION},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "..."},
                {"type": "tool_use", "id": "a", "name": "search", "input": {"q": "長橋"}},
                {"type": "tool_use", "id": "b", "name": "search", "input": {"q": "長橋"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [text(FOUND)]},
                {"type": "tool_result", "tool_use_id": "b", "content": FAILED, "is_error": True},
            ],
        },
        {"role": "assistant", "content": [text(ANSWER)]},
    ],
    "langchain dicts": [
        {"type": "human", "content": QUESTION},
        {
            "type": "ai",
            "content": "",
            "tool_calls": [
                {"name": "search", "args": {"q": "長橋"}, "id": "a", "type": "tool_call"},
                {"name": "search", "args": {"q": "長橋"}, "id": "b", "type": "tool_call"},
            ],
        },
        {"type": "tool", "content": FOUND, "tool_call_id": "a", "status": "success"},
        {"type": "tool", "content": FAILED, "tool_call_id": "b", "status": "error"},
        {"type": "ai", "content": ANSWER},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": QUESTION}]},
        {"role": "model", "parts": [{"functionCall": {"id": "a", "name": "search", "args": {"q": "長橋"}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "a", "name": "search", "response": {"content": [text(FOUND)]}}}],
        },
        {"role": "model", "parts": [{"functionCall": {"id": "b", "name": "search", "args": {"q": "長橋"}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "b", "name": "search", "response": {"error": FAILED}}}]},
        {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": ANSWER}]},
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_tells_the_same(shape: str):
    messages = SHAPES[shape]
    assert is_agent_output(messages)
    assert is_agent_input(messages[:1])
    assert input_text(messages) == QUESTION
    assert output_text(messages) == ANSWER
    assert tool_results(messages) == [FOUND]
    assert failed_tool_calls(messages) == 1
    good, bad = tool_calls(messages)
    assert good == ToolCall(name="search", args={"q": "長橋"}, state="result", result=FOUND, id="a")
    assert (bad.name, bad.args, bad.state, bad.id) == ("search", {"q": "長橋"}, "error", "b")
    assert FAILED in bad.result


def test_openai_chat_with_null_content_and_a_call_that_never_came_back():
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [text("Where is Harn?"), {"type": "image_url", "image_url": {"url": "x"}}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "search", "arguments": '{"q": "Harn"}'}},
                {"id": "b", "type": "function", "function": {"name": "map", "arguments": "not JSON"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"hits": ["哈恩"]}'},
        {"role": "assistant", "content": [text("By the sea."), {"type": "refusal", "refusal": "No more."}]},
    ]
    assert tool_results(messages) == ['{"hits": ["哈恩"]}']
    assert [(call.name, call.args, call.state) for call in tool_calls(messages)] == [
        ("search", {"q": "Harn"}, "result"),
        ("map", "not JSON", "call"),
    ]
    assert failed_tool_calls(messages) == 1
    assert input_text(messages) == "Where is Harn?"
    assert output_text(messages) == "By the sea.\nNo more."


def test_legacy_function_calls_without_ids_are_joined_by_name():
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": "{}"}},
        {"role": "function", "name": "search", "content": "one"},
        {"role": "assistant", "content": None, "function_call": {"name": "search", "arguments": "{}"}},
        {"role": "function", "name": "search", "content": "two"},
    ]
    assert tool_results(messages) == ["one", "two"]
    assert failed_tool_calls(messages) == 0


def test_a_call_in_parts_and_in_tool_invocations_is_one_call():
    invocations = [invocation("a", "result", result="x"), invocation("b", "result", result="y")]
    message = stored(part("a", "result", result="x"), part("b", "result", result="y"), toolInvocations=invocations)
    assert tool_results([message]) == ["x", "y"]
    without_ids = stored(part(None, "result", result="x"), toolInvocations=[invocation(None, "result", result="x")])
    assert tool_results([without_ids]) == ["x"]


def test_a_later_message_completes_a_call_and_an_id_used_anew_is_another_call():
    messages = [
        stored(part("call_0", "call")),
        stored(part("call_0", "result", result="first")),
        stored(part("call_0", "call")),
        stored(part("call_0", "result", result="second")),
    ]
    assert tool_results(messages) == ["first", "second"]
    assert failed_tool_calls(messages) == 0
    assert tool_results([messages[1], messages[1]]) == ["first"]


@pytest.mark.parametrize("state", ["call", "partial-call", "input-streaming", "input-available", "approval-requested"])
def test_pending_calls_are_no_context_and_counted(state: str):
    output = [stored(part("a", state), text("Sorry."))]
    assert tool_results(output) == []
    assert failed_tool_calls(output) == 1


@pytest.mark.parametrize(
    "result",
    [
        {"isError": True, "content": [text("Harn has a castle.")]},
        {"error": True, "message": "Harn has a castle."},
    ],
)
def test_results_that_say_they_failed_are_no_context(result: Any):
    output = [stored(part("a", "result", result=result))]
    assert tool_results(output) == []
    assert tool_calls(output)[0].state == "error"


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ('text as it is: {"a": 1}', ['text as it is: {"a": 1}']),
        ({"hits": ["長橋", 1]}, ['{"hits": ["長橋", 1]}']),
        ([{"text": "a"}, {"text": "b"}], ['[{"text": "a"}, {"text": "b"}]']),
        ({"content": [text("from"), text("MCP")]}, ["from\nMCP"]),
        (42, ["42"]),
        (False, ["false"]),
        (None, []),
        ("", []),
        ([], []),
        ({}, []),
    ],
)
def test_one_text_a_result_with_real_characters(result: Any, expected: list[str]):
    assert tool_results([stored(part("a", "result", result=result))]) == expected


def test_file_search_of_the_responses_api():
    hits = [{"text": "城は石造り。", "filename": "a.md", "score": 0.9}]
    done = {"type": "file_search_call", "id": "f", "queries": ["城"], "status": "completed", "results": hits}
    assert [json.loads(result) for result in tool_results([done])] == [hits]
    assert tool_calls([done])[0].args == ["城"]
    assert failed_tool_calls([{**done, "results": None}]) == 1
    assert failed_tool_calls([{**done, "results": None, "status": "failed"}]) == 1


def test_other_response_items():
    custom = [
        {"type": "custom_tool_call", "call_id": "c", "name": "run", "input": "select 1"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "1"}]},
        {"type": "mcp_call", "id": "m", "name": "lookup", "arguments": "{}", "output": "found"},
        {"type": "mcp_call", "id": "n", "name": "lookup", "arguments": "{}"},
        {"type": "web_search_call", "id": "w", "status": "completed"},
    ]
    assert [(call.args, call.state, call.result) for call in tool_calls(custom)] == [
        ("select 1", "result", "1"),
        ({}, "result", "found"),
        ({}, "call", ""),
    ]


def test_anthropic_server_tools():
    message = {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "a", "name": "web_search", "input": {"query": "Harn"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "a",
                "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
            },
            {"type": "server_tool_use", "id": "b", "name": "web_search", "input": {"query": "Harn"}},
            {
                "type": "web_search_tool_result",
                "tool_use_id": "b",
                "content": [{"type": "web_search_result", "title": "Harn"}],
            },
        ],
    }
    assert [call.state for call in tool_calls([message])] == ["error", "result"]


def test_mastra_chunks_with_a_payload():
    message = {
        "role": "assistant",
        "content": [
            {"type": "tool-call", "payload": {"toolCallId": "a", "toolName": "search", "args": {"q": "x"}}},
            {"type": "tool-result", "payload": {"toolCallId": "a", "toolName": "search", "result": "found"}},
        ],
    }
    assert tool_calls([message]) == [ToolCall(name="search", args={"q": "x"}, state="result", result="found", id="a")]


# The question


def test_the_last_human_message_is_the_question_not_a_tool_result_or_an_answer():
    messages = [
        {"role": "user", "content": "First?"},
        {"role": "assistant", "content": "One."},
        {"role": "user", "content": "Second?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "s", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "not a question"}]},
        {"role": "user", "content": "   "},
        {"role": "assistant", "content": "Two."},
    ]
    assert input_text(messages) == "Second?"
    assert output_text(messages) == "Two."


def test_mastra_agent_input_falls_back_to_remembered_messages():
    value = {
        "inputMessages": [
            {"role": "user", "content": {"format": 2, "parts": [text("質問は？")], "content": "質問は？"}}
        ],
        "rememberedMessages": [{"role": "user", "content": "Earlier?"}],
        "systemMessages": [{"role": "system", "content": "Be brief."}],
        "taggedSystemMessages": {},
    }
    assert is_agent_input(value)
    assert not is_agent_output(value)
    assert input_text(value) == "質問は？"
    assert input_text({**value, "inputMessages": []}) == "Earlier?"
    assert input_text({"input_messages": [], "remembered_messages": [{"role": "user", "content": "Old?"}]}) == "Old?"
    assert input_text({"inputMessages": [{"role": "assistant", "content": "Hi."}]}) == ""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        ("", ""),
        ("plain 問", "plain 問"),
        (["one", "two"], "one\ntwo"),
        ({"question": "q", "k": 5}, "q"),
        ({"a": 1, "b": "二"}, '{"a": 1, "b": "二"}'),
        (7, "7"),
        ([], "[]"),
    ],
)
def test_text_of_values_that_are_not_agent_shaped(value: Any, expected: str):
    plain = "" if value == [] else expected
    assert (input_text(value), output_text(value)) == (plain, plain)
    assert not is_agent_input(value)
    assert not is_agent_output(value)
    assert tool_calls(value) == []


@pytest.mark.parametrize(
    "value",
    [
        [],
        "user",
        ["a text"],
        [{"text": "a chunk"}],
        [{"role": "admin", "content": "x"}],
        [{"role": "user"}],
        [{"role": "user", "content": "x"}, "y"],
        {"answer": "x"},
        {"messages": []},
        {"messages": [{"role": "user", "content": "x"}], "context": ["a chunk"]},
        {"inputMessages": "x"},
        [{"kind": "request", "parts": None}],
        [{"role": {"a": 1}, "type": ["human"], "content": "x"}],
        42,
        object(),
    ],
)
def test_values_that_are_no_agent_output(value: Any):
    assert not is_agent_output(value)
    assert not is_agent_input(value)


@dataclass
class Message:
    role: str
    content: Any
    tool_calls: list[Any] = field(default_factory=list[Any])


@dataclass
class Choice:
    message: Any


@dataclass
class Completion:
    choices: list[Choice]


@dataclass
class RunItem:
    raw_item: Any


@dataclass
class RunResult:
    new_items: list[RunItem]
    final_output: str = "not this"


def test_what_agents_return_holds_messages():
    answer = Message("assistant", "It is 1934.")
    assert output_text(Completion([Choice(answer)])) == "It is 1934."
    assert output_text({"choices": [{"message": {"role": "assistant", "content": "yes"}}]}) == "yes"
    assert output_text({"messages": [{"role": "user", "content": "q"}, answer]}) == "It is 1934."
    assert output_text(answer) == "It is 1934."
    items = [
        RunItem({"type": "function_call", "call_id": "a", "name": "s", "arguments": "{}"}),
        RunItem({"type": "function_call_output", "call_id": "a", "output": "found"}),
        RunItem({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}),
    ]
    assert tool_results(RunResult(items)) == ["found"]
    assert output_text(RunResult(items)) == "done"
    assert output_text(RunResult([])) == "not this"
    response = {"object": "response", "output": [items[2].raw_item]}
    assert output_text(response) == "done"


# Chunks


@dataclass
class Document:
    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class Node:
    text: str


@dataclass
class NodeWithScore:
    node: Node
    score: float


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        ("長橋", "長橋"),
        (None, ""),
        (float("nan"), ""),
        ({"text": "a"}, "a"),
        ({"page_content": "a", "metadata": {"text": "not this"}}, "a"),
        ({"pageContent": "a"}, "a"),
        ({"content": "a"}, "a"),
        ({"content": [{"type": "text", "text": "a"}]}, "a"),
        ({"document": {"page_content": "a"}, "id": 1}, '{"document": {"page_content": "a"}, "id": 1}'),
        ({"node": {"text": "a"}, "score": 0.5}, "a"),
        ({"id": "1", "score": 0.5, "metadata": {"text": "a"}}, "a"),
        (Document("a"), "a"),
        (NodeWithScore(Node("a"), 0.5), "a"),
        ((Document("a"), 0.5), "a"),
        (["x", "y"], '["x", "y"]'),
        ({"title": "長"}, '{"title": "長"}'),
        (5, "5"),
    ],
)
def test_chunk_text(chunk: Any, expected: str):
    assert chunk_text(chunk) == expected


def test_text_keeps_its_lone_surrogates_for_the_caller_to_clean():
    assert tool_results([stored(part("a", "result", result={"t": "\ud800"}))]) == ['{"t": "\ud800"}']


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=5)
            | st.sampled_from(
                [
                    "role",
                    "type",
                    "content",
                    "parts",
                    "kind",
                    "tool_calls",
                    "state",
                    "toolInvocation",
                    "output",
                    "id",
                    "text",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(JSON)
def test_no_value_makes_it_raise(value: Any):
    messages = [{"role": "assistant", "content": value, "tool_calls": value}]
    for candidate in (value, messages, [value], {"inputMessages": [value]}):
        assert isinstance(input_text(candidate), str)
        assert isinstance(output_text(candidate), str)
        assert all(isinstance(result, str) and result for result in tool_results(candidate))
        assert isinstance(chunk_text(candidate), str)


@given(st.lists(st.text(min_size=1), max_size=6))
def test_results_come_in_order_whatever_the_shape(results: list[str]):
    mastra = [stored(*(part(str(n), "result", result=result) for n, result in enumerate(results)))]
    calls = [{"id": str(n), "function": {"name": "s", "arguments": "{}"}} for n in range(len(results))]
    openai = [
        {"role": "assistant", "content": None, "tool_calls": calls},
        *({"role": "tool", "tool_call_id": str(n), "content": result} for n, result in enumerate(results)),
    ]
    assert tool_results(mastra) == tool_results(openai) == results


def test_pieces_of_other_kinds_are_passed_over_and_dates_are_text():
    mixed = {
        "kind": "request",
        "parts": [
            {"part_kind": "user-prompt", "content": ["Where?", {"kind": "image-url", "url": "x"}]},
            {"part_kind": "retry-prompt", "content": "index offline", "tool_name": "search", "tool_call_id": "a"},
            {"part_kind": "retry-prompt", "content": "answer in JSON"},
        ],
    }
    assert input_text([mixed]) == "Where?"
    assert failed_tool_calls([mixed]) == 1
    assert output_text([{"role": "assistant", "content": ["one", "two"]}]) == "one\ntwo"
    day = stored(part("a", "result", result={"built": date(1934, 5, 1), "where": Place("城")}))
    assert tool_results([day]) == ['{"built": "1934-05-01", "where": "城"}']


class Place:
    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name
