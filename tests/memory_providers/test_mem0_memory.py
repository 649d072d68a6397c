"""The official Mem0 client against a real HTTP server that answers like the service."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.errors import ConfigError, MemoryUnavailable, MissingExtra
from holdfast.memory_providers.mem0_memory import Mem0Account, Mem0Memory
from holdfast.testing.builders import assistant, user
from tests.memory_providers.service import FAILURES, PATIENCE, Answer, Service, service

PING, ADD, SEARCH = "/v1/ping/", "/v3/memories/add/", "/v3/memories/search/"
KEY = "m0-not-a-real-key"
ALIVE = Answer({"status": "ok", "org_id": "o", "project_id": "p", "user_email": "a@b.c"})
TAKEN = Answer({"message": "queued", "status": "PENDING", "event_id": "e"})
FOUND = Answer(
    {
        "results": [
            {"id": "1", "memory": "Lives in\nAustin", "created_at": "2026-10-22T04:40:22.8-07:00"},
            {"id": "2", "memory": "Uses port 8443", "updated_at": "2026-11-03", "score": 0.5},
            {"id": "3", "memory": "Likes tea", "created_at": None},
            {"id": "4", "memory": None},
            "odd",
        ]
    }
)


@contextmanager
def mem0(
    folder: Path, *, timeout: float = 20.0, **answers: Answer
) -> Generator[tuple[Mem0Memory, Service]]:
    """Yield a provider at a server with these answers, and the server."""
    paths = {PING: ALIVE, ADD: TAKEN, SEARCH: FOUND}
    paths |= {{"ping": PING, "add": ADD, "search": SEARCH}[name]: a for name, a in answers.items()}
    with service(paths) as server:
        account = Mem0Account(key=KEY, user="ada", host=server.url, folder=folder, timeout=timeout)
        memory = Mem0Memory(account)
        try:
            yield memory, server
        finally:
            memory.shutdown()


def test_nothing_is_sent_before_the_first_use(tmp_path: Path) -> None:
    with mem0(tmp_path) as (memory, server):
        assert [each.name for each in memory.tools()] == ["mem0_search"]
        assert memory.prefetch("  ") == ""
        memory.sync("", " ")
        assert server.asked == []


def test_what_is_known_comes_as_dated_lines(tmp_path: Path) -> None:
    with mem0(tmp_path) as (memory, server):
        assert memory.prefetch("Where do I live?") == (
            "- 2026-10-22: Lives in Austin\n- 2026-11-03: Uses port 8443\n- Likes tea"
        )
        assert server.requests(SEARCH) == [
            {"query": "Where do I live?", "filters": {"user_id": "ada"}, "top_k": 8}
        ]
        assert server.asked[-1].headers["authorization"] == f"Token {KEY}"


def test_one_client_serves_every_call(tmp_path: Path) -> None:
    with mem0(tmp_path) as (memory, server):
        memory.prefetch("one")
        memory.sync("two", "three")
        memory.prefetch("four")
        assert [each.path for each in server.asked] == [PING, SEARCH, ADD, SEARCH]


def test_an_exchange_is_given_as_two_messages_without_secrets(tmp_path: Path) -> None:
    secret = "ghp_" + "R7kq2ZxW9bTn4VsL8mYcP3dHf6JgA1eQuI0o"
    with mem0(tmp_path) as (memory, server):
        memory.sync(f"My token is {secret}", "Noted.")
        (sent,) = server.requests(ADD)
    assert sent["user_id"] == "ada"
    assert [each["role"] for each in sent["messages"]] == ["user", "assistant"]
    assert sent["messages"][1]["content"] == "Noted."
    assert secret not in json.dumps(sent)


def test_a_fold_brings_only_what_no_exchange_has_brought(tmp_path: Path) -> None:
    with mem0(tmp_path) as (memory, server):
        memory.sync("The port is 8443.", "Understood.")
        window = (user("An older ask."), user("The port is 8443."), assistant("Understood."))
        assert memory.on_pre_compress(window) == ""
        memory.on_pre_compress(window)
        assert [each["messages"] for each in server.requests(ADD)[1:]] == [
            [{"role": "user", "content": "An older ask."}]
        ]


def test_what_the_service_refused_is_brought_again(tmp_path: Path) -> None:
    with mem0(tmp_path, add=Answer({"detail": "oops"}, 500)) as (memory, server):
        with pytest.raises(MemoryUnavailable):
            memory.sync("The port is 8443.", "")
        server.answers[ADD] = TAKEN
        memory.on_pre_compress((user("The port is 8443."),))
        assert len(server.requests(ADD)) == 2


def test_the_model_may_search(tmp_path: Path) -> None:
    with mem0(tmp_path) as (memory, server):
        answer = json.loads(memory.call("mem0_search", {"query": "tea", "limit": 2}))
        assert answer == {
            "results": [
                {"text": "Lives in\nAustin", "day": "2026-10-22"},
                {"text": "Uses port 8443", "day": "2026-11-03", "score": 0.5},
            ]
        }
        assert server.requests(SEARCH)[0]["top_k"] == 2
        with pytest.raises(ValueError, match="query must be"):
            memory.call("mem0_search", {})
        with pytest.raises(NotImplementedError, match="mem0 has no tool"):
            memory.call("mem0_delete", {})


@pytest.mark.parametrize("body", [{"results": []}, [], {"results": [{"memory": " "}]}])
def test_nothing_known_is_no_text(tmp_path: Path, body: object) -> None:
    with mem0(tmp_path, search=Answer(body)) as (memory, _):
        assert memory.prefetch("anything") == ""


@pytest.mark.parametrize(
    ("where", "name"),
    # What an add answers is not looked at, as long as it is JSON.
    sorted({(w, n) for w in ("ping", "search", "add") for n in FAILURES} - {("add", "a number")}),
)
def test_each_failure_is_a_sentence_and_the_next_call_works(
    tmp_path: Path, name: str, where: str
) -> None:
    answer, says = FAILURES[name]
    good = {"ping": (PING, ALIVE), "search": (SEARCH, FOUND), "add": (ADD, TAKEN)}[where]
    patience = PATIENCE.get(name, 20.0)
    with mem0(tmp_path, timeout=patience, **{where: answer}) as (memory, server):
        with pytest.raises(MemoryUnavailable, match=f"^mem0 .*{says}") as raised:
            memory.sync("a", "b") if where == "add" else memory.prefetch("where?")
        assert KEY not in str(raised.value)
        assert raised.value.retry_after == (7.0 if name == "429" else None)
        server.answers[good[0]] = good[1]
        assert "Austin" in memory.prefetch("where?")


def test_a_server_that_echoes_the_key_does_not_make_us_print_it(tmp_path: Path) -> None:
    echo = Answer({"detail": f"unknown token {KEY}"}, 401)
    with (
        mem0(tmp_path, ping=echo) as (memory, _),
        pytest.raises(MemoryUnavailable, match=r"unknown token \*\*\*"),
    ):
        memory.prefetch("where?")


def test_a_server_that_is_down_is_unreachable(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"http://127.0.0.1:{taken.getsockname()[1]}"
        memory = Mem0Memory(Mem0Account(key=KEY, user="ada", host=host, folder=tmp_path))
        with pytest.raises(MemoryUnavailable, match=r"^mem0 cannot be reached"):
            memory.prefetch("where?")


def test_a_missing_key_names_the_variable() -> None:
    with pytest.raises(ConfigError, match="MEM0_API_KEY is not set"):
        Mem0Memory(Mem0Account(key="", user="ada"))


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mem0", None)
    with pytest.raises(MissingExtra, match=r"pip install 'holdfast\[mem0\]'"):
        Mem0Memory(Mem0Account(key=KEY, user="ada"))


PROGRAM = """
import json, logging, os, sys, warnings
from pathlib import Path
from holdfast.memory_providers.mem0_memory import Mem0Account, Mem0Memory
before = list(warnings.filters)
memory = Mem0Memory(Mem0Account(key="k", user="u", host=sys.argv[1], folder=Path(sys.argv[2])))
early = sorted({"mem0", "httpx"} & set(sys.modules))
memory.prefetch("where?")
from mem0.memory import telemetry
print(json.dumps({
    "early": early,
    "telemetry": telemetry.MEM0_TELEMETRY,
    "posthog": telemetry.client_telemetry.posthog is not None,
    "filters": list(warnings.filters) == before,
    "level": logging.getLogger("urllib3").level,
    "variable": os.environ.get("MEM0_TELEMETRY"),
    "folder": os.environ.get("MEM0_DIR"),
}))
"""


@pytest.mark.parametrize("first", ["", "import mem0\n"])
def test_the_client_is_brought_in_without_telemetry_or_traces(tmp_path: Path, first: str) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environ = {k: v for k, v in os.environ.items() if not k.startswith("MEM0_")}
    with service({PING: ALIVE, SEARCH: FOUND}) as server:
        done = subprocess.run(
            [sys.executable, "-c", first + PROGRAM, server.url, str(tmp_path / "own")],
            env={**environ, "HOME": str(home)},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    told = json.loads(done.stdout)
    if first:
        # What the host has done to itself stays; only the telemetry is ended.
        assert (told["telemetry"], told["posthog"]) == (False, False)
        return
    assert told == {
        "early": [],
        "telemetry": False,
        "posthog": False,
        "filters": True,
        "level": 0,
        "variable": None,
        "folder": None,
    }
    assert done.stderr == ""
    assert list(home.iterdir()) == []
