"""The checks of `doctor` on addresses: does anybody answer where the settings point?"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.cli.check import Check, State
from holdfast.wiring.models import is_local, provider_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.config import Settings

__all__ = ["place_of", "reach_checks"]

_HOMES = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_PORTS = {"http": 80, "https": 443}
_PATIENCE = 3.0


def reach_checks(settings: Settings) -> Iterator[Check]:
    """Connect to the addresses that the settings name, or to the proxy before them.

    Nothing is said there.
    """
    for name, address in _addresses(settings).items():
        proxy = _proxy(address)
        place = place_of(proxy or address)
        through = f" (the proxy before {place_of(address)})" if proxy else ""
        try:
            host, _, port = place.rpartition(":")
            socket.create_connection((host, int(port)), _PATIENCE).close()
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
            advice = "check the address and the network; --offline leaves this check out"
            yield Check(name, State.FAIL, f"{place}{through} does not answer: {reason}", advice)
        else:
            yield Check(name, State.OK, f"{place}{through} answers")


def place_of(address: str) -> str:
    """Return host and port of an address, without a credential that may stand in it."""
    parts = urlsplit(address)
    return f"{parts.hostname or ''}:{parts.port or _PORTS.get(parts.scheme, 443)}"


def _addresses(settings: Settings) -> dict[str, str]:
    """Return the address of everything that is configured and not on this machine."""
    model, summary = settings.model, settings.auxiliary.compression
    found: dict[str, str] = {}
    if model.name and not is_local(model.name, model.provider):
        found["model address"] = model.base_url or _home(model.name, model.provider)
    if summary.model and not is_local(summary.model, summary.provider):
        found["summary address"] = summary.base_url or _home(summary.model, summary.provider)
    if settings.memory.provider and settings.memory.base_url:
        found["memory address"] = settings.memory.base_url
    return found


def _home(name: str, provider: str) -> str:
    return _HOMES[provider_of(name, provider)[0]]


def _proxy(address: str) -> str:
    """Return the proxy that the environment names for an address."""
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(address)
    proxy = getproxies().get(parts.scheme, "")
    return "" if not proxy or proxy_bypass(parts.hostname or "") else proxy
