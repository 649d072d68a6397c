"""Which model a name stands for: a provider's, a compatible server's, or one on this machine."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.config import home
from holdfast.errors import ConfigError
from holdfast.providers.model_files import require
from holdfast.providers.provider_errors import SERVER_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.ports import ChatModel, Summarizer
    from holdfast.providers.local_model import LocalModel

__all__ = [
    "LOCAL_WINDOW",
    "is_local",
    "known_window",
    "local_model",
    "model_of",
    "out_of_reach",
    "provider_of",
    "summarizer_by",
]

LOCAL_WINDOW = 4096
"""Tokens that a model on this machine takes, unless somebody says otherwise."""

_LOCAL = {"local": "smollm2", "smollm2": "smollm2"}
_PROVIDERS = ("auto", "openai", "anthropic", "local")
_PREFIXES = ("anthropic/", "openai/", "local/")
_CREDENTIALS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
}
_OF_OPENAI = re.compile(r"(?:ft:)?(?:gpt|chatgpt|codex|computer-use|o\d)", re.IGNORECASE)
"""How the names of OpenAI's own models begin."""


def is_local(name: str, provider: str = "auto") -> bool:
    """Say whether a name stands for a model on this machine."""
    return provider_of(name, provider)[0] == "local"


def provider_of(name: str, provider: str = "auto") -> tuple[str, str]:
    """Return who serves a model, and the model's name there.

    Raises:
        ConfigError: when there is no such provider.
    """
    if provider not in _PROVIDERS:
        raise ConfigError(f"provider is {provider!r}; allowed: {', '.join(_PROVIDERS)}")
    prefix = next((each for each in _PREFIXES if name.startswith(each)), "")
    plain = name.removeprefix(prefix)
    if provider != "auto":
        return provider, plain
    if prefix:
        return prefix.removesuffix("/"), plain
    if name in _LOCAL:
        return "local", plain
    return ("anthropic" if name.startswith("claude") else "openai"), plain


def known_window(name: str, provider: str = "auto") -> int | None:
    """Return what a model takes, by its kind or by the catalog, where that is installed."""
    if not name:
        return None
    if is_local(name, provider):
        return LOCAL_WINDOW
    if find_spec("genai_prices") is None:
        return None
    from holdfast.providers.price_catalog import PriceCatalog

    return PriceCatalog().context_length(provider_of(name, provider)[1])


def out_of_reach(name: str, environ: Mapping[str, str], provider: str = "auto") -> str:
    """Return why a model cannot be asked at its provider's own address; empty if it may be.

    Nothing is sent: a credential that is there may still be refused.
    """
    served, plain = provider_of(name, provider)
    if served == "local":
        return ""
    if served == "openai" and name == plain and provider == "auto":
        is_elsewhere = environ.get("OPENAI_BASE_URL", "").strip()
        if not is_elsewhere and not _OF_OPENAI.match(plain):
            return "nobody is known to serve it; name a server that does with --base-url"
    variables = _CREDENTIALS[served]
    if any(environ.get(each, "").strip() for each in variables):
        return ""
    return f"there is no credential; set {variables[0]}"


def model_of(
    name: str,
    provider: str = "auto",
    base_url: str | None = None,
    context_length: int | None = None,
    environ: Mapping[str, str] | None = None,
) -> ChatModel:
    """Return the model behind a name; nothing is loaded or sent yet.

    Args:
        name: Such as `gpt-5`, `claude-opus-4`, `openai/qwen3` or `local`.
        provider: `openai`, `anthropic`, `local`, or `auto` to go by the name.
        base_url: Where a compatible server listens; a name alone is then that server's.
        context_length: What the model takes, in tokens, where it is known.
        environ: Where the home directory and the key of a compatible server are found.

    Raises:
        ModelMissing: when a model on this machine is asked for and its files are not there.
    """
    environ = os.environ if environ is None else environ
    if base_url and provider == "auto" and name in _LOCAL:
        provider = "openai"
    served, plain = provider_of(name, provider)
    if served == "local":
        return local_model(plain, context_length, environ)
    # Imported only here: a model on this machine needs no other SDK.
    from holdfast.providers.anthropic_model import AnthropicModel
    from holdfast.providers.openai_model import OpenAIModel

    chosen = AnthropicModel if served == "anthropic" else OpenAIModel
    # A provider's own key is found by its SDK, and never sent to another server.
    key = environ.get(SERVER_KEY, "").strip() if base_url else ""
    return chosen(plain, api_key=key or None, base_url=base_url, context_length=context_length)


def local_model(
    name: str = "local",
    context_length: int | None = None,
    environ: Mapping[str, str] | None = None,
) -> LocalModel:
    """Return a model on this machine; its server starts with the first request.

    Raises:
        ConfigError: when there is no such model.
        ModelMissing: when its files are not here.
    """
    from holdfast.providers.local_model import LocalModel

    if name not in _LOCAL:
        raise ConfigError(f"there is no local model {name!r}; there are: {', '.join(_LOCAL)}")
    found = require(_LOCAL[name], home(os.environ if environ is None else environ))
    return LocalModel(
        found.files[0], name=_LOCAL[name], context_length=context_length or LOCAL_WINDOW
    )


def summarizer_by(model: LocalModel, *, timeout: float = 300.0) -> Summarizer:
    """Return the model on this machine as the one that writes summaries; starts its server."""
    from holdfast.providers.openai_model import OpenAISummarizer

    return OpenAISummarizer(
        model.name,
        base_url=f"{model.base_url}/v1",
        timeout=timeout,
        window=model.context_length,
    )
