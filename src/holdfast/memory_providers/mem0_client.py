"""Mem0's client, brought in without what its import does to the process and to the network.

By itself the import starts telemetry, makes a folder in the user's home directory, changes the
warning filters, and silences the logger of another library.
"""

from __future__ import annotations

import logging
import os
import threading
import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from holdfast.providers.provider_errors import retry_after

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from pathlib import Path

    from httpx import Client

    from holdfast.errors import MemoryUnavailable
    from holdfast.memory_providers.memory_services import Service

__all__ = ["Connection", "Memories", "connect", "translated"]

_IMPORTING = threading.Lock()
_SILENCED = "urllib3"


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
        key: The credential.
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
        case _ if isinstance(error, _refusal()):
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


def _refusal() -> type[Exception]:
    return cast("type[Exception]", import_module("mem0.exceptions").MemoryError)


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
