"""The formats by name, their readers, and whose file or database it is."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError
from holdfast.formats.antigravity import ANTIGRAVITY
from holdfast.formats.claude_code import CLAUDE_CODE
from holdfast.formats.codex import CODEX
from holdfast.formats.copilot import COPILOT
from holdfast.formats.cursor import CURSOR
from holdfast.formats.cursor.database import CURSOR_CHAT
from holdfast.formats.droid import DROID
from holdfast.formats.gemini_cli import GEMINI_CLI
from holdfast.formats.grok import GROK
from holdfast.formats.hermes import HERMES_STATE
from holdfast.formats.kimi import KIMI
from holdfast.formats.langgraph import LANGGRAPH
from holdfast.formats.mini_swe_agent import MINI_SWE_AGENT_LOG
from holdfast.formats.openclaw import OPENCLAW, OPENCLAW_DATABASE
from holdfast.formats.opencode import OPENCODE, OPENCODE_DATABASE
from holdfast.formats.openhands import OPENHANDS, OPENHANDS_FOLDER
from holdfast.formats.openhands.events import OPENHANDS_EVENTS
from holdfast.formats.pi import PI
from holdfast.formats.qwen import QWEN
from holdfast.formats.reader import SURE, DatabaseReader, Format, Row, SessionReader, Sign, Tables
from holdfast.formats.swe_agent import SWE_AGENT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from holdfast.formats.source import SourceRecord

__all__ = [
    "DOCUMENTS",
    "FORMATS",
    "HEAD",
    "IN_DATABASES",
    "SESSIONS",
    "Row",
    "SessionReader",
    "Tables",
    "agent_of",
    "choose",
    "recognize",
    "recognize_tables",
]

HEAD = 200
"""How many records of a file show what it is."""

SESSIONS: tuple[SessionReader, ...] = (
    CLAUDE_CODE,
    CODEX,
    OPENCLAW,
    PI,
    SWE_AGENT,
    OPENHANDS,
    OPENHANDS_EVENTS,
    OPENHANDS_FOLDER,
    MINI_SWE_AGENT_LOG,
    GEMINI_CLI,
    COPILOT,
    ANTIGRAVITY,
    CURSOR,
    DROID,
    GROK,
    KIMI,
    OPENCODE,
    QWEN,
)
"""In the order in which they are asked: OpenClaw's files are Pi's with a mark of their own."""


def recognize(records: Sequence[SourceRecord]) -> tuple[SessionReader, Sign] | None:
    """Return whose session file begins with these records, and why; the surest wins."""
    best: tuple[SessionReader, Sign] | None = None
    for reader in SESSIONS:
        sign = reader.recognize(records)
        if sign is not None and (best is None or sign.confidence > best[1].confidence):
            best = reader, sign
            if sign.confidence >= SURE:
                # Nobody can be surer, and of several the first is taken.
                break
    return best


DATABASES: tuple[DatabaseReader, ...] = (
    HERMES_STATE,
    LANGGRAPH,
    OPENCODE_DATABASE,
    OPENCLAW_DATABASE,
    CURSOR_CHAT,
)


def recognize_tables(tables: Tables) -> tuple[DatabaseReader, Sign] | None:
    """Return whose database has these tables, and why; the surest wins."""
    best: tuple[DatabaseReader, Sign] | None = None
    for reader in DATABASES:
        sign = reader.recognize(tables)
        if sign is not None and (best is None or sign.confidence > best[1].confidence):
            best = reader, sign
    return best


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
