"""The sessions of Pi and of OpenClaw, which took over Pi's format.

Version 1 is a list; later versions are a tree of entries, where an entry whose parent is not the
newest of its strand begins a branch. A parent that is not in the file was on a damaged line, or
is the header or a tool call: then the entry before stands in for it, because files are written in
order. A compaction shows its summary, what it kept, and what follows. A leaf is where the user
went; a reset, which OpenClaw has, leaves what it names and nothing else.

Not told: commands that a user ran for himself, OpenClaw's copies of answers, what extensions keep
for themselves, and answers that broke off before their first word. Those that broke off later are
told, because their user saw them. Labels and the newest name of a session are noted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.document import Format
from holdfast.formats.loose import mapping, string
from holdfast.formats.openclaw_cold import is_cold_header, read_openclaw
from holdfast.formats.pi.entries_reader import read_pi
from holdfast.formats.pi.writer import write_openclaw, write_pi
from holdfast.formats.session_reader import LIKELY, SessionReader, Sign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.formats.source import Record

__all__ = ["OPENCLAW", "PI"]

_ROLES = frozenset(["toolResult", "bashExecution", "compactionSummary", "branchSummary"])
_MARKS = ("openclaw", "model-snapshot")
"""How the names of entries begin that OpenClaw writes for itself."""


def _recognize_pi(records: Sequence[Record]) -> Sign | None:
    for record in records:
        entry = mapping(record.value)
        if "cwd" in entry and (entry.get("type") == "session" or entry.get("kind") == "header"):
            return Sign("a session header with a working directory")
    for record in records:
        entry = mapping(record.value)
        role = string(mapping(entry.get("message")).get("role"))
        if entry.get("type") == "message" and role in _ROLES:
            return Sign(f"an entry with a message of the role {role}", LIKELY)
    return None


def _recognize_openclaw(records: Sequence[Record]) -> Sign | None:
    if any(is_cold_header(mapping(record.value)) for record in records):
        return Sign("a session that OpenClaw laid aside")
    sign = _recognize_pi(records)
    if sign is None:
        return None
    for record in records:
        entry = mapping(record.value)
        message = mapping(entry.get("message"))
        marks = (entry.get("customType"), entry.get("provider"), message.get("provider"))
        if "__openclaw" in message or any(string(mark).startswith(_MARKS) for mark in marks):
            return replace(sign, reason="a Pi session with entries of OpenClaw")
    return None


PI = SessionReader(
    format=Format("pi", "Pi session, JSONL", "anthropic", writable=True),
    recognize=_recognize_pi,
    read=read_pi,
    write=write_pi,
)
OPENCLAW = SessionReader(
    format=Format("openclaw", "OpenClaw session, JSONL", "anthropic", writable=True),
    recognize=_recognize_openclaw,
    read=read_openclaw,
    write=write_openclaw,
)
