"""What newer releases of Claude Code write is read as what it means."""

import json
from collections.abc import Mapping

from holdfast.formats import Document, read
from holdfast.formats.claude_code import CLAUDE_CODE
from holdfast.formats.events import Event, RewindEvent, StrandStarted
from holdfast.formats.source import SourceRecord
from holdfast.session import Fork
from holdfast.transcript import shape


def user(uuid: str, text: object, **more: object) -> Mapping[str, object]:
    message = {"role": "user", "content": text}
    return {"type": "user", "uuid": uuid, "sessionId": "s", "message": message, **more}


def answer(uuid: str, text: str, **more: object) -> Mapping[str, object]:
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "id": f"msg_{uuid}", "model": "m", "content": content}
    return {"type": "assistant", "uuid": uuid, "sessionId": "s", "message": message, **more}


def document(*lines: Mapping[str, object]) -> Document:
    return read("\n".join(map(json.dumps, lines)))


def events(*lines: Mapping[str, object]) -> list[Event]:
    return list(CLAUDE_CODE.read(SourceRecord(place, each) for place, each in enumerate(lines, 1)))


FALLBACK = {
    "type": "system",
    "subtype": "model_refusal_fallback",
    "uuid": "f",
    "parentUuid": "a1",
    "sessionId": "s",
    "retractedMessageUuids": ["a1"],
}


def test_what_a_model_said_before_it_refused_is_not_seen_beside_the_answer_in_its_place() -> None:
    found = document(
        user("u1", "Explain the parser"),
        answer("a1", "It begins", parentUuid="u1"),
        FALLBACK,
        answer("a2", "It reads tokens", parentUuid="u1", supersedesUuids=["a1"]),
        user("u2", "Thanks", parentUuid="a2"),
    )
    assert shape(found.live) == "\n".join(
        ["00 user      Explain the parser", "01 assistant It reads tokens", "02 user      Thanks"]
    )
    assert "It begins" in shape(found.transcript)


def test_an_answer_that_was_refused_without_another_in_its_place_is_taken_back_too() -> None:
    told = events(
        user("u1", "Explain the parser"),
        answer("a1", "It begins", parentUuid="u1"),
        {**FALLBACK, "subtype": "api_refusal"},
    )
    assert [each.shows for each in told if isinstance(each, RewindEvent)] == [("u1",)]


def test_an_answer_that_replaces_another_is_enough_to_take_that_back() -> None:
    told = events(
        user("u1", "Explain the parser"),
        answer("a1", "It begins", parentUuid="u1"),
        answer("a2", "It reads tokens", parentUuid="never-written", supersedesUuids=["a1"]),
    )
    assert [each for each in told if isinstance(each, RewindEvent)] == [
        RewindEvent(strand="", line=3, shows=("u1",))
    ]
    assert not [each for each in told if type(each).__name__ == "Problem"]


def test_an_answer_that_replaces_nothing_that_is_seen_changes_nothing() -> None:
    told = events(user("u1", "Hello"), answer("a1", "Hi", supersedesUuids=["gone", 7]))
    assert not [each for each in told if isinstance(each, RewindEvent)]


def test_below_a_compaction_only_what_is_seen_there_is_taken_back() -> None:
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "sessionId": "s"}
    told = events(
        user("u1", "Explain"),
        boundary,
        user("c", "What happened", isCompactSummary=True),
        answer("a1", "It begins"),
        {**FALLBACK, "parentUuid": "a1"},
    )
    assert [each.shows for each in told if isinstance(each, RewindEvent)] == [("c",)]


def test_a_branch_that_takes_something_back_keeps_what_it_shares() -> None:
    told = events(
        user("u1", "One", parentUuid=None),
        answer("a1", "First", parentUuid="u1"),
        user("u2", "Two", parentUuid="a1"),
        user("v2", "Other two", parentUuid="a1"),
        answer("b2", "Cut", parentUuid="v2"),
        answer("b3", "Whole", parentUuid="v2", supersedesUuids=["b2"]),
    )
    assert [(each.strand, each.shows) for each in told if isinstance(each, RewindEvent)] == [
        ("v2", ("u1", "a1", "v2"))
    ]


def test_a_fork_of_a_session_names_the_one_that_it_came_from() -> None:
    origin = {"sessionId": "parent", "messageUuid": "u1"}
    told = events(
        {"type": "history-suppression", "cause": "fork_inherit", "sessionId": "s"},
        user("u1", "Hello", forkedFrom=origin),
        answer("a1", "Hi"),
    )
    (begun,) = [each for each in told if isinstance(each, StrandStarted)]
    assert (begun.about.id, begun.about.parent, begun.about.fork) == ("s", "parent", Fork.BRANCH)


def test_the_file_of_a_sub_agent_in_a_fork_is_a_child_of_the_fork() -> None:
    side = {"isSidechain": True, "agentId": "agent", "forkedFrom": {"sessionId": "parent"}}
    (begun,) = [
        each for each in events(user("u1", "Look", **side)) if isinstance(each, StrandStarted)
    ]
    assert (begun.about.id, begun.about.parent) == ("agent", "s")
    assert begun.about.fork is Fork.DELEGATION
