"""HTTP clients that are kept alive: one for each endpoint, shared by everything in the process.

A client costs 20 ms to make, most of it for certificates, and with it go the open connections. So
models and summarizers do not own one: they borrow it for a request and give it back.
"""

from __future__ import annotations

import atexit
import os
from collections import OrderedDict
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import TYPE_CHECKING, Generic, Protocol, Self, TypeAlias, TypeVar, cast
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator

_CLIENTS_KEPT = 16
"""Idle clients beyond this many are closed, the least recently used one first."""
_NO_KEY = "none"
_ENVIRONMENT = ("OPENAI_", "ANTHROPIC_", "SSL_CERT_", "HOME", "XDG_CONFIG_HOME")
"""Variables from which an SDK or its HTTP library makes a client, beside those of proxies."""


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """Whom requests go to, with which credential; equal endpoints share a client."""

    url: str = ""
    """Where a compatible server listens; empty for the provider itself."""
    api_key: str | None = field(default=None, repr=False)
    """The credential; without one the SDK looks in the environment."""
    timeout: float = 120.0
    """Seconds of silence after which the SDK gives up."""

    @classmethod
    def at(
        cls, base_url: str | None, api_key: str | None, timeout: float, added: tuple[str, ...]
    ) -> Self:
        """Return an endpoint that never sends a provider's own credential to another server.

        Args:
            base_url: Where a compatible server listens.
            api_key: The credential.
            timeout: Seconds of silence after which the SDK gives up.
            added: What the SDK adds to the address, from its end; people type it as well.
        """
        url = (base_url or "").rstrip("/")
        for end in added:
            url = url.removesuffix(end)
        return cls(url, _NO_KEY if base_url and not api_key else api_key, timeout)


class _Closing(Protocol):
    def close(self) -> None: ...


class _AsyncClosing(Protocol):
    def close(self) -> Awaitable[None]: ...


_Client = TypeVar("_Client")
_Blocking = TypeVar("_Blocking", bound=_Closing)
_Awaiting = TypeVar("_Awaiting", bound=_AsyncClosing)
_Key: TypeAlias = tuple[type, ApiEndpoint, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class SharedClient(Generic[_Client]):
    """A client and who uses it."""

    key: _Key
    client: _Client
    users: int = 0
    has_served: bool = False
    """Whether its connections may be old: the server may have closed them meanwhile."""


class HttpClients:
    """Lends clients of the SDKs, to threads and to event loops.

    Threads of a process share one client per endpoint. A client that awaits belongs to its event
    loop and is closed when the loop shuts down. A forked process makes its own: two processes on
    one socket would read each other's answers. A variable that changed makes another client.
    """

    def __init__(self) -> None:
        """Begin with no client."""
        self._all: list[object] = []
        self._is_registered = False
        self._begin()

    def _begin(self) -> None:
        self._lock = Lock()
        self._process = _ClientCache[_Closing]()
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _ClientCache[_AsyncClosing]]
        self._loops = WeakKeyDictionary()
        # A fork copies them too: closing them there could wait for a lock that the parent held.
        self._all += [self._process, self._loops]

    @contextmanager
    def borrow(
        self, kind: type[_Blocking], endpoint: ApiEndpoint
    ) -> Generator[SharedClient[_Blocking]]:
        """Lend a blocking client, such as `openai.OpenAI`, for as long as a request takes."""
        cache = self._process
        self._register()
        shared, idle = cache.take(kind, endpoint)
        has_failed = False
        try:
            for each in idle:
                each.close()
            yield cast("SharedClient[_Blocking]", shared)
        except Exception:
            has_failed = True
            raise
        finally:
            for each in cache.give_back(shared, has_failed=has_failed):
                each.close()

    @asynccontextmanager
    async def aborrow(
        self, kind: type[_Awaiting], endpoint: ApiEndpoint
    ) -> AsyncGenerator[SharedClient[_Awaiting]]:
        """Lend an awaiting client, such as `openai.AsyncOpenAI`, of the running event loop."""
        cache = await self._of_loop()
        shared, idle = cache.take(kind, endpoint)
        has_failed = False
        try:
            for each in idle:
                await each.close()
            yield cast("SharedClient[_Awaiting]", shared)
        except Exception:
            has_failed = True
            raise
        finally:
            for each in cache.give_back(shared, has_failed=has_failed):
                await each.close()

    def close(self) -> None:
        """Close the blocking clients that nobody uses; whoever asks next gets new ones."""
        for each in self._process.drop_idle(keep=0):
            each.close()

    def _register(self) -> None:
        """See to it, once there is a client, that exits close it and forks do not copy it."""
        if self._is_registered:
            return
        self._is_registered = True
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    async def _of_loop(self) -> _ClientCache[_AsyncClosing]:
        import asyncio

        loop = asyncio.get_running_loop()
        with self._lock:
            self._register()
            cache = self._loops.get(loop)
            if cache is not None:
                return cache
            for each in [each for each in self._loops if each.is_closed()]:
                # It was closed without shutting down its generators; nothing can be awaited there.
                del self._loops[each]
            cache = self._loops[loop] = _ClientCache[_AsyncClosing]()
        cache.keeper = _close_with_loop(cache)
        # An event loop closes the async generators that were begun in it before it ends.
        await anext(cache.keeper)
        return cache


class _ClientCache(Generic[_Client]):
    """The clients of one process or one event loop, the least recently used one first."""

    def __init__(self) -> None:
        self.keeper: object = None
        self._shared: OrderedDict[_Key, SharedClient[_Client]] = OrderedDict()
        # Taken again by the thread that has it: garbage collection may end a request anywhere.
        self._lock = RLock()

    def take(
        self, kind: type[_Client], endpoint: ApiEndpoint
    ) -> tuple[SharedClient[_Client], list[_Client]]:
        """Return a client, and those that are too many now and wait to be closed."""
        variables = tuple(
            sorted(
                (name, value)
                for name, value in os.environ.items()
                if name.startswith(_ENVIRONMENT) or name.upper().endswith("_PROXY")
            )
        )
        key = (kind, endpoint, variables)
        with self._lock:
            shared = self._shared.get(key)
            if shared is None:
                # Whoever asks decides about retries.
                client = cast("Callable[..., _Client]", kind)(
                    api_key=endpoint.api_key,
                    base_url=endpoint.url or None,
                    timeout=endpoint.timeout,
                    max_retries=0,
                )
                shared = self._shared[key] = SharedClient(key, client)
            self._shared.move_to_end(key)
            shared.users += 1
            return shared, self.drop_idle(keep=_CLIENTS_KEPT)

    def give_back(self, shared: SharedClient[_Client], *, has_failed: bool) -> list[_Client]:
        """Note that a request has ended, and return what has to be closed now.

        A client that has only failed is not kept: an SDK may have looked for its credential when
        it was made.
        """
        with self._lock:
            shared.users -= 1
            shared.has_served |= not has_failed
            is_kept = self._shared.get(shared.key) is shared
            if is_kept and not shared.has_served:
                del self._shared[shared.key]
                is_kept = False
            return [] if is_kept or shared.users else [shared.client]

    def drop_idle(self, *, keep: int) -> list[_Client]:
        """Forget unused clients until no more than `keep` are left, and return them."""
        with self._lock:
            idle = [key for key, shared in self._shared.items() if not shared.users]
            excess = max(0, len(self._shared) - keep)
            return [self._shared.pop(key).client for key in idle[:excess]]


async def _close_with_loop(cache: _ClientCache[_AsyncClosing]) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        for client in cache.drop_idle(keep=0):
            await client.close()


CLIENTS = HttpClients()
"""The clients of this process."""
