"""The database of opencode, told from rows."""

import json

from holdfast.formats.catalog import recognize_tables
from holdfast.formats.events import CompactionEvent, MessageEvent, Problem, StrandStarted
from holdfast.formats.opencode import OPENCODE, OPENCODE_DATABASE
from holdfast.formats.source import SourceRecord
from holdfast.session import Usage
from holdfast.transcript import Media, Text, shape
from tests.formats.samples import sample
from tests.formats.tables import Memory

EXPORT = json.loads(sample("opencode.json"))


def memory(**more: object) -> Memory:
    known = EXPORT["info"]
    session = {
        "id": known["id"],
        "project_id": known["projectID"],
        "parent_id": None,
        "slug": known["slug"],
        "directory": known["directory"],
        "title": known["title"],
        "version": known["version"],
        "revert": None,
        "time_created": known["time"]["created"],
        **more,
    }
    messages = [
        {
            "id": each["info"]["id"],
            "session_id": known["id"],
            "time_created": each["info"]["time"]["created"],
            "data": json.dumps(without(each["info"], "id", "sessionID")),
        }
        for each in EXPORT["messages"]
    ]
    parts = [
        {
            "id": part["id"],
            "message_id": part["messageID"],
            "session_id": known["id"],
            "data": json.dumps(without(part, "id", "sessionID", "messageID")),
        }
        for each in EXPORT["messages"]
        for part in each["parts"]
    ]
    return Memory({"session": [session], "message": messages, "part": parts})


def without(fields: dict[str, object], *names: str) -> dict[str, object]:
    return {key: value for key, value in fields.items() if key not in names}


def test_the_tables_are_known() -> None:
    found = recognize_tables(memory().tables)
    assert found is not None
    assert found[0] is OPENCODE_DATABASE
    assert OPENCODE_DATABASE.recognize({"session": frozenset(["id"])}) is None


def test_rows_tell_what_the_export_of_the_session_tells() -> None:
    assert list(OPENCODE_DATABASE.read(memory())) == list(OPENCODE.read([SourceRecord(1, EXPORT)]))


def test_a_row_that_is_no_json_is_a_problem() -> None:
    tables = memory()
    broken = {"id": "m", "session_id": "ses_1", "time_created": 1, "data": "{"}
    rows = {"session": list(tables.rows("session", ("id", "project_id", "directory")))}
    events = list(OPENCODE_DATABASE.read(Memory({**rows, "message": [broken]})))
    assert events[1:] == [Problem(1, "what is stored as 'm' is no JSON object")]


def test_a_session_that_works_for_another_comes_after_it() -> None:
    rows = [
        {"id": "child", "project_id": "p", "directory": "/", "parent_id": "mother"},
        {"id": "mother", "project_id": "p", "directory": "/", "parent_id": None},
    ]
    events = list(OPENCODE_DATABASE.read(Memory({"session": rows})))
    assert [each.strand for each in events if isinstance(each, StrandStarted)] == [
        "mother",
        "child",
    ]
    assert not any(isinstance(each, MessageEvent) for each in events)


def row(place: int, kind: str, **data: object) -> dict[str, object]:
    time = {"created": 1_700_000_000_000 + place}
    return {
        "id": f"evt_{9 - place}",
        "session_id": EXPORT["info"]["id"],
        "type": kind,
        "seq": place,
        "time_created": time["created"],
        "data": json.dumps({"time": time, **data}),
    }


CALL = {
    "type": "tool",
    "id": "call_1",
    "name": "read",
    "state": {
        "status": "completed",
        "input": {"path": "a.py"},
        "content": [
            {"type": "text", "text": "print()"},
            {"type": "file", "uri": "data:image/png;base64,AAAA", "mime": "image/png"},
        ],
    },
}
BROKEN = {
    "type": "tool",
    "id": "call_2",
    "name": "read",
    "state": {"status": "error", "input": {}, "content": [], "error": {"message": "no such file"}},
}
SEQUENCE = [
    row(1, "model-switched", model={"id": "m"}),
    row(2, "user", text="Read it", files=[{"uri": "file:///a.py", "mime": "text/x-python"}]),
    row(
        3,
        "assistant",
        model={"id": "m", "providerID": "p"},
        content=[
            {"type": "reasoning", "text": "hm"},
            {"type": "text", "text": "Now"},
            CALL,
            BROKEN,
        ],
        tokens={"input": 7, "output": 2, "reasoning": 1, "cache": {"read": 0, "write": 0}},
        cost=0.5,
        finish="stop",
    ),
    row(4, "shell", callID="call_3", command="ls", output="a.py"),
    row(5, "compaction", reason="auto", summary="A file was read", recent="It prints"),
    row(6, "user", text="Go on"),
]


def sequence() -> list[object]:
    known = memory()
    (session,) = known.rows("session", ("id", "project_id", "directory", "title", "time_created"))
    tables = {"session": [session], "message": [], "part": [], "session_message": SEQUENCE[::-1]}
    return list(OPENCODE_DATABASE.read(Memory(tables)))


def test_a_session_that_only_the_second_schema_holds_is_told_in_its_order() -> None:
    told = [each.message for each in sequence() if isinstance(each, MessageEvent)]
    assert shape(told, 60) == "\n".join(
        [
            "00 user      Read it | [file]",
            "01 assistant (thinking)",
            "02 assistant Now",
            '03 assistant -> read {"path": "a.py"}',
            "04 tool      result: print()",
            "05 assistant -> read {}",
            "06 tool      error: no such file",
            '07 assistant -> shell {"command": "ls"}',
            "08 tool      result: a.py",
            "09 user      [summary] A file was read It prints",
            "10 user      Go on",
        ]
    )
    (result,) = told[4].results
    assert [type(part) for part in result.content] == [Text, Media]


def test_answers_of_the_second_schema_know_their_model_and_are_counted_once() -> None:
    told = [each for each in sequence() if isinstance(each, MessageEvent)]
    spent = [each.native.usage for each in told if each.native.usage is not None]
    assert spent == [Usage(1, 7, 3, cost=0.5)]
    assert told[1].native.model == "m"
    (fold,) = [each for each in sequence() if isinstance(each, CompactionEvent)]
    assert fold.shows == (told[9].key,)


def test_what_both_schemas_hold_is_told_once() -> None:
    known = memory()
    tables = {name: list(known.rows(name, tuple(known.tables[name]))) for name in known.tables}
    both = Memory({**tables, "session_message": SEQUENCE})
    assert list(OPENCODE_DATABASE.read(both)) == list(OPENCODE_DATABASE.read(known))
