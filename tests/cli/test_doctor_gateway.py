"""`holdfast doctor --gateway`: why the gateway does not run, not answer or not record."""

import json
import os
import socket
import sqlite3
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

import holdfast
from holdfast.gateway.tokens import TokenFile
from holdfast.wiring import open_store
from tests.agents.answers import Answer
from tests.cli.running import run
from tests.cli.stored import store_in
from tests.gateway.scripted import (
    Gateway,
    Recorded,
    answer,
    gateway,
    stream,
    streamed,
    upstream,
)

Checks = dict[str, tuple[str, str, str]]
CLOSED = "http://127.0.0.1:9"


def checked(*flags: str, code: object = None, **env: str) -> Checks:
    """Return state, words and advice of each check."""
    ended = run("doctor", "--gateway", "--json", *flags, env=env)
    found = json.loads(ended.output)
    assert ended.code == (0 if found["healthy"] else 1)
    assert code in (None, ended.code), ended.output
    checks = {
        each["name"]: (each["state"], each["words"], each["advice"]) for each in found["checks"]
    }
    # What is wrong comes with what to do.
    assert all(advice for state, _, advice in checks.values() if state != "ok"), checks
    return checks


@contextmanager
def running(home: Path) -> Generator[tuple[Gateway, dict[str, str]]]:
    """Serve, and return what finds it."""
    said = stream(*streamed("openai", Answer(1, "Port 4242.")))
    file = home / "profiles" / "default" / "holdfast.db"
    file.parent.mkdir(parents=True, exist_ok=True)
    with upstream(said) as up, gateway(up, Recorded(str(file), source="gateway").turns) as here:
        here.post("openai")
        port = here.url.rpartition(":")[2]
        yield here, {"HOLDFAST_GATEWAY_PORT": port, "HOLDFAST_GATEWAY_UPSTREAMS": f'["{up.url}"]'}


def test_a_gateway_that_runs_and_all_that_it_needs_is_found(home: Path) -> None:
    with running(home) as (here, env):
        found = checked(code=0, **env)
        assert found["gateway"][:2] == (
            "ok",
            f"holdfast {holdfast.__version__} answers on {here.url}",
        )
        assert found["readiness"][:2] == ("ok", "it can record what is said")
        assert found["access"][1] == "it serves this machine alone, and asks for no token"
        place = env["HOLDFAST_GATEWAY_UPSTREAMS"].partition("//")[2].rstrip('"]')
        assert found[f"upstream {place}"][:2] == ("ok", f"{place} answers")
        assert found["key anthropic"][1] == f"callers bring their own for {place}"
        assert found["store writes"][0] == "ok"
        assert found["clock"][0] == "ok"
        state, words, advice = found["window of m1"]
        assert (state, words) == ("warn", "unknown, in 1 session: 200,000 tokens are assumed")
        assert "gateway.context_length" in advice
        stated = checked(**env, HOLDFAST_GATEWAY_CONTEXT_LENGTH="64000")
        assert stated["window of m1"][:2] == ("ok", "64,000 tokens, in 1 session")


def test_where_nothing_listens_it_is_said_how_to_start_it() -> None:
    found = checked("--offline", code=0, HOLDFAST_GATEWAY_PORT="9")
    assert found["gateway"][:2] == ("warn", f"nothing listens on {CLOSED}")
    assert "holdfast serve" in found["gateway"][2]
    assert not [name for name in found if name.startswith("upstream")]


@pytest.mark.parametrize("said", [answer(b'{"status": "ok"}'), answer(b"<html>"), [b"SSH-2.0\r\n"]])
def test_another_program_on_the_port_is_told_from_a_gateway(said: list[object]) -> None:
    with upstream(said) as other:
        found = checked("--offline", code=1, HOLDFAST_GATEWAY_PORT=other.url.rpartition(":")[2])
        assert found["gateway"][0] == "fail"
        assert found["gateway"][1].endswith("is no gateway of holdfast")
        assert "gateway.port" in found["gateway"][2]


def test_a_gateway_of_another_version_is_to_be_restarted() -> None:
    told = {"status": "ok", "service": "holdfast", "version": "0.0.1"}
    with upstream(answer(json.dumps(told).encode())) as other:
        found = checked("--offline", HOLDFAST_GATEWAY_PORT=other.url.rpartition(":")[2])
        assert found["gateway"][0] == "warn"
        assert found["gateway"][2] == "restart it"


def test_a_gateway_that_cannot_record_is_not_ready(home: Path) -> None:
    with running(home) as (here, env):

        async def never() -> None:
            raise OSError

        here.app.ready = never
        found = checked("--offline", code=1, **env)
        assert found["readiness"][:2] == ("fail", "the store cannot be used: OSError")


def test_an_upstream_that_is_named_must_be_reached_and_is_told_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as up:
        place = f"127.0.0.1:{up.getsockname()[1]}"
        named = [f"http://:secret@{place}", f"openai/x*={CLOSED}"]
        found = checked(code=1, HOLDFAST_GATEWAY_UPSTREAMS=json.dumps(named))
        assert found[f"upstream {place}"][0] == "ok"
        assert found["upstream 127.0.0.1:9"][0] == "fail"
        assert found["key openai"][1] == f"callers without one use the gateway's for {place}"
        assert "secret" not in str(found)
        with up.accept()[0] as connection:
            assert connection.recv(100) == b""


def test_keys_of_the_environment_are_told_by_dialect_and_never_shown() -> None:
    found = checked("--offline", ANTHROPIC_API_KEY="sk-very-secret")
    assert found["key anthropic"][1].startswith("callers without one use the gateway's")
    assert found["key openai"][1].startswith("callers bring their own")
    assert "sk-very-secret" not in str(found)
    named = {"HOLDFAST_GATEWAY_UPSTREAMS": '["http://model.example"]', "HOLDFAST_API_KEY": "k"}
    assert checked("--offline", **named)["key openai"][0] == "warn"


def test_an_address_that_others_reach_needs_tokens(home: Path) -> None:
    env = {"HOLDFAST_GATEWAY_HOST": "0.0.0.0", "HOLDFAST_GATEWAY_PORT": "9"}
    assert checked("--offline", code=1, **env)["access"][0] == "fail"
    tokens = TokenFile(home / "tokens.json")
    tokens.add("alice", "alice", 1)
    found = checked("--offline", code=0, **env)
    assert found["access"][1] == "it serves whoever reaches 0.0.0.0, with 1 token"
    assert found["transport"][0] == "warn"
    assert found["tenant alice: store"][0] == "ok"
    tokens.revoke("alice", 2)
    assert checked("--offline", **env)["access"][0] == "warn"
    os.chmod(home / "tokens.json", 0o644)
    assert "chmod 600" in checked("--offline", code=1, **env)["access"][1]


def test_a_store_that_is_locked_or_no_database_fails(home: Path) -> None:
    file = home / "profiles" / "default" / "holdfast.db"
    open_store(store_in(home), {}).close()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        found = checked("--offline", code=1)
        assert found["store writes"][1] == f"{file} is locked by another process"
        other.execute("ROLLBACK")
    file.with_name("gateway.db").write_bytes(b"no database " * 1000)
    found = checked("--offline", code=1)
    assert found["store writes"][0] == "ok"
    assert "file is not a database" in found["tree file"][1]


def test_a_clock_that_went_back_is_noticed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(home) as (_, env):
        now = round(time.time() * 1000)
        monkeypatch.setattr("holdfast.cli.doctor.now_ms", lambda: now - 3_600_000)
        state, words, _ = checked("--offline", **env)["clock"]
        assert state == "warn"
        assert "seconds in the future" in words


def test_what_was_found_is_shown_as_lines() -> None:
    ended = run("doctor", "--gateway", "--offline", env={"HOLDFAST_GATEWAY_PORT": "9"})
    assert "warn gateway: nothing listens on http://127.0.0.1:9" in ended.text
    assert "     holdfast serve starts it" in ended.text
