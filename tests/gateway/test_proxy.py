"""What goes through the gateway is what came in, in all four dialects."""

import asyncio
import gzip
import json
import threading
import time
from collections.abc import Callable, Mapping

import brotli
import pytest
import zstandard

from holdfast.agent.turn import CUT_OFF
from holdfast.gateway.client_turn import ClientTurn
from tests.agents.answers import Answer, Call, gemini
from tests.gateway.faults import client_sees
from tests.gateway.scripted import (
    PATHS,
    Recorded,
    Unrecorded,
    answer,
    gateway,
    question,
    stream,
    streamed,
    upstream,
)

PACKED: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "br": brotli.compress,
}
SAID = Answer(1, "Port 4242.", Call("read", {"path": "a.py"}))


@pytest.mark.parametrize("dialect", PATHS)
def test_a_request_and_its_streamed_answer_go_through_byte_for_byte(dialect: str) -> None:
    body = json.dumps(question(dialect), indent=3).encode() + b" \n"
    pieces = streamed(dialect, SAID)
    recorded = Recorded()
    with upstream(stream(*pieces)) as up, gateway(up, recorded.turns) as here:
        found = here.client.post(
            PATHS[dialect], content=body, headers={"content-type": "application/json", "x-own": "1"}
        )
        assert found.status_code == 200
        assert found.content == b"".join(pieces)
        assert found.headers["content-type"] == "text/event-stream"
        assert up.requests[0].body == body
        assert up.requests[0].target == PATHS[dialect]
        assert up.requests[0].header("x-own") == "1"
        assert found.headers["x-holdfast-session"]
        assert int(found.headers["x-holdfast-tokens"]) > 0
        assert found.headers["x-holdfast-compactions"] == "0"
    assert recorded.said() == ["Which port?", "Port 4242."]


WHOLE = {
    "openai": {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Port 4242."}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    },
    "responses": {
        "object": "response",
        "error": None,
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Port 4242."}],
            }
        ],
    },
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": "Port 4242."}],
    },
    "gemini": {"candidates": [{"content": {"role": "model", "parts": [{"text": "Port 4242."}]}}]},
}


@pytest.mark.parametrize("dialect", PATHS)
def test_an_answer_that_comes_at_once_is_recorded_before_the_client_has_it(dialect: str) -> None:
    path = PATHS[dialect].replace("streamGenerateContent?alt=sse", "generateContent")
    body = json.dumps(WHOLE[dialect], indent=1).encode()
    recorded = Recorded()
    with upstream(answer(body, x_request_id="r1")) as up, gateway(up, recorded.turns) as here:
        found = here.client.post(path, json={**question(dialect), "stream": False})
        assert recorded.said() == ["Which port?", "Port 4242."]
        assert found.content == body
        assert found.headers["x-request-id"] == "r1"
        assert found.headers["content-length"] == str(len(body))


def test_pieces_of_a_stream_arrive_as_they_come() -> None:
    first, *rest = streamed("openai", SAID)
    with (
        upstream(stream(first, 0.7, *rest)) as up,
        gateway(up, Recorded().turns) as here,
        here.client.stream("POST", PATHS["openai"], json=question("openai")) as found,
    ):
        pieces = found.iter_raw()
        began = time.monotonic()
        assert next(pieces) == first
        assert time.monotonic() - began < 0.5
        assert b"".join(pieces) == b"".join(rest)


def test_a_stream_of_gemini_without_events_is_an_array_and_is_recorded() -> None:
    body = json.dumps([gemini(SAID)]).encode()
    recorded = Recorded()
    with upstream(answer(body)) as up, gateway(up, recorded.turns) as here:
        path = PATHS["gemini"].partition("?")[0]
        assert here.client.post(path, json=question("gemini")).content == body
    assert recorded.said() == ["Which port?", "Port 4242."]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/models?limit=3&x=%2F"),
        ("DELETE", "/v1/files/a%20b"),
        ("POST", "/v1/embeddings"),
        ("POST", "/v1/threads/t1/messages"),
        ("POST", "/v1/messages/count_tokens"),
        ("POST", "/v1beta/models/m1:countTokens"),
        ("GET", "/api/show"),
    ],
)
def test_every_other_path_passes_with_query_headers_and_body(method: str, path: str) -> None:
    body = b"" if method in ("GET", "DELETE") else b'{"input": "Which port?"}'
    said = answer(b'{"data": []}', "207 Multi-Status", x_own="2")
    with upstream(said) as up, gateway(up, Recorded().turns) as here:
        found = here.client.request(method, path, content=body, headers={"anthropic-beta": "b1"})
        assert (found.status_code, found.content) == (207, b'{"data": []}')
        assert found.headers["x-own"] == "2"
        assert (up.requests[0].method, up.requests[0].target) == (method, path)
        assert up.requests[0].header("anthropic-beta") == "b1"
        assert up.requests[0].body == body


def test_headers_of_the_connection_and_ours_go_nowhere() -> None:
    sent = {"connection": "keep-alive, x-secret", "x-secret": "1", "te": "trailers"}
    said = answer(b"{}", keep_alive="timeout=3", connection="keep-alive")
    with upstream(said) as up, gateway(up) as here:
        found = here.post("openai", headers={**sent, "x-holdfast-session": "s1", "x-own": "1"})
        names = {name.lower() for name, _ in up.requests[0].headers}
        assert names == {
            *("accept", "accept-encoding", "content-length", "content-type", "host"),
            *("user-agent", "x-own"),
        }
        assert up.requests[0].header("accept-encoding") == "identity"
        assert up.requests[0].header("host") == up.url.removeprefix("http://")
        assert "keep-alive" not in found.headers


@pytest.mark.parametrize("packing", ["gzip", "zstd", "br", "gzip, zstd"])
def test_a_packed_request_is_read_and_goes_on_as_it_came(packing: str) -> None:
    body = json.dumps(question("responses")).encode()
    for each in packing.split(", "):
        body = PACKED[each](body)
    recorded = Recorded()
    with (
        upstream(stream(*streamed("responses", SAID))) as up,
        gateway(up, recorded.turns) as here,
    ):
        found = here.client.post(
            PATHS["responses"], content=body, headers={"content-encoding": packing}
        )
        assert found.status_code == 200
        assert up.requests[0].body == body
        assert up.requests[0].header("content-encoding") == packing
    assert recorded.said() == ["Which port?", "Port 4242."]


def test_an_answer_that_is_packed_although_nobody_asked_is_relayed_and_recorded() -> None:
    body = gzip.compress(b"".join(streamed("anthropic", SAID)))
    recorded = Recorded()
    said = answer(body, kind="text/event-stream", content_encoding="gzip")
    with upstream(said) as up, gateway(up, recorded.turns) as here:
        found = here.post("anthropic")
        assert found.content == b"".join(streamed("anthropic", SAID))
    assert recorded.said() == ["Which port?", "Port 4242."]


def test_the_next_request_of_a_client_finds_the_answer_recorded_once() -> None:
    recorded = Recorded()
    with (
        upstream(stream(*streamed("openai", Answer(1, "Port 4242.")))) as up,
        gateway(up, recorded.turns) as here,
    ):
        asked = question("openai")
        first = here.post("openai", asked).headers["x-holdfast-session"]
        said: list[object] = [
            *asked["messages"],  # type: ignore[misc] - a list
            {"role": "assistant", "content": "Port 4242."},
            {"role": "user", "content": "Why?"},
        ]
        again = here.post("openai", {**asked, "messages": said}).headers["x-holdfast-session"]
        assert again == first
    assert recorded.said() == ["Which port?", "Port 4242.", "Why?", "Port 4242."]


class Smaller(Unrecorded):
    """A turn that sends other messages than came in."""

    async def outgoing(self) -> list[object]:
        return [{"role": "user", "content": "(a summary)"}]


def test_only_the_messages_of_a_folded_request_are_written_anew() -> None:
    body = (
        b'{ "model":"m1",\n "messages": [ {"role":"user"} ], "temperature": 0.70, "x": "\\u00e9"}'
    )
    with upstream(answer(b"{}")) as up, gateway(up, Smaller()) as here:
        packed = here.client.post(
            PATHS["openai"], content=gzip.compress(body), headers={"content-encoding": "gzip"}
        )
        assert packed.status_code == 200
        assert up.requests[0].header("content-encoding") == ""
        assert up.requests[0].body == (
            b'{"model":"m1","messages":[{"role":"user","content":"(a summary)"}],'
            b'"temperature":0.70,"x":"\\u00e9"}'
        )
        half = b'{"model":"m1","messages":[],"x":"\\ud83d"}'
        here.client.post(PATHS["openai"], content=half)
        assert up.requests[1].body.endswith(b'"x":"\\ud83d"}')


@client_sees(
    "the client goes away in the middle",
    "nothing; the upstream is told to stop, and what came is stored, marked as a part",
)
def test_a_client_that_goes_away_cancels_upstream_and_leaves_a_partial_answer() -> None:
    first, second, *rest = streamed("anthropic", SAID)
    recorded = Recorded()
    with upstream(stream(first, second, rest[0], 20.0, *rest)) as up:
        with gateway(up, recorded.turns) as here:
            with here.client.stream("POST", PATHS["anthropic"], json=question("anthropic")) as told:
                next(told.iter_raw())
            assert up.cancelled.wait(5)
            while here.metric("partial_answers_total") != "1":
                time.sleep(0.02)
            assert here.metric("streams") == "0"
        assert recorded.said() == ["Which port?", "Port 4242.", CUT_OFF]


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "responses"])
def test_the_words_of_a_stream_are_told_at_once_and_its_end_when_it_is_recorded(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces, recorded, goes_on = streamed(dialect, SAID), Recorded(), hold_answers(monkeypatch)
    whole = b"".join(pieces)
    with upstream(stream(whole)) as up, gateway(up, recorded.turns) as here:
        with here.client.stream("POST", PATHS[dialect], json=question(dialect)) as told:
            coming = told.iter_raw()
            first = next(coming)
            assert b"Port 4242." in first
            assert whole.removeprefix(first) == pieces[-1]
            assert recorded.said() == ["Which port?"]
            goes_on.set()
            assert b"".join(coming) == pieces[-1]
        assert recorded.said() == ["Which port?", "Port 4242."]


def test_an_answer_that_comes_at_once_is_on_its_way_while_it_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    message = {"role": "assistant", "content": "Port 4242."}
    said = json.dumps({"choices": [{"index": 0, "message": message}], "usage": {}}).encode()
    recorded, goes_on = Recorded(), hold_answers(monkeypatch)
    with upstream(answer(said)) as up, gateway(up, recorded.turns) as here:
        asked = {**question("openai"), "stream": False}
        with here.client.stream("POST", PATHS["openai"], json=asked) as told:
            coming = told.iter_raw()
            assert next(coming) == said[:-1]
            assert recorded.said() == ["Which port?"]
            goes_on.set()
            assert b"".join(coming) == said[-1:]
        assert recorded.said() == ["Which port?", "Port 4242."]


def hold_answers(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let answers wait to be recorded until an event is set."""
    goes_on, record = threading.Event(), ClientTurn.answered

    async def held(self: ClientTurn, answer: Mapping[str, object], *, is_partial: bool) -> None:
        await asyncio.to_thread(goes_on.wait, 10)
        await record(self, answer, is_partial=is_partial)

    monkeypatch.setattr(ClientTurn, "answered", held)
    monkeypatch.setattr("holdfast.gateway.exchange._RECORD_S", 20)
    return goes_on
