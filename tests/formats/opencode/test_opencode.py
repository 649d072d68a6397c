"""The files of opencode, put together and told session by session."""

import json

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.events import About, MessageEvent, Problem, StrandStarted
from holdfast.formats.opencode import OPENCODE
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork
from tests.formats.samples import sample
from tests.formats.surprises import breaks, surprised

START = 1_790_000_000_000


def session(own: str, at: int, **more: object) -> SourceRecord:
    fields = {"id": own, "projectID": "p", "directory": "/sky", "time": {"created": START + at}}
    return SourceRecord(1, {**fields, **more}, f"storage/session/p/{own}.json")


def message(own: str, of: str, at: int, role: str = "user", **more: object) -> SourceRecord:
    fields = {"id": own, "sessionID": of, "role": role, "time": {"created": START + at}}
    return SourceRecord(1, {**fields, **more}, f"storage/message/{of}/{own}.json")


def part(own: str, of: str, text: str, at: int = 1, *, named: bool = True) -> SourceRecord:
    fields = {"id": own, "type": "text", "text": text, "time": {"start": START + at}}
    name = {"messageID": of} if named else {}
    return SourceRecord(1, {**fields, **name}, f"storage/part/{of}/{own}.json")


def words(records: list[SourceRecord]) -> list[tuple[str, str, str]]:
    told = [each for each in OPENCODE.read(records) if isinstance(each, MessageEvent)]
    return [(each.strand, each.key, each.message.text) for each in told]


def spread_out(text: str) -> list[SourceRecord]:
    """Return an exported session as the files that it was."""
    export = json.loads(text)
    found = [SourceRecord(1, export["info"], "session/p/s.json")]
    for each in export["messages"]:
        found.append(SourceRecord(1, each["info"], "message/s/m.json"))
        found += [SourceRecord(1, part, "part/m/p.json") for part in each["parts"]]
    return found


FILES = spread_out(sample("opencode.json"))


def test_the_files_of_a_session_tell_what_its_export_tells() -> None:
    export = SourceRecord(1, json.loads(sample("opencode.json")))
    assert list(OPENCODE.read([export])) == list(OPENCODE.read(list(reversed(FILES))))


def test_every_kind_of_file_is_known_by_itself() -> None:
    signs = [OPENCODE.recognize([each]) for each in FILES]
    assert all(signs)
    nameless = OPENCODE.recognize([part("p", "m", "hi", named=False)])
    assert nameless is not None
    assert nameless.confidence < 0.8
    assert OPENCODE.recognize([SourceRecord(1, {"role": "user", "content": "hi"})]) is None


def test_a_part_belongs_to_the_message_that_its_folder_names() -> None:
    records = [part("p1", "m1", "hello", named=False), message("m1", "s1", 1), session("s1", 0)]
    assert words(records) == [("s1", "m1", "hello")]


def test_messages_go_by_time_and_parts_by_time_where_ids_say_nothing() -> None:
    records = [
        part("a", "m1", "second", 20),
        part("z", "m1", "first", 10),
        part("b", "m0", "before", 1),
        message("m1", "s1", 2),
        message("m0", "s1", 3),
        session("s1", 0),
    ]
    assert [text for *_, text in words(records)] == ["first\n\nsecond", "before"]


def test_parts_go_by_ids_that_the_agent_made() -> None:
    records = [
        part("prt_0000000000b2x", "m1", "second", 10),
        part("prt_0000000000b1x", "m1", "first", 20),
        message("m1", "s1", 1),
        session("s1", 0),
    ]
    assert [text for *_, text in words(records)] == ["first\n\nsecond"]


def test_a_sub_agents_session_comes_after_the_one_that_it_works_for() -> None:
    records = [session("child", 1, parentID="mother", title="Look"), session("mother", 2)]
    begun = [each for each in OPENCODE.read(records) if isinstance(each, StrandStarted)]
    assert [each.about for each in begun] == [
        About(id="mother", cwd="/sky", started=START + 2, more={"projectID": "p"}),
        About(
            id="child",
            title="Look",
            cwd="/sky",
            started=START + 1,
            parent="mother",
            fork=Fork.DELEGATION,
            more={"projectID": "p"},
        ),
    ]


def test_sessions_that_work_for_each_other_are_told_once() -> None:
    records = [session("a", 1, parentID="b"), session("b", 2, parentID="a")]
    begun = [each.strand for each in OPENCODE.read(records) if isinstance(each, StrandStarted)]
    assert sorted(begun) == ["a", "b"]


def test_messages_without_their_session_and_parts_without_their_message() -> None:
    records = [message("m1", "s1", 1), part("p1", "m1", "hello"), part("p2", "m2", "lost")]
    events = list(OPENCODE.read(records))
    reason = "a part belongs to message 'm2', which is not there"
    assert events[:2] == [
        Problem(1, reason, "storage/part/m2/p2.json"),
        StrandStarted(strand="s1", line=1, about=About(id="s1")),
    ]


def test_a_message_that_is_there_twice_is_told_once() -> None:
    records = [message("m1", "s1", 1), message("m1", "s1", 1), part("p1", "m1", "hello")]
    assert words(records) == [("s1", "m1", "hello")]


def test_a_part_that_says_nothing_of_its_message_is_a_problem() -> None:
    value = part("p", "m", "hi", named=False).value
    reason = "a part does not say which message it belongs to"
    assert list(OPENCODE.read([SourceRecord(1, value)])) == [Problem(1, reason)]


@given(st.data())
def test_whatever_the_files_say_they_are_told_by_the_rules(data: st.DataObject) -> None:
    assert breaks(OPENCODE, data.draw(surprised(FILES))) == []
