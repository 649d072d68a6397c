"""Mem0 as a memory provider: the hosted service, or a server that speaks its language.

By itself the import of its client starts telemetry, makes a folder in the user's home directory,
changes the warning filters, and silences the logger of another library. Here it does none of that.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, cast

from holdfast.errors import ConfigError, MissingExtra
from holdfast.memory_providers.memory_words import (
    RecalledMemory,
    Service,
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
from holdfast.providers.provider_errors import retry_after
from holdfast.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from httpx import Client

    from holdfast.errors import MemoryUnavailable
    from holdfast.memory_providers.memory_words import Utterance
    from holdfast.transcript import Transcript
    from holdfast.wire.tool_specs import ToolSpec

KEY_VARIABLE = "MEM0_API_KEY"
_TOOL = search_tool(
    "mem0_search",
    "Search what is remembered of earlier conversations with this user: facts, preferences, "
    "decisions.",
)

_IMPORTING = threading.Lock()
_SILENCED = "urllib3"


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

    def _add(self, words: Sequence[Utterance]) -> None:
        if not words:
            return
        messages = [{"role": each.speaker, "content": each.text} for each in words]
        with self._explained():
            self._ready().add(messages, user_id=self._account.user)
        # Only now: what the service refused is brought again by the next fold.
        self._unsent.sent(words)

    def _search(self, query: str, limit: int) -> tuple[RecalledMemory, ...]:
        with self._explained():
            answer = self._ready().search(
                query, filters={"user_id": self._account.user}, top_k=limit
            )
        return tuple(_memories(answer, self._service))[:limit]

    def _ready(self) -> Memories:
        """Return the client; making it asks the service whether it knows the key."""
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
            known = translated(error, self._service, self._account.timeout)
            if known is None:
                raise
            raise known from error


def _memories(answer: object, service: Service) -> Generator[RecalledMemory]:
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
            yield RecalledMemory(
                text, day, float(score) if isinstance(score, int | float) else None
            )


class Memories(Protocol):
    """What is used of Mem0's client, which has no types of its own."""

    def add(self, messages: list[dict[str, str]], *, user_id: str) -> object:
        """Give messages to the service."""
        ...

    def search(self, query: str, *, filters: Mapping[str, str], top_k: int) -> object:
        """Return what the service found, as its JSON."""
        ...


@dataclass(frozen=True, slots=True)
class Connection:
    """A client and the HTTP connections behind it."""

    memories: Memories
    web: Client

    def close(self) -> None:
        """Close the connections."""
        self.web.close()


def connect(key: str, *, host: str | None, timeout: float, folder: Path | None) -> Connection:
    """Return a client; the service is asked whether it knows the key.

    Args:
        host: Where a server of one's own listens.
        timeout: Seconds for each step of a request; the client's own patience is five minutes.
        folder: Where the client keeps its settings.
    """
    with _IMPORTING, _untouched(folder):
        package = import_module("mem0")
        telemetry = import_module("mem0.memory.telemetry")
    # For a host that has imported it first: what is sent on our behalf goes to the service only.
    vars(telemetry)["MEM0_TELEMETRY"] = False
    telemetry.client_telemetry.close()

    from httpx import Client

    web = Client(timeout=timeout)
    try:
        return Connection(package.MemoryClient(api_key=key, host=host, client=web), web)
    except BaseException:
        web.close()
        raise


def translated(error: Exception, service: Service, timeout: float) -> MemoryUnavailable | None:
    """Return our error for what the client raises; None for what is none of its failures."""
    import httpx

    match error:
        case httpx.TimeoutException():
            return service.silent(timeout)
        case httpx.HTTPError():
            return service.unreachable(error)
        case _ if isinstance(error, import_module("mem0.exceptions").MemoryError):
            return _refused(error, service, timeout)
        case ValueError(__context__=httpx.HTTPStatusError() as status):
            # The question whether the key is good was answered with an error.
            answer = status.response
            return service.rejected(answer.status_code, answer.text, retry_after(answer.headers))
        case ValueError() | AttributeError() | TypeError():
            # The client takes an answer for what it should be until it is not.
            return service.misread(error)
        case _:
            return None


def _refused(error: Exception, service: Service, timeout: float) -> MemoryUnavailable:
    code = str(getattr(error, "error_code", ""))
    if code == "NET_TIMEOUT":
        return service.silent(timeout)
    status = code.removeprefix("HTTP_")
    if not status.isdigit():
        return service.unreachable(error)
    notes = cast("Mapping[str, object]", getattr(error, "debug_info", {}))
    after = notes.get("retry_after")
    return service.rejected(
        int(status), str(error), float(after) if isinstance(after, int) else None
    )


@contextmanager
def _untouched(folder: Path | None) -> Generator[None]:
    """Keep the import from changing anything but its own modules."""
    other = logging.getLogger(_SILENCED)
    level = other.level
    wanted = {"MEM0_TELEMETRY": "False"}
    if folder is not None and not os.environ.get("MEM0_DIR"):
        wanted["MEM0_DIR"] = str(folder)
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        with warnings.catch_warnings():
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        other.setLevel(level)
        # Without one, Python prints the client's log of errors, which we raise anyway.
        logging.getLogger("mem0").addHandler(logging.NullHandler())
