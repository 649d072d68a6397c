"""Which provider caches prompts in which way: by markers, by itself, or not at all.

The figures are what is written about the providers, not what was measured at them. Where a rule
depends on the model, a new model counts as the family's usual one until it is listed here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias, assert_never
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from holdfast.cost import Ttl

__all__ = ["Automatic", "Marked", "Support", "Uncached", "caching_line", "support_of"]

MINUTES = 60_000
"""Milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """Prefixes are kept where the request marks them, as Anthropic does."""

    minimum: int = 1_024
    """A shorter prefix is not kept, marked or not, and nobody says so."""
    lookback: int = 20
    """At how many blocks, counted back from a marker and with its own, an entry is looked for."""
    native: bool = True
    """Whether the receiver reads a marker on a message too: Anthropic's own layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Automatic:
    """The provider keeps every prompt by itself, in steps of some tokens."""

    minimum: int = 1_024
    step: int = 128
    lifetime: int | None = 5 * MINUTES
    """Milliseconds after the last use; None where it is kept as long as the server runs."""


@dataclass(frozen=True, slots=True)
class Uncached:
    """Nothing is kept, as far as anybody knows."""

    reason: str


Support: TypeAlias = Marked | Automatic | Uncached

_MINIMUMS = (
    (r"opus-4[-.][567]|haiku-4[-.]5|mythos-preview", 4_096),
    (r"3[-.]5-haiku|3-haiku|haiku-3", 2_048),
    (r"(?:opus|fable|mythos)-5", 512),
)
"""The shortest prefix that Claude models keep, where it is not 1,024 tokens."""
_HOSTS: tuple[tuple[str, Automatic], ...] = (
    ("openai.com", Automatic()),
    ("azure.com", Automatic()),
    ("deepseek.com", Automatic(minimum=64, step=64, lifetime=60 * MINUTES)),
    ("x.ai", Automatic(minimum=1, step=1)),
    ("googleapis.com", Automatic(minimum=1_024, step=1)),
)
_LOCAL = Automatic(minimum=1, step=1, lifetime=None)
_IN_PROCESS = "local"
"""The endpoint of a model that this process serves: its port changes from run to run."""
_FORWARDING = ("openrouter.ai",)
"""Hosts that hand markers in OpenAI's layout on to Claude."""


@lru_cache(maxsize=64)
def support_of(model: str, *, dialect: str, endpoint: str = "") -> Support:
    """Return how prompts to a model are cached.

    Args:
        model: Its name as requests have it.
        dialect: How its requests are written.
        endpoint: Where it is reached; empty for the provider's own address, `local` for a model
            inside this process.
    """
    if endpoint == _IN_PROCESS:
        return _LOCAL
    host = (urlsplit(endpoint).hostname or "").lower() if endpoint else ""
    is_claude = "claude" in model.lower()
    if dialect == "anthropic":
        if is_claude or not host or _is_at(host, "anthropic.com"):
            return Marked(minimum=_minimum(model))
        return Uncached(f"{host} speaks Anthropic's dialect, but {model} is not known to cache")
    if is_claude:
        if any(_is_at(host, each) for each in _FORWARDING):
            return Marked(minimum=_minimum(model), native=False)
        return Uncached(f"{host or 'this address'} is not known to hand markers on to Claude")
    if host in ("localhost", "::1", "0.0.0.0") or host.startswith("127."):
        return _LOCAL
    if not host:
        return Automatic(step=1) if dialect == "gemini" else Automatic()
    for known, automatic in _HOSTS:
        if _is_at(host, known):
            return automatic
    return Uncached(f"{host} is not known to cache prompts")


def caching_line(support: Support, *, ttl: Ttl = "5m") -> str:
    """Return one sentence that says at the start how prompts are cached."""
    match support:
        case Marked(minimum=minimum):
            kept = "an hour" if ttl == "1h" else "5 minutes"
            return (
                f"Prompt caching is on: four markers, kept {kept} after each use, "
                f"from {minimum:,} tokens."
            )
        case Automatic(minimum=minimum) if minimum > 1:
            return f"Prompt caching is automatic at this provider, from {minimum:,} tokens."
        case Automatic():
            return "Prompt caching is automatic at this server."
        case Uncached(reason=reason):
            return f"Prompt caching is off: {reason}."
        case _:
            assert_never(support)


def _minimum(model: str) -> int:
    name = model.lower()
    return next((tokens for pattern, tokens in _MINIMUMS if re.search(pattern, name)), 1_024)


def _is_at(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
