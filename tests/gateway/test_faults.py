"""What a client sees when something fails: an upstream, the store, or the client itself."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from holdfast.agent.drafts import CUT_OFF
from holdfast.errors import StoreError
from tests.agents.answers import Answer
from tests.gateway.scripted import (
    CUT,
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

SAID = Answer(1, "Port 4242.")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        ("429 Too Many Requests", b'{"error":{"message":"slow down"}}'),
        ("500 Internal Server Error", b"oops"),
        ("529 Overloaded", b'{"type":"error","error":{"type":"overloaded_error"}}'),
        ("401 Unauthorized", b'{"error":{"message":"no key"}}'),
        ("404 Not Found", b"{}"),
    ],
)
def test_an_error_of_an_upstream_passes_with_status_and_body(status: str, body: bytes) -> None:
    recorded = Recorded()
    with upstream(answer(body, status)) as up, gateway(up, recorded.turns) as here:
        found = here.post("anthropic")
        assert (found.status_code, found.content) == (int(status[:3]), body)
        assert found.headers.get("retry-after") == ("5" if status.startswith("429") else None)
        assert len(up.requests) == 1
    assert recorded.said() == ["Which port?"]


def test_the_wait_that_an_upstream_asks_for_is_passed_on() -> None:
    with upstream(answer(b"{}", "429 Too Many", retry_after="17")) as up, gateway(up) as here:
        assert here.post("openai").headers.get_list("retry-after") == ["17"]


@pytest.mark.parametrize(
    ("dialect", "beat"),
    [
        ("openai", b": holdfast is waiting\n\n"),
        ("responses", b": holdfast is waiting\n\n"),
        ("anthropic", b'event: ping\ndata: {"type": "ping"}\n\n'),
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


def test_an_error_after_a_sign_of_life_is_the_last_event_of_the_stream() -> None:
    refusal = answer(b'{"type":"error","error":{"type":"overloaded_error"}}', "529 Overloaded")
    with upstream([0.4, *refusal]) as up, gateway(up, first_byte_seconds=0.1) as here:
        found = here.post("anthropic")
        assert found.status_code == 200
        assert found.content.endswith(
            b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error"}}\n\n'
        )
    refusal = answer(b"oops", "500 Oops")
    with upstream([0.4, *refusal]) as up, gateway(up, first_byte_seconds=0.1) as here:
        last = here.post("responses").text.strip().rpartition("data: ")[2]
        assert json.loads(last)["type"] == "response.failed"
        assert json.loads(last)["response"]["error"]["message"] == "oops"


def test_gemini_gets_no_sign_of_life() -> None:
    pieces = b"".join(streamed("gemini", SAID))
    with upstream([0.4, *stream(pieces)]) as up, gateway(up, first_byte_seconds=0.1) as here:
        assert here.post("gemini").content == pieces


def test_a_silent_upstream_is_given_up() -> None:
    with upstream([30.0]) as up, gateway(up, silence_seconds=0.3) as here:
        found = here.post("openai", question("openai", stream=False))
        assert found.status_code == 504
        assert found.json()["error"]["message"].endswith("did not answer in time")


def test_an_upstream_that_nobody_serves_is_a_bad_gateway_in_the_dialect_of_the_request() -> None:
    with gateway("http://127.0.0.1:9") as here:
        assert here.post("anthropic").json()["type"] == "error"
        assert here.post("gemini").json()["error"]["code"] == 502
        found = here.post("openai")
        assert found.status_code == 502
        assert "127.0.0.1:9 gave no answer" in found.json()["error"]["message"]
        assert here.metric("upstream_failures_total") == "3"


@pytest.mark.parametrize("dialect", PATHS)
def test_a_stream_that_is_cut_off_is_cut_off_for_the_client_too(dialect: str) -> None:
    recorded = Recorded()
    words = b"".join(streamed(dialect, SAID)[: {"openai": 1, "anthropic": 3}.get(dialect, 3)])
    if dialect == "gemini":
        words = words.replace(b'"finishReason": "STOP", ', b"")
    received: list[bytes] = []
    with upstream(stream(words, 0.1, CUT)) as up, gateway(up, recorded.turns) as here:
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


def test_a_connection_that_breaks_before_the_answer_is_tried_once_more() -> None:
    pieces = b"".join(streamed("openai", SAID))
    with upstream([CUT], stream(pieces)) as up, gateway(up) as here:
        assert here.post("openai").content == pieces
    with upstream([CUT]) as up, gateway(up) as here:
        assert here.post("openai").status_code == 502
        assert len(up.requests) == 2


@pytest.mark.parametrize(
    "said",
    [
        stream(b"\x00\xff garbage\n\n", b"data: {broken\n\n", b"data: 7\n\n"),
        answer(b"<html>maintenance</html>", kind="text/html"),
        answer(b"", kind="text/event-stream"),
        answer(b"[" * 100_000),
        answer(b'{"choices": [{"message": 3}], "usage": []}'),
    ],
)
@pytest.mark.parametrize("wants_stream", [True, False])
def test_garbage_passes_and_is_not_recorded(said: list[bytes], wants_stream: bool) -> None:
    recorded = Recorded()
    with upstream(said) as up, gateway(up, recorded.turns) as here:
        found = here.post("openai", question("openai", stream=wants_stream))
        assert found.status_code == 200
        if b"content-length" in said[0]:
            assert found.content == said[0].partition(b"\r\n\r\n")[2]
    assert recorded.said()[0] == "Which port?"
    assert "".join(recorded.said()[1:]) == ""


def test_headers_without_end_are_a_bad_gateway() -> None:
    with upstream(answer(b"{}", x_long="a" * 300_000)) as up, gateway(up) as here:
        assert here.post("openai").status_code == 502
    with upstream(answer(b"{}", x_long="a" * 30_000)) as up, gateway(up) as here:
        assert len(here.post("openai").headers["x-long"]) == 30_000


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"])
def test_a_redirect_is_followed_by_nobody(status: str) -> None:
    with upstream(answer(b"{}")) as other:
        with upstream(answer(b"", status, location=f"{other.url}/v1")) as up, gateway(up) as here:
            found = here.post("openai", headers={"authorization": "Bearer k"})
            assert found.status_code == 502
            assert "location" not in found.headers
        assert other.requests == []


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


def long_talk() -> dict[str, object]:
    messages: list[object] = []
    for number in range(60):
        words = f"{number} " + "some words of a long talk " * 60
        messages += [{"role": "user", "content": words}, {"role": "assistant", "content": words}]
    return question("openai", messages=[*messages, {"role": "user", "content": "Which port?"}])


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


def test_a_refusal_for_size_as_the_first_event_of_a_stream_is_mended_too() -> None:
    failed = (
        b'data: {"error":{"message":"prompt is too long","code":"context_length_exceeded"}}\n\n'
    )

    def small(received: Any) -> list[object]:
        is_small = len(received.body) <= LIMIT
        return list(stream(b"".join(streamed("openai", SAID)) if is_small else failed))

    with upstream(small) as up, gateway(up, Recorded(summarizer=None).turns) as here:
        assert here.post("openai", long_talk()).content == b"".join(streamed("openai", SAID))
