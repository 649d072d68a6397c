"""What the files that Claude Code writes always satisfy; what we write for it has to as well.

The reader is lenient, because files are damaged and change with each release. These rules are
strict, so that a file which keeps them can be resumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.claude_code.lines import SPOKEN, line_of
from holdfast.formats.events import Problem
from holdfast.formats.json_access import is_array, mapping, mappings, sequence, string
from holdfast.formats.reader import is_uuid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.claude_code.lines import SessionLine
    from holdfast.formats.source import SourceRecord

_CHAIN = SPOKEN | {"system", "attachment", "progress"}
"""The lines that have ids and parents."""
_WORDS = ("userType", "cwd", "version", "gitBranch")
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)


def violations(records: Iterable[SourceRecord]) -> Iterator[Problem]:
    """Name every line that Claude Code would not have written, and why."""
    desk = _Checker()
    for record in records:
        line = line_of(record)
        for reason in desk.look(line):
            yield Problem(line.number, reason, line.file)
    yield from desk.end()


class _Checker:
    """Looks at lines in order; a rule may depend on what came before, never on what follows."""

    def __init__(self) -> None:
        self._sides: dict[str, bool] = {}
        """The lines that came, and whether they are a side chain's."""
        self._calls: dict[str, str] = {}
        """The line of each call."""
        self._models: dict[str, str] = {}
        """The model of each answer."""
        self._boundary: SessionLine | None = None
        """A boundary whose summary has to come next, below copies at most."""
        self._below = ""
        """The line before."""

    def look(self, line: SessionLine) -> Iterator[str]:
        """Return what is wrong with a line."""
        if not line.kind:
            yield "a line has no type"
        if line.kind not in _CHAIN:
            return
        for key in _WORDS:
            if not isinstance(line.entry.get(key), str):
                yield f"{key} is missing"
        if not is_uuid(string(line.entry.get("sessionId"))):
            yield "the session id is no UUID"
        if not isinstance(line.entry.get("isSidechain"), bool):
            yield "isSidechain is missing"
        if line.at is None or not string(line.entry.get("timestamp")).endswith("Z"):
            yield "the timestamp is no time in UTC"
        if not is_uuid(line.uuid):
            yield f"the id {line.uuid!r} is no UUID"
        if line.uuid in self._sides:
            yield f"the id {line.uuid!r} was used before"
        if line.parent and line.parent not in self._sides:
            yield "its parent does not stand before it"
        if line.parent and self._sides.get(line.parent, line.is_side) != line.is_side:
            yield "its parent belongs to another chain"
        if not line.parent and line.entry.get("parentUuid", "") is not None:
            yield "a line without a parent says so with null"
        yield from self._folds(line)
        if line.kind == "assistant":
            yield from self._answer(line)
        elif line.kind == "user":
            yield from self._said(line)
        self._sides[line.uuid] = line.is_side

    def end(self) -> Iterator[Problem]:
        """Return what is missing at the end."""
        if self._boundary is not None:
            yield Problem(self._boundary.number, "a boundary has no summary after it")

    def _folds(self, line: SessionLine) -> Iterator[str]:
        boundary, below = self._boundary, self._below
        self._below = line.uuid
        if line.original:
            if line.parent != below:
                yield "a copy follows the line before it"
            return
        self._boundary = None
        if boundary is not None and not (line.is_summary and line.parent == below):
            yield "the line after a boundary is its summary"
        if line.is_summary and boundary is None and "boundary" not in line.marks:
            yield "a summary stands below a boundary"
        if line.is_summary and line.entry.get("isVisibleInTranscriptOnly") is not True:
            yield "a summary is visible in the transcript only"
        if line.entry.get("subtype") == "compact_boundary":
            self._boundary = line
            about = mapping(line.entry.get("compactMetadata"))
            if line.parent:
                yield "a boundary is a root"
            if about.get("trigger") not in ("auto", "manual"):
                yield "a compaction is auto or manual"
            if not isinstance(about.get("preTokens"), int):
                yield "a compaction says what it weighed before"

    def _answer(self, line: SessionLine) -> Iterator[str]:
        message = line.message
        reply, model = string(message.get("id")), string(message.get("model"))
        if not reply or not model or message.get("type") != "message":
            yield "an answer names its id, its type and its model"
        if self._models.setdefault(reply, model) != model:
            yield "the lines of an answer name one model"
        if not {"stop_reason", "stop_sequence"} <= message.keys():
            yield "an answer says why it stopped, or null"
        usage = mapping(message.get("usage"))
        if not all(isinstance(usage.get(key), int) for key in _COUNTS):
            yield "an answer counts its tokens"
        blocks = mappings(message.get("content"))
        if len(blocks) != 1 or message.get("role") != "assistant":
            yield "a line of an answer holds one block"
        for block in blocks:
            if block.get("type") == "tool_use":
                self._calls[string(block.get("id"))] = line.uuid

    def _said(self, line: SessionLine) -> Iterator[str]:
        content = line.content
        if line.message.get("role") != "user" or not (
            isinstance(content, str) or is_array(content)
        ):
            yield "a line of a user has content"
        results = [each for each in mappings(content) if each.get("type") == "tool_result"]
        if results and len(sequence(content)) != 1:
            yield "a result stands alone on its line"
        for result in results:
            caller = self._calls.get(string(result.get("tool_use_id")))
            source = line.entry.get("sourceToolAssistantUUID", caller)
            if caller is None:
                yield "a result has its call before it"
            elif source != caller:
                yield "a result names the line of its call"
