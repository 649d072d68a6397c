"""The least that a proxy of this stack does: Starlette on uvicorn, aiohttp behind it, no more.

`python -m bench.gateway.passthrough URL` serves on a free port and prints it.
"""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route
from uvicorn import Server

from holdfast.config.settings import GatewaySettings
from holdfast.gateway.server import bound, server_config

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from aiohttp import ClientSession
    from starlette.requests import Request

_LEFT_OUT = frozenset({b"host", b"content-length", b"connection", b"transfer-encoding"})


def relay(upstream: str) -> Starlette:
    """Return an application that forwards everything and relays what comes back as it comes."""
    sessions: list[ClientSession] = []

    async def forward(request: Request) -> StreamingResponse:
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, value in request.headers.raw
            if name not in _LEFT_OUT
        ]
        query = f"?{request.url.query}" if request.url.query else ""
        url = f"{upstream}{request.url.path}{query}"
        answer = await sessions[0].request(
            request.method, url, headers=headers, data=await request.body()
        )

        async def pieces() -> AsyncGenerator[bytes]:
            async with answer:
                while piece := await answer.content.readany():
                    yield piece

        kind = answer.headers["content-type"]
        return StreamingResponse(pieces(), answer.status, {"content-type": kind})

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        from aiohttp import ClientSession, DummyCookieJar, TCPConnector

        connector = TCPConnector(limit=0, keepalive_timeout=30)
        jar = DummyCookieJar()
        async with ClientSession(connector=connector, cookie_jar=jar) as session:
            sessions.append(session)
            yield

    routes = [Route("/{path:path}", forward, methods=["GET", "POST"])]
    return Starlette(routes=routes, lifespan=lifespan)


def main(upstream: str) -> None:
    """Serve until the process is ended, with the settings of uvicorn that the gateway has."""
    listening = bound(GatewaySettings(port=0))
    config = server_config("", 1)
    config.app, config.factory = relay(upstream), False
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(sys.argv[1])
