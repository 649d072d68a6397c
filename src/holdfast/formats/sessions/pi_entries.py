"""What each event is in a Pi session, without the place of the entries in the tree."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.formats.loose import mapping, string
from holdfast.formats.moments import iso
from holdfast.formats.sessions.pi_blocks import answer, blocks, command, result, user
from holdfast.formats.sessions.pi_content import SUMMARY, SYSTEM
from holdfast.transcript import Role, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.formats.chronicle import About, Told

__all__ = ["Content", "Names", "contents_of", "header", "notes"]

_START = 946_684_800_000
"""The first moment of 2000, for what has no time."""
_SOUND = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What Pi takes for the id of a session, which is part of a file's name."""


@dataclass(frozen=True, slots=True)
class Content:
    """An entry without its place."""

    kind: str
    fields: Mapping[str, object]


class Names:
    """Gives every entry a name and a time, the same whenever the session is written."""

    def __init__(self, about: About) -> None:
        self.session = about.id
        if not _SOUND.fullmatch(about.id):
            known = f"{about.id}\n{about.title}\n{about.cwd}\n{about.started}"
            digest = _digest(known)
            parts = (digest[:8], digest[8:12], digest[12:16], digest[16:20], digest[20:32])
            self.session = "-".join(parts)
        self._used: set[str] = set()
        self._now = _START if about.started is None else about.started

    def name(self, wanted: str, key: str) -> str:
        """Return the wanted name, or one that is made of the key."""
        found, count = wanted, 0
        while not found or found in self._used:
            found = _digest(f"{self.session}\n{key}\n{count}")[: 8 + count]
            count += 1
        self._used.add(found)
        return found

    def has(self, name: str) -> bool:
        """Say whether an entry has that name."""
        return name in self._used

    def time(self, at: int | None) -> int:
        """Return a time; what has none comes a moment after what was written before."""
        self._now = self._now + 1 if at is None else at
        return self._now


def header(about: About, names: Names) -> dict[str, object]:
    """Return the first line of a file."""
    started = _START if about.started is None else about.started
    found: dict[str, object] = {
        "type": "session",
        "version": 3,
        "id": names.session,
        "timestamp": iso(started),
        "cwd": about.cwd,
    }
    origin = string(about.more.get("parentSession")) or string(about.more.get("branchedFrom"))
    if origin or about.parent:
        found["parentSession"] = origin or f"_{about.parent}.jsonl"
    return found


def notes(about: About) -> Iterator[Content]:
    """Return what is known of a session besides what was said in it."""
    more = about.more
    if about.title:
        yield Content("session_info", {"name": about.title})
    if about.model:
        provider = string(more.get("provider")) or "unknown"
        yield Content("model_change", {"provider": provider, "modelId": about.model})
    if level := string(more.get("thinkingLevel")):
        yield Content("thinking_level_change", {"thinkingLevel": level})


def contents_of(told: Told, calls: dict[str, str], at: int) -> Iterator[Content]:
    """Return the entries of a message; `calls` learns which tool each call asked for."""
    message = told.message
    match message.role:
        case Role.SYSTEM:
            data = {"content": list(blocks(message.parts))}
            yield Content("custom", {"customType": SYSTEM, "data": data})
        case Role.ASSISTANT:
            calls.update((call.id, call.name) for call in message.calls)
            yield _message(answer(message, told.native, at))
        case Role.TOOL:
            for found in message.results:
                yield _message(result(found, calls.get(found.call_id, ""), at))
            rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
            if rest or not message.parts:
                yield _message(user(replace(message, parts=rest), at))
        case Role.USER:
            yield _of_user(told, at)


def _message(fields: Mapping[str, object]) -> Content:
    return Content("message", {"message": fields})


def _of_user(told: Told, at: int) -> Content:
    message, more = told.message, mapping(told.native.more)
    content = list(blocks(message.parts))
    custom: dict[str, object] = {
        "customType": string(more.get("customType")),
        "content": content,
        "display": more.get("display") is True,
    }
    match (more.get("entry"), more.get("role")):
        case _ if message.summary is not None:
            fields = {"customType": SUMMARY, "content": message.summary.text, "display": True}
            return Content("custom_message", fields)
        case ("branch_summary", _):
            origin = string(more.get("fromId")) or "root"
            return Content("branch_summary", {"fromId": origin, "summary": message.text})
        case ("custom_message", _):
            return Content("custom_message", custom)
        case (_, "custom"):
            return _message({"role": "custom", **custom, "timestamp": at})
        case (_, "bashExecution"):
            return _message(command(message, more, at))
        case _:
            return _message(user(message, at))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
