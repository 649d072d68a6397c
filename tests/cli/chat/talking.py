"""Talks with `holdfast chat` through a pipe, and with a provider on the loopback behind it."""

import json
from pathlib import Path
from typing import Any

from holdfast.ports.store import Listing
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore
from tests.cli.running import Ended, run
from tests.providers.provider import Provider, Reply
from tests.providers.streams import chunk, spoken, streamed, usage_chunk


def says(*texts: str, tokens: int = 9, cached: int = 0) -> Reply:
    """Return an answer in words."""
    details = {"prompt_tokens_details": {"cached_tokens": cached}} if cached else {}
    return streamed(*spoken(*texts)[:-1], usage_chunk(prompt_tokens=tokens, **details))


def asks_for(name: str, **arguments: object) -> Reply:
    """Return an answer that wants a tool to run."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call-{name}", "type": "function", "function": function}
    return streamed(
        chunk(role="assistant", content=None),
        chunk(tool_calls=[call]),
        chunk("tool_calls"),
        usage_chunk(),
    )


def at(server: Provider, *flags: str, model: str = "m") -> tuple[str, ...]:
    """Return the command line of a chat with this server."""
    return ("chat", "--model", model, "--base-url", f"{server.url}/v1", *flags)


def talk(server: Provider, *lines: str, flags: tuple[str, ...] = ()) -> Ended:
    """Say these lines, one after the other."""
    return run(*at(server, *flags), stdin="".join(f"{line}\n" for line in lines).encode())


def shown(ended: Ended) -> list[str]:
    """Return what was said after the greeting, without the status lines."""
    lines = ended.text.splitlines()[2:]
    return [line.rstrip() for line in lines if line.strip() and not _is_status(line)]


def _is_status(line: str) -> bool:
    return (
        line.startswith(("░", "█"))
        or "chat --resume " in line
        or line.startswith("To go on with this")
    )


def place(home: Path) -> Path:
    return home / "profiles" / "default" / "holdfast.db"


def stored(home: Path) -> list[Session]:
    """Return what the store has, newest first."""
    store = SqliteStore(place(home))
    try:
        return list(store.sessions(Listing()))
    finally:
        store.close()


def said_in(home: Path, id_: str) -> list[tuple[str, str]]:
    """Return who said what in a session, the prompt left out."""
    store = SqliteStore(place(home))
    try:
        log = store.since(id_, 0)
    finally:
        store.close()
    return [(each.message.role.value, each.message.text) for each in log[1:]]


def sent(server: Provider, number: int = -1) -> list[dict[str, Any]]:
    """Return the messages of a request."""
    return list(server.requests[number].fields["messages"])
