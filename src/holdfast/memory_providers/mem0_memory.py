"""Mem0 as a memory provider: the hosted service, or a server that speaks its language."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from holdfast.errors import ConfigError, MissingExtra
from holdfast.memory_providers.memory_services import Service
from holdfast.memory_providers.remembered import (
    Memory,
    Unsent,
    as_answer,
    as_lines,
    asked,
    day_of,
    exchange,
    folded,
    search_tool,
    shortened,
)
from holdfast.ports.memory import MemoryProvider
from holdfast.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from holdfast.memory_providers.mem0_client import Connection, Memories
    from holdfast.memory_providers.remembered import Said
    from holdfast.transcript import Transcript
    from holdfast.wire.tool_specs import ToolSpec

__all__ = ["KEY_VARIABLE", "Mem0Account", "Mem0Memory"]

KEY_VARIABLE = "MEM0_API_KEY"
_TOOL = search_tool(
    "mem0_search",
    "Search what is remembered of earlier conversations with this user: facts, preferences, "
    "decisions.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mem0Account:
    """Whose memories, and where they are."""

    key: str
    user: str
    """The user id at Mem0 under which everything is kept."""
    host: str | None = None
    """The address of a server of one's own; without one, Mem0's."""
    folder: Path | None = None
    """Where the client keeps its own settings; without one, in the user's home directory."""
    timeout: float = 10.0
    """Seconds that one request may take."""
    limit: int = 8
    """How many memories a turn is given."""
    redact: Callable[[str], str] = redact
    """Masks the secrets in whatever is sent."""


class Mem0Memory(MemoryProvider):
    """Remembers with Mem0, which takes facts out of exchanges and finds them by meaning.

    The client is made at the first use, which asks the service whether the key is good.
    """

    def __init__(self, account: Mem0Account) -> None:
        """Describe the account; nothing is imported and nothing is sent yet."""
        if find_spec("mem0") is None:
            raise MissingExtra("the memory provider mem0", "mem0")
        if not account.key:
            raise ConfigError(f"memory.provider is mem0 and {KEY_VARIABLE} is not set; set it")
        self._account = account
        self._service = Service("mem0", KEY_VARIABLE, account.key)
        self._unsent = Unsent()
        self._connection: Connection | None = None
        self._opening = threading.Lock()

    @property
    def name(self) -> str:
        """Return the name in the settings."""
        return "mem0"

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the search."""
        return (_TOOL,)

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Answer a search of the model's."""
        if name != _TOOL.name:
            return super().call(name, arguments)
        query, limit = asked(arguments, self._account.limit, self._account.redact)
        return as_answer(self._search(query, limit))

    def prefetch(self, query: str) -> str:
        """Return what Mem0 knows that bears on the query."""
        words = shortened(query, self._account.redact)
        return as_lines(self._search(words, self._account.limit)) if words else ""

    def sync(self, user: str, assistant: str) -> None:
        """Give an exchange to Mem0, which works it up on its side."""
        self._add(exchange(user, assistant, self._account.redact))

    def on_pre_compress(self, messages: Transcript) -> str:
        """Give those folded words to Mem0 that no exchange has brought there."""
        self._add(self._unsent.among(folded(messages, self._account.redact)))
        return ""

    def shutdown(self) -> None:
        """Close the connections."""
        with self._opening:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _add(self, words: Sequence[Said]) -> None:
        if not words:
            return
        messages = [{"role": each.speaker, "content": each.text} for each in words]
        with self._explained():
            self._ready().add(messages, user_id=self._account.user)
        # Only now: what the service refused is brought again by the next fold.
        self._unsent.sent(words)

    def _search(self, query: str, limit: int) -> tuple[Memory, ...]:
        with self._explained():
            answer = self._ready().search(
                query, filters={"user_id": self._account.user}, top_k=limit
            )
        return tuple(_memories(answer, self._service))[:limit]

    def _ready(self) -> Memories:
        """Return the client; making it asks the service whether it knows the key."""
        from holdfast.memory_providers.mem0_client import connect

        account = self._account
        with self._opening:
            if self._connection is None:
                self._connection = connect(
                    account.key, host=account.host, timeout=account.timeout, folder=account.folder
                )
            return self._connection.memories

    @contextmanager
    def _explained(self) -> Generator[None]:
        """Turn what the client and its HTTP library raise into our error."""
        try:
            yield
        except Exception as error:
            from holdfast.memory_providers.mem0_client import translated

            known = translated(error, self._service, self._account.timeout)
            if known is None:
                raise
            raise known from error


def _memories(answer: object, service: Service) -> Generator[Memory]:
    """Yield what a search found; older servers answer with the bare list."""
    if isinstance(answer, dict):
        answer = cast("Mapping[str, object]", answer).get("results")
    if not isinstance(answer, list):
        raise service.misread("there is no list of results")
    for each in cast("list[object]", answer):
        if not isinstance(each, dict):
            continue
        fields = cast("Mapping[str, object]", each)
        text, score = fields.get("memory"), fields.get("score")
        if isinstance(text, str):
            day = day_of(fields.get("updated_at")) or day_of(fields.get("created_at"))
            yield Memory(text, day, float(score) if isinstance(score, int | float) else None)
