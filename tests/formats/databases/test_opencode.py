"""The database of opencode, told from rows."""

import json

from holdfast.formats.chronicle import Begun, Told
from holdfast.formats.databases import recognize_tables
from holdfast.formats.databases.opencode import OPENCODE_DATABASE
from holdfast.formats.document import Problem
from holdfast.formats.sessions.opencode import OPENCODE
from holdfast.formats.source import Record
from tests.formats.databases.tables import Memory
from tests.formats.samples import sample

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
    assert list(OPENCODE_DATABASE.read(memory())) == list(OPENCODE.read([Record(1, EXPORT)]))


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
    assert [each.strand for each in events if isinstance(each, Begun)] == ["mother", "child"]
    assert not any(isinstance(each, Told) for each in events)
