"""The formats by name, and what may be asked of each."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError
from holdfast.formats.database_readers import DATABASES
from holdfast.formats.document import Format
from holdfast.formats.session_readers import SESSIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["DOCUMENTS", "FORMATS", "IN_DATABASES", "agent_of", "choose"]

DOCUMENTS: tuple[Format, ...] = (
    Format("openai", "OpenAI chat messages, JSON or JSONL", "openai", writable=True),
    Format("responses", "OpenAI Responses input, JSON or JSONL", "responses", writable=True),
    Format("anthropic", "Anthropic messages, JSON or JSONL", "anthropic", writable=True),
    Format("gemini", "Gemini contents, JSON or JSONL", "gemini", writable=True),
    Format("sharegpt", "ShareGPT conversations, JSON or JSONL", "sharegpt", writable=True),
    Format("hermes", "Hermes session, JSON", "openai", writable=True),
    Format("mini-swe-agent", "mini-swe-agent trajectory, JSON", "openai", writable=True),
)

_READ = (*(reader.format for reader in SESSIONS), *(reader.format for reader in DATABASES))
FORMATS: Mapping[str, Format] = MappingProxyType({each.name: each for each in (*DOCUMENTS, *_READ)})
IN_DATABASES = frozenset(reader.format.name for reader in DATABASES)
"""The formats that no text can be in."""


def agent_of(name: str) -> str:
    """Return the agent that a format is of, by which its sessions are known."""
    return FORMATS[name].agent or name


def choose(name: str, allowed: Iterable[str]) -> str:
    """Return the name when it is allowed.

    Raises:
        ConfigError: when it is not, with what is.
    """
    options = tuple(allowed)
    if name not in options:
        raise ConfigError(f"there is no format {name!r}; choose one of {', '.join(options)}")
    return name
