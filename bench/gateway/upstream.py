"""An upstream that answers at once, in the words of each dialect, whole or as a stream.

`python -m bench.gateway.upstream` serves on a free port and prints it. Answers are bytes that are
made once, so that it costs little beside what stands before it. Every event of a stream is written
by itself, as those of a model are.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import TYPE_CHECKING, cast

from uvicorn import Config

from bench.gateway.conversations import ANSWER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

LONG = 10_000
"""Events of text in a long stream, which is one of OpenAI's."""
LONG_MODEL = "bench-long"
_WORDS = re.findall(r"\S+ ?", ANSWER)
_USAGE = 1_234_567_890
"""Stands for the tokens of a request, until it is known how long it is."""
_BYTES_A_TOKEN = 4
_PLACE = str(_USAGE).encode()
_STREAMED = (b'"stream":true', b'"stream": true')


def answers() -> dict[tuple[str, bool, bool], list[bytes]]:
    """Return what is written, by dialect, whether it is streamed and whether it is long."""
    found: dict[tuple[str, bool, bool], list[bytes]] = {}
    for dialect, (streamed, whole) in _DIALECTS.items():
        found[dialect, True, False] = _chunked(streamed(_WORDS))
        found[dialect, False, False] = [_plain(whole("".join(_WORDS)))]
    found["openai", True, True] = _chunked(_chat([_WORDS[at % len(_WORDS)] for at in range(LONG)]))
    return found


def _chunked(events: Iterator[Mapping[str, object] | str]) -> list[bytes]:
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    pieces: list[bytes] = []
    for event in events:
        if isinstance(event, str):
            text = f"data: {event}\n\n"
        else:
            named = f"event: {event['type']}\n" if "type" in event else ""
            text = f"{named}data: {json.dumps(event)}\n\n"
        pieces.append(b"%x\r\n%s\r\n" % (len(text), text.encode()))
    return [head + pieces[0], *pieces[1:-1], pieces[-1] + b"0\r\n\r\n"]


def _plain(body: Mapping[str, object]) -> bytes:
    written = json.dumps(body).encode()
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
    return f"{head}content-length: {len(written)}\r\n\r\n".encode() + written


def _chat(pieces: list[str]) -> Iterator[Mapping[str, object] | str]:
    begun = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "bench"}
    for number, piece in enumerate(pieces):
        delta = {"role": "assistant", "content": piece} if not number else {"content": piece}
        yield {**begun, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**begun, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    yield {**begun, "choices": [], "usage": _chat_usage()}
    yield "[DONE]"


def _chat_whole(text: str) -> Mapping[str, object]:
    message = {"role": "assistant", "content": text}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    begun = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "bench"}
    return {**begun, "choices": choices, "usage": _chat_usage()}


def _chat_usage() -> Mapping[str, int]:
    return {"prompt_tokens": _USAGE, "completion_tokens": 40, "total_tokens": _USAGE}


def _responses(pieces: list[str]) -> Iterator[Mapping[str, object] | str]:
    done = _responses_whole("".join(pieces))
    output = cast("list[Mapping[str, object]]", done["output"])
    place = {"output_index": 0, "content_index": 0, "item_id": "msg_1"}
    yield {"type": "response.created", "response": {**done, "output": [], "status": "in_progress"}}
    added = {**output[0], "content": [], "status": "in_progress"}
    yield {"type": "response.output_item.added", "output_index": 0, "item": added}
    for piece in pieces:
        yield {"type": "response.output_text.delta", **place, "delta": piece}
    yield {"type": "response.output_item.done", "output_index": 0, "item": output[0]}
    yield {"type": "response.completed", "response": done}


def _responses_whole(text: str) -> Mapping[str, object]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    usage = {"input_tokens": _USAGE, "output_tokens": 40, "total_tokens": _USAGE}
    begun = {"id": "resp_1", "object": "response", "created_at": 1, "model": "bench"}
    return {
        **begun,
        "status": "completed",
        "output": [{**said, "content": content}],
        "usage": usage,
    }


def _anthropic(pieces: list[str]) -> Iterator[Mapping[str, object] | str]:
    message = {**_anthropic_whole(""), "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": message}
    block = {"type": "text", "text": ""}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    for piece in pieces:
        delta = {"type": "text_delta", "text": piece}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 40}}
    yield {"type": "message_stop"}


def _anthropic_whole(text: str) -> Mapping[str, object]:
    begun = {"id": "msg_1", "type": "message", "role": "assistant", "model": "bench"}
    usage = {"input_tokens": _USAGE, "output_tokens": 40}
    content = [{"type": "text", "text": text}]
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    return {**begun, "content": content, **ended, "usage": usage}


def _gemini(pieces: list[str]) -> Iterator[Mapping[str, object] | str]:
    for piece in pieces:
        yield {"candidates": [{"content": _gemini_content(piece), "index": 0}]}
    yield _gemini_whole("")


def _gemini_whole(text: str) -> Mapping[str, object]:
    said = {"content": _gemini_content(text), "index": 0, "finishReason": "STOP"}
    counts = {"promptTokenCount": _USAGE, "candidatesTokenCount": 40, "totalTokenCount": _USAGE}
    return {"candidates": [said], "usageMetadata": counts}


def _gemini_content(text: str) -> Mapping[str, object]:
    return {"role": "model", "parts": [{"text": text}]}


_DIALECTS = {
    "openai": (_chat, _chat_whole),
    "responses": (_responses, _responses_whole),
    "anthropic": (_anthropic, _anthropic_whole),
    "gemini": (_gemini, _gemini_whole),
}


class _Connection(asyncio.Protocol):
    """Reads requests with a length, one after the other, and writes what belongs to each."""

    def __init__(self, said: Mapping[tuple[str, bool, bool], list[bytes]]) -> None:
        self._said = said
        self._pieces: list[bytes] = []
        self._missing = -1
        self._head = b""
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._missing < 0:
            data = b"".join((*self._pieces, data))
            self._pieces = []
            end = data.find(b"\r\n\r\n")
            if end < 0:
                self._pieces = [data]
                return
            self._head, data = data[:end], data[end + 4 :]
            length = self._head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
            self._missing = int(length or 0)
        self._pieces.append(data)
        self._missing -= len(data)
        if self._missing <= 0:
            body, self._pieces, self._missing = b"".join(self._pieces), [], -1
            self._answer(body)

    def _answer(self, body: bytes) -> None:
        target = self._head.partition(b" ")[2].partition(b" ")[0]
        if b"chat/completions" in target:
            dialect = "openai"
        elif b"responses" in target:
            dialect = "responses"
        else:
            dialect = "anthropic" if b"messages" in target else "gemini"
        is_streamed = b":stream" in target or any(each in body for each in _STREAMED)
        is_long = dialect == "openai" and is_streamed and LONG_MODEL.encode() in body
        # As wide as what it stands for, since the lengths are written already.
        read = b"%-10d" % (len(body) // _BYTES_A_TOKEN)
        pieces = self._said[dialect, is_streamed, is_long]
        self._write(piece.replace(_PLACE, read) for piece in pieces)

    def _write(self, pieces: Iterator[bytes]) -> None:
        """Write the next piece; those that follow have to wait for what else there is to do."""
        piece = next(pieces, None)
        if piece is not None and not self._transport.is_closing():
            self._transport.write(piece)
            self._loop.call_soon(self._write, pieces)


def new_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return what makes an event loop of the kind that the servers run on."""
    return Config(app="").get_loop_factory()


async def _serve() -> None:
    said = answers()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(said), "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


def main() -> None:
    """Serve until the process is ended."""
    with asyncio.Runner(loop_factory=new_loop()) as runner:
        runner.run(_serve())


if __name__ == "__main__":
    main()
