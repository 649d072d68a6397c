"""Serves the gateway: one process or several on one socket, ended without losing an answer."""

from __future__ import annotations

import gc
import logging
import socket
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError, reason_of

if TYPE_CHECKING:
    from uvicorn import Config

    from holdfast.config.settings import GatewaySettings
    from holdfast.gateway.app import GatewayApp

WORKER = "holdfast.gateway.app:from_environment"
_DRAIN_S = 30
_SIGN_OF_LIFE_S = 30
"""How long a worker may be busy with one thing, or take to start, before it is replaced."""
_BACKLOG = 2048
_COLLECTIONS = 20
"""Of middle age before everything is looked at: twice as many as Python would have it. With more,
what conversations that were let go of leave behind stays in memory for long."""


def bound(settings: GatewaySettings) -> socket.socket:
    """Return the socket that the settings describe.

    Raises:
        ConfigError: when the address is none of this machine's, or taken.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((settings.host, settings.port))
        found.listen(_BACKLOG)
        found.set_inheritable(True)
    except OSError as error:
        found.close()
        place = f"{settings.host} port {settings.port}"
        raise ConfigError(
            f"the gateway cannot listen on {place}: {reason_of(error)}; gateway.host and "
            "gateway.port say where, and port 0 takes any that is free"
        ) from None
    return found


def server_config(app: GatewayApp | str, workers: int = 1) -> Config:
    """Return how uvicorn serves: silent, with nothing added, and drained at the end."""
    from uvicorn import Config

    return Config(
        app,
        factory=isinstance(app, str),
        workers=workers,
        ws="none",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        # An upstream's own are passed on.
        server_header=False,
        date_header=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=_DRAIN_S,
        timeout_worker_healthcheck=_SIGN_OF_LIFE_S,
    )


def collect_seldom() -> None:
    """Let Python look for garbage among what requests leave behind, and seldom among all of it.

    A look at everything takes a tenth of a second where hundreds of conversations are in memory,
    and no request is served meanwhile. What is loaded now is not looked at again.
    """
    # Loaded by the first request otherwise.
    import aiohttp  # noqa: F401 # pyright: ignore[reportUnusedImport]

    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, _COLLECTIONS)
    gc.collect()
    gc.freeze()


def serve(app: GatewayApp | str, listening: socket.socket, workers: int = 1) -> None:
    """Serve until a signal comes; what is under way then is finished.

    Args:
        app: The application; for several workers, the name of what makes it.
        listening: The socket.
        workers: How many processes.
    """
    from uvicorn import Server

    # It reports each client that goes away in the middle of an answer.
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    config = server_config(app, workers)
    if workers == 1:
        collect_seldom()
        Server(config).run(sockets=[listening])
        return
    from uvicorn.supervisors import Multiprocess

    class Supervisor(Multiprocess):
        def terminate_all(self) -> None:
            # Who connects now is refused, and does not wait for an answer that nobody gives.
            for each in self.sockets:
                each.close()
            super().terminate_all()

    Supervisor(config, sockets=[listening]).run()
