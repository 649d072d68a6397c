"""The conversation is found under any name, with what its model sees and where it was held."""

from __future__ import annotations

import msgspec
import pytest

from holdfast.formats.events import (
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    MetadataUpdated,
    Problem,
    StrandStarted,
)
from holdfast.formats.langgraph import LANGGRAPH
from holdfast.formats.replay import replay
from holdfast.session import Usage
from tests.formats.langgraph.graphs import Saver, human, packed
from tests.formats.tables import Memory


def events(saver: Saver) -> list[Event]:
    return list(LANGGRAPH.read(Memory(saver.tables)))


def told(events: list[Event]) -> list[str]:
    return [each.message.text for each in events if isinstance(each, MessageEvent)]


def window(events: list[Event]) -> list[str]:
    (conversation,) = replay(events)
    found = conversation.window
    return [each.summary.text if each.summary else each.text for each in found]


def messages(*names: str, as_json: bool = False) -> list[object]:
    return [packed(human(name), as_json=as_json) for name in names]


def a_set(*names: str, as_json: bool) -> object:
    if as_json:
        return {"lc": 2, "type": "constructor", "id": ["builtins", "set"], "args": [[*names]]}
    return msgspec.msgpack.Ext(0, msgspec.msgpack.encode(["builtins", "set", [*names]]))


@pytest.mark.parametrize("channel", ["__root__", "__previous__", "chat_history"])
@pytest.mark.parametrize("as_json", [True, False])
def test_a_list_of_messages_of_any_name_is_the_conversation(channel: str, as_json: bool) -> None:
    saver = Saver(as_json=as_json)
    first = saver.put(None, __start__=messages("passing", "by", as_json=as_json))
    channels = {channel: messages("a", as_json=as_json), "topic": "x", "notes": ["y"]}
    second = saver.put(None, first, thread="t", space="", metadata=None, **channels)
    channels[channel] = messages("a", "b", as_json=as_json)
    saver.put(None, second, thread="t", space="", metadata=None, **channels)
    assert told(events(saver)) == ["a", "b"]


def test_messages_inside_of_what_a_function_keeps_are_the_conversation() -> None:
    saver = Saver()
    first = saver.put(None, __previous__={"messages": messages("a"), "turn": 1})
    saver.put(None, first, __previous__={"messages": messages("a", "b"), "turn": 2})
    assert told(events(saver)) == ["a", "b"]


def test_the_channel_that_was_first_stays_the_conversation() -> None:
    saver = Saver()
    first = saver.put(None, asked=messages("a"))
    saver.put(None, first, asked=messages("a", "b"), found=messages("c", "d", "e"))
    assert told(events(saver)) == ["a", "b"]


def test_messages_are_the_conversation_wherever_there_are_any() -> None:
    saver = Saver()
    saver.put([human("a")], drafts=messages("c", "d"))
    assert told(events(saver)) == ["a"]


def test_lists_of_other_things_are_no_conversation() -> None:
    saver = Saver()
    documents = [{"type": "Document", "content": "x"}, {"role": "user"}]
    saver.put(None, documents=documents, words=["a"], numbers=[1], none=None)
    assert events(saver) == []


def test_the_summary_of_a_deep_agent_stands_for_what_it_cut_off() -> None:
    saver = Saver()
    summary = human("", "they met", additional_kwargs={"lc_source": "summarization"})
    event = {"cutoff_index": 2, "summary_message": packed(summary, as_json=False)}
    first = saver.put([human("a"), human("b"), human("c")])
    second = saver.put(
        [human("a"), human("b"), human("c")], first, metadata=None, _summarization_event=event
    )
    saver.put(
        [human("a"), human("b"), human("c"), human("d")],
        second,
        metadata=None,
        _summarization_event=event,
    )
    found = events(saver)
    (fold,) = [each for each in found if isinstance(each, CompactionEvent)]
    assert fold.shows == ("t/c0001/summary", "t/c")
    assert window(found) == ["they met", "c", "d"]


@pytest.mark.parametrize("as_json", [True, False])
def test_a_running_summary_stands_for_the_messages_that_it_names(as_json: bool) -> None:
    fields = {
        "summary": "they met",
        "summarized_message_ids": a_set("b", "c", as_json=as_json),
        "last_summarized_message_id": "c",
    }
    if as_json:
        summary: object = {"lc": 2, "type": "constructor", "id": ["x", "Y"], "kwargs": fields}
    else:
        summary = msgspec.msgpack.Ext(2, msgspec.msgpack.encode(["x", "Y", fields]))
    saver = Saver(as_json=as_json)
    first = saver.put([human("a"), human("b"), human("c"), human("d")])
    saver.put(
        [human("a"), human("b"), human("c"), human("d")],
        first,
        metadata=None,
        context={"running_summary": summary},
    )
    assert window(events(saver)) == ["they met", "a", "d"]


def test_where_the_program_around_a_graph_worked_is_kept() -> None:
    saver = Saver()
    noted = {
        "cwd": "/work/garden",
        "git_branch": "spring",
        "ls_integration_version": "1.2",
        "agent_name": "gardener",
    }
    saver.put([human("a")], metadata=noted)
    saver.checkpoints.append({**saver.checkpoints[0], "thread_id": "u", "metadata": b"\x80"})
    (begun, other) = [each for each in events(saver) if isinstance(each, StrandStarted)]
    assert begun.about == About(
        id="t",
        cwd="/work/garden",
        git_branch="spring",
        version="1.2",
        started=begun.about.started,
        more={"agent_name": "gardener"},
    )
    assert other.about == About(id="u", started=begun.about.started)


def test_a_graph_may_name_its_conversation() -> None:
    saver = Saver()
    first = saver.put([human("a")])
    second = saver.put([human("a")], first, metadata=None, title="Spring")
    third = saver.put([human("a"), human("b")], second, metadata=None, title="Spring")
    saver.put([human("a"), human("b")], third, metadata=None, title="Summer")
    saver.put([human("c")], space="asking:1", metadata=None, title="Winter")
    saver.put([human("a")], thread="u", metadata=None, title="Autumn")
    found = events(saver)
    notes = [(each.strand, each.about) for each in found if isinstance(each, MetadataUpdated)]
    assert notes == [("t", About(title="Spring")), ("t", About(title="Summer"))]
    begun = [each.about.title for each in found if isinstance(each, StrandStarted)]
    assert begun == ["", "asking", "Autumn"]


def test_an_agent_inside_a_graph_is_known_by_its_name() -> None:
    saver = Saver()
    named = {"lc_agent_name": "researcher"}
    first = saver.put([human("a")], metadata=named)
    saver.put([human("b")], first, metadata=named)
    saver.put([human("c")], first, metadata=named)
    saver.put([human("d")], space="tools:1", metadata=named)
    begun = [each for each in events(saver) if isinstance(each, StrandStarted)]
    assert [each.about.title for each in begun] == ["", "", "researcher"]


def test_what_a_caller_passed_in_is_read_as_it_was_written() -> None:
    saver = Saver()
    first = saver.put(None)
    saver.write(first, "a")
    second = saver.put(None, first)
    saver.write(second, ["b", ["user", "c"]])
    third = saver.put(None, second)
    saver.write(third, ["assistant", "d"])
    saver.put(None, third)
    found = [each.message for each in events(saver) if isinstance(each, MessageEvent)]
    assert [(each.role.value, each.text) for each in found] == [
        ("user", "a"),
        ("user", "b"),
        ("user", "c"),
        ("assistant", "d"),
    ]


def test_a_message_that_gets_its_id_later_is_told_once() -> None:
    saver = Saver()
    first = saver.put(None)
    saver.write(first, ["yes", "yes", "no"])
    second = saver.put(None, first)
    saver.put([human("1", "yes"), human("2", "yes"), human("3", "no"), human("4", "yes")], second)
    found = events(saver)
    assert told(found) == ["yes", "yes", "no", "yes"]
    assert window(found) == ["yes", "yes", "no", "yes"]


def test_a_graph_deep_inside_belongs_to_the_one_around_it() -> None:
    saver = Saver()
    saver.put([human("a")])
    saver.put([human("b")], space="asking:1")
    saver.put([human("a"), human("b"), human("c")], space="asking:1|looking:2|1")
    found = events(saver)
    begun = [each for each in found if isinstance(each, StrandStarted)]
    assert [(each.of, each.about.title) for each in begun] == [
        (None, ""),
        ("t", "asking"),
        ("t/asking:1", "looking"),
    ]
    assert told(found) == ["a", "b", "c"]


def test_an_answer_that_is_held_twice_was_given_once() -> None:
    def answer(words: str) -> dict[str, object]:
        counts = {"input_tokens": 3, "output_tokens": 2}
        return {"type": "ai", "id": "r", "content": words, "usage_metadata": counts}

    saver = Saver()
    first = saver.put([human("a"), answer("b")])
    saver.put([human("a"), answer("b, edited")], first)
    saver.put([answer("b, by the helper")], space="asking:1")
    natives = [
        each.native
        for each in events(saver)
        if isinstance(each, MessageEvent) and each.native.id == "r"
    ]
    assert [each.usage for each in natives] == [Usage(1, 3, 2), None, None]


def test_the_first_saver_called_its_columns_otherwise() -> None:
    saver = Saver(as_json=True)
    first = saver.put([human("a")])
    saver.put([human("a"), human("b")], first)
    oldest = [
        {
            "thread_id": row["thread_id"],
            "thread_ts": row["checkpoint_id"],
            "parent_ts": row["parent_checkpoint_id"],
            "checkpoint": row["checkpoint"],
        }
        for row in saver.checkpoints
    ]
    oldest.append({**oldest[1], "thread_ts": "c0002", "checkpoint": b"\x80\x04pickled"})
    memory = Memory({"checkpoints": oldest})
    assert LANGGRAPH.recognize(memory.tables) is not None
    found = list(LANGGRAPH.read(memory))
    assert told(found) == ["a", "b"]
    (problem,) = [each for each in found if isinstance(each, Problem)]
    assert "'pickle', which is not read" in problem.reason
