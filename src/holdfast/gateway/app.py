"""The gateway as an application: who may talk to it, what it answers itself, what it forwards."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import threading
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from multiprocessing import parent_process
from multiprocessing.connection import wait
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Match, Route

from holdfast.config import load
from holdfast.conversation.waiting import in_store
from holdfast.errors import ConfigError
from holdfast.gateway.bodies import HttpRefusal
from holdfast.gateway.client_side import ClientSide, Incoming
from holdfast.gateway.gate import TenantGate, audit_log, dialect_error_body
from holdfast.gateway.metrics import Metrics
from holdfast.gateway.proxy import Proxy
from holdfast.gateway.refusals import error_body
from holdfast.gateway.request_log import RequestLog, log_to_stderr, tracer
from holdfast.gateway.rest import VERSION, rest_routes
from holdfast.gateway.server import collect_seldom
from holdfast.gateway.tenants import Tenants
from holdfast.gateway.upstream import AiohttpClient, upstreams_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
    from types import FrameType

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from holdfast.config import Settings
    from holdfast.config.settings import GatewaySettings

_HOSTS = 64
"""Values of `Host` that are not read again."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Say whether only this machine reaches an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(slots=True)
class GatewayApp:
    """An ASGI application; what is none of its own routes is forwarded."""

    proxy: Proxy
    gate: ASGIApp
    """What stands before the proxy: limits and the audit log."""
    close: Callable[[], Awaitable[None]]
    """Lets go of the store at the end."""
    ready: Callable[[], Awaitable[None]]
    """Raises what stands in the way of serving."""
    routes: Sequence[Route] = ()
    """What is answered here beside the figures, such as the REST interface."""
    end_feeds: Callable[[], None] = lambda: None
    """Ends the streams that never end by themselves, as soon as the process is to end."""
    _own: Starlette = field(init=False)
    _first_names: frozenset[str] = field(init=False)
    """How the paths of the routes begin."""
    _hosts: frozenset[str] | None = field(init=False)
    """The names by which we may be called; None for all."""
    _is_ending: bool = False

    def __post_init__(self) -> None:
        """Put the routes together."""
        settings = self.proxy.settings
        names = {name.lower() for name in settings.allowed_hosts}
        # Where tokens are demanded, a page of a browser that was lured here has none.
        checked = is_loopback(settings.host) or bool(names)
        self._hosts = frozenset({*_LOOPBACK, settings.host, *names}) if checked else None
        self.routes = (
            Route("/healthz", self._health),
            Route("/readyz", self._readiness),
            Route("/metrics", self._metrics),
            *self.routes,
        )
        self._first_names = frozenset(route.path.split("/", 2)[1] for route in self.routes)
        self._own = Starlette(routes=self.routes, lifespan=self._lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, if it may be asked."""
        if scope["type"] == "http":
            incoming = Incoming.of(scope)
            try:
                self._check(incoming)
            except HttpRefusal as refused:
                kind = ("content-type", "application/json")
                body = error_body("", refused.status, refused.sentence)
                await ClientSide(send).whole(refused.status, [kind], body)
                return
            if not self._answers(scope):
                await self.gate(scope, receive, send)
                return
        await self._own(scope, receive, send)

    def _answers(self, scope: Scope) -> bool:
        """Say whether a request is for one of our own routes; most are seen at a look not to be."""
        begin = scope["path"].lstrip("/").partition("/")[0]
        may_be = begin in self._first_names or bool(scope.get("root_path"))
        return may_be and any(each.matches(scope)[0] is not Match.NONE for each in self.routes)

    def _check(self, incoming: Incoming) -> None:
        """Let nobody in whom a web page sent, or who wants what is not spoken here.

        Raises:
            HttpRefusal: with what is wrong.
        """
        hosts = [value for name, value in incoming.headers if name == "host"]
        if len(hosts) != 1:
            raise HttpRefusal(400, "a request names the host it is for, once")
        if incoming.header("content-length") and incoming.header("transfer-encoding"):
            # Two servers could read two requests in it.
            raise HttpRefusal(400, "a request has a length or comes in chunks, not both")
        if self._hosts is not None and _name(hosts[0]) not in self._hosts:
            raise HttpRefusal(
                403, "this host is not served here; gateway.allowed_hosts names those that are"
            )
        origin = incoming.header("origin")
        if origin and origin.partition("://")[2] != hosts[0]:
            named = self.proxy.settings.allowed_hosts
            if _name(origin.partition("://")[2]) not in {name.lower() for name in named}:
                raise HttpRefusal(403, "requests of other web pages are not served")
        if incoming.header("sec-fetch-site") == "cross-site":
            raise HttpRefusal(403, "requests of other web pages are not served")
        if "websocket" in incoming.header("upgrade").lower():
            raise HttpRefusal(426, "websockets are not served; send requests by POST")

    async def _health(self, _: Request) -> JSONResponse:
        return JSONResponse({"status": "ok", "service": "holdfast", "version": VERSION})

    async def _readiness(self, _: Request) -> JSONResponse:
        reason = "the gateway is shutting down" if self._is_ending else ""
        if not reason:
            try:
                await self.ready()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is not ready
                reason = f"the store cannot be used: {type(error).__name__}"
        status = {"status": "not ready", "reason": reason} if reason else {"status": "ready"}
        return JSONResponse(status, 503 if reason else 200)

    async def _metrics(self, request: Request) -> PlainTextResponse | JSONResponse:
        try:
            await self.proxy.authorize(Incoming.of(request.scope))
        except HttpRefusal as refused:
            return JSONResponse({"error": {"message": refused.sentence}}, refused.status)
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return PlainTextResponse(self.proxy.metrics.text(), media_type=kind)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncGenerator[None]:
        self._listen_for_the_end()
        try:
            yield
        finally:
            self._is_ending = True
            await self.proxy.drain()
            await self.close()

    def _listen_for_the_end(self) -> None:
        """Hear a signal beside the server, which waits for all answers before it says anything."""
        loop = asyncio.get_running_loop()
        if threading.current_thread() is not threading.main_thread():
            return
        for each in (signal.SIGINT, signal.SIGTERM):
            server = signal.getsignal(each)

            def end(number: int, frame: FrameType | None, server: object = server) -> None:
                self._is_ending = True
                loop.call_soon_threadsafe(self.end_feeds)
                if callable(server):
                    server(number, frame)

            signal.signal(each, end)


@lru_cache(_HOSTS)
def _name(host: str) -> str:
    """Return the name in a `Host` header, without its port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def gateway_app(settings: Settings, environ: Mapping[str, str] = os.environ) -> GatewayApp:
    """Return the gateway that the settings describe, for all tenants that its tokens name.

    Raises:
        ConfigError: when others could reach it and nothing says who may.
    """
    tenants = Tenants(settings, environ)
    check_reach(settings.gateway, has_tokens=tenants.needs_token)

    async def ready() -> None:
        if not tenants.needs_token:
            store = (await tenants.opened(settings.store.profile)).store
            # A store that can only be read is no place for what is said.
            await in_store(lambda: store.remember("gateway:ready", "yes"))

    proxy = Proxy(
        settings.gateway,
        upstreams_of(settings.gateway.upstreams, environ),
        AiohttpClient(settings.gateway.silence_seconds),
        tenants.authorize,
        Metrics(),
        log=RequestLog(tracer()),
    )
    gate = TenantGate(proxy, tenants, audit_log(environ), dialect_error_body)
    routes = rest_routes(tenants)
    return GatewayApp(proxy, gate, tenants.close, ready, routes, tenants.end_feeds)


def check_reach(settings: GatewaySettings, *, has_tokens: bool) -> None:
    """Refuse to be reached by other machines where nothing says who may.

    Raises:
        ConfigError: with what to do.
    """
    if not has_tokens and not is_loopback(settings.host):
        raise ConfigError(
            f"gateway.host is {settings.host!r}, which other machines may reach, and there are no "
            "tokens that say who may; use 127.0.0.1, or add a token first"
        )


def from_environment() -> GatewayApp:
    """Return the gateway of a worker process, which finds its flags in the environment.

    It ends when the process that started it is gone, as a signal would end it.
    """
    if parent := parent_process():
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    settings = load(os.environ).settings
    log_to_stderr(requests=settings.gateway.log_requests)
    app = gateway_app(settings)
    collect_seldom()
    return app


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os.kill(os.getpid(), signal.SIGTERM)
