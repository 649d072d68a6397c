"""Around a model's call: refusals for size, and answers that come as a stream."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any, cast

import httpx2
import openai
import pytest

import holdfast
from holdfast.errors import ConfigError, DecodeError, ModelOverflow

WORDS = "some words of a long talk " * 30
CHUNKS: list[dict[str, object]] = [
    {"choices": [{"delta": {"role": "assistant", "content": "Port "}}]},
    {"choices": [{"delta": {"content": "4242"}, "finish_reason": None}]},
    {"choices": [{"delta": {"tool_calls": [
        {"index": 0, "id": "c1", "function": {"name": "bash", "arguments": '{"a":'}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
                  "finish_reason": "tool_calls"}]},
    {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 3}},
]  # fmt: skip
EVENTS: list[dict[str, object]] = [
    {"type": "message_start", "message": {"role": "assistant", "usage": {"input_tokens": 7}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Aye."}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
]
ITEMS: list[dict[str, object]] = [
    {"type": "response.created", "response": {"id": "r"}},
    {"type": "response.output_text.delta", "delta": "Aye."},
    {"type": "response.completed", "response": {
        "object": "response", "usage": {"input_tokens": 5, "output_tokens": 1},
        "output": [{"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": "Aye."}]}]}},
]  # fmt: skip


class TooLong(Exception):
    """What an SDK raises."""

    status_code = 400
    body = {"error": {"message": "This model's maximum context length is 4000 tokens."}}  # noqa: RUF012


def opened(**options: object) -> holdfast.Conversation:
    chat = holdfast.Conversation.open(store="memory:", context_length=200_000, **options)  # type: ignore[arg-type]
    for number in range(40):
        chat.add_user(f"{number} {WORDS}")
        chat.add_assistant(f"{number} {WORDS}")
    return chat


@pytest.mark.parametrize(
    ("error", "is_one"),
    [
        (TooLong(), True),
        (ModelOverflow("too large"), True),
        (ValueError("prompt is too long: 210000 tokens > 200000 maximum"), True),
        ("context_length_exceeded", True),
        (ValueError("rate limit"), False),
        (KeyError("x"), False),
    ],
)
def test_an_error_says_whether_the_request_was_too_large(error: object, is_one: object) -> None:
    assert holdfast.is_context_overflow(error) is is_one


def test_a_refused_request_is_made_smaller_and_its_answer_recorded() -> None:
    chat, sizes = opened(), list[int]()

    def send(messages: list[dict[str, object]]) -> dict[str, object]:
        sizes.append(len(messages))
        if len(sizes) == 1:
            raise TooLong("maximum context length is 4000 tokens")
        return {"role": "assistant", "content": "Done."}

    assert chat.call(send)["content"] == "Done."
    assert len(sizes) == 2
    assert sizes[1] < sizes[0]
    assert chat.log[-1].message.text == "Done."
    assert chat.status().context_window == 4_000


def test_any_other_error_and_the_last_refusal_are_the_callers() -> None:
    chat, count = opened(), [0]

    def refuse(_: object) -> object:
        count[0] += 1
        raise TooLong

    with pytest.raises(TooLong):
        chat.call(refuse, attempts=2)
    assert count == [2]
    with pytest.raises(ZeroDivisionError):
        chat.call(lambda _: 1 / 0)


@pytest.mark.parametrize(
    ("stream", "text", "prompt"),
    [(CHUNKS, "Port 4242", 11), (EVENTS, "Aye.", 7), (ITEMS, "Aye.", 5)],
)
def test_a_stream_is_passed_through_and_recorded_as_one_message(
    stream: list[dict[str, object]], text: str, prompt: int
) -> None:
    chat = holdfast.Conversation.open(store="memory:")
    chat.add_user("Which port?")
    assert list(chat.record_stream(stream)) == stream
    (_, answer) = chat.log
    assert answer.message.text == text
    assert [call.arguments for call in answer.message.calls] == (
        ['{"a":1}'] if stream is CHUNKS else []
    )
    assert chat.usage.prompt_tokens == prompt


def test_of_a_stream_that_is_cut_off_the_words_stay() -> None:
    def broken() -> Iterator[dict[str, object]]:
        yield from CHUNKS[:3]
        raise ConnectionError("gone")

    chat = holdfast.Conversation.open(store="memory:")
    with pytest.raises(ConnectionError):
        list(chat.record_stream(broken()))
    assert [(entry.message.text, entry.message.calls) for entry in chat.log] == [("Port 4242", ())]
    left = chat.record_stream(CHUNKS)
    next(left)
    left.close()  # type: ignore[attr-defined]
    assert [entry.message.text for entry in chat.log] == ["Port 4242", "Port "]


def test_what_is_no_chunk_is_a_sentence() -> None:
    chat = holdfast.Conversation.open(store="memory:")
    with pytest.raises(DecodeError, match="hand add_response the whole answer"):
        list(chat.record_stream(["words"]))


@pytest.mark.parametrize("unknown", [{"foo": 1}, {"type": "data", "data": "Aye."}, {}, None, 5])
def test_a_stream_of_which_nothing_can_be_recorded_says_so(unknown: object) -> None:
    async def loop() -> None:
        async def stream() -> AsyncIterator[object]:
            yield unknown

        chat = await holdfast.AsyncConversation.open(store="memory:")
        async for _ in chat.record_stream(stream()):
            pass

    chat = holdfast.Conversation.open(store="memory:")
    with pytest.raises(DecodeError, match="nothing can be recorded"):
        list(chat.record_stream([unknown]))
    with pytest.raises(DecodeError, match="nothing can be recorded"):
        asyncio.run(loop())


def test_an_event_that_is_news_does_not_stop_a_stream_that_is_known() -> None:
    chat = holdfast.Conversation.open(store="memory:")
    list(chat.record_stream([EVENTS[0], {"type": "weather"}, *EVENTS[1:]]))
    assert [entry.message.text for entry in chat.log] == ["Aye."]


def served(events: list[dict[str, object]]) -> httpx2.MockTransport:
    """Return a server that answers every request with these events."""
    lines = [f"event: {each.get('type', '')}\ndata: {json.dumps(each)}\n\n" for each in events]
    body = "".join([*lines, "data: [DONE]\n\n"])
    return httpx2.MockTransport(
        lambda _: httpx2.Response(200, headers={"content-type": "text/event-stream"}, text=body)
    )


def completed(chunk: dict[str, object]) -> dict[str, object]:
    choices = [
        {"index": 0, "finish_reason": None, **each}
        for each in cast("list[dict[str, object]]", chunk["choices"])
    ]
    envelope = {"id": "x", "created": 1, "model": "gpt-5", "object": "chat.completion.chunk"}
    return {**envelope, **chunk, "choices": choices}


def test_the_stream_helper_of_openai_chat_is_recorded() -> None:
    http = httpx2.Client(transport=served([completed(each) for each in CHUNKS]))
    client = openai.OpenAI(api_key="k", base_url="http://here/v1", http_client=http)
    chat = holdfast.Conversation.open(store="memory:")
    chat.add_user("Which port?")
    with client.chat.completions.stream(model="gpt-5", messages=[]) as stream:
        kinds = {event.type for event in chat.record_stream(stream)}
    assert {"chunk", "content.delta", "content.done"} <= kinds
    (_, answer) = chat.log
    assert answer.message.text == "Port 4242"
    assert [call.arguments for call in answer.message.calls] == ['{"a":1}']
    assert chat.usage.prompt_tokens == 11


def test_the_stream_helper_of_openai_chat_is_recorded_in_an_event_loop() -> None:
    async def talked() -> list[str]:
        http = httpx2.AsyncClient(transport=served([completed(each) for each in CHUNKS]))
        client = openai.AsyncOpenAI(api_key="k", base_url="http://here/v1", http_client=http)
        async with await holdfast.AsyncConversation.open(store="memory:") as chat:
            async with client.chat.completions.stream(model="gpt-5", messages=[]) as stream:
                async for _ in chat.record_stream(stream):
                    pass
            return [entry.message.text for entry in await chat.log()]

    assert asyncio.run(talked()) == ["Port 4242"]


def test_of_the_helpers_events_without_its_chunks_the_words_are_recorded() -> None:
    chat = holdfast.Conversation.open(store="memory:")
    list(chat.record_stream([
        {"type": "content.delta", "delta": "Port ", "snapshot": "Port "},
        {"type": "content.delta", "delta": "4242", "snapshot": "Port 4242"},
        {"type": "content.done", "content": "Port 4242"},
    ]))  # fmt: skip
    assert [entry.message.text for entry in chat.log] == ["Port 4242"]


def test_the_stream_helper_of_openai_responses_is_recorded() -> None:
    said: dict[str, object] = {
        "type": "message", "id": "m", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "Aye.", "annotations": []}],
    }  # fmt: skip
    begun = {"id": "r", "created_at": 1, "model": "gpt-5", "object": "response", "output": []}
    place = {"output_index": 0, "item_id": "m", "content_index": 0, "logprobs": []}
    usage = {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}
    events: list[dict[str, object]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", **place, "item": {**said, "content": []}},
        {"type": "response.content_part.added", **place,
         "part": {"type": "output_text", "text": "", "annotations": []}},
        {"type": "response.output_text.delta", **place, "delta": "Aye."},
        {"type": "response.completed", "response": {**begun, "output": [said], "usage": usage}},
    ]  # fmt: skip
    http = httpx2.Client(
        transport=served([{**e, "sequence_number": n} for n, e in enumerate(events)])
    )
    client = openai.OpenAI(api_key="k", base_url="http://here/v1", http_client=http)
    chat = holdfast.Conversation.open(store="memory:")
    with client.responses.stream(model="gpt-5", input="Which port?") as stream:
        assert len(list(chat.record_stream(stream))) == len(events)
    assert [entry.message.text for entry in chat.log] == ["Aye."]
    assert chat.usage.prompt_tokens == 5


def test_an_event_loop_has_the_same() -> None:
    async def stream() -> AsyncIterator[dict[str, object]]:
        for event in EVENTS:
            yield event

    async def send(_: object) -> dict[str, object]:
        return {"role": "assistant", "content": "Done."}

    async def talked() -> list[str]:
        async with await holdfast.AsyncConversation.open(store="memory:") as chat:
            await chat.add_user("Go on.")
            assert [event async for event in chat.record_stream(stream())] == EVENTS
            await chat.call(send)
            return [entry.message.text for entry in await chat.log()]

    assert asyncio.run(talked()) == ["Go on.", "Aye.", "Done."]


@pytest.mark.parametrize("dialect", ["anthropic", "responses", "gemini"])
def test_a_system_prompt_beside_the_messages_is_sent_with_them(dialect: str) -> None:
    sent: list[object] = []

    def send(messages: list[dict[str, object]], system: object) -> str:
        sent.append((messages, system))
        return "Done."

    async def awaited(messages: list[dict[str, object]], **beside: object) -> str:
        return send(messages, **beside)

    async def loop() -> None:
        chat = await holdfast.AsyncConversation.open(store="memory:")
        await chat.set_system("Answer in French.")
        await chat.add_user("Go on.")
        await chat.call(awaited, format=dialect)

    chat = holdfast.Conversation.open(store="memory:")
    chat.add_user("Go on.")
    assert chat.call(lambda messages: str(len(messages)), format=dialect) == "1"
    chat = holdfast.Conversation.open(store="memory:")
    chat.set_system("Answer in French.")
    chat.add_user("Go on.")
    body = chat.body(dialect)
    assert body.system is not None
    chat.call(send, format=dialect)
    asyncio.run(loop())
    assert sent == [(body.messages, body.system)] * 2
    with pytest.raises(ConfigError, match="lambda messages, system"):
        chat.call(lambda messages: str(messages), format=dialect)
    assert chat.call(lambda messages: messages[0]) == {
        "role": "system", "content": "Answer in French."
    }  # fmt: skip


def test_compact_gives_a_plain_list_of_the_size_that_is_asked_for() -> None:
    messages = opened().messages()
    made = holdfast.compact(messages, max_tokens=3_000)
    assert holdfast.estimate_tokens(made) <= 3_000 < holdfast.estimate_tokens(messages)
    assert holdfast.compact(messages, max_tokens=1) == messages


@pytest.mark.parametrize("window", [-4, 0, 10, "8k"])
def test_a_window_that_is_none_is_refused_when_the_model_is_switched(window: Any) -> None:
    chat = opened(model="gpt-5")
    with pytest.raises(ConfigError, match=r"^context_length is .*; allowed: "):
        chat.switch_model("another", window)
    assert (chat.session.model, chat.status().context_length) == ("gpt-5", 200_000)


def test_an_argument_of_the_wrong_kind_is_named_with_what_is_allowed() -> None:
    said: list[dict[str, object]] = [{"role": "user", "content": "Port?"}]
    wrong: Any = 5
    with pytest.raises(ConfigError, match=r"^model is 5; allowed: a model's name$"):
        holdfast.compress(said, model=wrong)
    with pytest.raises(ConfigError, match=r"^focus is 5; allowed: "):
        holdfast.compress(said, focus=wrong)
    with pytest.raises(ConfigError, match=r"^format is 'claude'; allowed: openai, "):
        opened().messages(format="claude")
    with pytest.raises(ConfigError, match=r"^turns is -1; allowed: "):
        opened().rewind(turns=-1)
