"""Who writes summaries, from what a user names: a model, a function, an object, or nobody.

Without a name it is whoever the settings say, and the conversation's own model after that one:
asked by the client that a host hands over, or by its name where the settings say how.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack, cast

from holdfast.errors import ConfigError
from holdfast.providers.anthropic_model import AnthropicSummarizer
from holdfast.providers.callable_summarizer import CallableSummarizer, ClientSummarizer
from holdfast.providers.openai_model import OpenAISummarizer
from holdfast.providers.provider_errors import SERVER_KEY
from holdfast.wiring.local_writer import LocalWriter
from holdfast.wiring.models import is_local, known_window, local_model, provider_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from holdfast.config import Settings
    from holdfast.ports import Summarizer

    Writer: TypeAlias = (
        str | Callable[[str], str] | Callable[[str], Awaitable[str]] | Summarizer | None
    )

__all__ = ["Endpoint", "configured_summarizer", "main_summarizer", "summarizer_of"]

_LEAST_WINDOW = 8_192
"""Tokens under which a model is asked for records only if somebody chose it for that: the toy of
this machine takes minutes for one, and it says little."""


class Endpoint(TypedDict, total=False):
    """Where a model is reached."""

    provider: str
    """`openai`, `anthropic`, or `auto` to go by the model's name."""
    base_url: str | None
    timeout: float
    window: int | None


def summarizer_of(writer: Writer, **endpoint: Unpack[Endpoint]) -> Summarizer | None:
    """Return the summarizer behind a name, a function or an object; None stays None."""
    if writer is None:
        return None
    if isinstance(writer, str):
        return _model(writer, endpoint)
    if callable(writer):
        return CallableSummarizer(writer)
    if not hasattr(writer, "write"):
        raise ConfigError(
            f"summarizer is {writer!r}; allowed: a function, a model's name, a Summarizer or None"
        )
    return writer


def configured_summarizer(settings: Settings) -> Summarizer | None:
    """Return the separate summary model, or the conversation's own where that one is chosen."""
    chosen, main = settings.auxiliary.compression, settings.model
    if chosen.provider == "main":
        return main_summarizer(settings, main.name or "")
    name = chosen.separate
    if name and is_local(name, chosen.provider, chosen.base_url):
        return LocalWriter(local_model(name.removeprefix("local/")), chosen.timeout)
    return summarizer_of(
        name,
        provider=chosen.provider,
        base_url=chosen.base_url,
        timeout=chosen.timeout,
        window=chosen.context_length,
    )


def main_summarizer(
    settings: Settings,
    name: str,
    client: object = None,
    *,
    window: int | None = None,
    has_server: bool = False,
) -> Summarizer | None:
    """Return the conversation's own model as a summarizer; nothing where it is not to be asked.

    A name alone is no reason to send anything anywhere: it takes a client, a server of the
    settings, or that somebody chose the model to write records.

    Args:
        settings: What is configured.
        name: The conversation's model.
        client: What a host asks it with: an SDK's client, or a function from a model's name to a
            summarizer.
        window: What it takes, in tokens, where that is known.
        has_server: Whether a server of the settings may be asked although nobody chose that.
    """
    chosen, main = settings.auxiliary.compression, settings.model
    is_configured = name == main.name
    window = window or known_window(name)
    if callable(client):
        found = cast("Callable[[str], Summarizer | None]", client)(name)
    elif client is not None:
        found = ClientSummarizer(client, name, window=window, timeout=chosen.timeout)
    elif (
        name
        and name != chosen.separate
        and (
            chosen.provider == "main"
            or (is_configured and (chosen.separate or (has_server and main.base_url)))
        )
    ):
        served = (main.provider, main.base_url) if is_configured else ("auto", None)
        if is_local(name, *served):
            found = LocalWriter(local_model(name.removeprefix("local/")), chosen.timeout)
        else:
            found = summarizer_of(
                name,
                provider=served[0],
                base_url=served[1],
                timeout=chosen.timeout,
                window=window,
            )
    else:
        return None
    size = (found.window or window or _LEAST_WINDOW) if found else 0
    return found if chosen.provider == "main" or size >= _LEAST_WINDOW else None


def _model(name: str, endpoint: Endpoint) -> Summarizer:
    base_url = endpoint.get("base_url")
    provider, plain = provider_of(name, endpoint.get("provider", "auto"), base_url)
    chosen = AnthropicSummarizer if provider == "anthropic" else OpenAISummarizer
    # A provider's own key is found by its SDK, and never sent to another server.
    key = os.environ.get(SERVER_KEY, "").strip() if base_url else ""
    return chosen(
        plain,
        api_key=key or None,
        base_url=base_url,
        timeout=endpoint.get("timeout", 120.0),
        window=endpoint.get("window"),
    )
