"""What the reader of Codex tells of lines that `codex exec --json` printed, sorted."""

from collections.abc import Mapping

from holdfast.formats.codex import CODEX
from holdfast.formats.events import Event, MessageEvent, MetadataUpdated, Problem
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import ToolCall, ToolResult


def tell(*lines: Mapping[str, object]) -> list[Event]:
    return list(CODEX.read(SourceRecord(place, line) for place, line in enumerate(lines, 1)))


def told(events: list[Event]) -> list[MessageEvent]:
    return [each for each in events if isinstance(each, MessageEvent)]


def calls(events: list[Event]) -> list[ToolCall]:
    return [call for each in told(events) for call in each.message.calls]


def results(events: list[Event]) -> list[ToolResult]:
    return [result for each in told(events) for result in each.message.results]


def costs(events: list[Event]) -> list[Usage | None]:
    return [
        each.about.usage
        for each in events
        if isinstance(each, MetadataUpdated) and each.about.usage
    ]


def problems(events: list[Event]) -> list[tuple[int, str]]:
    return [(each.line, each.reason) for each in events if isinstance(each, Problem)]
