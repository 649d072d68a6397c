"""Hindsight as a memory provider: a server of one's own, or the hosted one."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar, cast

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
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

    from hindsight_client import Hindsight

    from holdfast.errors import MemoryUnavailable
    from holdfast.memory_providers.memory_words import Utterance
    from holdfast.transcript import Transcript

_CLOSING_SECONDS = 2.0
"""Seconds that a close waits for what is under way."""

_Answer = TypeVar("_Answer")
KEY_VARIABLE = "HINDSIGHT_API_KEY"
_RECALL = search_tool(
    "hindsight_recall",
    "Search the facts that are remembered of earlier conversations with this user.",
)
_REFLECT = ToolSpec(
    "hindsight_reflect",
    "Ask the memory a question that takes several remembered facts to answer. Slower than "
    "hindsight_recall.",
    {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "The question."}},
        "required": ["query"],
    },
)
_PATIENCE = 5.0
"""Seconds beyond the client's own limit after which its loop counts as stuck."""


class LoopThread:
    """Runs coroutines for callers on any thread; the thread starts with the first of them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._turn = threading.Lock()

    def run(self, work: Coroutine[object, object, _Answer], timeout: float) -> _Answer:
        """Return what the coroutine returns.

        Raises:
            TimeoutError: when it took longer; it is cancelled then.
        """
        with self._turn:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_live, args=(self._loop,), name=self._name, daemon=True
                )
                self._thread.start()
            waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return waiting.result(timeout)
        except TimeoutError:
            waiting.cancel()
            raise

    def close(self, last: Callable[[], Coroutine[object, object, None]]) -> None:
        """Run a last coroutine where the others ran, if any did, and end the thread."""
        with self._turn:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_ending(last), loop)
        thread.join(_CLOSING_SECONDS)


def _live(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()


async def _ending(last: Callable[[], Coroutine[object, object, None]]) -> None:
    """Cancel what is still under way, run the last of all, and stop the loop."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for each in others:
        each.cancel()
    try:
        if others:
            await asyncio.wait(others, timeout=_CLOSING_SECONDS / 2)
        await asyncio.wait_for(last(), _CLOSING_SECONDS / 2)
    finally:
        asyncio.get_running_loop().stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class HindsightBank:
    """Which bank of memories, and where it is."""

    base_url: str
    bank: str
    key: str | None = None
    """The credential; a server of one's own may need none."""
    timeout: float = 10.0
    """Seconds that one request may take."""
    limit: int = 8
    """How many memories a turn is given."""
    redact: Callable[[str], str] = redact
    """Masks the secrets in whatever is sent."""


class HindsightMemory(MemoryProvider):
    """Remembers with Hindsight, which keeps facts, what they are about and when they held.

    The client is made at the first use. It belongs to one event loop, which runs on a thread of
    its own: hooks are called from several threads, and from inside other loops.
    """

    def __init__(self, bank: HindsightBank) -> None:
        """Describe the bank; nothing is imported and nothing is sent yet."""
        if find_spec("hindsight_client") is None:
            raise MissingExtra("the memory provider hindsight", "hindsight")
        if not bank.base_url:
            raise ConfigError(
                "memory.provider is hindsight and memory.base_url is not set; set it to the "
                "address of the server"
            )
        self._bank = bank
        self._service = Service("hindsight", KEY_VARIABLE, bank.key)
        self._unsent = Unsent()
        self._client: Hindsight | None = None
        self._loop = LoopThread("holdfast-hindsight")

    @property
    def name(self) -> str:
        """Return the name in the settings."""
        return "hindsight"

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the search, and the question to the memory itself."""
        return (_RECALL, _REFLECT)

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Answer a call of the model's."""
        if name not in {_RECALL.name, _REFLECT.name}:
            return super().call(name, arguments)
        query, limit = asked(arguments, self._bank.limit, self._bank.redact)
        if name == _RECALL.name:
            return as_answer(self._recall(query, limit))
        return self._run(lambda client: client.areflect(self._bank.bank, query)).text

    def prefetch(self, query: str) -> str:
        """Return what Hindsight knows that bears on the query."""
        words = shortened(query, self._bank.redact)
        return as_lines(self._recall(words, self._bank.limit)) if words else ""

    def sync(self, user: str, assistant: str) -> None:
        """Give an exchange to Hindsight, which works it up on its side."""
        self._retain(exchange(user, assistant, self._bank.redact))

    def on_pre_compress(self, messages: Transcript) -> str:
        """Give those folded words to Hindsight that no exchange has brought there."""
        self._retain(self._unsent.among(folded(messages, self._bank.redact)))
        return ""

    def shutdown(self) -> None:
        """Close the connections and end the thread."""
        self._loop.close(self._closing)

    def _retain(self, words: Sequence[Utterance]) -> None:
        if not words:
            return
        text = "\n\n".join(f"{each.speaker}: {each.text}" for each in words)
        about = "a conversation with the user"
        self._run(
            lambda client: client.aretain(self._bank.bank, text, context=about, retain_async=True)
        )
        # Only now: what the service refused is brought again by the next fold.
        self._unsent.sent(words)

    def _recall(self, query: str, limit: int) -> tuple[RecalledMemory, ...]:
        bank = self._bank.bank
        found = self._run(
            lambda client: client.arecall(bank, query, budget="low", max_tokens=2_000)
        )
        return tuple(
            RecalledMemory(each.text, day_of(each.occurred_start) or day_of(each.mentioned_at))
            for each in found.results[:limit]
        )

    def _run(self, ask: Callable[[Hindsight], Awaitable[_Answer]]) -> _Answer:
        """Return what the client answers; what it and its HTTP library raise is our error."""
        # Before the clock runs: the import takes longer than a request should.
        import_module("hindsight_client")

        async def work() -> _Answer:
            # Only the thread of the loop comes here.
            if self._client is None:
                from hindsight_client import Hindsight

                # One attempt: a turn waits for it, and whoever calls decides about another.
                self._client = Hindsight(
                    self._bank.base_url,
                    self._bank.key,
                    timeout=self._bank.timeout,
                    user_agent="holdfast",
                    max_attempts=1,
                )
            return await ask(self._client)

        try:
            return self._loop.run(work(), self._bank.timeout + _PATIENCE)
        except Exception as error:
            translated = self._translated(error)
            if translated is None:
                raise
            raise translated from error

    async def _closing(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _translated(self, error: Exception) -> MemoryUnavailable | None:
        from aiohttp import ClientError
        from hindsight_client_api.exceptions import ApiException

        match error:
            case CancelledError():
                return self._service.unreachable("it was shut down")
            case TimeoutError():
                return self._service.silent(self._bank.timeout)
            case ApiException():
                status: object = getattr(error, "status", None)
                if not isinstance(status, int) or status < 300:
                    # An answer that is no JSON is refused as an error with the status of success.
                    return self._service.misread(str(getattr(error, "reason", "") or error))
                given = cast("Mapping[object, object]", getattr(error, "headers", None) or {})
                headers = {str(name).lower(): str(value) for name, value in given.items()}
                body: object = getattr(error, "body", None)
                return self._service.rejected(status, body, retry_after(headers))
            case ClientError() | OSError():
                return self._service.unreachable(error)
            case ValueError() | AttributeError() | TypeError():
                # The client checks what it reads, and raises whatever the check does.
                return self._service.misread(error)
            case _:
                return None
