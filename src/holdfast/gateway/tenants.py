"""Tenants of a gateway: each with a store, a tree of messages and settings of its own.

A tenant is a profile: its store, its tree and the settings that differ from everybody's lie in the
profile's folder. Nothing is looked up across tenants, so that nothing of one can show in an answer
to another.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import sqlite3
import time
from collections import OrderedDict
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, NoReturn
from weakref import WeakValueDictionary

from holdfast.config import home, load
from holdfast.config.loading import read_file
from holdfast.conversation.waiting import in_store
from holdfast.errors import ConfigError, HoldfastError, StoreError
from holdfast.gateway.bodies import HttpRefusal
from holdfast.gateway.event_feed import EventFeed
from holdfast.gateway.proxy import Tenant
from holdfast.gateway.tokens import PREFIX, TokenFile, token_file
from holdfast.gateway.tree_file import TreeFile
from holdfast.gateway.turns import TurnKeeper
from holdfast.system.file_edits import make_folder
from holdfast.wiring.memories import memory_hub_of
from holdfast.wiring.registry import Conversations
from holdfast.wiring.stores import file_behind, store_of, store_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.config import Settings
    from holdfast.config.settings import GatewaySettings
    from holdfast.gateway.client_side import Incoming
    from holdfast.ports import Store

TREE_FILE = "gateway.db"
_FILE = "config.yaml"
_MEMORY = "memory:"
_OWN_STORE = ("sqlite", _MEMORY)
"""Addresses that lead each tenant to a store of its own."""
_LIMITS = frozenset(
    {"context_length", "max_body_bytes", "requests_per_minute", "concurrent_requests"}
)
_CARRIERS = ("x-holdfast-token", "authorization", "x-api-key", "api-key", "x-goog-api-key")
"""Headers that may hold a token: clients put their one key where their provider wants it."""
_LOCAL = "127.0.0.1"
"""Where requests come from that the application itself lets in: without tokens it is not reached
from elsewhere."""
_MOST_OPEN = 200
_MINUTE = 60.0
_PEERS = 256
"""Addresses of which it is remembered whether they are this machine's."""
_SHUT_S = 1.0
"""Seconds until a store that could not be opened is tried again."""
_LOG = logging.getLogger("holdfast.gateway")
_HOW = "send a token of this gateway as `Authorization: Bearer ...` or `X-Holdfast-Token: ...`"


class ApiError(HttpRefusal):
    """A request that is answered with an error: a status, a code for programs, a sentence."""

    def __init__(self, status: int, code: str, sentence: str, *, retry_after: int = 0) -> None:
        """Keep what the answer says.

        Args:
            status: The HTTP status.
            code: The same for every error of its kind.
            sentence: What is wrong and what to do.
            retry_after: Seconds after which to come back, where that helps.
        """
        super().__init__(status, sentence)
        self.code = code
        self.retry_after = retry_after


class TenantLimits:
    """What one tenant may ask of one process."""

    def __init__(self, settings: GatewaySettings) -> None:
        """Begin with everything that a minute allows."""
        self.max_body_bytes = settings.max_body_bytes
        self._rate = settings.requests_per_minute
        self._most = settings.concurrent_requests
        self._left, self._at = float(self._rate), time.monotonic()
        self._running = 0

    def begin(self) -> None:
        """Count a request that begins.

        Raises:
            ApiError: when it is one too many; it is not counted then.
        """
        if self._most and self._running >= self._most:
            raise ApiError(
                429,
                "too_many_streams",
                f"{self._most} requests are under way, which is what this tenant may have "
                "(gateway.concurrent_requests); wait for one to end",
                retry_after=1,
            )
        if self._rate:
            now = time.monotonic()
            filled = self._left + (now - self._at) * self._rate / _MINUTE
            self._left, self._at = min(filled, float(self._rate)), now
            if self._left < 1:
                raise ApiError(
                    429,
                    "rate_limited",
                    f"this tenant may send {self._rate} requests in a minute "
                    "(gateway.requests_per_minute); wait a moment",
                    retry_after=max(1, round((1 - self._left) * _MINUTE / self._rate)),
                )
            self._left -= 1
        self._running += 1

    def end(self) -> None:
        """Count a request that has ended."""
        self._running -= 1

    @property
    def is_idle(self) -> bool:
        """Say whether nothing is under way."""
        return self._running == 0


@dataclass(slots=True)
class OpenTenant:
    """A tenant whose store is open."""

    name: str
    place: str
    """Where its store is; empty where that can be nobody else's."""
    settings: Settings
    conversations: Conversations
    turns: TurnKeeper
    limits: TenantLimits
    feed: EventFeed

    @property
    def store(self) -> Store:
        """Return the store that holds the sessions of this tenant and of no other."""
        return self.conversations.store

    def close(self) -> None:
        """Let go of store and tree, after memory took in what waits."""
        if self.turns.memory is not None:
            self.turns.memory.close()
        self.conversations.close()
        self.store.close()
        self.turns.tree.close()


@dataclass(slots=True)
class ShutTenant:
    """A tenant whose store cannot be opened: it may ask models, and nothing is recorded."""

    name: str
    limits: TenantLimits
    reason: Exception
    until: float
    """When the store is tried again."""

    @property
    def turns(self) -> ShutTenant:
        """Return what refuses to record a turn, with the reason."""
        return self

    async def take(self, _request: object, _body: object, /) -> NoReturn:
        """Refuse to take a request."""
        raise self.reason


@dataclass(frozen=True, slots=True)
class Admission:
    """Who asks, as far as the gateway needs to know."""

    tenant: OpenTenant | ShutTenant
    token: str = ""
    """The name of the token that was shown; empty where none is needed."""
    spent: frozenset[str] = frozenset()
    """Headers that held our token, and are for no upstream."""


ADMITTED: ContextVar[Admission | None] = ContextVar("ADMITTED", default=None)
"""Who asks, while the gate lets a request through."""


@dataclass(slots=True)
class Tenants:
    """Finds the tenant of a request by its token, and opens what belongs to the tenant."""

    settings: Settings
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    most: int = _MOST_OPEN
    """How many tenants are kept open that ask for nothing."""
    tokens: TokenFile = field(init=False)
    _open: OrderedDict[str, OpenTenant | ShutTenant] = field(
        default_factory=OrderedDict[str, "OpenTenant | ShutTenant"]
    )
    _opening: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    _has_had_tokens: bool = False

    def __post_init__(self) -> None:
        """Find the tokens."""
        self.tokens = token_file(self.environ)

    def __len__(self) -> int:
        """Return how many tenants are open."""
        return len(self._open)

    @property
    def needs_token(self) -> bool:
        """Say whether a token must be shown; once that is so, it stays so in this process."""
        self._has_had_tokens = self._has_had_tokens or bool(self.tokens.tokens())
        return self._has_had_tokens

    async def admit(self, headers: Iterable[tuple[str, str]], peer: str | None) -> Admission:
        """Return who asks.

        Args:
            headers: Of the request, their names in lower case.
            peer: The address that the request came from.

        Raises:
            ApiError: when nobody may ask like this.
        """
        try:
            if not self.needs_token:
                if not _is_loopback(peer):
                    raise ApiError(
                        403,
                        "forbidden",
                        "this gateway has no tokens and serves its own machine alone; "
                        "`holdfast token add NAME` adds one",
                    )
                return Admission(await self._found(self.settings.store.profile))
            shown = [(name, found) for name, value in headers if (found := _secret(name, value))]
            matched = [self.tokens.match(secret) for _, secret in shown]
        except ConfigError as error:
            # It may name files, which are for whoever runs the gateway.
            _LOG.error("%s", error)
            raise ApiError(
                503, "unavailable", "the tokens of this gateway cannot be read; its log says why"
            ) from None
        known = [each for each in matched if each is not None]
        if not known or len(known) < len(matched) or len({each.tenant for each in known}) > 1:
            raise ApiError(401, "unauthorized", _HOW)
        tenant = await self._found(known[0].tenant)
        return Admission(tenant, known[0].name, frozenset(name for name, _ in shown))

    async def authorize(self, incoming: Incoming, /) -> Tenant:
        """Return the tenant of a request, as the proxy behind the gate knows it.

        What comes around the gate, as figures are asked for, shows its token here.
        """
        found = ADMITTED.get() or await self.admit(incoming.headers, _LOCAL)
        return Tenant(found.tenant.turns, found.tenant.name, found.spent)

    async def opened(self, name: str) -> OpenTenant:
        """Return a tenant, its store open; it stays so if a request is begun before any wait.

        Raises:
            ApiError: when its settings or its store cannot be used; the log says why.
        """
        found = await self._found(name)
        if isinstance(found, ShutTenant):
            raise unopened()
        return found

    def end_feeds(self) -> None:
        """End the streams of events, which would go on for as long as their clients listen."""
        for each in self._open.values():
            if isinstance(each, OpenTenant):
                each.feed.close()

    async def close(self) -> None:
        """Let go of everything."""
        self.end_feeds()
        tenants = [*self._open.values()]
        self._open.clear()
        for each in tenants:
            if isinstance(each, OpenTenant):
                await in_store(each.close)

    async def _found(self, name: str) -> OpenTenant | ShutTenant:
        if self._is_due(name):
            async with self._opening.setdefault(name, asyncio.Lock()):
                if self._is_due(name):
                    await self._add(name)
        self._open.move_to_end(name)
        return self._open[name]

    def _is_due(self, name: str) -> bool:
        """Say whether a tenant is to be opened, for the first time or once more."""
        found = self._open.get(name)
        return not found or (isinstance(found, ShutTenant) and found.until < time.monotonic())

    async def _add(self, name: str) -> None:
        idle = [each for each in self._open.values() if each.limits.is_idle]
        for each in idle[: max(len(self._open) + 1 - self.most, 0)]:
            del self._open[each.name]
            if isinstance(each, OpenTenant):
                await in_store(each.close)
        before = self._open.get(name)
        limits = before.limits if before else None
        try:
            settings = await in_store(partial(tenant_settings, self.settings, name, self.environ))
            limits = limits or TenantLimits(settings.gateway)
            tenant = await in_store(partial(self._made, name, settings, limits))
            # Two tenants never share a store, whatever their settings name.
            others = [each for each in self._open.values() if isinstance(each, OpenTenant)]
            if tenant.place and any(each.place == tenant.place for each in others):
                await in_store(tenant.close)
                raise ConfigError(f"tenant {name} is given a store that another tenant has")
        except (StoreError, OSError, sqlite3.Error) as error:
            _LOG.error("tenant %s: the store cannot be opened: %s", name, error)
            limits = limits or TenantLimits(self.settings.gateway)
            self._open[name] = ShutTenant(name, limits, error, time.monotonic() + _SHUT_S)
        except HoldfastError as error:
            _LOG.error("tenant %s: %s", name, error)
            raise unopened() from None
        else:
            self._open[name] = tenant

    def _made(self, name: str, settings: Settings, limits: TenantLimits) -> OpenTenant:
        place, file = "", None
        if settings.store.url != _MEMORY:
            place = store_url(settings.store.url, settings.store.profile, self.environ)
            file = file_behind(settings.store.url, settings.store.profile, self.environ)
        tree = ":memory:"
        if file is not None:
            tree = str(file.with_name(TREE_FILE))
            make_folder(file.parent)
        store = store_of(settings, self.environ)
        conversations = Conversations(
            store, settings=settings, source="gateway", ahead_of_time=True
        )
        memory = memory_hub_of(settings, self.environ) if settings.memory.provider else None
        return OpenTenant(
            name=name,
            place=str(file.resolve()) if file else place,
            settings=settings,
            conversations=conversations,
            turns=TurnKeeper(
                conversations, TreeFile(tree), settings.gateway.context_length, memory
            ),
            limits=limits,
            feed=EventFeed(store),
        )


def unopened() -> ApiError:
    """Return the refusal of what needs a store that cannot be opened."""
    return ApiError(
        503,
        "unavailable",
        "the store of this tenant cannot be opened; the gateway's log says why",
        retry_after=1,
    )


def tenant_settings(base: Settings, name: str, environ: Mapping[str, str]) -> Settings:
    """Return the settings of a tenant: everybody's, with those of its own file over them.

    Raises:
        ConfigError: when its file sets what only the gateway as a whole can have, or when it would
            share a store with others.
    """
    if name == base.store.profile:
        return base
    own = read_file(home(environ) / "profiles" / name / _FILE)
    for each in own:
        section, _, key = each.path.partition(".")
        if each.path == "store.profile" or (section == "gateway" and key not in _LIMITS):
            raise ConfigError(
                f"{each.path} ({each.origin}) is for the gateway as a whole, not for one tenant; "
                "remove it"
            )
    settings = load(environ, own).settings
    names_store = any(each.path == "store.url" for each in own)
    if settings.store.url not in _OWN_STORE and not names_store:
        raise ConfigError(
            f"store.url is {settings.store.url}, which all tenants would share; set store.url in "
            f"{home(environ) / 'profiles' / name / _FILE}"
        )
    return replace(settings, store=replace(settings.store, profile=name))


def _secret(name: str, value: str) -> str:
    """Return the token that a header holds, if it is one of ours."""
    if name not in _CARRIERS:
        return ""
    scheme, _, rest = value.strip().partition(" ")
    secret = rest.strip() if scheme.lower() == "bearer" else value.strip()
    return secret if secret.startswith(PREFIX) or name == _CARRIERS[0] else ""


@lru_cache(_PEERS)
def _is_loopback(peer: str | None) -> bool:
    try:
        return peer is not None and ipaddress.ip_address(peer).is_loopback
    except ValueError:
        return False
