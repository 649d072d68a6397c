"""A conversation is everything that the checkpoints of a thread ever held."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.formats.events import (
    About,
    CompactionEvent,
    Event,
    MessageEvent,
    Problem,
    RewindEvent,
    StrandStarted,
)
from holdfast.formats.langgraph import LANGGRAPH
from holdfast.formats.replay import replay
from holdfast.session import Fork
from tests.formats.langgraph.graphs import Saver, human, packed, removal
from tests.formats.tables import Memory

START = 1_767_225_600_000
"""When the first checkpoint is stored."""


def events(saver: Saver) -> list[Event]:
    return list(LANGGRAPH.read(Memory(saver.tables)))


def told(events: list[Event], strand: str = "t") -> list[str]:
    return [each.key for each in events if isinstance(each, MessageEvent) and each.strand == strand]


def window(events: list[Event]) -> list[str]:
    (conversation,) = replay(events)
    found = conversation.window
    return [each.summary.text if each.summary else each.text for each in found]


@pytest.mark.parametrize("as_json", [True, False])
def test_each_message_is_told_when_it_appears_first(as_json: bool) -> None:
    saver = Saver(as_json=as_json)
    first = saver.put([])
    second = saver.put([human("a")], first)
    saver.put([human("a"), human("b")], second)
    found = events(saver)
    about = About(id="t", started=START + 1000)
    assert found[0] == StrandStarted(strand="t", line=2, about=about)
    assert [
        (each.key, each.line, each.native.at) for each in found if isinstance(each, MessageEvent)
    ] == [
        ("t/a", 2, START + 1000),
        ("t/b", 3, START + 2000),
    ]
    assert window(found) == ["a", "b"]


def test_the_summary_of_a_graph_stands_before_what_it_kept() -> None:
    saver = Saver()
    first = saver.put([human("a"), human("b"), human("c")])
    second = saver.put([human("c")], first, summary="they met")
    saver.put([human("c"), human("d")], second, summary="they met")
    found = events(saver)
    assert told(found) == ["t/a", "t/b", "t/c", "t/c0001/summary", "t/d"]
    (fold,) = [each for each in found if isinstance(each, CompactionEvent)]
    assert fold.shows == ("t/c0001/summary", "t/c")
    assert window(found) == ["they met", "c", "d"]


def test_a_second_summary_takes_the_place_of_the_first() -> None:
    saver = Saver()
    first = saver.put([human("a"), human("b")])
    second = saver.put([human("b")], first, summary="one")
    saver.put([human("b"), human("c")], second, summary="two")
    assert window(events(saver)) == ["two", "b", "c"]


def test_messages_that_were_dropped_without_a_summary_are_folded() -> None:
    saver = Saver()
    first = saver.put([human("a"), human("b"), human("c")])
    saver.put([human("c")], first)
    assert events(saver)[-1] == CompactionEvent(
        strand="t", line=2, id="t/c0001", shows=("t/c",), at=START + 1000
    )


def test_the_newest_messages_that_went_away_were_taken_back() -> None:
    saver = Saver()
    first = saver.put([human("a"), human("b"), human("c")])
    saver.put([human("a")], first)
    assert events(saver)[-1] == RewindEvent(strand="t", line=2, shows=("t/a",), at=START + 1000)


def test_a_message_that_was_edited_is_told_again_in_its_place() -> None:
    saver = Saver()
    first = saver.put([human("a"), human("b"), human("c")])
    saver.put([human("a"), human("b", "edited"), human("c")], first)
    found = events(saver)
    assert told(found) == ["t/a", "t/b", "t/c", "t/b~2"]
    assert isinstance(found[-1], RewindEvent)
    assert window(found) == ["a", "edited", "c"]


def test_the_summary_of_the_middleware_folds_what_it_replaced() -> None:
    saver = Saver()
    first = saver.put([human("a"), human("b")])
    summary = human("s", "they met", additional_kwargs={"lc_source": "summarization"})
    saver.put([summary, human("b")], first)
    found = events(saver)
    assert isinstance(found[-1], CompactionEvent)
    assert window(found) == ["they met", "b"]


def test_several_children_of_a_checkpoint_are_branches() -> None:
    saver = Saver()
    first = saver.put([human("a"), human("b")])
    saver.put([human("a"), human("b"), human("c")], first)
    third = saver.put([human("a"), human("b")], first)
    saver.put([human("a"), human("b"), human("d")], third)
    found = events(saver)
    (branch,) = [each for each in found if isinstance(each, StrandStarted) and each.of is not None]
    assert branch == StrandStarted(
        strand="t/c0003",
        line=4,
        about=About(started=START + 3000),
        of="t",
        fork=Fork.BRANCH,
        after="t/b",
    )
    assert told(found, "t/c0003") == ["t/d"]
    assert window(found) == ["a", "b", "d"]


def test_a_branch_from_before_a_compaction_sees_what_was_seen_then() -> None:
    saver = Saver()
    first = saver.put([human("a"), human("b")])
    second = saver.put([human("a"), human("b"), human("c")], first)
    saver.put([human("c")], second, summary="they met")
    saver.put([human("a"), human("b"), human("e")], first)
    assert window(events(saver)) == ["a", "b", "e"]


def test_threads_are_conversations_of_their_own() -> None:
    saver = Saver()
    saver.put([human("a")], thread="one")
    saver.put([human("a")], thread="two")
    found = events(saver)
    assert [each.strand for each in found if isinstance(each, StrandStarted)] == ["one", "two"]
    assert [each.key for each in found if isinstance(each, MessageEvent)] == ["one/a", "two/a"]


def test_a_graph_inside_a_graph_tells_what_the_outer_one_does_not_hold() -> None:
    saver = Saver()
    saver.put([human("a"), human("shared")])
    saver.put([human("shared")], space="looking:1")
    saver.put([human("shared"), human("own")], space="asking:2")
    found = events(saver)
    (inner,) = [each for each in found if isinstance(each, StrandStarted) and each.of is not None]
    assert (inner.of, inner.fork, inner.about.title) == ("t", Fork.DELEGATION, "asking")
    assert told(found, inner.strand) == ["t/asking:2/own"]


@pytest.mark.parametrize("as_json", [True, False])
def test_a_channel_of_changes_is_put_together_from_what_was_written(
    as_json: bool,
) -> None:
    def message(name: str) -> object:
        return packed(human(name), as_json=as_json)

    saver = Saver(as_json=as_json)
    first = saver.put(None)
    saver.write(first, [message("a"), message("b")])
    second = saver.put(None, first)
    saver.write(second, packed(removal("a"), as_json=as_json))
    saver.write(second, message("c"))
    third = saver.put(None, second)
    assert window(events(saver)) == ["b", "c"]
    saver.write(third, {"__overwrite__": [message("d")]})
    fourth = saver.put(None, third)
    saver.write(fourth, [packed(removal("__remove_all__"), as_json=as_json), message("e")])
    saver.put(None, fourth)
    found = events(saver)
    assert told(found) == ["t/a", "t/b", "t/c", "t/d", "t/e"]
    assert window(found) == ["e"]


def test_a_snapshot_of_a_channel_is_what_it_holds() -> None:
    saver = Saver()
    inner = msgspec.msgpack.encode([packed(human("a"), as_json=False)])
    saver.put(None, messages=msgspec.msgpack.Ext(7, inner))
    assert window(events(saver)) == ["a"]


def test_checkpoints_that_cannot_be_read_are_reported_once_and_passed_over() -> None:
    saver = Saver()
    first = saver.put([human("a")])
    for parent in (first, "c0001"):
        saver.put([], parent)
        saver.checkpoints[-1] = {**saver.checkpoints[-1], "type": "msgpack+aes"}
    saver.put([human("a"), human("b")], "c0002")
    found = events(saver)
    reason = "it is packed as 'msgpack+aes', which is not read"
    assert [each for each in found if isinstance(each, Problem)] == [
        Problem(2, f"thread 't': checkpoint c0001 cannot be read: {reason}")
    ]
    assert told(found) == ["t/a", "t/b"]


def test_a_thread_whose_oldest_checkpoints_were_deleted_goes_on() -> None:
    saver = Saver()
    saver.put([human("a")], "gone")
    saver.put([human("a"), human("b")], "gone too")
    assert window(events(saver)) == ["a", "b"]


def test_messages_without_ids_are_known_by_their_words_and_their_turn() -> None:
    saver = Saver()
    first = saver.put([human("", "yes"), human("", "no")])
    saver.put([human("", "yes"), human("", "no"), human("", "yes")], first)
    assert window(events(saver)) == ["yes", "no", "yes"]


def test_other_tables_of_that_name_are_not_taken_for_it() -> None:
    assert LANGGRAPH.recognize({"checkpoints": frozenset({"id", "thread_id"})}) is None
    saver = Saver()
    saver.put([])
    assert LANGGRAPH.recognize(Memory(saver.tables).tables) is not None


NAMES = st.sampled_from("abcdef")
STATES = st.lists(NAMES, unique=True, max_size=5)
STEPS = st.lists(
    st.tuples(STATES, st.sampled_from(["", "", "one", "two"]), st.integers(0, 3)),
    min_size=1,
    max_size=12,
)


def stored(steps: list[tuple[list[str], str, int]], *, has_branches: bool) -> Saver:
    saver = Saver()
    names: list[str] = []
    for state, summary, back in steps:
        parent = names[-1 - (back if has_branches else 0) % len(names)] if names else None
        channels = {"summary": summary} if summary else {}
        messages = [human(name) for name in state]
        names.append(saver.put(messages, parent, thread="t", space="", metadata=None, **channels))
    return saver


@given(STEPS)
def test_the_window_is_what_the_newest_checkpoint_holds(
    steps: list[tuple[list[str], str, int]],
) -> None:
    found = events(stored(steps, has_branches=False))
    state, summary, _ = steps[-1]
    if any(isinstance(each, StrandStarted) for each in found):
        assert window(found) == [*([summary] if summary else []), *state]
    else:
        assert not any(state for state, _, _ in steps)


@given(STEPS, st.data())
def test_a_thread_that_grew_is_told_with_the_same_beginning(
    steps: list[tuple[list[str], str, int]], draw: st.DataObject
) -> None:
    count = draw.draw(st.integers(1, len(steps)))
    before = events(stored(steps[:count], has_branches=True))
    after = events(stored(steps, has_branches=True))
    assert after[: len(before)] == before
    keys = [each.key for each in after if isinstance(each, MessageEvent)]
    assert len(keys) == len(set(keys))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["messages", "type", "id", "lc", "kwargs", "content", "summary"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(st.lists(st.tuples(JSON, JSON, st.sampled_from(["c0000", "c0001", "", None])), max_size=4))
def test_no_value_stops_the_telling(steps: list[tuple[object, object, str | None]]) -> None:
    saver = Saver(as_json=True)
    for messages, write, parent in steps:
        name = saver.put(None, parent, messages=messages)
        saver.write(name, write)
        saver.put(None, name)
    assert all(each is not None for each in events(saver))
