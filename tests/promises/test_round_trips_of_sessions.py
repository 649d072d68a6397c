"""A session goes out as any file that can say it, and comes back into an empty store the same."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.agent_files.detection import FoundFile, ReadOptions, gather
from holdfast.agent_files.finding import find_files
from holdfast.compaction.repair import repair
from holdfast.formats import Document, write
from holdfast.formats.catalog import SESSIONS
from holdfast.formats.events import MessageEvent
from holdfast.formats.reading import read_tolerantly
from holdfast.formats.source import stream_records
from holdfast.session import Fork, Usage
from holdfast.transcript import (
    Media,
    Opaque,
    Recalled,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from holdfast.transfer import ImportOrigin, export_session
from holdfast.wire import DIALECTS
from tests.formats.event_strategies import Sayable, comparable, event_streams
from tests.transfer.taking import importer, opened, sessions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from holdfast.formats.events import Event
    from holdfast.formats.reader import SessionReader
    from holdfast.ports import Store
    from holdfast.session import Session
    from holdfast.transcript import Part
    from holdfast.transfer import ImportTally

SAMPLES = Path(__file__).parents[1] / "fixtures" / "sessions"
WRITABLE = {each.format.name: each for each in SESSIONS if each.write is not None}
PI = Sayable(
    origin="pi",
    ids="hex",
    about=("id", "title", "model", "cwd", "started"),
    is_split=False,
    has_result_names=True,
    has_system=True,
    has_heads=True,
    has_rewinds=True,
    has_delegations=False,
)
SAYABLE = {
    "claude-code": Sayable(has_heads=True, has_system=True),
    "codex": Sayable(
        dialect="responses",
        origin="codex",
        has_system=True,
        has_heads=True,
        has_rewinds=True,
        has_branches=False,
        has_delegations=False,
    ),
    "pi": PI,
    "openclaw": dataclasses.replace(PI, origin="openclaw"),
}


def written(reader: SessionReader, events: Iterable[Event]) -> bytes:
    assert reader.write is not None
    return "".join(f"{line}\n" for line in reader.write(events)).encode()


def take_file(store: Store, reader: SessionReader, content: bytes, name: str) -> ImportTally:
    """Import a file that was written, and see that nothing in it is a problem."""

    def tell() -> Iterator[Event]:
        return read_tolerantly(reader, stream_records([content]))

    tally = importer(store).take(ImportOrigin(reader.format.name, name), tell)
    assert tally.problems == ()
    return tally


def telling(store: Store) -> tuple[list[list[Event]], Usage]:
    """Return everything in a store, and what it cost: files divide a cost in their own way."""
    families = [
        [_costless(each) for each in comparable(export_session(store, session.id, family=True))]
        for session in sessions(store)
        if session.parent is None
    ]
    return families, sum((each.usage for each in sessions(store)), Usage())


def _costless(event: Event) -> Event:
    if isinstance(event, MessageEvent):
        return replace(event, native=replace(event.native, usage=None))
    return event


@pytest.mark.parametrize("name", WRITABLE)
@settings(max_examples=15)
@given(data=st.data())
def test_a_generated_session_comes_back_from_the_file_of_each_agent(
    name: str, data: st.DataObject
) -> None:
    reader = WRITABLE[name]
    events = data.draw(event_streams(SAYABLE[name]))
    with opened() as store, opened() as other:
        take_file(store, reader, written(reader, events), "/first")
        (root,) = [each.id for each in sessions(store) if each.parent is None]
        content = written(reader, export_session(store, root, family=True))
        take_file(other, reader, content, "/second")
        assert telling(other) == telling(store)
        before = sessions(store)
        take_file(store, reader, content, "/third")
        assert sessions(store) == before


HOLDS = {
    "claude-code": {Fork.BRANCH, Fork.DELEGATION},
    "codex": set[Fork](),
    "openclaw": {Fork.BRANCH},
    "pi": {Fork.BRANCH},
}
"""What a file of each agent holds besides the session itself."""


def sessions_at(path: Path) -> list[FoundFile]:
    looks = gather(find_files([str(path)]).files, ReadOptions())
    return [look for look in looks if isinstance(look, FoundFile)]


def take_found(store: Store, found: FoundFile) -> ImportTally:
    return importer(store).take(
        ImportOrigin(found.guess.format, str(found.files[0].path)), found.tell
    )


def said(store: Store, ids: Iterable[str]) -> Counter[tuple[object, ...]]:
    """Return what was said, however a format divides it: every text, call, result and picture.

    Thoughts are left out: a provider refuses those that it has not signed.
    """
    logs = (store.entries(id_, 1, store.session(id_).size) for id_ in ids)
    parts = (part for log in logs for entry in log for part in entry.message.parts)
    return Counter(each for part in parts for each in words(part))


def said_in(store: Store) -> Counter[tuple[object, ...]]:
    return said(store, [each.id for each in sessions(store)])


def words(part: Part) -> Iterator[tuple[object, ...]]:
    match part:
        case Text(text) | Summary(text):
            yield (text,)
        case ToolCall(name=name, arguments=arguments):
            yield name, json.dumps(_json(arguments), sort_keys=True)
        case ToolResult(content=content, is_error=is_error):
            found = (each for piece in content for each in words(piece))
            yield (is_error, *(each for each in found if each != ("",)))
        case Media():
            yield part.media_type, part.data, part.url
        case Thinking() | Recalled():
            pass
        case Opaque(readable=readable):
            # What only one provider has a shape for, others are told in words.
            if readable:
                yield (readable,)


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return text


def within(store: Store, root: Session, forks: Collection[Fork]) -> list[str]:
    """Return a session and what came from it in these ways."""
    kept = {root.id}
    for each in store.lineage(root.id):
        if each.parent in kept and each.fork in forks:
            kept.add(each.id)
    return [*kept]


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_what_any_agent_said_comes_back_from_the_file_of_each_other(path: Path) -> None:
    (found,) = sessions_at(path)
    with opened() as store, opened() as other:
        take_found(store, found)
        roots = [each for each in sessions(store) if each.parent is None]
        assert roots
        for root in roots:
            for name, reader in WRITABLE.items():
                content = written(reader, export_session(store, root.id, family=True))
                tally = take_file(other, reader, content, f"/{root.id}")
                before = said(store, within(store, root, HOLDS[name]))
                assert (name, said(other, tally.sessions)) == (name, before)


def outline(store: Store) -> Counter[tuple[object, ...]]:
    """Return what is known of each session, whatever it is called."""
    return Counter(
        (
            each.title,
            each.fork,
            each.usage,
            each.metadata.get("cwd"),
            each.metadata.get("git_branch"),
            store.count_compactions(each.id),
        )
        for each in sessions(store)
    )


@pytest.mark.parametrize("name", WRITABLE)
def test_a_real_session_comes_back_from_a_file_of_its_own_agent(shared: Path, name: str) -> None:
    folder = shared / "data" / "sessions" / name.replace("-", "_")
    real = [each for each in sessions_at(folder) if each.guess.format == name]
    assert real
    for found in real:
        with opened() as store, opened() as other:
            take_found(store, found)
            for place, root in enumerate(sessions(store)):
                if root.parent is None:
                    content = written(WRITABLE[name], export_session(store, root.id, family=True))
                    take_file(other, WRITABLE[name], content, f"/{place}")
            assert outline(other) == outline(store)
            # Whoever published it has put words in the place of addresses, which is no picture.
            if found.files[0].path.name != "agent-sessions_fixture_small.jsonl":
                assert said_in(other) == said_in(store)


PICTURES = ("image/png", "iVBORw0=", "iVBORw0KGgo=")


def seen(store: Store, id_: str) -> list[str]:
    """Return the words that a model sees of a session, and the names of tools among them."""
    window = repair(store.window(id_).transcript)
    found = (each for message in window for part in message.parts for each in words(part))
    # JSON in a result may come back with other spaces.
    return ["".join(text.split()) for each in found for text in _texts(each)]


def _texts(value: object) -> Iterator[str]:
    match value:
        case str(text):
            yield text
        case tuple():
            for each in cast("tuple[object, ...]", value):
                yield from _texts(each)
        case _:
            pass


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_what_a_model_sees_comes_back_from_a_request(path: Path, tmp_path: Path) -> None:
    (found,) = sessions_at(path)
    with opened() as store, opened() as other:
        take_found(store, found)
        for session in sessions(store):
            window = store.window(session.id).transcript
            document = Document(format="session", dialect="openai", transcript=window)
            for dialect in DIALECTS:
                request = tmp_path / f"{session.id}-{dialect}.json"
                request.write_text(write(document, repair(window), to=dialect), "utf-8")
                (asked,) = sessions_at(request)
                (copy,) = take_found(other, asked).sessions
                after = "".join(seen(other, copy))
                lost = [each for each in seen(store, session.id) if each not in after]
                # Everything is text there; documentation says that pictures are left out.
                if dialect == "sharegpt":
                    lost = [each for each in lost if each not in PICTURES]
                assert (dialect, lost) == (dialect, [])
