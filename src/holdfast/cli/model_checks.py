"""The checks of `doctor` on models: their windows, credentials and addresses."""

from __future__ import annotations

import socket
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.adapters.model_errors import SERVER_KEY
from holdfast.cli.check import Check, State
from holdfast.wiring import policy_of
from holdfast.wiring.models import LOCAL_WINDOW, is_local, provider_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.config import Settings

__all__ = ["model_checks", "needed_extras", "reach_checks"]

_CREDENTIALS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
_HOMES = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_PORTS = {"http": 80, "https": 443}
_PATIENCE = 3.0


def model_checks(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Look at the conversation's model and at the one that writes summaries."""
    yield _window(settings)
    yield from _chat_model(settings, environ)
    yield from _summary_model(settings, environ)


def reach_checks(settings: Settings) -> Iterator[Check]:
    """Connect to the addresses that the settings name; nothing is said there."""
    for name, address in _addresses(settings).items():
        host, port = _place(address)
        try:
            socket.create_connection((host, port), _PATIENCE).close()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            advice = "check the address and the network; --offline leaves this check out"
            yield Check(name, State.FAIL, f"{host}:{port} does not answer: {reason}", advice)
        else:
            yield Check(name, State.OK, f"{host}:{port} answers")


def _addresses(settings: Settings) -> dict[str, str]:
    """Return the address of each model that is configured and not on this machine."""
    model, summary = settings.model, settings.auxiliary.compression
    found: dict[str, str] = {}
    if model.name and not is_local(model.name, model.provider):
        provider, _ = provider_of(model.name, model.provider)
        found["model address"] = model.base_url or _HOMES[provider]
    if summary.model and not is_local(summary.model, summary.provider):
        provider, _ = provider_of(summary.model, summary.provider)
        found["summary address"] = summary.base_url or _HOMES[provider]
    return found


def needed_extras(settings: Settings) -> frozenset[str]:
    """Return the extras without which the models of the settings cannot be asked."""
    model, summary = settings.model, settings.auxiliary.compression
    chosen = ((model.name, model.provider), (summary.model, summary.provider))
    return frozenset(provider_of(name, provider)[0] for name, provider in chosen if name)


def _place(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 443)


def _window(settings: Settings) -> Check:
    name, model = settings.model.name, settings.model
    if not name or is_local(name, model.provider):
        local = replace(model, context_length=model.context_length or LOCAL_WINDOW)
        return Check("window", State.OK, _due(replace(settings, model=local) if name else settings))
    known = _catalogued(name)
    if model.context_length is None:
        if known is not None:
            listed = replace(settings, model=replace(model, context_length=known))
            return Check("window", State.OK, f"as listed for {name}: {_due(listed)}")
        advice = f"set model.context_length to the window of {name}"
        return Check("window", State.WARN, f"assumed: {_due(settings)}", advice)
    if known is not None and model.context_length > known:
        advice = f"set model.context_length to {known} or less"
        return Check("window", State.WARN, f"{_due(settings)}; {name} takes {known:,}", advice)
    return Check("window", State.OK, _due(settings))


def _due(settings: Settings) -> str:
    policy = policy_of(settings)
    return f"{policy.context_length:,} tokens, compaction is due at {policy.threshold_tokens:,}"


def _catalogued(name: str) -> int | None:
    """Return the window of a model, where the price catalog is installed and knows it."""
    if find_spec("genai_prices") is None:
        return None
    from holdfast.adapters.price_catalog import PriceCatalog

    return PriceCatalog().context_length(name)


def _chat_model(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    model = settings.model
    if model.name is None or is_local(model.name, model.provider):
        yield Check("model", State.OK, "the one on this machine, which needs no key")
        return
    provider, _ = provider_of(model.name, model.provider)
    yield Check("model", State.OK, f"{model.name} ({provider})")
    yield _credential("model credential", provider, model.base_url, environ)


def _summary_model(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    chosen = settings.auxiliary.compression
    if chosen.model is None:
        yield Check("summary model", State.OK, "none: the record is made without a model")
        return
    provider, _ = provider_of(chosen.model, chosen.provider)
    yield _summary_window(settings, f"{chosen.model} ({provider})")
    if is_local(chosen.model, chosen.provider):
        return
    yield _credential("credential", provider, chosen.base_url, environ)


def _credential(name: str, provider: str, address: str | None, environ: Mapping[str, str]) -> Check:
    # A provider's own key is never sent to another server.
    variable = SERVER_KEY if address else _CREDENTIALS[provider]
    if environ.get(variable, "").strip():
        return Check(name, State.OK, f"{variable} is set")
    if address:
        host, port = _place(address)
        return Check(name, State.OK, f"none is sent to {host}:{port}; {variable} would be")
    return Check(name, State.FAIL, f"{variable} is not set", f"export {variable}")


def _summary_window(settings: Settings, named: str) -> Check:
    policy, window = policy_of(settings), settings.auxiliary.compression.context_length
    if window is None:
        words = f"its requests are sized for {policy.context_length:,} tokens"
        return Check("summary model", State.OK, f"{named}; {words} until it states its window")
    if window < policy.threshold_tokens:
        return Check(
            "summary model",
            State.WARN,
            f"{named}; its window of {window:,} tokens is under the threshold of "
            f"{policy.threshold_tokens:,}, so long sessions are summarized in several requests",
            "choose a model with a larger window, or lower compression.threshold",
        )
    return Check("summary model", State.OK, f"{named}; its window is {window:,} tokens")
