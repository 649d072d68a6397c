"""Reads what OpenHands kept of a conversation before its SDK: a folder with one file an event.

Beside `events`, where a file is named after the number of its event, `event_cache` holds the same
events again in lists of many, and `metadata.json` says what is known of the conversation. What the
program saves as a trajectory is one such list alone. Numbers decide the order, since names of files
do not sort by them. The layout is known from the program's source, the events are those of its
task outputs.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun
from holdfast.formats.document import Format, Problem
from holdfast.formats.figures import count, dollars
from holdfast.formats.keys import Keys
from holdfast.formats.loose import kind_of, mapping, string
from holdfast.formats.moments import moment
from holdfast.formats.openhands.reader import Desk, is_telling, undivided
from holdfast.formats.session_reader import LIKELY, SessionReader, Sign, everywhere
from holdfast.session import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record

__all__ = ["OPENHANDS_FOLDER"]

_FOLDERS = frozenset(["events", "event_cache"])


def _recognize(records: Sequence[Record]) -> Sign | None:
    for record in records:
        entry = mapping(record.value)
        if _is_event(entry):
            return Sign("an event with a number, an action or an observation")
        if _is_metadata(entry):
            return Sign("what is known of an OpenHands conversation", LIKELY)
    return None


def _is_event(entry: Mapping[str, object]) -> bool:
    return isinstance(entry.get("id"), int) and "timestamp" in entry and is_telling(entry)


def _is_metadata(entry: Mapping[str, object]) -> bool:
    return {"conversation_id", "selected_repository", "title"} <= entry.keys()


def _read(records: Iterable[Record]) -> Iterator[Event]:
    keys = Keys()
    for place, group in groupby(records, lambda record: _conversation(record.file)):
        yield from _tell(place, group, keys)


def _conversation(file: str) -> str:
    """Return the folder of a conversation, or the file that holds all of it."""
    folder, _, name = file.replace("\\", "/").rpartition("/")
    above, _, last = folder.rpartition("/")
    if last in _FOLDERS:
        return above
    return folder if name == "metadata.json" else file


def _tell(place: str, records: Iterable[Record], keys: Keys) -> Iterator[Event]:
    """Tell one conversation, once all of it is there."""
    metadata: Mapping[str, object] = {}
    events: dict[int, Mapping[str, object]] = {}
    first = 0
    file = ""
    for record in records:
        first, file = first or record.line, file or record.file
        entry = mapping(record.value)
        number = entry.get("id")
        if _is_metadata(entry):
            metadata = entry
        elif isinstance(number, int) and ("action" in entry or "observation" in entry):
            events.setdefault(number, entry)
        else:
            reason = f"expected an event with its number, found {kind_of(record.value)}"
            yield Problem(record.line, reason, record.file)
    if events:
        past = [events[number] for number in sorted(events)]
        strand = place or MAIN
        name = "" if place == file else place.rpartition("/")[2]
        yield Begun(strand=strand, line=first, about=_about(name, metadata, past))
        desk = Desk(strand, first, keys)
        for event in past:
            yield from desk.take(event)


def _about(
    name: str, metadata: Mapping[str, object], past: Sequence[Mapping[str, object]]
) -> About:
    arguments = (mapping(event.get("args")) for event in past)
    versions = (string(each.get("openhands_version")) for each in arguments)
    repository = string(metadata.get("selected_repository"))
    return About(
        id=string(metadata.get("conversation_id")) or name,
        title=string(metadata.get("title")),
        model=string(metadata.get("llm_model")),
        git_branch=string(metadata.get("selected_branch")),
        version=next(filter(None, versions), ""),
        started=moment(past[0].get("timestamp")),
        usage=undivided(_total(metadata), past),
        more={"repository": repository} if repository else {},
    )


def _total(metadata: Mapping[str, object]) -> Usage:
    return Usage(
        input_tokens=count(metadata.get("prompt_tokens")),
        output_tokens=count(metadata.get("completion_tokens")),
        cost=dollars(metadata.get("accumulated_cost")),
    )


OPENHANDS_FOLDER = SessionReader(
    format=Format(
        "openhands-folder", "OpenHands conversation, one file an event", "openai", writable=False
    ),
    recognize=_recognize,
    read=_read,
    spread=everywhere,
)
