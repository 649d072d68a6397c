"""One line of a Claude Code session, as far as the conversation needs it.

What Claude Code prints as `stream-json`, and its SDK hands out, is turned into such lines. A
stream names its session in other words than a session file, and no parents: a line follows the
one before it of the same agent. Sub-agents are known by the call that gave them their task. The
figures on its answers are those of their beginning; what they came to stands with each result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.content import decoded, summarized, words
from holdfast.formats.events import MAIN, About, MetadataUpdated, Problem
from holdfast.formats.json_access import (
    dollars,
    is_object,
    mapping,
    milliseconds,
    sequence,
    string,
    usage_in,
)
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Synthetic, Text, Transcript
from holdfast.wire.anthropic import read_said
from holdfast.wire.common import Misfit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.formats.json_access import JsonObject

MARK = "holdfast"
"""The key under which our writer says what the format has no word for; its program skips it."""
PROMPT = "holdfast_prompt"
"""The subtype of a line that holds a system prompt: Claude Code's files have none of their own."""
QUEUED = "queued"
"""Says on a message that it was typed while the agent was busy."""
SYSTEM = "claude-code"
SPOKEN = frozenset(["user", "assistant"])
ABOUT = ("slug", "entrypoint")
"""The fields of every line that say something of the session alone."""
KEPT = (
    "sessionId",
    "isMeta",
    "requestId",
    "promptId",
    "permissionMode",
    "sourceToolUseID",
    "effort",
)
"""The small fields of a line that are written back."""
_DIALECT = "anthropic"
_BLOCKS = {
    "tool_use": "a tool call",
    "tool_result": "the result of a tool",
    "thinking": "a thought",
    "image": "an image",
}
"""What people call the blocks of a message."""
_FIELDS = {"id": "an id", "tool_use_id": "the id of its call", "name": "the name of the tool"}
COUNTED = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
"""Where the API counts tokens sent, received, read from a cache and written to one."""


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A line of a session file, parsed as far as the reader needs it."""

    number: int
    kind: str
    uuid: str
    parent: str
    entry: JsonObject
    message: JsonObject
    """The message as the API knows it."""
    content: object
    """What was said, in the blocks of the API."""
    marks: JsonObject
    """What our own writer added."""
    is_summary: bool
    """Whether it stands for what a compaction folded."""
    file: str = ""

    @property
    def original(self) -> str:
        """Return the line that our own writer wrote again here; "" for all others."""
        return string(self.marks.get("copy"))

    @property
    def at(self) -> int | None:
        """Return when the line was written."""
        return milliseconds(self.entry.get("timestamp"))

    @property
    def is_side(self) -> bool:
        """Say whether a sub-agent wrote it."""
        return self.entry.get("isSidechain") is True

    @property
    def is_asked(self) -> bool:
        """Say whether a user spoke: no tool, no summary, nothing that the program added."""
        if self.kind != "user" or self.is_summary or self.entry.get("isMeta") is True:
            return False
        for block in sequence(self.content):
            if is_object(block) and block.get("type") == "tool_result":
                return False
        return True

    @property
    def is_unseen(self) -> bool:
        """Say whether it is for the screen only: an error of the API, a note to the reader."""
        return not self.is_summary and (
            self.entry.get("isApiErrorMessage") is True
            or self.message.get("model") == "<synthetic>"
            or self.entry.get("isVisibleInTranscriptOnly") is True
        )

    @property
    def replaces(self) -> Sequence[object]:
        """Return the lines that it takes back: a model refused to go on, another one answers."""
        entry = self.entry
        return sequence(entry.get("supersedesUuids") or entry.get("retractedMessageUuids"))

    @property
    def has_content(self) -> bool:
        """Say whether what was said has a shape that can be read."""
        return isinstance(self.content, (str, list))

    @property
    def is_queued(self) -> bool:
        """Say whether a user typed it while the agent was busy."""
        return mapping(self.entry.get("attachment")).get("type") == "queued_command"

    @property
    def counted(self) -> JsonObject:
        """Return the figures of an answer up to this line, as the program writes them."""
        return mapping(self.message.get("usage"))

    @property
    def usage(self) -> Usage | None:
        """Return what the answer cost up to this line; None when nothing was counted."""
        return usage_in(self.counted, COUNTED)

    def more(self, session: str) -> dict[str, object]:
        """Return the small fields that are written back."""
        entry = self.entry
        more: dict[str, object] = {
            key: value
            for key in KEPT
            if (value := entry.get(key)) and isinstance(value, (str, bool))
        }
        if more.get("sessionId") == session:
            del more["sessionId"]
        if reason := string(self.message.get("stop_reason")):
            more["stop_reason"] = reason
        if self.kind == "attachment":
            more[QUEUED] = string(mapping(self.entry.get("attachment")).get("commandMode"))
        return more

    def messages(self, content: object) -> tuple[Transcript, tuple[Problem, ...]]:
        """Return the messages of a line: results of tools and what a user said are two.

        Blocks that cannot be read are left out and reported.
        """
        if self.kind == "system":
            return (Message(Role.SYSTEM, (Text(string(self.entry.get("content"))),)),), ()
        if self.is_summary:
            text = words(content)
            read = decoded(_DIALECT, {"role": "user", "content": text})
            # The name of whoever wrote it stands in some summaries.
            if isinstance(read, str) or read[0].synthetic is not Synthetic.SUMMARY:
                return (summarized(text, SYSTEM),), ()
            return (Message(Role.USER, read[0].parts, synthetic=Synthetic.SUMMARY),), ()
        role = Role.ASSISTANT if self.kind == "assistant" else Role.USER
        try:
            found = read_said(role, content)
        except Misfit:
            speaker = str(role)
            blocks = sequence(content)
            kept: list[object] = []
            problems: list[Problem] = []
            for block in blocks:
                found = decoded(_DIALECT, {"role": speaker, "content": [block]})
                if isinstance(found, str):
                    reason = found.removeprefix("messages[0].content[0]").lstrip(".: ")
                    # Say in plain words what was left out of a line, and why.
                    name = _BLOCKS.get(
                        string(mapping(block).get("type")), f"a block of the {speaker}"
                    )
                    field, _, problem = reason.partition(": ")
                    if problem.endswith("found nothing"):
                        refusal = f"{name} without {_FIELDS.get(field, f'`{field}`')} was left out"
                    else:
                        refusal = f"{name} was left out: {reason}"
                    problems.append(Problem(self.number, refusal, self.file))
                else:
                    kept.append(block)
            whole = decoded(_DIALECT, {"role": speaker, "content": kept})
            return () if isinstance(whole, str) else whole, tuple(problems)
        return tuple(found) if found[0].parts else (), ()


def line_of(record: SourceRecord) -> SessionLine:
    """Return a record as a line."""
    entry = mapping(record.value)
    get = entry.get
    kind, uuid, parent = get("type"), get("uuid"), get("parentUuid")
    message, marks = mapping(get("message")), get(MARK)
    content = message.get("content")
    if kind == "attachment":
        content = mapping(get("attachment")).get("prompt")
    return SessionLine(
        record.line,
        # This is done for every line, so that nothing is called where a look will do.
        kind if isinstance(kind, str) else "",
        uuid if isinstance(uuid, str) else "",
        parent if isinstance(parent, str) else "",
        entry,
        message,
        content,
        mapping(marks),
        get("isCompactSummary") is True,
        record.file,
    )


_CONTINUED = "This session is being continued"
"""How a summary begins, which a stream does not mark as one."""


def is_streamed(value: object) -> bool:
    """Say whether a line was printed; those of a session file have the session's id elsewhere."""
    return is_object(value) and "session_id" in value and "sessionId" not in value


class StreamConverter:
    """Turns the lines of one stream into lines of a session file."""

    def __init__(self) -> None:
        """Start with no line."""
        self._last: dict[str, str] = {}
        """The newest line of each agent, by the call that it works for."""
        self._place: dict[str, str] = {}
        """Where the session runs, as its first line says."""
        self._spent = Usage()
        self._is_folded = False

    def line(self, record: SourceRecord) -> SourceRecord:
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
            content = mapping(entry.get("message")).get("content")
            # The first words of a user below a boundary that begin like a summary are one.
            if self._is_folded and kind == "user" and words(content).startswith(_CONTINUED):
                self._is_folded = False
                made["isCompactSummary"] = True
        elif kind == "system" and entry.get("subtype") == "init":
            known = {"cwd": entry.get("cwd"), "version": entry.get("claude_code_version")}
            self._place = {key: value for key, value in known.items() if isinstance(value, str)}
        elif kind == "system" and entry.get("subtype") == "compact_boundary":
            self._is_folded = True
            about = mapping(entry.get("compact_metadata"))
            names = {"trigger": "trigger", "preTokens": "pre_tokens", "postTokens": "post_tokens"}
            made["compactMetadata"] = {name: about.get(key) for name, key in names.items()}
        return SourceRecord(record.line, made, record.file)

    def costs(self, record: SourceRecord) -> Iterator[MetadataUpdated]:
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
        yield MetadataUpdated(strand=MAIN, about=About(usage=self._spent))
