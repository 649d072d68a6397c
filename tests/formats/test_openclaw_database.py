"""The database of OpenClaw, told from rows as its files are told from lines."""

import json

from holdfast.formats import detect
from holdfast.formats.catalog import Row, recognize_tables
from holdfast.formats.events import (
    CompactionEvent,
    Event,
    MessageEvent,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.openclaw import OPENCLAW, OPENCLAW_DATABASE
from holdfast.formats.replay import replay
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork
from tests.formats.conformance import broken_rules
from tests.formats.tables import Memory

HEADER = {"type": "session", "version": 3, "id": "w1", "cwd": "/srv/shop"}


def says(id: str, parent: str | None, role: str, text: str) -> dict[str, object]:  # noqa: A002
    content = [{"type": "text", "text": text}]
    message: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"model": "m", "provider": "p", "usage": {"input": 5, "output": 2}}
    return {"type": "message", "id": id, "parentId": parent, "message": message}


ENTRIES = (
    HEADER,
    says("e1", None, "user", "Which port?"),
    says("e2", "e1", "assistant", "8443"),
    says("e3", "e2", "user", "Why?"),
    {
        "type": "compaction",
        "id": "e4",
        "parentId": "e3",
        "summary": "They spoke of ports.",
        "firstKeptEntryId": "e3",
        "tokensBefore": 90,
    },
    says("e5", "e4", "assistant", "For TLS."),
    # The user went back and asked something else.
    says("e6", "e2", "user", "And for tests?"),
)


def events_of(session: str, *entries: object) -> list[Row]:
    return [
        {"session_id": session, "seq": place, "event_json": json.dumps(entry), "created_at": place}
        for place, entry in enumerate(entries)
    ]


def window(session: str, key: str = "agent:main:main", **more: object) -> Row:
    fields = {"session_id": session, "session_key": key, "created_at": 1_700_000_000_000}
    names = ("started_at", "model", "display_name", "parent_session_key", "spawned_by")
    return {**dict.fromkeys(names), **fields, **more}


def node(key: str = "agent:main:main", **more: object) -> Row:
    names = ("label", "display_name", "parent_session_key", "spawned_by", "fork_source_session_id")
    return {"session_key": key, "entry_json": "{}", **dict.fromkeys(names), **more}


def tell(**tables: list[Row]) -> list[Event]:
    return list(OPENCLAW_DATABASE.read(Memory(tables)))


def begun(events: list[Event]) -> dict[str, StrandStarted]:
    return {each.strand: each for each in events if isinstance(each, StrandStarted)}


def test_the_tables_of_newer_and_of_the_first_releases_are_known() -> None:
    rows = events_of("w1", HEADER)
    for table in ("session_windows", "sessions"):
        found = recognize_tables(Memory({table: [window("w1")], "transcript_events": rows}).tables)
        assert found is not None
        assert found[0] is OPENCLAW_DATABASE
    # Releases before had a database of the same name, with other things in it.
    assert recognize_tables({"auth_profile_store": frozenset(["store_key"])}) is None


def test_rows_tell_what_a_file_of_the_same_entries_tells() -> None:
    rows = events_of("w1", *ENTRIES)
    events = tell(session_windows=[window("w1")], transcript_events=list(reversed(rows)))
    lines = OPENCLAW.read(SourceRecord(place, entry) for place, entry in enumerate(ENTRIES, 1))
    assert not broken_rules(events)
    kept, filed = replay(events), replay(list(lines))
    assert [each.transcript for each in kept] == [each.transcript for each in filed]
    assert [type(each) for each in events].count(CompactionEvent) == 1
    first, branch = begun(events).values()
    assert (first.about.id, first.about.cwd) == ("w1", "/srv/shop")
    assert first.about.started == 1_700_000_000_000
    assert (branch.of, branch.fork) == ("w1", Fork.BRANCH)


def test_sessions_that_share_entries_are_told_apart() -> None:
    copied = (HEADER | {"id": "w2"}, *ENTRIES[1:5], {"type": "reset", "id": "e9", "parentId": "e4"})
    events = tell(
        session_windows=[window("w1"), window("w2", "agent:main:other")],
        transcript_events=[*events_of("w1", *ENTRIES), *events_of("w2", *copied)],
    )
    assert not broken_rules(events)
    assert {each.strand for each in events if isinstance(each, RewindEvent)} == {"w2"}
    told = [each for each in events if isinstance(each, MessageEvent) and each.native.id == "e1"]
    assert [each.strand for each in told] == ["w1", "w2"]


def test_a_sub_agent_comes_after_the_session_that_was_its_callers_newest_then() -> None:
    key = "agent:main:main"
    events = tell(
        session_windows=[
            window("child", "agent:main:subagent:1", created_at=25, spawned_by=key),
            window("w1", created_at=10),
            window("w2", created_at=20),
            window("w3", created_at=30),
        ],
        session_nodes=[node(), node("agent:main:subagent:1", label="Count", spawned_by=key)],
        transcript_events=[
            row for own in ("child", "w1", "w2", "w3") for row in events_of(own, *ENTRIES[1:3])
        ],
    )
    child = begun(events)["child"].about
    assert (child.parent, child.fork, child.title) == ("w2", Fork.DELEGATION, "Count")
    order = list(begun(events))
    assert order.index("w2") < order.index("child")
    # That one session follows another of its key is no descent.
    assert not begun(events)["w2"].about.parent


def test_a_fork_comes_from_the_session_it_names_and_later_ones_of_its_key_do_not() -> None:
    forked = node("agent:main:fork", fork_source_session_id="w1", display_name="Try it")
    events = tell(
        session_windows=[
            window("w1"),
            window("f1", "agent:main:fork", created_at=1_700_000_000_001),
            window("f2", "agent:main:fork", created_at=1_700_000_000_002),
        ],
        session_nodes=[forked],
        transcript_events=[
            row for own in ("w1", "f1", "f2") for row in events_of(own, *ENTRIES[1:3])
        ],
    )
    first, later = begun(events)["f1"].about, begun(events)["f2"].about
    assert (first.parent, first.fork, first.title) == ("w1", Fork.BRANCH, "Try it")
    assert later.parent == ""


def test_the_first_releases_say_in_json_what_newer_ones_have_columns_for() -> None:
    entry = {"displayName": "The shop", "spawnedBy": "agent:main:main", "model": "m"}
    child = {"session_key": "agent:main:subagent:1", "entry_json": json.dumps(entry)}
    events = tell(
        sessions=[window("w1"), window("child", "agent:main:subagent:1")],
        session_entries=[child],
        transcript_events=[*events_of("w1", ENTRIES[1]), *events_of("child", ENTRIES[1])],
    )
    about = begun(events)["child"].about
    assert (about.title, about.parent, about.model) == ("The shop", "w1", "m")
    assert about.more["session_key"] == "agent:main:subagent:1"


def test_damaged_and_packed_rows_are_reported_and_the_rest_is_told() -> None:
    rows: list[Row] = [
        {"session_id": "w1", "seq": 0, "event_json": "{", "event_zstd": None},
        {"session_id": "w1", "seq": 1, "event_json": None, "event_zstd": b"\x28\xb5\x2f\xfd?"},
        {
            "session_id": "w1",
            "seq": 2,
            "event_json": None,
            "event_zstd": json.dumps(ENTRIES[1]).encode(),
        },
    ]
    events = tell(session_windows=[window("w1")], transcript_events=rows)
    packed = "is packed with zstd: install 'holdfast[zstd]' and import it again"
    assert [each for each in events if isinstance(each, Problem)] == [
        Problem(1, "event 1 of the session 'w1' is no JSON object"),
        Problem(2, f"event 2 of the session 'w1' {packed}"),
    ]
    assert [each.message.text for each in events if isinstance(each, MessageEvent)] == [
        "Which port?"
    ]


def test_a_session_without_a_row_of_its_own_is_told_all_the_same() -> None:
    rows = [*events_of("w1", ENTRIES[1]), *events_of("lost", ENTRIES[1])]
    events = tell(session_windows=[window("w1")], transcript_events=rows)
    assert list(begun(events)) == ["w1", "lost"]


def archive(session: str, content: bytes, at: int = 1) -> Row:
    place = {"session_id": session, "generation": f"g{at}", "created_at": at}
    return {**place, "archive_blob": content}


def test_what_was_deleted_is_told_from_its_archive_unless_it_lives() -> None:
    lines = "\n".join(json.dumps(entry) for entry in (HEADER | {"id": "old"}, ENTRIES[1]))
    events = tell(
        session_windows=[window("w1")],
        transcript_events=events_of("w1", ENTRIES[1]),
        session_transcript_archives=[
            archive("old", lines.encode(), 2),
            archive("old", lines.encode(), 1),
            archive("w1", lines.encode()),
            archive("sealed", b"\x28\xb5\x2f\xfd?"),
        ],
    )
    assert {name: each.about.id for name, each in begun(events).items()} == {
        "w1": "w1",
        # Its name, as in the file that OpenClaw writes of it.
        "old": "old",
        "old@g1": "old",
    }
    (problem,) = [each for each in events if isinstance(each, Problem)]
    assert problem.reason.startswith("the archive of the session 'sealed' is packed with zstd")
    assert not broken_rules(events)


def laid_aside(session: str, *entries: object) -> bytes:
    lines: list[object] = [
        {"kind": "header", "version": 1, "sessionId": session, "generation": "g"}
    ]
    for place, entry in enumerate(entries):
        row = {"seq": place, "event_json": json.dumps(entry), "created_at": place}
        lines.append({"kind": "event", "row": row})
    lines.append({"kind": "identity", "row": {"event_id": "e1", "seq": 1, "parent_id": None}})
    lines.append({"kind": "fts", "row": {"text": "Which port?", "message_id": "e1"}})
    return "\n".join(map(json.dumps, lines)).encode()


def cold(session: str, content: bytes | None) -> Row:
    storage = "file" if content is None else "sqlite"
    return {"session_id": session, "storage": storage, "archive_blob": content}


def test_what_was_laid_aside_is_told_in_its_place_and_what_lies_outside_is_reported() -> None:
    events = tell(
        session_windows=[
            window("child", "agent:main:subagent:1", spawned_by="agent:main:main"),
            window("w1", created_at=1),
            window("far", "agent:main:far"),
        ],
        transcript_events=events_of("child", *ENTRIES[1:3]),
        session_transcript_cold_archives=[
            cold("w1", laid_aside("w1", *ENTRIES)),
            cold("far", None),
        ],
    )
    assert not broken_rules(events)
    assert next(iter(begun(events))) == "w1"
    assert begun(events)["child"].about.parent == "w1"
    assert begun(events)["w1"].about.cwd == "/srv/shop"
    told = [
        each.message.text
        for each in events
        if isinstance(each, MessageEvent) and each.strand == "w1"
    ]
    assert told[:2] == ["Which port?", "8443"]
    assert [each.reason for each in events if isinstance(each, Problem)] == [
        "1 of its sessions lie in files of the folder sessions/cold, "
        "which are imported by themselves"
    ]


def test_a_file_of_a_session_that_was_laid_aside_tells_what_the_database_told() -> None:
    content = laid_aside("w1", *ENTRIES)
    assert detect(content.decode()).format == "openclaw"
    lines = [json.loads(line) for line in content.splitlines()]
    records = [SourceRecord(place, line) for place, line in enumerate(lines, 1)]
    plain = OPENCLAW.read(SourceRecord(place, entry) for place, entry in enumerate(ENTRIES, 2))
    assert list(OPENCLAW.read(records)) == list(plain)
    torn = SourceRecord(9, {"kind": "event", "row": {"seq": 9, "event_json": "{"}})
    assert list(OPENCLAW.read([*records[:3], torn]))[-1] == Problem(9, "an event is no JSON object")
