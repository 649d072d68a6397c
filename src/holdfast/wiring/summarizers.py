"""Who writes summaries, from what a user names: a model, a function, an object, or nobody."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack

from holdfast.errors import ConfigError
from holdfast.providers.anthropic_model import AnthropicSummarizer
from holdfast.providers.callable_summarizer import CallableSummarizer
from holdfast.providers.openai_model import OpenAISummarizer
from holdfast.providers.provider_errors import SERVER_KEY
from holdfast.wiring.models import provider_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from holdfast.ports import Summarizer

    Writer: TypeAlias = (
        str | Callable[[str], str] | Callable[[str], Awaitable[str]] | Summarizer | None
    )

__all__ = ["Endpoint", "summarizer_of"]


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
