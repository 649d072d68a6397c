"""What nobody said is left out or labelled, and what was shortened is whole again."""

from collections.abc import Callable
from typing import TypeAlias

import pytest
from msgspec.structs import replace

from holdfast.session import Cause, Change, Draft
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing.builders import assistant, call, system, tool, user
from holdfast.training.reading import Conversing, SyntheticChoice, read_log, read_window
from holdfast.transcript import Message, Recalled, Role, Summary, Synthetic, Text, shape
from holdfast.wire.provenance import label_of
from tests.training.stored import RECORD, SHORTER, begin, compact, say

Read: TypeAlias = Callable[[SqliteStore, str, SyntheticChoice], Conversing]
LONG = "a line of output\n" * 40
TALK = (
    system("be good"),
    user("build it"),
    assistant("", call("c1", "bash", '{"command": "make"}')),
    tool("c1", LONG),
    assistant("built"),
    user("test it"),
    assistant("", call("c2", "bash", '{"command": "make test"}')),
    tool("c2", LONG.upper()),
    assistant("tested"),
)


def bare(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(replace(each, extras={}) for each in messages)


def rewind(store: SqliteStore, id_: str, kept: int) -> None:
    window = store.window(id_)
    store.change(
        id_,
        Change(
            cause=Cause.REWIND,
            pieces=window.entries[:kept],
            generation=window.head.generation,
            seen=window.head.size,
            at=4,
        ),
    )


def test_what_nobody_said_is_dropped_and_what_was_shortened_is_whole(store: SqliteStore) -> None:
    begin(store, "s", TALK)
    compact(store, "s", 2, 4)
    window = store.window("s").transcript
    assert any(RECORD in str(each) for each in window)
    assert any(SHORTER in str(each) for each in window)
    read = read_window(store, "s", SyntheticChoice.DROP)
    assert all(each in TALK for each in bare(read.messages))
    assert read.dropped == 1


def test_the_log_is_the_conversation_without_compactions(store: SqliteStore) -> None:
    begin(store, "s", TALK)
    compact(store, "s", 2, -2)
    child = compact(store, "s", 1, -1, rotated_to="t")
    say(store, child, user("ship it"), assistant("shipped"))
    read = read_log(store, child, SyntheticChoice.KEEP)
    assert bare(read.messages) == (*TALK, user("ship it"), assistant("shipped"))
    assert not any(label_of(each) for each in read.messages)


def test_what_the_user_took_back_is_no_part_of_the_conversation(store: SqliteStore) -> None:
    begin(store, "s", TALK)
    rewind(store, "s", 5)
    say(store, "s", user("lint it"), assistant("linted"))
    wanted = (*TALK[:5], user("lint it"), assistant("linted"))
    assert bare(read_log(store, "s", SyntheticChoice.DROP).messages) == wanted
    compact(store, "s", 1, -3)
    rewind(store, "s", len(store.window("s").entries) - 2)
    assert bare(read_log(store, "s", SyntheticChoice.DROP).messages) == wanted[:-2]
    store.move("s", None, store.head("s").generation)
    taken_back = (*TALK, *wanted[-2:])
    assert bare(read_log(store, "s", SyntheticChoice.DROP).messages) == taken_back


def test_labels_say_what_is_synthetic_and_who_wrote_it(store: SqliteStore) -> None:
    begin(store, "s", TALK)
    compact(store, "s", 2, -2)
    read = read_window(store, "s", SyntheticChoice.KEEP)
    labels = [label for each in read.messages if (label := label_of(each))]
    author = {"origin": "holdfast", "method": "model", "model": "gpt-5"}
    assert {"synthetic": "note", "partial": True} in labels
    assert any(label.items() >= {"synthetic": "summary", **author}.items() for label in labels)
    assert bare(read.messages) == bare(store.window("s").transcript)
    assert read.dropped == 0


def test_a_result_that_was_cut_when_it_came_is_whole_again(store: SqliteStore) -> None:
    begin(store, "s", TALK[:3])
    shown = Draft(message=tool("c1", SHORTER), at=2, whole=tool("c1", LONG))
    store.append("s", [shown])
    assert read_window(store, "s", SyntheticChoice.DROP).messages[-1].results[0].text == LONG
    kept = read_window(store, "s", SyntheticChoice.KEEP).messages[-1]
    assert (kept.results[0].text, label_of(kept)) == (SHORTER, {"synthetic": "stub"})
    assert read_log(store, "s", SyntheticChoice.KEEP).messages[-1].results[0].text == LONG


@pytest.mark.parametrize("read", [read_window, read_log])
def test_summaries_of_other_agents_are_synthetic_too(store: SqliteStore, read: Read) -> None:
    record = Message(Role.USER, (Summary("so far", "codex"),), synthetic=Synthetic.SUMMARY)
    begin(store, "s", (*TALK[:5], record, user("go on"), assistant("done")))
    dropped = read(store, "s", SyntheticChoice.DROP)
    assert bare(dropped.messages) == (*TALK[:5], user("go on"), assistant("done"))
    kept = read(store, "s", SyntheticChoice.KEEP)
    assert label_of(kept.messages[5]) == {"synthetic": "summary", "origin": "codex"}


def test_what_memory_says_is_not_the_users(store: SqliteStore) -> None:
    begin(store, "s", (Message(Role.USER, (Recalled("likes tea"), Text("hello"))),))
    assert bare(read_window(store, "s", SyntheticChoice.DROP).messages) == (user("hello"),)
    (kept,) = read_window(store, "s", SyntheticChoice.KEEP).messages
    assert label_of(kept) == {"synthetic": "note", "partial": True}


def test_words_of_users_that_a_compaction_joined_are_all_kept(store: SqliteStore) -> None:
    said = Message(Role.USER, (Text("one"), Text("two")), "parts")
    (entry,) = (begin(store, "s", (said,)), *store.window("s").entries)[1:]
    window = store.window("s")
    both = Message(Role.USER, (Summary(RECORD), *said.parts, Text("three")), "parts")
    store.change(
        "s",
        Change(
            cause=Cause.COMPACTION,
            pieces=(Draft(message=both, at=3, stands_for=entry.id),),
            generation=window.head.generation,
            seen=window.head.size,
            at=3,
        ),
    )
    (message,) = read_window(store, "s", SyntheticChoice.DROP).messages
    assert message.text == "one\n\ntwo\n\nthree"


def test_what_a_stub_stands_for_outlives_the_session_it_was_said_in(store: SqliteStore) -> None:
    begin(store, "s", TALK)
    child = compact(store, "s", 4, 4, rotated_to="t")
    assert SHORTER in shape(store.window(child).transcript, 200)
    store.trash(["s"], 9)
    store.purge(["s"])
    read = read_window(store, child, SyntheticChoice.DROP)
    assert all(each in TALK for each in bare(read.messages))
