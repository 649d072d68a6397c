"""Small files that are written together are stored as if each had been taken by itself."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.formats.events import Problem
from holdfast.transfer import Importer, ImportOrigin, SmallFile, read_small_file
from holdfast.transfer.session_writer import BATCH
from tests.transfer.taking import (
    begun,
    folded,
    importer,
    opened,
    sessions,
    told,
    weight,
    words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.transcript import Message

NAMES = ("", "one", "two", "three")


def story(file: str, name: str, *events: Event, parent: str = "") -> SmallFile:
    origin = ImportOrigin("claude-code", f"/logs/{file}.jsonl")
    whole = (begun(name, parent=parent), *events)
    return SmallFile(origin, lambda: iter(whole), whole)


@st.composite
def stories(draw: st.DrawFn) -> list[SmallFile]:
    """Return files of which some tell the same conversation, or one that came from another."""
    made: list[SmallFile] = []
    for number in range(draw(st.integers(1, 6))):
        keys = draw(st.lists(st.sampled_from(["u1", "a1", "u2", "a2"]), unique=True))
        events: list[Event] = [told(key) for key in keys]
        if keys and draw(st.integers(0, 3)) == 0:
            events += folded("s1", keys[-1])
        name, parent = draw(st.sampled_from(NAMES)), draw(st.sampled_from(NAMES))
        made.append(story(str(number), name, *events, parent=parent))
    return made


def stored(store: Store) -> list[object]:
    """Return everything that is stored of sessions."""
    return [
        (
            each,
            store.entries(each.id, 1, each.size),
            store.views(each.id),
            store.compactions(each.id),
        )
        for each in sessions(store)
    ]


@given(stories())
def test_files_are_stored_as_if_each_were_taken_by_itself(files: Sequence[SmallFile]) -> None:
    with opened() as together, opened() as alone:
        one_by_one = importer(alone)
        expected = [one_by_one.take(each.origin, each.tell) for each in files]
        assert importer(together).take_all(files) == expected
        assert stored(together) == stored(alone)


def test_a_file_with_more_messages_than_a_batch_is_taken_by_itself() -> None:
    many = story("many", "one", *(told(f"u{number}") for number in range(BATCH + 1)))
    few = story("few", "two", told("u1"))
    with opened() as store:
        tallies = importer(store).take_all([few, many, few])
        assert [each.count.messages for each in tallies] == [1, BATCH + 1, 0]


def test_what_others_came_first_with_is_found_and_the_rest_is_written() -> None:
    first, second, third = (story(each, each, told(f"u-{each}")) for each in NAMES[1:])
    with opened() as store:

        def weigh(message: Message) -> int:
            """Let another import write a file that waits, before the others are written."""
            if message.text == "words of u-two":
                importer(store).take(first.origin, first.tell)
            return weight(message)

        tallies = Importer(store, weigh).take_all([first, second, third])
        assert [len(each.sessions) for each in tallies] == [0, 1, 1]
        assert [len(each.unchanged) for each in tallies] == [1, 0, 0]
        assert sorted(words(store, each.id) for each in sessions(store)) == [
            [f"words of u-{each}"] for each in ("one", "three", "two")
        ]


def test_what_came_before_damage_is_told_with_the_damage() -> None:
    def tell() -> Iterator[Event]:
        yield told("u1")
        raise DecodeError("pi", "line 2", "it is cut")

    whole = read_small_file(ImportOrigin("pi", "/logs/one.jsonl"), tell)
    assert whole.events[0] == told("u1")
    assert whole.events[1:] == (Problem(0, "pi: line 2: it is cut"),)


def test_a_packed_file_that_turns_out_long_is_not_held_in_memory() -> None:
    endless = read_small_file(
        ImportOrigin("pi", "/logs/one.jsonl.gz"), lambda: map(told, map(str, count()))
    )
    assert len(endless.events) == BATCH
    assert not endless.is_plain


def test_a_story_that_was_too_long_to_wait_is_told_whole() -> None:
    events = [begun("one"), *(told(f"u{number}") for number in range(2 * BATCH))]
    with opened() as store:
        (tally,) = importer(store).take_all(
            [read_small_file(ImportOrigin("pi", "/logs/one.jsonl"), lambda: iter(events))]
        )
    assert tally.count.messages == 2 * BATCH
