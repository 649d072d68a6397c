"""Readers of other agents' session files, each good enough to compact, inspect and measure.

Read `reader` first; every other module reads one agent's format.
"""

from holdfast.formats.sessions.claude_code import CLAUDE_CODE
from holdfast.formats.sessions.codex import CODEX
from holdfast.formats.sessions.copilot import COPILOT
from holdfast.formats.sessions.gemini_cli import GEMINI_CLI
from holdfast.formats.sessions.openhands import OPENHANDS
from holdfast.formats.sessions.openhands_events import OPENHANDS_EVENTS
from holdfast.formats.sessions.pi import OPENCLAW, PI
from holdfast.formats.sessions.reader import SessionReader
from holdfast.formats.sessions.swe_agent import SWE_AGENT

__all__ = ["SESSIONS", "SessionReader"]

SESSIONS: tuple[SessionReader, ...] = (
    CLAUDE_CODE,
    CODEX,
    OPENCLAW,
    PI,
    SWE_AGENT,
    OPENHANDS,
    OPENHANDS_EVENTS,
    GEMINI_CLI,
    COPILOT,
)
"""In the order in which they are asked: OpenClaw's files are Pi's with a mark of their own."""
