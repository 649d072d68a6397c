"""A gateway's application on a real socket, for tests that ask it over HTTP."""

import json
import threading
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from holdfast.config import load
from holdfast.gateway.gate import TenantGate, audit_log, dialect_error_body
from holdfast.gateway.metrics import Metrics
from holdfast.gateway.proxy import Proxy
from holdfast.gateway.rest import rest_routes
from holdfast.gateway.tenants import Tenants
from holdfast.gateway.upstream import AiohttpClient, upstreams_of


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)

    @property
    def error(self) -> tuple[int, str]:
        """Return status and code of an error, whose shape is always the same."""
        value = self.json
        assert set(value) == {"error"}, value
        assert set(value["error"]) == {"code", "message"}
        assert value["error"]["message"]
        return self.status, value["error"]["code"]


@dataclass(frozen=True)
class Client:
    """Asks a server on this machine."""

    port: int
    tenants: Tenants
    home: Path
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_(self, token: str) -> "Client":
        return Client(self.port, self.tenants, self.home, {"authorization": f"Bearer {token}"})

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {**self.headers, **(headers or {})}
        raw = body
        if body is not None and not isinstance(body, bytes):
            raw = json.dumps(body).encode()
            sent.setdefault("content-type", "application/json")
        try:
            connection.request(method, path, raw, sent)  # type: ignore[arg-type]
            found = connection.getresponse()
            known = {name.lower(): value for name, value in found.getheaders()}
            return Answer(found.status, known, found.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, body: object = None) -> Answer:
        return self.ask("POST", path, body)


@contextmanager
def serving(home: Path, upstream: str = "", **environ: str) -> Generator[Client]:
    """Serve the REST interface of an installation for as long as the block runs.

    With an upstream, everything else is forwarded there, behind the same gate.
    """
    known = {"HOLDFAST_HOME": str(home), **environ}
    tenants = Tenants(load(known).settings, known)
    routes = rest_routes(tenants)
    chosen, client = upstreams_of((upstream,) if upstream else (), {}), AiohttpClient(30)
    proxy = Proxy(tenants.settings.gateway, chosen, client, tenants.authorize, Metrics())
    if upstream:
        gate = TenantGate(proxy, tenants, audit_log(known), dialect_error_body)
        routes.append(Route("/{path:path}", gate))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        yield
        await proxy.drain()
        await tenants.close()

    app = Starlette(routes=routes, lifespan=lifespan)
    config = uvicorn.Config(
        app, port=0, log_config=None, ws="none", timeout_graceful_shutdown=2, loop="asyncio"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Client(port, tenants, home)
    finally:
        server.should_exit = True
        thread.join(10)
