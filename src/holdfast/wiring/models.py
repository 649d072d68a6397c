"""Which model a name stands for, and who writes summaries: a model, a function, or nobody.

A model is a provider's, a compatible server's, or one on this machine. Without a name summaries are
written by whoever the settings say, and by the conversation's own model after that one: asked by
the client that a host hands over, or by its name where the settings say how.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack, cast

from holdfast.config import home
from holdfast.errors import ConfigError
from holdfast.providers.anthropic_model import AnthropicModel, AnthropicSummarizer
from holdfast.providers.callable_summarizer import CallableSummarizer, ClientSummarizer
from holdfast.providers.local_model import LocalModel, require
from holdfast.providers.openai_model import OpenAIModel, OpenAISummarizer
from holdfast.providers.provider_errors import SERVER_KEY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from holdfast.config import Settings
    from holdfast.ports import ChatModel, Summarizer
    from holdfast.summary import Ask

    Writer: TypeAlias = (
        str | Callable[[str], str] | Callable[[str], Awaitable[str]] | Summarizer | None
    )

_log = logging.getLogger(__name__)

LOCAL_MODEL = "smollm2"
"""The model on this machine, by the name of its files."""
LOCAL_WINDOW = 4096
"""Tokens that a model on this machine takes, unless somebody says otherwise."""

_LOCAL = {"local": LOCAL_MODEL, LOCAL_MODEL: LOCAL_MODEL}
_PROVIDERS = ("auto", "openai", "anthropic", "local")
_PREFIXES = ("anthropic/", "openai/", "local/")
_CREDENTIALS = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "openai": ("OPENAI_API_KEY",),
}
_OF_OPENAI = re.compile(r"(?:ft:)?(?:gpt|chatgpt|codex|computer-use|o\d)", re.IGNORECASE)
"""How the names of OpenAI's own models begin."""
_BEFORE_NAME = re.compile(r"^(?:.*/)?(?:[a-z-]+\.)*")
"""Providers, owners and regions before a name: `meta-llama/`, `us.anthropic.`."""
_FAMILIES = (
    *(("gpt-5", 400_000), ("gpt-4.1", 1_000_000), ("gpt-4o", 128_000), ("gpt-4-turbo", 128_000)),
    *(("gpt-4", 8_192), ("gpt-3.5", 16_385), ("gpt-oss", 131_072), ("chatgpt-4o", 128_000)),
    *(("o1-mini", 128_000), ("o1-preview", 128_000), ("o1", 200_000), ("o3", 200_000)),
    *(("o4", 200_000), ("codex", 200_000)),
    *(("claude-opus-4-6", 1_000_000), ("claude-opus-5", 1_000_000), ("claude-sonnet-5", 1_000_000)),
    *(("claude-2.0", 100_000), ("claude-instant", 100_000), ("claude", 200_000)),
    *(("gemini-1.0", 32_760), ("gemini", 1_000_000), ("gemma-3", 131_072), ("gemma", 8_192)),
    *(("grok-4-fast", 2_000_000), ("grok-4", 256_000), ("grok", 131_072)),
    *(("deepseek-v3", 128_000), ("deepseek", 64_000), ("kimi-k2", 131_072)),
    *(("qwen3-max", 262_144), ("qwen3-coder", 262_144), ("qwen3", 32_768), ("qwen2.5", 32_768)),
    *(("llama-4", 1_000_000), ("llama-3.", 131_072), ("llama3.", 131_072), ("llama", 8_192)),
    *(("mistral-large", 131_072), ("mistral-medium", 131_072), ("mistral-small", 131_072)),
    *(("codestral", 256_000), ("devstral", 131_072), ("magistral", 40_000), ("mistral", 32_768)),
    *(("glm-4.5", 131_072), ("glm", 200_000), ("minimax-m2", 204_800)),
    *(("command-a", 256_000), ("command-r", 128_000), ("phi-4", 16_384), ("smollm", 8_192)),
)
"""What models of a family take at least, by how their names begin, the narrower family first: for
where the catalog (the extra `prices`) is not installed, or does not know a name."""
_OWN_ADDRESS = re.compile(r"://[^/]*\.(?:anthropic|openai)\.com(?:[:/]|$)", re.IGNORECASE)
"""Addresses at which a model has no prefix."""
_IN_ANTHROPIC_DIALECT = re.compile(r"(?:\.anthropic\.com|/anthropic)(?:/v1)?/?$", re.IGNORECASE)
"""How addresses end at which requests are written as Anthropic's are."""


def is_local(name: str, provider: str = "auto", base_url: str | None = None) -> bool:
    """Say whether a name stands for a model on this machine."""
    return provider_of(name, provider, base_url)[0] == "local"


def provider_of(name: str, provider: str = "auto", base_url: str | None = None) -> tuple[str, str]:
    """Return in whose dialect a model is asked, and the model's name there.

    At an address of one's own the name is that server's, as it is typed: an aggregator tells
    models by prefixes such as `anthropic/`, and is asked in OpenAI's dialect.

    Raises:
        ConfigError: when there is no such provider.
    """
    if provider not in _PROVIDERS:
        raise ConfigError(f"provider is {provider!r}; allowed: {', '.join(_PROVIDERS)}")
    prefix = next((each for each in _PREFIXES if name.startswith(each)), "")
    plain = name.removeprefix(prefix)
    if base_url and "local" not in (provider, prefix.removesuffix("/")):
        if provider == "auto":
            is_anthropic = name.startswith("claude") or _IN_ANTHROPIC_DIALECT.search(base_url)
            provider = "anthropic" if is_anthropic else "openai"
        return provider, plain if _OWN_ADDRESS.search(base_url) else name
    if provider != "auto":
        return provider, plain
    if prefix:
        return prefix.removesuffix("/"), plain
    if name in _LOCAL:
        return "local", plain
    return ("anthropic" if name.startswith("claude") else "openai"), plain


@cache
def known_window(name: str, provider: str = "auto") -> int | None:
    """Return what a model takes: by the catalog where that is installed, else by its family.

    A name may have those of providers and regions before it, and a date or a tag behind it.
    """
    if not name:
        return None
    if is_local(name, provider):
        return LOCAL_WINDOW
    plain = provider_of(name, provider)[1]
    bare = _BEFORE_NAME.sub("", plain.lower())
    listed = None
    if find_spec("genai_prices") is not None:
        from holdfast.providers.price_catalog import PriceCatalog

        catalog = PriceCatalog()
        listed = catalog.context_length(plain) or catalog.context_length(bare)
    return listed or next((size for start, size in _FAMILIES if bare.startswith(start)), None)


@cache
def say_assumed(name: str, window: int) -> None:
    """Let the log say, once for each name, that the window of a model is not known."""
    _log.warning(
        "The window of %s is not known: %s tokens are assumed. Set context_length, or "
        "model.context_length in the settings, to what it takes.",
        name,
        f"{window:,}",
    )


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
        base_url: Where a compatible server listens; the name is then sent as it is.
        context_length: What the model takes, in tokens, where it is known.
        environ: Where the home directory and the key of a compatible server are found.

    Raises:
        ModelMissing: when a model on this machine is asked for and its files are not there.
    """
    environ = os.environ if environ is None else environ
    served, plain = provider_of(name, provider, base_url)
    if served == "local":
        return local_model(plain, context_length, environ)
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
    if name not in _LOCAL:
        raise ConfigError(f"there is no local model {name!r}; there are: {', '.join(_LOCAL)}")
    found = require(_LOCAL[name], home(os.environ if environ is None else environ))
    return LocalModel(
        found.files[0], name=_LOCAL[name], context_length=context_length or LOCAL_WINDOW
    )


def summarizer_by(model: LocalModel, *, timeout: float = 300.0) -> Summarizer:
    """Return the model on this machine as the one that writes summaries; starts its server."""
    return OpenAISummarizer(
        model.name,
        base_url=f"{model.base_url}/v1",
        timeout=timeout,
        window=model.context_length,
    )


class LocalWriter:
    """Writes with a local model, and keeps it: its server lives as long as its last reference.

    The address is asked for each time, since a server that was stopped comes back on another port.
    """

    def __init__(self, model: LocalModel, timeout: float) -> None:
        """Hold the model; nothing is loaded yet."""
        self._model = model
        self._timeout = timeout

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    @property
    def window(self) -> int | None:
        """Return what the model takes, in tokens."""
        return self._model.context_length

    def write(self, ask: Ask) -> str:
        """Return the answer to the prompt."""
        return self._summarizer.write(ask)

    async def awrite(self, ask: Ask) -> str:
        """Return the answer to the prompt without blocking the event loop."""
        return await self._summarizer.awrite(ask)

    @property
    def _summarizer(self) -> Summarizer:
        return summarizer_by(self._model, timeout=self._timeout)


_LEAST_WINDOW = 8_192
"""Tokens under which a model is asked for records only if somebody chose it for that: the toy of
this machine takes minutes for one, and it says little."""


_NOBODY = ("none", "deterministic")


class Endpoint(TypedDict, total=False):
    """Where a model is reached."""

    provider: str
    """`openai`, `anthropic`, or `auto` to go by the model's name."""
    base_url: str | None
    timeout: float
    window: int | None


def summarizer_of(writer: Writer, **endpoint: Unpack[Endpoint]) -> Summarizer | None:
    """Return the summarizer behind a name, a function or an object; None stays None.

    The command line has words for None, which name no model here either.
    """
    if writer is None or writer in _NOBODY:
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
    """Return the conversation's own model as a summarizer; None where it is not to be asked.

    A name alone is no reason to send anything anywhere: it takes a client, a server of the
    settings, or that somebody chose the model to write records.

    Args:
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
