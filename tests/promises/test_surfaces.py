"""What is configured works on every surface, or it is said why it has no place there."""

import re
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from holdfast.config import KEYS, Settings
from holdfast.config.settings import assemble
from holdfast.wiring import Compressor, engine_of
from holdfast.wiring.conversations import Conversation
from holdfast.wiring.registry import Conversations

BASE: dict[str, object] = {
    "model.name": "gpt-5",
    "auxiliary.compression.model": "gpt-5-mini",
    "store.url": "sqlite",
}
"""Where a model comes from says nothing without a model."""
CHANGED: dict[str, object] = {
    "model.name": "claude-opus-4",
    "model.provider": "anthropic",
    "model.base_url": "http://localhost:1/v1",
    "model.context_length": 77_000,
    "model.cache_ttl": "1h",
    "model.merge_roles": True,
    "compression.enabled": False,
    "compression.threshold": 0.61,
    "compression.target_ratio": 0.31,
    "compression.protect_first_n": 5,
    "compression.protect_last_n": 31,
    "compression.strategy": "rotation",
    "compression.ahead_of_time": True,
    "compression.abort_on_summary_failure": True,
    "compression.hygiene_threshold": 0.91,
    "auxiliary.compression.model": "gpt-5-nano",
    "auxiliary.compression.provider": "anthropic",
    "auxiliary.compression.base_url": "http://localhost:2/v1",
    "auxiliary.compression.context_length": 66_000,
    "auxiliary.compression.timeout": 33.0,
    "context.engine": "truncate",
    "context.tool_limits": {"bash": 4_000},
    "memory.provider": "mem0",
    "memory.base_url": "http://localhost:3",
    "memory.user": "ada",
    "memory.deadline": 3.0,
    "store.url": "sqlite:///elsewhere.db",
    "store.profile": "work",
    "redaction.extra_patterns": ("ACME-[0-9]+",),
    "gateway.host": "127.0.0.2",
    "gateway.port": 9999,
    "gateway.upstreams": ("http://localhost:4",),
    "gateway.allowed_hosts": ("gateway.example",),
    "gateway.context_length": 9_000,
    "gateway.max_body_bytes": 5_000,
    "gateway.requests_per_minute": 60,
    "gateway.concurrent_requests": 6,
    "gateway.first_byte_seconds": 7.0,
    "gateway.silence_seconds": 70.0,
    "gateway.strict": True,
    "gateway.log_requests": True,
}
SENDS = "It is about requests, and only `holdfast chat` sends any."
REMEMBERS = (
    "Memory is what `holdfast chat` adds to a conversation; a library's host calls it itself."
)
ASKED = "It says when a stored conversation is compacted; this compacts when it is called."
STORELESS = "Nothing is stored."
ITSELF = "It is the engine that is called `compressor`; another is chosen for a conversation."
SERVES = "It says how `holdfast serve` listens and forwards; nothing else listens."
EVERYWHERE = (
    {"model.cache_ttl": SENDS}
    | {key: REMEMBERS for key in KEYS if key[:7] == "memory."}
    | {key: SERVES for key in KEYS if key[:8] == "gateway."}
)
WITHOUT_STORE = EVERYWHERE | {
    "model.merge_roles": SENDS,
    "compression.enabled": ASKED,
    "compression.strategy": STORELESS,
    "compression.ahead_of_time": ASKED,
    "context.engine": ITSELF,
    "context.tool_limits": STORELESS,
    "store.url": STORELESS,
    "store.profile": STORELESS,
}
NOT_APPLICABLE = {
    "Conversation": EVERYWHERE,
    "Conversations": EVERYWHERE,
    "Compressor": WITHOUT_STORE,
    "holdfast compress": WITHOUT_STORE,
}


def parts_of(surface: str, settings: Settings) -> dict[str, str]:
    """Return every plain value that a surface holds after it was put together, by its place."""
    match surface:
        case "Conversation":
            with Conversation.open(settings=settings) as chat:
                return dict(values(chat.live))
        case "Conversations":
            with Conversations(settings=settings) as conversations:
                return dict(values(conversations.open("ada").live))
        case "Compressor":
            return dict(values(Compressor(settings=settings)))
        case _:
            # The engine of the command; everything else there is reading and writing the file.
            return dict(values(engine_of(settings)))


def values(
    part: Any, at: str = "", seen: frozenset[int] = frozenset()
) -> Iterator[tuple[str, str]]:
    # What was only handed over proves nothing, neither as settings nor in a function.
    module = type(part).__module__
    if id(part) in seen or module.startswith("holdfast.config"):
        return
    seen |= {id(part)}
    if part is None or isinstance(part, str | int | float | Enum | Path | re.Pattern):
        yield at, str(part)
    elif isinstance(part, tuple | list):
        for index, each in enumerate(part):
            yield from values(each, f"{at}[{index}]", seen)
    elif isinstance(part, dict) and all(isinstance(each, int) for each in part.values()):
        yield at, str(part)
    elif module.startswith("holdfast."):
        yield f"{at}:", type(part).__name__
        slots = [name for kind in type(part).__mro__ for name in getattr(kind, "__slots__", ())]
        for name in {*getattr(part, "__dict__", {}), *slots}:
            yield from values(getattr(part, name, None), f"{at}.{name}", seen)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("surface", NOT_APPLICABLE)
def test_every_key_changes_something_or_is_said_not_to_apply(surface: str) -> None:
    assert list(CHANGED) == list(KEYS)
    usual, again = (parts_of(surface, assemble(BASE)) for _ in range(2))
    # Ids and moments differ each time.
    unsteady = {place for place in {*usual, *again} if usual.get(place) != again.get(place)}
    silent = set[str]()
    for key, value in CHANGED.items():
        changed = parts_of(surface, assemble({**BASE, key: value}))
        places = {*usual, *changed} - unsteady
        if all(usual.get(place) == changed.get(place) for place in places):
            silent.add(key)
    assert silent == set(NOT_APPLICABLE[surface])
