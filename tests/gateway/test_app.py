"""Who may talk to the gateway, what it answers by itself, and what it refuses."""

import gzip
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import brotli
import httpx2
import pytest
import zstandard

import holdfast
from holdfast.config.settings import GatewaySettings, Settings, StoreSettings
from holdfast.errors import ConfigError
from holdfast.gateway.app import gateway_app
from holdfast.gateway.bodies import HttpRefusal
from holdfast.gateway.client_side import Incoming
from holdfast.gateway.metrics import Metrics
from holdfast.gateway.proxy import Tenant
from tests.agents.answers import Answer
from tests.cli.running import run
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


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "gateway.example", ""])
def test_an_address_that_others_reach_is_not_served_without_tokens(host: str) -> None:
    settings = Settings(gateway=GatewaySettings(host=host), store=StoreSettings(url="memory:"))
    with pytest.raises(ConfigError, match="tokens"):
        gateway_app(settings)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "evil.example:8787"},
        {"host": "127.0.0.1.evil.example"},
        {"host": "[::2]:80"},
        {"host": "["},
        {"origin": "https://evil.example"},
        {"origin": "http://localhost:3000"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ],
)
@pytest.mark.parametrize("path", ["/v1/messages", "/v1/models", "/healthz", "/metrics"])
def test_a_web_page_reaches_nothing(headers: dict[str, str], path: str) -> None:
    with upstream(answer(b"{}")) as up, gateway(up) as here:
        assert here.client.get(path, headers=headers).status_code == 403
        found = here.client.options(path, headers=headers)
        assert found.status_code == 403
        assert "access-control-allow-origin" not in found.headers
        assert up.requests == []


def test_names_of_the_loopback_and_those_that_are_allowed_are_served() -> None:
    with upstream(answer(b"{}")) as up, gateway(up, allowed_hosts=("Gate.example",)) as here:
        for host in ("localhost:1", "127.0.0.1", "[::1]:8787", "gate.example", "GATE.example:80"):
            assert here.client.get("/healthz", headers={"host": host}).status_code == 200
        own = here.url
        for origin in (own, "https://gate.example"):
            assert here.client.get("/healthz", headers={"origin": origin}).status_code == 200


def test_a_websocket_is_told_to_use_post() -> None:
    headers = {"connection": "upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    with upstream(answer(b"{}")) as up, gateway(up) as here:
        found = here.client.get("/v1/responses", headers=headers)
        assert found.status_code == 426
        assert "POST" in found.json()["error"]["message"]
        assert up.requests == []


def test_a_request_over_the_limit_is_refused_however_it_is_told() -> None:
    with upstream(answer(b"{}")) as up, gateway(up, max_body_bytes=100_000) as here:
        large = json.dumps(question("anthropic", "x" * 200_000)).encode()
        found = here.client.post(PATHS["anthropic"], content=large)
        assert found.status_code == 413
        assert found.json()["error"]["type"] == "request_too_large"
        found = here.client.post(PATHS["anthropic"], content=iter([large]))
        assert found.status_code == 413
        assert up.requests == []


@pytest.mark.parametrize("packing", ["gzip", "zstd", "br", "gzip, gzip"])
def test_a_packed_bomb_is_measured_by_what_it_holds(packing: str) -> None:
    bomb = json.dumps(question("openai", "x" * 30_000_000)).encode()
    for each in packing.split(", "):
        pack = {"gzip": gzip.compress, "br": lambda text: brotli.compress(text, quality=1)}
        bomb = pack.get(each, zstandard.ZstdCompressor().compress)(bomb)
    with upstream(answer(b"{}")) as up, gateway(up, max_body_bytes=1_000_000) as here:
        found = here.client.post(
            PATHS["openai"], content=bomb, headers={"content-encoding": packing}
        )
        assert found.status_code == 413
        assert up.requests == []


@pytest.mark.parametrize(
    ("body", "headers", "words"),
    [
        (b"{broken", {}, "not JSON"),
        (b"", {}, "not JSON"),
        (b"[]", {}, "not a JSON object"),
        (b"[" * 100_000, {}, "levels deep"),
        (b'{"messages":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_001, {}, "levels deep"),
        (b'{"messages":' + b"[" * 150 + b"]" * 150 + b"}", {}, "levels deep"),
        (b"\xff\xfe", {}, "not JSON"),
        (b"{}", {"content-encoding": "gzip"}, "not packed with gzip"),
        (
            gzip.compress(b"{}" * 500, mtime=0)[:-10],
            {"content-encoding": "gzip"},
            "not packed with gzip",
        ),
        (b"{}", {"content-encoding": "zstd"}, "not packed with zstd"),
        (b"{}", {"content-encoding": "br"}, "not packed with br"),
        (b"{}", {"content-encoding": "lzw"}, "'lzw' cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(
    body: bytes, headers: dict[str, str], words: str
) -> None:
    with upstream(answer(b"{}")) as up, gateway(up) as here:
        found = here.client.post(PATHS["gemini"], content=body, headers=headers)
        assert 400 <= found.status_code < 500
        assert words in found.json()["error"]["message"]
        assert up.requests == []


def raw(url: str, text: bytes) -> bytes:
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.sendall(text)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    "head",
    [
        b"content-length: 5\r\ntransfer-encoding: chunked\r\n",
        b"content-length: 5\r\ncontent-length: 6\r\n",
        b"content-length: -1\r\n",
        b"transfer-encoding: chunked, identity\r\n",
        b"x-a: b\x00c\r\n",
        b"host: other.example\r\n",
    ],
)
def test_a_request_that_two_servers_would_read_differently_reaches_no_upstream(head: bytes) -> None:
    with upstream(answer(b"{}")) as up, gateway(up) as here:
        text = (
            b"POST /v1/embeddings HTTP/1.1\r\nconnection: close\r\nhost: localhost\r\n"
            + head
            + b"\r\n0\r\n\r\n"
        )
        assert b" 400 " in raw(here.url, text).partition(b"\r\n")[0]
        assert up.requests == []


@pytest.mark.parametrize(
    "head",
    [
        b"x-a: 1\rx-api-key: stolen\r\n",
        b"x-a: 1\nx-api-key: stolen\n",
        b"x-a: 1\r\n x-api-key: stolen\r\n",
        b"x-a : 1\r\n",
        b"x a: 1\r\n",
        b": 1\r\n",
        b"x-a: \x1b[31m\r\n",
        b"connection: close, content-length\r\n",
        b"transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
    ],
)
def test_a_header_that_holds_another_puts_none_into_what_is_forwarded(head: bytes) -> None:
    with upstream(answer(b"{}")) as up, gateway(up) as here:
        text = b"GET /v1/models HTTP/1.1\r\nconnection: close\r\nhost: localhost\r\n"
        raw(here.url, text + head + b"\r\n")
        for each in up.requests:
            names = [name.lower() for name, _ in each.headers]
            assert len(names) == len(set(names))
            assert {"connection", "content-length", "transfer-encoding", "x a"}.isdisjoint(names)
            if b"stolen" in head:
                # A header of its own, as a line break makes it for every server, or none.
                assert ("x-api-key" in names) == (head.count(b"\nx-api-key") == 1)
            assert all("\r" not in value and "\n" not in value for _, value in each.headers)


@pytest.mark.parametrize(
    "target", ["/v1/models%0d%0ax-api-key:%20stolen", "/v1/models?a=%0d%0ax-api-key:%20stolen"]
)
def test_a_line_break_in_an_address_stays_a_part_of_it(target: str) -> None:
    with upstream(answer(b"{}")) as up, gateway(up) as here:
        assert here.client.get(target).status_code == 200
        assert up.requests[0].target == target
        assert up.requests[0].header("x-api-key") == ""


def test_a_request_with_a_whole_address_counts_from_its_path() -> None:
    with upstream(answer(b"{}")) as up, gateway(up) as here:
        text = (
            f"GET {here.url}/v1/models?a=1 HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        )
        assert b" 200 " in raw(here.url, text.encode()).partition(b"\r\n")[0]
        assert up.requests[0].target == "/v1/models?a=1"


def test_an_answer_without_end_takes_no_more_memory_than_the_limit() -> None:
    words = json.dumps({"choices": [{"index": 0, "delta": {"content": "w" * 900}}]})
    piece = f"data: {words}\n\n".encode() * 100
    recorded = Recorded()
    for streams in (True, False):
        said = stream(*[piece] * 100) if streams else answer(b"[" + b"1," * 5_000_000)
        with (
            upstream(said) as up,
            gateway(up, recorded.turns, max_body_bytes=300_000) as here,
            here.client.stream(
                "POST", PATHS["openai"], json=question("openai", stream=streams)
            ) as found,
        ):
            assert sum(map(len, found.iter_raw())) == (100 * len(piece) if streams else 10_000_001)
    assert 200_000 < len("".join(recorded.said())) < 2_000_000


def test_an_error_without_end_is_passed_on_as_it_comes() -> None:
    said = answer(b"x" * 5_000_000, "400 Bad Request")
    with upstream(said) as up, gateway(up, Recorded().turns) as here:
        found = here.post("openai")
        assert (found.status_code, len(found.content)) == (400, 5_000_000)


def test_escape_sequences_of_an_upstream_reach_no_terminal_by_the_log(
    served: dict[str, str], tmp_path: Path
) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J"
    said = answer(evil.encode(), f"500 {evil}", x_evil=evil)
    with upstream(said) as up:
        process, url = start(served, "--verbose", "--upstream", up.url)
        when_up(url)
        for path in ("/v1/messages%1b[2J", "/v1/messages"):
            found = httpx2.post(f"{url}{path}", json=question("anthropic", f"Hello {evil}"))
            assert (found.status_code, found.text) == (500, evil)
            assert "x-evil" not in found.headers
        process.terminate()
        _, errors = process.communicate(timeout=40)
    written = [each.read_bytes() for each in tmp_path.rglob("*.jsonl")]
    assert errors.count('"message": "request"') == 2
    assert all(b"\x1b" not in each for each in [errors.encode(), *written])
    command = [sys.executable, "-m", "holdfast", "search", "Hello"]
    told = subprocess.run(command, env=served, capture_output=True, check=True)
    assert b"Hello" in told.stdout
    assert b"\x1b" not in told.stdout


def test_the_operators_page_has_every_figure(repository: Path) -> None:
    page = (repository / "docs" / "gateway" / "operate.md").read_text("utf-8")
    names = re.findall(r"^# TYPE (\S+)", Metrics().text(), re.M)
    assert set(re.findall(r"^\| `(holdfast_gateway_\w+)`", page, re.M)) == set(names)


def test_figures_name_what_happened_and_nobody() -> None:
    said = stream(*streamed("openai", Answer(1, "Port 4242.")))
    with upstream(said) as up, gateway(up) as here:
        here.post("openai", headers={"authorization": "Bearer sk-secret"})
        here.client.get("/v1/models")
        other = 'holdfast_gateway_requests_total{dialect="other",status="200"} 1'
        # A request is counted when its answer is out.
        text, end = "", time.monotonic() + 10
        while other not in text and time.monotonic() < end:
            text = here.client.get("/metrics").text
        assert 'holdfast_gateway_requests_total{dialect="openai",status="200"} 1' in text
        assert other in text
        assert "holdfast_gateway_added_latency_seconds_count 2" in text
        assert 'holdfast_gateway_added_latency_seconds_bucket{le="+Inf"} 2' in text
        assert "sk-secret" not in text
        known = {"status": "ok", "service": "holdfast", "version": holdfast.__version__}
        assert here.client.get("/healthz").json() == known
        assert here.client.get("/readyz").json() == {"status": "ready"}


def test_who_may_not_ask_is_told_so_and_a_token_of_ours_goes_to_no_upstream() -> None:
    async def tokens(incoming: Incoming, /) -> Tenant:
        if incoming.header("authorization") != "Bearer hf-1":
            raise HttpRefusal(401, "there is no such token")
        return Tenant(Unrecorded(), spent=frozenset({"authorization"}))

    with upstream(answer(b"{}")) as up, gateway(up) as here:
        here.app.proxy.authorize = tokens
        for path in ("/v1/messages", "/metrics"):
            assert here.client.get(path).status_code == 401
        assert here.client.get("/healthz").status_code == 200
        assert here.post("openai", headers={"authorization": "Bearer hf-1"}).status_code == 200
        assert [each.header("authorization") for each in up.requests] == [""]


def test_every_key_of_the_gateway_changes_what_is_served() -> None:
    usual = Settings(store=StoreSettings(url="memory:"))
    changed = replace(
        usual.gateway,
        host="127.0.0.2",
        port=9,
        upstreams=("http://localhost:4",),
        allowed_hosts=("gate.example",),
        max_body_bytes=5_000,
        first_byte_seconds=7.0,
        silence_seconds=70.0,
        strict=True,
        log_requests=True,
    )
    first, other = gateway_app(usual), gateway_app(replace(usual, gateway=changed))
    assert other.proxy.settings == changed != first.proxy.settings
    assert other.proxy.upstreams[0].url == "http://localhost:4"
    assert len(other.proxy.upstreams) == len(first.proxy.upstreams) + 1


@pytest.fixture
def served(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "HOLDFAST_HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}


def start(environ: dict[str, str], *more: str) -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", *more]
    process = subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert "ANTHROPIC_BASE_URL=http://127.0.0.1:" in line, line + process.stderr.read()
    return process, line.partition("listens on ")[2].partition(";")[0]


def when_up(url: str) -> None:
    for _ in range(300):
        try:
            if httpx2.get(f"{url}/readyz").status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.05)
    raise AssertionError(url)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_serve_says_where_it_listens_and_ends_after_the_last_answer(
    served: dict[str, str], tmp_path: Path, workers: str
) -> None:
    first, *rest = streamed("anthropic", Answer(1, "Port 4242."))
    with upstream(stream(first, 1.5, *rest)) as up:
        process, url = start(served, "--workers", workers, "--upstream", up.url)
        try:
            when_up(url)
            with httpx2.stream(
                "POST", f"{url}/v1/messages", json=question("anthropic"), timeout=20
            ) as found:
                pieces = found.iter_raw()
                told = next(pieces)
                process.send_signal(signal.SIGTERM)
                told += b"".join(pieces)
            assert told == b"".join([first, *rest])
            assert process.wait(20) in (0, -signal.SIGTERM)
        finally:
            process.kill()
            process.communicate()
    assert list(tmp_path.rglob("*.db"))


def test_serve_refuses_a_port_that_is_taken_with_a_sentence(served: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "holdfast", "serve", "--port", port]
        done = subprocess.run(command, env=served, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("flags", "allowed"),
    [
        (("--upstream", "nonsense"), "http or https URLs"),
        (("--upstream", "openai=ftp://x"), "http or https URLs"),
        (("--port", "99999"), "from 0 to 65535"),
        (("--context-length", "12"), "from 1000"),
    ],
)
def test_a_flag_of_serve_that_makes_no_sense_is_a_matter_of_usage(
    flags: tuple[str, str], allowed: str
) -> None:
    ended = run("serve", *flags)
    assert ended.code == 2
    assert allowed in ended.errors
