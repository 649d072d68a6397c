"""What Claude Code prints as `stream-json`, and its SDK hands out, as lines of a session.

A stream names its session in other words than a session file, and no parents: a line follows the
one before it of the same agent. Sub-agents are known by the call that gave them their task. The
figures on its answers are those of their beginning; what they came to stands with each result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Noted
from holdfast.formats.claude_code.lines import COUNTED, MARK, SPOKEN
from holdfast.formats.figures import dollars, usage_in
from holdfast.formats.loose import is_object, mapping, string
from holdfast.formats.session_reader import words
from holdfast.formats.source import Record
from holdfast.session import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Stream", "is_streamed"]

_CONTINUED = "This session is being continued"
"""How a summary begins, which a stream does not mark as one."""


def is_streamed(value: object) -> bool:
    """Say whether a line was printed; those of a session file have the session's id elsewhere."""
    return is_object(value) and "session_id" in value and "sessionId" not in value


class Stream:
    """Turns the lines of one stream into lines of a session file."""

    def __init__(self) -> None:
        """Know no line."""
        self._last: dict[str, str] = {}
        """The newest line of each agent, by the call that it works for."""
        self._place: dict[str, str] = {}
        """Where the session runs, as its first line says."""
        self._spent = Usage()
        self._is_folded = False

    def line(self, record: Record) -> Record:
        """Return a line as a session file would have it."""
        entry = mapping(record.value)
        kind, call = string(entry.get("type")), string(entry.get("parent_tool_use_id"))
        uuid = string(entry.get("uuid")) or f"#{record.line}"
        made: dict[str, object] = {
            **entry,
            **self._place,
            "sessionId": entry.get("session_id"),
            "uuid": uuid,
            "parentUuid": self._last.get(call),
            "isSidechain": bool(call),
        }
        if call and call not in self._last:
            made[MARK] = {"call": call}
        if kind in SPOKEN:
            self._last[call] = uuid
            made |= self._summed(entry)
        elif kind == "system":
            made |= self._noted(entry)
        return Record(record.line, made, record.file)

    def costs(self, record: Record) -> Iterator[Noted]:
        """Return what the session cost so far, where a line tells that a turn is over."""
        entry = mapping(record.value)
        if entry.get("type") != "result" or not self._last:
            return
        turn = usage_in(mapping(entry.get("usage")), COUNTED) or Usage()
        # The price is that of the whole session, the tokens are those of the turn.
        price = max(dollars(entry.get("total_cost_usd")), self._spent.cost)
        whole = self._spent + turn
        self._spent = Usage(
            whole.calls,
            whole.input_tokens,
            whole.output_tokens,
            whole.cache_read_tokens,
            whole.cache_write_tokens,
            price,
        )
        yield Noted(strand=MAIN, about=About(usage=self._spent))

    def _noted(self, entry: Mapping[str, object]) -> Mapping[str, object]:
        if entry.get("subtype") == "init":
            known = {"cwd": entry.get("cwd"), "version": entry.get("claude_code_version")}
            self._place = {key: value for key, value in known.items() if isinstance(value, str)}
        elif entry.get("subtype") == "compact_boundary":
            self._is_folded = True
            about = mapping(entry.get("compact_metadata"))
            names = {"trigger": "trigger", "preTokens": "pre_tokens", "postTokens": "post_tokens"}
            return {"compactMetadata": {name: about.get(key) for name, key in names.items()}}
        return {}

    def _summed(self, entry: Mapping[str, object]) -> Mapping[str, object]:
        """Return the mark of a summary, for the first words below a boundary that are one."""
        if not self._is_folded or entry.get("type") != "user":
            return {}
        content = mapping(entry.get("message")).get("content")
        text = content if isinstance(content, str) else words(content)
        if not text.startswith(_CONTINUED):
            return {}
        self._is_folded = False
        return {"isCompactSummary": True}
