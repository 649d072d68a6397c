"""Around a model's call: refusals for size, and answers that come as a stream."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

import holdfast
from holdfast.errors import DecodeError, ModelOverflow

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


def test_compact_gives_a_plain_list_of_the_size_that_is_asked_for() -> None:
    messages = opened().messages()
    made = holdfast.compact(messages, max_tokens=3_000)
    assert holdfast.estimate_tokens(made) <= 3_000 < holdfast.estimate_tokens(messages)
