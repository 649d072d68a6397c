"""What a client sees when something fails: an upstream, the store, or the client itself."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest

from holdfast.agent.turn import CUT_OFF
from holdfast.errors import StoreError
from tests.agents.answers import Answer
from tests.gateway.faults import client_sees
from tests.gateway.scripted import (
    CUT,
    PATHS,
    Received,
    Recorded,
    Script,
    Unrecorded,
    answer,
    events,
    gateway,
    question,
    stream,
    streamed,
    upstream,
)

SAID = Answer(1, "Port 4242.")


ERRORS = {
    "429 Too Many Requests": b'{"error":{"message":"slow down"}}',
    "500 Internal Server Error": b"oops",
    "529 Overloaded": b'{"type":"error","error":{"type":"overloaded_error"}}',
    "401 Unauthorized": b'{"error":{"message":"no key"}}',
    "404 Not Found": b"{}",
}


def asked(dialect: str, *, streams: bool) -> tuple[str, dict[str, object]]:
    """Return path and body of a request, for a stream or for an answer at once."""
    if dialect == "gemini" and not streams:
        return "/v1beta/models/m1:generateContent", question(dialect)
    return PATHS[dialect], {**question(dialect), **({} if streams else {"stream": False})}


def failure(dialect: str, found: httpx2.Response) -> str:
    """Return the sentence of an error of our own, which has the shape of its dialect."""
    fields = found.json()
    assert found.headers["content-type"] == "application/json"
    match dialect:
        case "anthropic":
            assert fields["type"] == "error"
            assert fields["error"]["type"] == "api_error"
        case "gemini":
            assert fields["error"]["code"] == found.status_code
            assert fields["error"]["status"] in ("INTERNAL", "DEADLINE_EXCEEDED")
        case _:
            assert fields["error"]["code"] == fields["error"]["type"] == "api_error"
    return fields["error"]["message"]


@client_sees("an upstream answers 500, 529 or any other error", "the same status and body")
@client_sees(
    "an upstream answers 429", "the same, with `retry-after: 5` where the upstream names no time"
)
@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("status", ERRORS)
def test_an_error_of_an_upstream_passes_with_status_and_body(
    status: str, streams: bool, dialect: str
) -> None:
    recorded, (path, body) = Recorded(), asked(dialect, streams=streams)
    with upstream(answer(ERRORS[status], status)) as up, gateway(up, recorded.turns) as here:
        found = here.client.post(path, json=body)
        assert (found.status_code, found.content) == (int(status[:3]), ERRORS[status])
        assert found.headers.get("retry-after") == ("5" if status.startswith("429") else None)
        assert len(up.requests) == 1
    assert recorded.said() == ["Which port?"]


def test_the_wait_that_an_upstream_asks_for_is_passed_on() -> None:
    with upstream(answer(b"{}", "429 Too Many", retry_after="17")) as up, gateway(up) as here:
        assert here.post("openai").headers.get_list("retry-after") == ["17"]


@client_sees(
    "an upstream is slow to begin a stream",
    "after `gateway.first_byte_seconds` a comment or, in Anthropic's dialect, a ping every ten "
    "seconds; then the answer. Gemini's clients wait, as do those that asked for no stream",
)
@pytest.mark.parametrize(
    ("dialect", "beat"),
    [
        ("openai", b": holdfast is waiting\n\n"),
        ("responses", b": holdfast is waiting\n\n"),
        ("anthropic", b'event: ping\ndata: {"type": "ping"}\n\n'),
        ("gemini", b""),
    ],
)
def test_a_stream_that_takes_long_begins_with_a_sign_of_life(dialect: str, beat: bytes) -> None:
    pieces = b"".join(streamed(dialect, SAID))
    recorded = Recorded()
    with (
        upstream([2.0, *stream(pieces)]) as up,
        gateway(up, recorded.turns, first_byte_seconds=1.0) as here,
    ):
        found = here.post(dialect)
        assert found.headers["content-type"].startswith("text/event-stream")
        assert found.content == beat + pieces
        assert found.headers["x-holdfast-session"]
    assert recorded.said() == ["Which port?", "Port 4242."]


def test_an_answer_that_is_asked_for_at_once_gets_no_sign_of_life() -> None:
    with upstream([0.4, *answer(b"{}")]) as up, gateway(up, first_byte_seconds=0.1) as here:
        found = here.post("openai", question("openai", stream=False))
        assert (found.status_code, found.content) == (200, b"{}")


@client_sees(
    "an upstream fails after a sign of life",
    "the error as the last event of the stream, in the shape of the dialect",
)
@pytest.mark.parametrize("dialect", ["openai", "responses", "anthropic"])
@pytest.mark.parametrize("fault", ["error", "silence", "cut"])
def test_an_error_after_a_sign_of_life_is_the_last_event_of_the_stream(
    dialect: str, fault: str
) -> None:
    script = {
        "error": [0.4, *answer(b"oops", "500 Oops")],
        "silence": [30.0],
        "cut": [0.4, CUT],
    }
    with (
        upstream(script[fault]) as up,
        gateway(up, first_byte_seconds=0.1, silence_seconds=1.0) as here,
    ):
        found = here.post(dialect)
        assert found.status_code == 200
        last = json.loads(found.text.strip().rpartition("data: ")[2])
    if dialect == "responses":
        assert last["type"] == "response.failed"
        last = last["response"]
    elif dialect == "anthropic":
        assert last["type"] == "error"
    words = {"error": "oops", "silence": "did not answer in time", "cut": "closed the connection"}
    assert words[fault] in last["error"]["message"]


def test_an_error_after_a_sign_of_life_keeps_the_words_of_the_upstream() -> None:
    refusal = answer(ERRORS["529 Overloaded"], "529 Overloaded")
    with upstream([0.4, *refusal]) as up, gateway(up, first_byte_seconds=0.1) as here:
        assert here.post("anthropic").content.endswith(
            b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error"}}\n\n'
        )


@client_sees(
    "an upstream is silent for less than `gateway.silence_seconds` (600)",
    "the answer, when it comes, or its next piece",
)
@pytest.mark.parametrize("dialect", PATHS)
def test_silence_within_the_limit_is_waited_out(dialect: str) -> None:
    first, *rest = streamed(dialect, SAID)
    with (
        upstream([0.5, *stream(first, 0.5, *rest)]) as up,
        gateway(up, Recorded().turns, silence_seconds=2.0) as here,
    ):
        assert here.post(dialect).content == b"".join([first, *rest])


@client_sees(
    "an upstream is silent for longer before it answers", "504 in the shape of the dialect"
)
@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("streams", [True, False])
def test_a_silent_upstream_is_given_up(dialect: str, streams: bool) -> None:
    path, body = asked(dialect, streams=streams)
    with upstream([30.0]) as up, gateway(up, silence_seconds=0.3) as here:
        found = here.client.post(path, json=body)
        assert found.status_code == 504
        assert failure(dialect, found).endswith("did not answer in time")


@client_sees(
    "an upstream cannot be connected to, or closes the connection twice before it answers",
    "502 in the shape of the dialect",
)
@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("streams", [True, False])
def test_an_upstream_that_nobody_serves_is_a_bad_gateway_in_the_dialect_of_the_request(
    dialect: str, streams: bool
) -> None:
    path, body = asked(dialect, streams=streams)
    with gateway("http://127.0.0.1:9") as here:
        found = here.client.post(path, json=body)
        assert found.status_code == 502
        assert failure(dialect, found) == "cannot connect to 127.0.0.1:9: connection refused"
        assert here.metric("upstream_failures_total") == "1"


@client_sees(
    "an upstream is cut off, or falls silent, in the middle of a stream",
    "what came, and a connection that is cut off; the part is stored, marked as one",
)
@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("fault", ["cut", "silence"])
def test_a_stream_that_is_cut_off_is_cut_off_for_the_client_too(dialect: str, fault: str) -> None:
    recorded = Recorded()
    words = b"".join(streamed(dialect, SAID)[: {"openai": 1, "anthropic": 3}.get(dialect, 3)])
    if dialect == "gemini":
        words = words.replace(b'"finishReason": "STOP", ', b"")
    received: list[bytes] = []
    ends = [0.1, CUT] if fault == "cut" else [30.0]
    with (
        upstream(stream(words, *ends)) as up,
        gateway(up, recorded.turns, silence_seconds=0.5) as here,
    ):
        with (
            pytest.raises(httpx2.RemoteProtocolError),
            here.client.stream("POST", PATHS[dialect], json=question(dialect)) as found,
        ):
            received.extend(found.iter_raw())
        assert b"".join(received) == words
        assert here.metric("partial_answers_total") == "1"
    asked, *partial = recorded.said()
    assert asked == "Which port?"
    assert partial == ["Port 4242.", CUT_OFF]


@client_sees(
    "an upstream is cut off in the middle of an answer that is no stream",
    "502 in the shape of the dialect",
)
@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("ends", [[0.1, CUT], [30.0]], ids=["cut", "silence"])
def test_an_answer_at_once_that_is_cut_off_is_a_bad_gateway(
    dialect: str, ends: list[object]
) -> None:
    path, body = asked(dialect, streams=False)
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"
    recorded = Recorded()
    with upstream([head, *ends]) as up, gateway(up, recorded.turns, silence_seconds=0.5) as here:
        found = here.client.post(path, json=body)
        assert found.status_code == 502
        assert failure(dialect, found).endswith("ended in the middle")
    assert recorded.said() == ["Which port?"]


def test_a_connection_that_breaks_before_the_answer_is_tried_once_more() -> None:
    pieces = b"".join(streamed("openai", SAID))
    with upstream([CUT], stream(pieces)) as up, gateway(up) as here:
        assert here.post("openai").content == pieces
    with upstream([CUT]) as up, gateway(up) as here:
        assert here.post("openai").status_code == 502
        assert len(up.requests) == 2


GARBAGE = {
    "no events": stream(b"\x00\xff garbage\n\n", b"data: {broken\n\n", b"data: 7\n\n"),
    "a web page": answer(b"<html>maintenance</html>", kind="text/html"),
    "nothing": answer(b"", kind="text/event-stream"),
    "too deep": answer(b"[" * 100_000),
    "other JSON": answer(b'{"choices": [{"message": 3}], "usage": []}'),
    "an answer of another type": answer(b'{"choices": []}', kind="image/png"),
}


@client_sees(
    "an upstream answers with another content type than was asked for", "the same type and bytes"
)
@client_sees("an upstream answers garbage", "the same bytes; nothing of it is stored")
@pytest.mark.parametrize("dialect", PATHS)
@pytest.mark.parametrize("streams", [True, False])
@pytest.mark.parametrize("said", GARBAGE.values(), ids=GARBAGE)
def test_garbage_passes_and_is_not_recorded(dialect: str, streams: bool, said: Script) -> None:
    recorded, (path, body) = Recorded(), asked(dialect, streams=streams)
    with upstream(said) as up, gateway(up, recorded.turns) as here:
        found = here.client.post(path, json=body)
        assert found.status_code == 200
        head, _, sent = b"".join(cast("Sequence[bytes]", said)).partition(b"\r\n\r\n")
        assert f"content-type: {found.headers['content-type']}".encode() in head
        if b"content-length" in head:
            assert found.content == sent
    assert recorded.said()[0] == "Which port?"
    assert "".join(recorded.said()[1:]) == ""


@client_sees("an upstream sends headers of more than 64 KiB", "502 in the shape of the dialect")
def test_headers_without_end_are_a_bad_gateway() -> None:
    for dialect in PATHS:
        with upstream(answer(b"{}", x_long="a" * 300_000)) as up, gateway(up) as here:
            found = here.post(dialect)
            assert found.status_code == 502
            assert "gave no answer that can be read" in failure(dialect, found)
            assert "aaa" not in found.text
    with upstream(answer(b"{}", x_long="a" * 30_000)) as up, gateway(up) as here:
        assert len(here.post("openai").headers["x-long"]) == 30_000


@client_sees(
    "an upstream sends requests elsewhere (301 to 308)", "502: nobody follows, least of all a key"
)
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_followed_by_nobody(status: str) -> None:
    with upstream(answer(b"{}")) as other:
        with upstream(answer(b"", status, location=f"{other.url}/v1")) as up, gateway(up) as here:
            found = here.post("openai", headers={"authorization": "Bearer k"})
            assert found.status_code == 502
            assert "location" not in found.headers
        assert other.requests == []


UNREADABLE: dict[str, object] = {
    "messages is empty": [],
    "messages[1] is not an object": [{"role": "user", "content": "Port?"}, "hi"],
    "messages is not a list": 7,
    "messages is missing": None,
}


@pytest.mark.parametrize("trouble", UNREADABLE)
def test_messages_that_cannot_be_read_are_forwarded_and_the_log_says_what_they_are(
    trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"model": "m1", "messages": UNREADABLE[trouble]}
    with upstream(answer(b"{}")) as up, gateway(up, Recorded().turns) as here:
        found = here.client.post(PATHS["openai"], json=body)
        assert (found.status_code, up.requests[-1].fields) == (200, body)
        assert "not recorded" in found.headers["x-holdfast-warning"]
    assert [each.getMessage() for each in caplog.records] == [f"not recorded: {trouble}"]
    with upstream(answer(b"{}")) as up, gateway(up, Recorded().turns, strict=True) as here:
        refused = here.client.post(PATHS["openai"], json=body)
        assert refused.status_code == 400
        assert trouble in refused.json()["error"]["message"]


def test_an_upstream_that_fails_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with gateway("http://127.0.0.1:9") as here:
        here.post("openai")
    assert [each.getMessage() for each in caplog.records] == [
        "upstream failed: cannot connect to 127.0.0.1:9: connection refused"
    ]


class Failing(Unrecorded):
    """A store that does not do what it is asked."""

    def __init__(self, error: Exception | None, seconds: float = 0.0) -> None:
        self._error, self._seconds = error, seconds

    async def take(self, _request: object, _body: Mapping[str, object], /) -> Unrecorded:
        await asyncio.sleep(self._seconds)
        if self._error is not None:
            raise self._error
        return self


TROUBLES = [
    StoreError("the disk is full"),
    sqlite3.OperationalError("database is locked"),
    OSError("no such device"),
    RecursionError("too deep"),
    KeyError("a bug of ours"),
]


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda each: type(each).__name__)
def test_what_cannot_be_recorded_is_forwarded_unchanged_with_a_warning(trouble: Exception) -> None:
    pieces = b"".join(streamed("openai", SAID))
    with upstream(stream(pieces)) as up, gateway(up, Failing(trouble)) as here:
        found = here.post("openai")
        assert (found.status_code, found.content) == (200, pieces)
        assert "not recorded" in found.headers["x-holdfast-warning"]
        assert str(trouble) not in found.headers["x-holdfast-warning"]
        assert here.metric("forwarded_unrecorded_total") == "1"


@pytest.mark.parametrize("dialect", PATHS)
def test_a_strict_gateway_refuses_what_it_cannot_record(dialect: str) -> None:
    failing = Failing(StoreError("the disk is full"))
    with upstream(answer(b"{}")) as up, gateway(up, failing, strict=True) as here:
        found = here.post(dialect)
        assert found.status_code == 503
        assert "could not be recorded" in found.json()["error"]["message"]
        assert up.requests == []


def test_a_store_that_hangs_does_not_hold_the_request_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.gateway.exchange._PATIENCE_S", 0.2)
    with upstream(answer(b"{}")) as up, gateway(up, Failing(None, 2.0)) as here:
        began = time.monotonic()
        assert "not recorded" in here.post("openai").headers["x-holdfast-warning"]
        assert time.monotonic() - began < 1.5


def test_a_store_that_is_locked_by_another_process_delays_a_request_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.gateway.exchange._PATIENCE_S", 0.5)
    monkeypatch.setattr("holdfast.gateway.exchange._RECORD_S", 0.5)
    recorded = Recorded(str(tmp_path / "store.db"))
    pieces = b"".join(streamed("openai", SAID))
    with upstream(stream(pieces)) as up, gateway(up, recorded.turns) as here:
        assert here.post("openai").content == pieces
        with sqlite3.connect(tmp_path / "store.db", isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            found = here.post("openai", question("openai", "And now?"))
            assert found.content == pieces
            assert "not recorded" in found.headers["x-holdfast-warning"]
            other.execute("ROLLBACK")
        other.close()
        assert "x-holdfast-warning" not in here.post("openai").headers


def test_a_store_that_is_gone_stops_no_request(tmp_path: Path) -> None:
    recorded = Recorded(str(tmp_path / "store.db"))
    pieces = b"".join(streamed("openai", SAID))
    with upstream(stream(pieces)) as up, gateway(up, recorded.turns) as here:
        recorded.conversations.store.close()
        found = here.post("openai")
        assert found.content == pieces
        assert "not recorded" in found.headers["x-holdfast-warning"]


LIMIT = 60_000


def limited(received: Any) -> list[bytes]:
    """Answer as a provider whose window is small."""
    if len(received.body) <= LIMIT:
        return list(stream(b"".join(streamed("openai", SAID))))  # type: ignore[arg-type] - bytes
    sentence = "This model's maximum context length is 12000 tokens, you asked for more."
    error = {"error": {"message": sentence, "code": "context_length_exceeded"}}
    return list(answer(json.dumps(error).encode(), "400 Bad Request"))  # type: ignore[arg-type]


def long_talk(dialect: str = "openai") -> dict[str, object]:
    messages: list[object] = []
    for number in range(60):
        words = f"{number} " + "some words of a long talk " * 60
        messages += [{"role": "user", "content": words}, {"role": "assistant", "content": words}]
    messages.append({"role": "user", "content": "Which port?"})
    name = "input" if dialect == "responses" else "messages"
    return {**question(dialect), name: messages}


@client_sees(
    "an upstream refuses a request for its size (400, 413 or 422)",
    "the answer to a smaller one, after up to three compactions; else the refusal as it came",
)
def test_a_request_that_is_too_large_is_made_smaller_before_the_client_sees_a_byte() -> None:
    recorded = Recorded(summarizer=None)
    with upstream(limited) as up, gateway(up, recorded.turns) as here:
        found = here.post("openai", long_talk())
        assert (found.status_code, found.content) == (200, b"".join(streamed("openai", SAID)))
        assert 2 <= len(up.requests) <= 4
        assert len(up.requests[-1].body) <= LIMIT
        assert "Which port?" in up.requests[-1].body.decode()
        assert here.metric("recoveries_total") == str(len(up.requests) - 1)
        assert int(found.headers["x-holdfast-compactions"]) >= 1
        here.post("openai", long_talk())
        assert int(here.metric("compactions_total")) >= 1


def test_a_refusal_for_size_that_nothing_mends_is_the_upstreams_own() -> None:
    body = b'{"error":{"message":"prompt is too long: 900000 tokens > 200000 maximum"}}'
    with (
        upstream(answer(body, "413 Too Large")) as up,
        gateway(up, Recorded(summarizer=None).turns) as here,
    ):
        found = here.post("openai", long_talk())
        assert (found.status_code, found.content) == (413, body)
        assert 1 <= len(up.requests) <= 4


REFUSED = {
    "openai": {"error": {"message": "prompt is too long", "code": "context_length_exceeded"}},
    "responses": {
        "type": "response.failed",
        "response": {"status": "failed", "error": {"code": "context_length_exceeded"}},
    },
    "anthropic": {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8 maximum"},
    },
}
PREAMBLES = {
    "openai": [b": the provider is thinking\n\n"],
    "responses": events([{"type": "response.created"}, {"type": "response.in_progress"}]),
    "anthropic": events([{"type": "message_start", "message": {}}, {"type": "ping"}]),
}


def refusing(dialect: str, *before: object) -> Callable[[Received], Script]:
    """Answer as a provider that begins a stream before it looks at the size of a request."""
    refusal = events([REFUSED[dialect]])

    def small(received: Received) -> Script:
        is_small = len(received.body) <= LIMIT
        return stream(*([b"".join(streamed(dialect, SAID))] if is_small else [*before, *refusal]))

    return small


@client_sees(
    "an upstream refuses a request for its size within a stream, before it says anything",
    "the answer to a smaller request",
)
@pytest.mark.parametrize("dialect", REFUSED)
@pytest.mark.parametrize("is_later", [False, True])
def test_a_refusal_for_size_at_the_beginning_of_a_stream_is_mended_too(
    dialect: str, is_later: bool
) -> None:
    before = [step for piece in PREAMBLES[dialect] for step in (piece, 0.1)] if is_later else []
    turns = Recorded(summarizer=None).turns
    with upstream(refusing(dialect, *before)) as up, gateway(up, turns) as here:
        found = here.post(dialect, long_talk(dialect))
        assert found.content == b"".join(streamed(dialect, SAID))
        assert len(up.requests) >= 2


@client_sees(
    "an upstream refuses a request for its size after it said something",
    "the refusal, where it comes",
)
@pytest.mark.parametrize("dialect", REFUSED)
def test_a_refusal_for_size_after_words_is_passed_on(dialect: str) -> None:
    said = streamed(dialect, SAID)[: {"openai": 1}.get(dialect, 3)]
    turns = Recorded(summarizer=None).turns
    with upstream(refusing(dialect, *said, 0.1)) as up, gateway(up, turns) as here:
        found = here.post(dialect, long_talk(dialect))
        assert found.content == b"".join([*said, *events([REFUSED[dialect]])])
        assert len(up.requests) == 1


def test_the_beginning_of_a_stream_is_held_back_for_a_moment_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("holdfast.gateway.exchange._PREAMBLE_S", 0.2)
    first, *rest = streamed("anthropic", SAID)
    with (
        upstream(stream(first, 1.5, *rest)) as up,
        gateway(up, Recorded().turns) as here,
        here.client.stream("POST", PATHS["anthropic"], json=question("anthropic")) as found,
    ):
        pieces, began = found.iter_raw(), time.monotonic()
        assert next(pieces) == first
        assert time.monotonic() - began < 1
        assert b"".join(pieces) == b"".join(rest)
