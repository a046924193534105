"""Targets of the agent frameworks, with the frameworks' own fakes: output, context and conversations."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import msgspec
import pytest

from ragcov import FROM_SAMPLE, EvalsResult, ItemResult, create_context_recall_scorer, run_evals
from ragcov.messages import output_text, tool_calls
from ragcov.testing import ScriptedJudge

PARIS = "Paris is the capital of France."
TOKYO = "東京は日本の首都です。"
TAIPEI = "台北是臺灣的首都。"


async def run(target: Any, *rows: dict[str, Any]) -> EvalsResult:
    scorer = create_context_recall_scorer(model=ScriptedJudge(), context=FROM_SAMPLE)
    data = [{"ground_truth": PARIS, **row} for row in rows or ({"input": "What is the capital of France?"},)]
    result = await run_evals(data=data, scorers=[scorer], target=target)
    for item in result.items:
        # Results read back: nothing of a framework's own is left in them.
        assert msgspec.json.decode(msgspec.json.encode(item), type=ItemResult) == item
    return result


def recall(item: ItemResult) -> float | None:
    return item.scorer_results["context-recall-scorer"].score


class TestPydanticAI:
    @pytest.fixture
    def agent(self) -> Any:
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
        from pydantic_ai.models.function import AgentInfo, FunctionModel

        def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            last = messages[-1].parts[-1]
            if isinstance(last, ToolReturnPart):
                prompts = [part for message in messages for part in message.parts if part.part_kind == "user-prompt"]
                return ModelResponse(parts=[TextPart(f"answer {len(prompts)}: {last.content}")])
            return ModelResponse(parts=[ToolCallPart("search", {"query": last.content})])

        agent = Agent(FunctionModel(model))

        @agent.tool_plain
        def search(query: str) -> str:
            return TOKYO if "日本" in query else PARIS

        return agent

    async def test_tool_results_are_the_context(self, agent: Any) -> None:
        (item,) = (await run(agent)).items
        assert item.sample.context == [PARIS]
        assert output_text(item.sample.output) == f"answer 1: {PARIS}"
        assert recall(item) == 1

    async def test_turns_are_one_conversation(self, agent: Any) -> None:
        (item,) = (await run(agent, {"inputs": ["フランスの首都は？", "日本の首都は？"]})).items
        assert [output_text(turn.output) for turn in item.sample.turns] == [
            f"answer 1: {PARIS}",
            f"answer 2: {TOKYO}",
        ]
        assert output_text(item.sample.output) == f"answer 2: {TOKYO}"
        assert item.sample.context == [PARIS, TOKYO]
        assert len(tool_calls(item.sample.output)) == 2

    async def test_messages_as_input(self, agent: Any) -> None:
        messages = [
            {"role": "user", "content": "Hello."},
            {"role": "assistant", "content": "Hello!"},
            {"role": "user", "content": "日本の首都は？"},
        ]
        (item,) = (await run(agent, {"input": messages})).items
        assert output_text(item.sample.output) == f"answer 2: {TOKYO}"

    async def test_structured_output_is_the_answer_and_no_retrieval(self) -> None:
        from pydantic import BaseModel
        from pydantic_ai import Agent
        from pydantic_ai.models.test import TestModel

        class City(BaseModel):
            name: str

        agent = Agent(TestModel(custom_output_args={"name": "東京"}), output_type=City)
        (item,) = (await run(agent)).items
        assert output_text(item.sample.output) == '{"name": "東京"}'
        assert item.sample.context is None

    async def test_a_model_that_fails(self) -> None:
        from pydantic_ai import Agent
        from pydantic_ai.models.function import FunctionModel

        def model(*_: Any) -> Any:
            raise ConnectionError("no route")

        (item,) = (await run(Agent(FunctionModel(model)))).items
        assert item.error is not None
        assert (item.error.step, item.error.message) == ("target", "the target raised ConnectionError: no route")


class TestLangChain:
    @pytest.fixture
    def retriever(self) -> Any:
        from langchain_core.embeddings import DeterministicFakeEmbedding
        from langchain_core.vectorstores import InMemoryVectorStore

        store = InMemoryVectorStore.from_texts([PARIS], DeterministicFakeEmbedding(size=8))
        return store.as_retriever(search_kwargs={"k": 1})

    @pytest.fixture
    def model(self) -> Any:
        from langchain_core.language_models.fake_chat_models import FakeListChatModel

        return FakeListChatModel(responses=["first", "second", "third"])

    async def test_a_retriever(self, retriever: Any) -> None:
        (item,) = (await run(retriever)).items
        assert (item.sample.output, item.sample.context, recall(item)) == (None, [PARIS], 1)

    async def test_the_documents_inside_a_chain_are_the_context(self, retriever: Any, model: Any) -> None:
        from langchain_core.output_parsers import StrOutputParser
        from langchain_core.prompts import ChatPromptTemplate
        from langchain_core.runnables import RunnablePassthrough

        prompt = ChatPromptTemplate.from_template("{context} {question}")
        chain = {"context": retriever, "question": RunnablePassthrough()} | prompt | model | StrOutputParser()
        (item,) = (await run(chain)).items
        assert (item.sample.output, item.sample.context, recall(item)) == ("first", [PARIS], 1)

    async def test_a_chain_that_returns_context_and_answer(self, retriever: Any, model: Any) -> None:
        from langchain_core.output_parsers import StrOutputParser
        from langchain_core.prompts import ChatPromptTemplate
        from langchain_core.runnables import RunnablePassthrough

        prompt = ChatPromptTemplate.from_template("{context} {question}")
        chain = RunnablePassthrough.assign(context=(lambda x: x["question"]) | retriever).assign(
            answer=prompt | model | StrOutputParser()
        )
        (item,) = (await run(chain)).items
        assert (item.sample.output, item.sample.context) == ("first", [PARIS])

    async def test_a_chat_model_sees_the_earlier_turns(self) -> None:
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage

        seen: list[list[str]] = []

        class Model(GenericFakeChatModel):
            def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
                seen.append([message.content for message in messages])
                return super()._generate(messages, *args, **kwargs)

        model = Model(messages=iter([AIMessage("first"), AIMessage("second")]))
        result = await run(model, {"inputs": ["one", "two"]})
        assert output_text(result.items[0].sample.output) == "second"
        assert seen == [["one"], ["one", "first", "two"]]
        assert result.warnings == ()

    async def test_a_prompt_with_a_place_for_the_history(self, model: Any) -> None:
        from langchain_core.prompts import ChatPromptTemplate
        from langchain_core.runnables import RunnableLambda

        prompt = ChatPromptTemplate.from_messages([("placeholder", "{chat_history}"), ("user", "{topic}")])
        shown = prompt | RunnableLambda(lambda value: " / ".join(str(m.content) for m in value.messages))
        (item,) = (await run(shown, {"inputs": ["one", "two"]})).items
        assert item.sample.turns[1].output == "one / one / two"

    async def test_a_chain_whose_question_has_no_known_name(self) -> None:
        from langchain_core.prompts import ChatPromptTemplate

        target = ChatPromptTemplate.from_template("{subject} {style}")
        (item,) = (await run(target)).items
        assert item.error is not None
        assert "style, subject" in item.error.message
        (item,) = (await run(target, {"input": {"subject": "France", "style": "short"}})).items
        assert item.error is None


class TestLangGraph:
    def graph(self, checkpointer: Any = None) -> Any:
        from langchain_core.documents import Document
        from langchain_core.messages import AIMessage, ToolMessage
        from langchain_core.tools import tool
        from langgraph.graph import START, MessagesState, StateGraph
        from langgraph.prebuilt import ToolNode, tools_condition

        @tool(response_format="content_and_artifact")
        def search(query: str) -> Any:
            """Searches."""
            found = [PARIS, TAIPEI] if "臺灣" in query else [PARIS]
            return "\n\n".join(found), [Document(text) for text in found]

        def model(state: MessagesState) -> Any:
            last = state["messages"][-1]
            if isinstance(last, ToolMessage):
                return {"messages": [AIMessage(f"answer after {len(state['messages'])} messages")]}
            call = {"name": "search", "args": {"query": last.content}, "id": f"call-{len(state['messages'])}"}
            return {"messages": [AIMessage("", tool_calls=[call])]}

        builder = StateGraph(MessagesState)
        builder.add_node("model", model)
        builder.add_node("tools", ToolNode([search]))
        builder.add_edge(START, "model")
        builder.add_conditional_edges("model", tools_condition)
        builder.add_edge("tools", "model")
        return builder.compile(checkpointer=checkpointer)

    async def test_each_document_that_a_tool_found_is_a_chunk(self) -> None:
        (item,) = (await run(self.graph(), {"input": "臺灣的首都？"})).items
        assert item.sample.context == [PARIS, TAIPEI]
        assert output_text(item.sample.output) == "answer after 3 messages"
        assert recall(item) == 1

    @pytest.mark.parametrize("kept", [False, True])
    async def test_turns_are_one_conversation(self, kept: bool) -> None:
        from langgraph.checkpoint.memory import InMemorySaver

        graph = self.graph(InMemorySaver() if kept else None)
        result = await run(graph, {"inputs": ["France?", "臺灣的首都？"]}, {"input": "France?"})
        first, second = result.items
        assert [output_text(turn.output) for turn in first.sample.turns] == [
            "answer after 3 messages",
            "answer after 7 messages",
        ]
        assert [turn.context for turn in first.sample.turns] == [[PARIS], [PARIS, TAIPEI]]
        # Another sample is another conversation.
        assert output_text(second.sample.output) == "answer after 3 messages"

    async def test_a_state_with_fields_of_its_own(self) -> None:
        from langchain_core.documents import Document
        from langgraph.graph import START, StateGraph

        class State(TypedDict):
            question: Annotated[str, "what is asked"]
            documents: list[Any]
            answer: str

        def retrieve(state: State) -> Any:
            return {"documents": [Document(PARIS)], "answer": f"About {state['question']}"}

        builder = StateGraph(State)
        builder.add_node("retrieve", retrieve)
        builder.add_edge(START, "retrieve")
        (item,) = (await run(builder.compile(), {"input": "Paris"})).items
        assert (item.sample.output, item.sample.context) == ("About Paris", [PARIS])


class TestLlamaIndex:
    @pytest.fixture
    def index(self) -> Any:
        from llama_index.core import Document, MockEmbedding, VectorStoreIndex

        return VectorStoreIndex.from_documents([Document(text=PARIS)], embed_model=MockEmbedding(embed_dim=4))

    async def test_a_retriever(self, index: Any) -> None:
        (item,) = (await run(index.as_retriever())).items
        assert (item.sample.output, item.sample.context, recall(item)) == (None, [PARIS], 1)

    async def test_a_query_engine(self, index: Any) -> None:
        from llama_index.core.llms import MockLLM

        (item,) = (await run(index.as_query_engine(llm=MockLLM(max_tokens=3)))).items
        assert (item.sample.output, item.sample.context) == ("text text text", [PARIS])

    async def test_a_streaming_query_engine_is_refused(self, index: Any) -> None:
        from llama_index.core.llms import MockLLM

        (item,) = (await run(index.as_query_engine(llm=MockLLM(max_tokens=3), streaming=True))).items
        assert item.error is not None
        assert "streaming=False" in item.error.message

    async def test_a_chat_engine_sees_the_earlier_turns_of_its_conversation_alone(self, index: Any) -> None:
        from llama_index.core.chat_engine import SimpleChatEngine
        from llama_index.core.llms import MockLLM
        from llama_index.core.memory import ChatMemoryBuffer

        seen: list[list[str]] = []

        class Model(MockLLM):
            async def achat(self, messages: Any, **kwargs: Any) -> Any:
                seen.append([message.content for message in messages])
                return await super().achat(messages, **kwargs)

        llm = Model(max_tokens=1)
        engine = SimpleChatEngine(llm=llm, memory=ChatMemoryBuffer.from_defaults(llm=llm), prefix_messages=[])
        result = await run(engine, {"inputs": ["one", "two"]})
        assert seen == [["one"], ["one", result.items[0].sample.turns[0].output, "two"]]


class TestOpenAIAgents:
    @pytest.fixture(autouse=True)
    def no_tracing(self) -> None:
        from agents import set_tracing_disabled

        set_tracing_disabled(True)

    def agent(self, *answers: str) -> Any:
        from agents import Agent, function_tool
        from agents.testing import ScriptedModel, assistant_message, function_call

        @function_tool
        def search(query: str) -> str:
            """Searches."""
            return TOKYO if "日本" in query else PARIS

        steps: list[Any] = []
        for number, answer in enumerate(answers):
            query = {"query": "日本" if number else "France"}
            steps += [[function_call("search", query, call_id=f"call-{number}")], [assistant_message(answer)]]
        return Agent(name="guide", tools=[search], model=ScriptedModel(steps))

    async def test_tool_results_are_the_context(self) -> None:
        (item,) = (await run(self.agent("Paris."))).items
        assert (output_text(item.sample.output), item.sample.context, recall(item)) == ("Paris.", [PARIS], 1)

    async def test_turns_are_one_conversation(self) -> None:
        agent = self.agent("Paris.", "東京です。")
        (item,) = (await run(agent, {"inputs": ["フランスの首都は？", "日本の首都は？"]})).items
        assert item.sample.context == [PARIS, TOKYO]
        assert output_text(item.sample.output) == "東京です。"
        last = agent.model.last_call.input
        assert [part["content"] for part in last if part.get("role") == "user"] == [
            "フランスの首都は？",
            "日本の首都は？",
        ]

    async def test_handing_over_is_no_retrieval(self) -> None:
        from agents import Agent
        from agents.testing import ScriptedModel, assistant_message, function_call

        expert = Agent(name="expert", model=ScriptedModel([[assistant_message("Paris.")]]))
        first = ScriptedModel([[function_call("transfer_to_expert", {}, call_id="1")]])
        (item,) = (await run(Agent(name="desk", handoffs=[expert], model=first))).items
        assert output_text(item.sample.output) == "Paris."
        assert item.sample.context in (None, [])


def test_no_framework_is_imported_for_a_plain_function() -> None:
    import subprocess
    import sys

    probe = (
        "import sys, ragcov\n"
        "from ragcov.targets import read_target\n"
        "read_target(lambda input: input)\n"
        "names = ('pydantic_ai', 'langchain_core', 'langgraph', 'llama_index', 'agents')\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
