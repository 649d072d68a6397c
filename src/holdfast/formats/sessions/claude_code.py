"""Reads the sessions of Claude Code.

File order is the conversation: walking the tree of parents loses the results of parallel calls
and everything before a compaction. One answer of the model is spread over several lines, with
tool results between them, so lines that share a message id become one message again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.document import Format, Problem
from holdfast.formats.loose import is_array, mapping, mappings, sequence, string
from holdfast.formats.pairing import Said, arrange
from holdfast.formats.sessions.reader import SessionReader, summarized, words
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.pairing import Reading
    from holdfast.formats.source import Record

__all__ = ["CLAUDE_CODE"]

_SIDE = frozenset(["file-history-snapshot", "queue-operation", "summary"])


def _recognize(records: Sequence[Record]) -> str:
    weak = ""
    for record in records:
        entry = mapping(record.value)
        kind, message = string(entry.get("type")), mapping(entry.get("message"))
        if kind in {"user", "assistant"} and "sessionId" in entry and "content" in message:
            return f"a line of type {kind} with a session id"
        if kind in _SIDE and not entry.keys().isdisjoint(("leafUuid", "snapshot", "operation")):
            weak = f"a line of type {kind}"
    return weak


def _read(records: Sequence[Record]) -> Reading:
    lines = [(record.line, mapping(record.value)) for record in records]
    # A sub-agent's own file holds nothing but a sidechain.
    main = [each for each in lines if each[1].get("isSidechain") is not True]
    desk = _Desk()
    for line, entry in main if any(map(_is_spoken, main)) else lines:
        desk.take(entry, line)
    return arrange(desk.said(), desk.problems)


def _is_spoken(line: tuple[int, Mapping[str, object]]) -> bool:
    return string(line[1].get("type")) in {"user", "assistant"}


class _Draft:
    """A message that more lines may still add to."""

    def __init__(self, line: int, role: str, content: object) -> None:
        self.line = line
        self.role = role
        self.content = content
        self.uuids: set[str] = set()

    def add(self, content: object) -> None:
        """Add the blocks of another line that the message does not have yet."""
        before = sequence(self.content)
        self.content = [*before, *(each for each in sequence(content) if each not in before)]


class _Desk:
    """Collects lines into drafts of messages."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._drafts: list[_Draft] = []
        self._seen: set[str] = set()
        self._answers: dict[str, _Draft] = {}
        self._kept: frozenset[str] = frozenset()
        """The lines that the compaction under way keeps word for word."""

    def take(self, entry: Mapping[str, object], line: int) -> None:
        """Add one line, unless it is a copy or was never shown to the model."""
        uuid = string(entry.get("uuid"))
        if uuid and uuid in self._seen:
            return
        match string(entry.get("type")):
            case "user" | "assistant" as kind:
                draft = self._spoken(entry, kind, line)
            case "attachment":
                draft = self._queued(mapping(entry.get("attachment")), line)
            case "system" if entry.get("subtype") == "compact_boundary":
                self._kept = _kept(mapping(entry.get("compactMetadata")))
                draft = None
            case _:
                draft = None
        if draft is not None and uuid:
            draft.uuids.add(uuid)
            self._seen.add(uuid)

    def said(self) -> Iterator[Said]:
        """Return the messages; what the codec cannot read becomes a problem."""
        for draft in self._drafts:
            if draft.role == "summary":
                yield Said(draft.line, summarized(words(draft.content), "claude-code"))
                continue
            body = Body([{"role": draft.role, "content": draft.content}], None)
            try:
                decoded = DIALECTS["anthropic"].decode(body)
            except DecodeError as error:
                self.problems.append(Problem(draft.line, f"{error.path}: {error.problem}"))
                continue
            yield from (Said(draft.line, message) for message in decoded)

    def _spoken(self, entry: Mapping[str, object], kind: str, line: int) -> _Draft | None:
        message = mapping(entry.get("message"))
        content = message.get("content")
        if not _is_content(content):
            self.problems.append(Problem(line, f"a line of type {kind} without content"))
            return None
        if entry.get("isCompactSummary") is True:
            return self._summary(content, line)
        if _is_unseen(entry, message):
            return None
        if kind == "assistant":
            return self._answer(string(message.get("id")), content, line)
        if not any(block.get("type") == "tool_result" for block in mappings(content)):
            self._answers = {}
        return self._append(_Draft(line, kind, content))

    def _answer(self, message_id: str, content: object, line: int) -> _Draft:
        draft = self._answers.get(message_id)
        if draft is not None and is_array(content):
            draft.add(content)
            return draft
        draft = self._append(_Draft(line, "assistant", content))
        if message_id and is_array(content):
            self._answers[message_id] = draft
        return draft

    def _summary(self, content: object, line: int) -> _Draft:
        """Put the summary before the messages that its compaction kept."""
        draft = _Draft(line, "summary", content)
        kept = (
            place
            for place, each in enumerate(self._drafts)
            if not self._kept.isdisjoint(each.uuids)
        )
        self._drafts.insert(next(kept, len(self._drafts)), draft)
        self._kept, self._answers = frozenset(), {}
        return draft

    def _queued(self, attachment: Mapping[str, object], line: int) -> _Draft | None:
        """Return what a user typed while the agent was busy."""
        prompt = attachment.get("prompt")
        if attachment.get("type") != "queued_command" or not _is_content(prompt):
            return None
        return self._append(_Draft(line, "user", prompt))

    def _append(self, draft: _Draft) -> _Draft:
        self._drafts.append(draft)
        return draft


def _is_content(value: object) -> bool:
    return isinstance(value, str) or is_array(value)


def _is_unseen(entry: Mapping[str, object], message: Mapping[str, object]) -> bool:
    """Say whether a line is for the screen only: an error of the API, a note to the reader."""
    return (
        entry.get("isApiErrorMessage") is True
        or message.get("model") == "<synthetic>"
        or entry.get("isVisibleInTranscriptOnly") is True
    )


def _kept(about: Mapping[str, object]) -> frozenset[str]:
    uuids = sequence(mapping(about.get("preservedMessages")).get("uuids"))
    segment = mapping(about.get("preservedSegment"))
    named = (*uuids, segment.get("headUuid"))
    return frozenset(each for each in named if isinstance(each, str) and each)


CLAUDE_CODE = SessionReader(
    Format("claude-code", "Claude Code session, JSONL", "anthropic", writable=False),
    _recognize,
    _read,
)
