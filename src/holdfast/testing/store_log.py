"""What a store must do with its log: everything that was said stays, byte for byte."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from holdfast.errors import Conflict, UnknownSession
from holdfast.ports import Capability
from holdfast.session import MESSAGE_ID_MARK, Draft, Kind, Usage
from holdfast.testing.store_case import (
    FIRST,
    StoreCase,
    cases_of,
    drafts,
    refused,
    said,
    texts,
)
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LogCases"]

_PICTURE = base64.b64encode(bytes(range(256)) * 40).decode()
_HARD = (
    Message(Role.SYSTEM, (Text("Be kind."),)),
    Message(Role.USER, (Text(""),), form="string"),
    Message(Role.USER, (), form="null"),
    Message(Role.USER, (Text("zero\0byte"),), form="string"),
    Message(Role.USER, (Text("half a pair \ud83d"),), form="string"),
    Message(Role.USER, (Text("日本語 🧵 naïve"),), form="string", pinned=True),
    Message(Role.USER, (Text("long " * 40_000),), form="string"),
    Message(Role.USER, (Text("t"), Media("image", "image/png", _PICTURE)), extras={"a": [None]}),
    Message(Role.USER, (Media("file", url="file-1", extras={"x": 1}),)),
    Message(
        Role.ASSISTANT,
        (Thinking("hm \ud83d" * 2_000, ""), Thinking("", "s" * 5_000), ToolCall("c", "run", "{}")),
    ),
    Message(Role.TOOL, (ToolResult("c", (Text("out " * 4_000),), is_error=True, name="run"),)),
    Message(Role.TOOL, (ToolResult("c", (Opaque("openai", {"k": 1}, "shown"),), form="parts"),)),
    Message(Role.USER, (Summary("what was said", "hermes"),), synthetic=Synthetic.SUMMARY),
    Message(Role.ASSISTANT, (Opaque("gemini", {"$text": "0" * 64}),)),
)
"""Messages that a careless store would change."""


@cases_of(Capability.LOG)
class LogCases(StoreCase):
    """The log: what is appended is durable, dense and unchanged."""

    def test_what_is_appended_comes_back_as_it_was(self, tmp_path: Path) -> None:
        """Any text and any part, from this store and from one that opens the file later."""
        with self.opened(tmp_path) as store:
            entries = store.append(FIRST, [Draft(message=each, at=1) for each in _HARD])
            assert store.window(FIRST).transcript == _HARD
        with self.reopened(tmp_path) as store:
            window = store.window(FIRST)
            assert window.transcript == _HARD
            assert window.entries == entries
            assert tuple(store.whole(entry.id) for entry in entries) == _HARD

    def test_positions_are_dense_and_ids_grow(self, tmp_path: Path) -> None:
        """So that a reader sees when something is missing."""
        with self.opened(tmp_path) as store:
            first = store.append(FIRST, drafts("a", "b"))
            second = store.append(FIRST, drafts("c"))
            entries = (*first, *second)
            assert [entry.position for entry in entries] == [1, 2, 3]
            assert sorted({entry.id for entry in entries}) == [entry.id for entry in entries]
            assert {entry.kind for entry in entries} == {Kind.SAID}
            assert store.head(FIRST).size == store.session(FIRST).size == 3

    def test_a_batch_may_ask_for_a_log_of_a_certain_length(self, tmp_path: Path) -> None:
        """So that of two who write the same messages one comes first, and the other is told."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b"), size=0)
            with refused(Conflict):
                store.append(FIRST, drafts("a", "b"), size=0)
            store.append(FIRST, drafts("c"), size=2)
            assert texts(store.window(FIRST).entries) == ["a", "b", "c"]

    def test_nothing_is_appended_by_nothing(self, tmp_path: Path) -> None:
        """An empty batch leaves the session as it was."""
        with self.opened(tmp_path) as store:
            before = store.session(FIRST)
            assert store.append(FIRST, [], Usage()) == ()
            assert store.session(FIRST) == before

    def test_stretches_of_the_log_are_read(self, tmp_path: Path) -> None:
        """By positions, by what came after one, and one by one."""
        with self.opened(tmp_path) as store:
            entries = store.append(FIRST, drafts("a", "b", "c", "d"))
            assert store.entries(FIRST, 2, 3) == entries[1:3]
            assert store.entries(FIRST, 4, 99) == entries[3:]
            assert store.entries(FIRST, 3, 2) == ()
            assert store.since(FIRST, 2) == entries[2:]
            assert store.since(FIRST, 99) == ()
            assert store.entry(entries[1].id) == entries[1]
            for ask in (store.entry, store.whole):
                with refused(UnknownSession, "999"):
                    ask(999)

    def test_what_was_said_next_to_a_place_is_read(self, tmp_path: Path) -> None:
        """So many before it, itself included, and so many behind; what is derived is skipped."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b", "c"))
            self.compact(store, FIRST, [said("summary")])
            store.append(FIRST, drafts("d", "e"))
            asked = {
                (2, 2, 2): ["a", "b", "c", "d"],
                (4, 1, 1): ["c", "d"],
                (5, 1, 9): ["d", "e"],
                (3, 0, 1): ["d"],
                (3, 1, 0): ["c"],
                (0, 9, 1): ["a"],
                (99, 1, 1): ["e"],
            }
            for (position, before, after), expected in asked.items():
                found = store.said(FIRST, position, before=before, after=after)
                assert texts(found) == expected, (position, before, after)
            assert [store.count_said(FIRST, upto) for upto in (0, 2, 4, 5, 99)] == [0, 2, 3, 4, 5]

    def test_the_log_holds_what_was_derived_and_since_does_not(self, tmp_path: Path) -> None:
        """A summary is not something that somebody said."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("a", "b"))
            self.compact(store, FIRST, [said("summary")])
            store.append(FIRST, drafts("c"))
            assert texts(store.entries(FIRST, 1, 9)) == ["a", "b", "summary", "c"]
            assert texts(store.since(FIRST, 1)) == ["b", "c"]

    def test_a_shortened_message_keeps_the_whole_one(self, tmp_path: Path) -> None:
        """The window shows the short form, and the store gives the long one back."""
        whole = _HARD[10]
        short = Message(Role.TOOL, (ToolResult("c", (Text("out …"),)),))
        with self.opened(tmp_path) as store:
            (entry,) = store.append(FIRST, [Draft(message=short, at=1, whole=whole)])
            assert (entry.message, entry.shortened) == (short, True)
        with self.reopened(tmp_path) as store:
            assert store.window(FIRST).entries == (entry,)
            assert store.whole(entry.id) == whole

    def test_a_shortened_message_can_name_itself(self, tmp_path: Path) -> None:
        """Its id is known when it is written, and takes the place of the mark."""
        pointer = f"… see message {MESSAGE_ID_MARK}"
        shorts = [
            Message(Role.USER, (Text(pointer),), form="string"),
            Message(Role.TOOL, (ToolResult("c", (Media(url="u"), Text(pointer))), Media(url="v"))),
        ]
        whole = Message(Role.USER, (Text("all of it"),), form="string")
        with self.opened(tmp_path) as store:
            store.append(FIRST, drafts("before"))
            given = [Draft(message=short, at=1, whole=whole) for short in shorts]
            plain, result = store.append(FIRST, given)
            assert plain.message.text == f"… see message {plain.id}"
            assert result.message.results[0].text == f"… see message {result.id}"
            assert store.window(FIRST).entries[1:] == (plain, result)

    def test_a_user_may_write_the_mark(self, tmp_path: Path) -> None:
        """Only what was shortened is changed on its way in."""
        with self.opened(tmp_path) as store:
            store.append(FIRST, [said(MESSAGE_ID_MARK)])
            assert texts(store.window(FIRST).entries) == [MESSAGE_ID_MARK]

    def test_a_stand_in_leads_to_what_was_said(self, tmp_path: Path) -> None:
        """However often it was shortened."""
        with self.opened(tmp_path) as store:
            (entry,) = store.append(FIRST, drafts("all of it"))
            for short in ("all of", "all"):
                (shown,) = store.window(FIRST).entries
                message = Message(Role.USER, (Text(short),))
                stand_in = Draft(message=message, at=3, stands_for=shown.id)
                self.compact(store, FIRST, [stand_in])
            (shown,) = store.window(FIRST).entries
            assert (shown.message.text, shown.kind) == ("all", Kind.DERIVED)
            assert store.whole(shown.id) == entry.message

    def test_many_threads_append_to_one_session(self, tmp_path: Path) -> None:
        """No message is lost, none is doubled, positions have no holes."""
        with self.opened(tmp_path) as store:

            def talk(thread: int) -> None:
                for turn in range(20):
                    store.append(FIRST, drafts(f"{thread}:{turn}:a", f"{thread}:{turn}:b"))

            with ThreadPoolExecutor(8) as pool:
                list(pool.map(talk, range(8)))
            entries = store.window(FIRST).entries
            assert [entry.position for entry in entries] == list(range(1, 321))
            expected = {f"{t}:{n}:{x}" for t in range(8) for n in range(20) for x in "ab"}
            assert set(texts(entries)) == expected
            pairs = texts(entries)
            assert all(a[:-1] == b[:-1] for a, b in zip(pairs[::2], pairs[1::2], strict=True))

    def test_threads_read_while_others_write(self, tmp_path: Path) -> None:
        """A reader sees whole batches, never a part of one."""
        with self.opened(tmp_path) as store:

            def work(number: int) -> bool:
                if number % 2:
                    store.append(FIRST, drafts("a", "b", "c"))
                window = store.window(FIRST)
                return len(window.entries) % 3 == 0 and len(window.entries) == window.head.size

            with ThreadPoolExecutor(4) as pool:
                assert all(pool.map(work, range(60)))
