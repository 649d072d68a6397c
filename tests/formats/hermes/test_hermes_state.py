"""Hermes' sessions are told with their parents first, whatever columns their tables have."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.events import (
    About,
    Event,
    MessageEvent,
    MetadataUpdated,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.hermes import HERMES_STATE
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, Text
from tests.formats.tables import Memory

START = 1_700_000_000
FIRST = ("id", "source", "user_id", "model", "model_config", "system_prompt")
SECOND = ("parent_session_id", "started_at", "ended_at", "end_reason", "title")
SESSION = dict.fromkeys((*FIRST, *SECOND))
MESSAGE = dict.fromkeys(
    ("id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp")
)


def session(name: str, **fields: object) -> dict[str, object]:
    return {**SESSION, "id": name, "source": "cli", "started_at": START, **fields}


def message(number: int, of: str, words: str, **fields: object) -> dict[str, object]:
    return {
        **MESSAGE,
        "id": number,
        "session_id": of,
        "role": "user",
        "content": words,
        "timestamp": START + number,
        **fields,
    }


def events(sessions: list[dict[str, object]], messages: list[dict[str, object]]) -> list[Event]:
    return list(HERMES_STATE.read(Memory({"sessions": sessions, "messages": messages})))


def begun(told: list[Event]) -> list[About]:
    return [event.about for event in told if isinstance(event, StrandStarted)]


def test_a_session_is_told_from_its_system_prompt_on() -> None:
    row = session("s", title="A title", model="m", system_prompt="be good", cwd="/w")
    told = events([row], [message(4, "s", "hello")])
    start = START * 1000
    about = About(
        id="s", title="A title", model="m", cwd="/w", started=start, more={"source": "cli"}
    )
    assert told == [
        StrandStarted(strand="s", line=1, about=about),
        MessageEvent(
            strand="s",
            line=1,
            key="s/system",
            message=Message(Role.SYSTEM, (Text("be good"),)),
            native=SourceMetadata(at=start),
        ),
        MessageEvent(
            strand="s",
            line=4,
            key="4",
            message=Message(Role.USER, (Text("hello"),)),
            native=SourceMetadata(id="4", at=start + 4000),
        ),
    ]


def test_a_prompt_that_sessions_share_is_told_in_each() -> None:
    names = dict.fromkeys(("system_prompt", "system_prompt_hash"))
    rows = [session(name, **{**names, "system_prompt_hash": "h"}) for name in ("a", "b")]
    rows.append(session("c", **{**names, "system_prompt": "be brief"}))
    tables = {"sessions": rows, "system_prompts": [{"hash": "h", "prompt": "be good"}]}
    told = [each for each in HERMES_STATE.read(Memory(tables)) if isinstance(each, MessageEvent)]
    assert [(each.key, each.message.text) for each in told] == [
        ("a/system", "be good"),
        ("b/system", "be good"),
        ("c/system", "be brief"),
    ]


def test_tokens_and_costs_of_a_session_are_noted_at_its_end() -> None:
    row = session("s", input_tokens=5, output_tokens=0, api_call_count=2, estimated_cost_usd=0.5)
    usage = Usage(2, 5, cost=0.5)
    assert events([row], [])[-1] == MetadataUpdated(strand="s", about=About(usage=usage))


def test_a_parent_is_told_before_its_child_that_claims_to_be_older() -> None:
    rows = [session("child", parent_session_id="parent", started_at=1), session("parent")]
    assert [about.id for about in begun(events(rows, []))] == ["parent", "child"]


def test_sessions_that_are_each_others_parents_are_told_once() -> None:
    rows = [session("a", parent_session_id="b"), session("b", parent_session_id="a")]
    assert sorted(about.id for about in begun(events(rows, []))) == ["a", "b"]


def test_a_session_says_how_it_came_from_its_parent() -> None:
    rows = [
        session("folded", end_reason="compression", ended_at=START + 1),
        session("left", end_reason="branched", ended_at=START + 1),
        session("on", parent_session_id="folded", started_at=START + 2),
        session("branch", parent_session_id="left", started_at=START + 2),
        session("before", parent_session_id="left", started_at=START),
        session("marked", parent_session_id="on", model_config='{"_branched_from": "on"}'),
        session("helper", parent_session_id="folded", model_config='{"_delegate_from": "folded"}'),
        session("tool", parent_session_id="folded", source="tool"),
        session("heir", parent_session_id="folded", model_config='{"_branched_from": "old"}'),
        session("stray", parent_session_id="left", model_config='{"_branched_from": "old"}'),
        session("again", parent_session_id="on", model_config='{"_reset_from": "on"}'),
        session("over", end_reason="session_reset", session_key="chat"),
        session("anew", parent_session_id="over", session_key="chat"),
        session("aside", parent_session_id="over", session_key="other"),
        session("unknown", parent_session_id="gone"),
    ]
    assert {about.id: about.fork for about in begun(events(rows, []))} == {
        "folded": None,
        "left": None,
        "on": Fork.COMPRESSION,
        "branch": Fork.BRANCH,
        "before": Fork.DELEGATION,
        "marked": Fork.BRANCH,
        "helper": Fork.DELEGATION,
        "tool": Fork.DELEGATION,
        "heir": Fork.COMPRESSION,
        "stray": Fork.BRANCH,
        "again": Fork.RESET,
        "over": None,
        "anew": Fork.RESET,
        "aside": Fork.DELEGATION,
        "unknown": Fork.DELEGATION,
    }


def test_rows_of_newer_releases_say_what_was_taken_back() -> None:
    rows = [
        message(1, "s", "a", active=1, compacted=0),
        message(2, "s", "b", active=0, compacted=0),
        message(3, "s", "c", active=1, compacted=0),
    ]
    assert events([session("s")], rows)[3] == RewindEvent(strand="s", line=2, shows=("1",))


def test_messages_whose_session_is_gone_are_told_alone() -> None:
    told = events([session("s")], [message(1, "lost", "still here")])
    reason = "the messages of session 'lost' have no session; they are kept alone"
    assert told[1:3] == [
        Problem(1, reason),
        StrandStarted(strand="lost", line=1, about=About(id="lost")),
    ]
    assert [event.key for event in told if isinstance(event, MessageEvent)] == ["1"]


def test_a_mark_of_the_session_is_no_message_and_an_unknown_speaker_is_a_problem() -> None:
    rows = [
        message(1, "s", "", role="session_meta"),
        message(2, "s", "boo", role="ghost"),
        message(3, "s", "hello"),
    ]
    told = events([session("s")], rows)[1:]
    assert [type(event) for event in told] == [MessageEvent, Problem]
    assert told[1] == Problem(2, "message 2 has the unknown role 'ghost'")


def test_a_row_that_cannot_be_read_whole_is_told_by_its_words_and_reported() -> None:
    rows = [message(1, "s", "look", role="assistant", tool_calls='[{"id": 1}]')]
    told = events([session("s")], rows)[1:]
    assert isinstance(told[0], MessageEvent)
    reason = "message 1 is told by its words only: expected text, found a number"
    assert told[1] == Problem(1, reason)


def test_other_tables_of_these_names_are_not_taken_for_it() -> None:
    assert HERMES_STATE.recognize({"sessions": frozenset(SESSION)}) is None
    assert (
        HERMES_STATE.recognize(
            {"sessions": frozenset(SESSION), "messages": frozenset({"id", "body"})}
        )
        is None
    )
    columns = frozenset(MESSAGE)
    for lost in ("id", "session_id", "role"):
        tables = {"sessions": frozenset(SESSION), "messages": columns - {lost}}
        assert HERMES_STATE.recognize(tables) is None
    found = HERMES_STATE.recognize({"sessions": frozenset(SESSION), "messages": columns})
    assert found is not None
    assert found.confidence == 1.0


VALUES = st.none() | st.integers() | st.floats() | st.text(max_size=9) | st.binary(max_size=9)


@given(
    st.lists(st.fixed_dictionaries(dict.fromkeys(SESSION, VALUES)), max_size=4),
    st.lists(st.fixed_dictionaries(dict.fromkeys(MESSAGE, VALUES)), max_size=4),
)
def test_no_row_stops_the_telling(
    sessions: list[dict[str, object]], messages: list[dict[str, object]]
) -> None:
    for row in sessions:
        row["id"] = "s"
    told = events(sessions, [{**row, "session_id": "s"} for row in messages])
    assert sum(isinstance(event, StrandStarted) for event in told) >= bool(sessions)
