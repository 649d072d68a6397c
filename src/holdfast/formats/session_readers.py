"""Readers of other agents' session files, each good enough to compact, inspect and measure.

Read `reader` first; every other module reads one agent's format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.antigravity import ANTIGRAVITY
from holdfast.formats.claude_code.reader import CLAUDE_CODE
from holdfast.formats.codex.reader import CODEX
from holdfast.formats.copilot.reader import COPILOT
from holdfast.formats.cursor.reader import CURSOR
from holdfast.formats.droid import DROID
from holdfast.formats.gemini_cli import GEMINI_CLI
from holdfast.formats.grok.reader import GROK
from holdfast.formats.kimi.reader import KIMI
from holdfast.formats.mini_swe_agent_log import MINI_SWE_AGENT_LOG
from holdfast.formats.opencode.reader import OPENCODE
from holdfast.formats.openhands.events import OPENHANDS_EVENTS
from holdfast.formats.openhands.folder import OPENHANDS_FOLDER
from holdfast.formats.openhands.reader import OPENHANDS
from holdfast.formats.pi.reader import OPENCLAW, PI
from holdfast.formats.qwen import QWEN
from holdfast.formats.session_reader import SURE, SessionReader, Sign
from holdfast.formats.swe_agent import SWE_AGENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.formats.source import Record

__all__ = ["HEAD", "SESSIONS", "SessionReader", "Sign", "recognize"]

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


def recognize(records: Sequence[Record]) -> tuple[SessionReader, Sign] | None:
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
