"""The mirror of a window: like the store's, byte-stable, and cheap whatever its length."""

import gc
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.caching import Marker
from holdfast.compaction.repair import repair
from holdfast.conversation import StoredConversation
from holdfast.conversation.waiting import wait
from holdfast.conversation.window import LiveWindow, with_goal
from holdfast.session import Draft, Entry, Head, Kind, Refreshed, Session, SessionState
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing.strategies import Material, transcripts
from holdfast.tokens import Load
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult, Transcript
from holdfast.wire import DIALECTS, SharedPrefix
from holdfast.wiring import Compressor
from tests.conversation.talking import begun, parts_on, talk, wire
from tests.promises.conversations import turn

NUMBERS = count()
ENGINE = Compressor()


def user(text: str) -> Message:
    return Message(Role.USER, (Text(text),))


def test_messages_of_another_process_arrive_in_order(
    chat: StoredConversation, beside: Callable[[], StoredConversation]
) -> None:
    other = beside()
    chat.add_user("one")
    other.add_user("two")
    chat.add_user("three")
    other.add_user("four")
    spoken = ["one", "two", "three", "four"]
    assert [message["content"] for message in chat.messages()] == spoken
    assert [message["content"] for message in other.messages()] == spoken


def test_a_compaction_by_another_process_is_seen(
    chat: StoredConversation, beside: Callable[[], StoredConversation]
) -> None:
    talk(chat, range(8))
    before, other = chat.messages(), beside()
    assert other.compress().outcome == "folded"
    chat.add_user("and now")
    assert chat.messages() == other.messages() != before
    assert other.undo()
    assert chat.messages() == [*before, {"role": "user", "content": "and now"}]


def test_windows_that_are_no_longer_shown_are_let_go_of(
    chat: StoredConversation, beside: Callable[[], StoredConversation]
) -> None:
    other = beside()
    for number in range(20):
        chat.add_user(f"question {number}")
        chat.add_assistant(f"answer {number}")

    def held() -> int:
        for _ in range(10):
            other.rewind(1)
            chat.status()
            other.undo()
            chat.status()
        gc.collect()
        return sum(isinstance(each, Message) for each in gc.get_objects())

    before = held()
    assert held() - before < 40


def test_the_caller_may_do_what_it_likes_with_the_list(chat: StoredConversation) -> None:
    chat.add_user("one")
    window = chat.messages()
    window[0]["content"] = "changed"
    window.clear()
    assert chat.messages() == [{"role": "user", "content": "one"}]


def test_the_caller_may_change_what_a_call_or_a_part_says(chat: StoredConversation) -> None:
    for message in turn(0):
        chat.add_response(message)
    chat.add_response({"role": "user", "content": [{"type": "text", "text": "one"}]})
    before, changed = chat.messages(), chat.messages()
    calls = [call for message in changed for call in cast("Any", message.get("tool_calls", []))]
    assert calls
    for call in calls:
        call["function"]["arguments"] = "changed"
    cast("Any", changed[-1]["content"])[0]["text"] = "changed"
    assert chat.messages() == before


def test_what_is_sent_and_never_changed_shares_its_messages_and_not_its_list(
    chat: StoredConversation,
) -> None:
    for message in turn(0):
        chat.add_response(message)
    first, second = (wait(chat.requested("openai", shared=True)) for _ in range(2))
    assert first.messages == chat.messages()
    assert all(one is other for one, other in zip(first.messages, second.messages, strict=True))
    first.messages.clear()
    assert second.messages == chat.messages()


def test_marking_a_shared_body_for_a_cache_changes_nothing_in_the_window(
    chat: StoredConversation,
) -> None:
    for message in turn(0):
        chat.add_response(message)
    before = chat.messages()
    marked = Marker().mark(wait(chat.requested("openai", shared=True)))
    assert marked.messages != before
    assert wait(chat.requested("openai", shared=True)).messages == before == chat.messages()


def test_a_strand_lasts_while_the_window_only_grows(chat: StoredConversation) -> None:
    talk(chat, range(8))
    first = chat.body()
    chat.add_user("and now")
    grown = chat.body()
    assert first.prefix is not None
    assert grown.prefix is first.prefix
    assert grown.messages[: len(first.messages)] == first.messages
    chat.goal = "ship it"
    aimed = chat.body()
    chat.compress()
    strands = {first.prefix, aimed.prefix, chat.body().prefix}
    assert len(strands) == 3
    assert chat.body("anthropic").prefix is None


def test_a_goal_stands_at_the_end_of_the_system_prompt() -> None:
    system = Message(Role.SYSTEM, (Text("Be careful."),))
    (with_prompt, _) = with_goal((system, user("one")), "ship it")
    assert with_prompt.text.startswith("Be careful.\n\n")
    assert with_prompt.text.endswith("ship it")
    (alone, _) = with_goal((user("one"),), "ship it")
    assert alone.role is Role.SYSTEM
    assert alone.text.endswith("ship it")
    two = Message(Role.SYSTEM, (Text("a"), Text("b")))
    assert with_goal((two,), "ship it")[0].text.endswith("ship it")
    assert with_goal((system,), "") == (system,)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Generator[SqliteStore]:
    with closing(SqliteStore(tmp_path_factory.mktemp("window") / "store.db")) as made:
        yield made


@given(
    transcript=transcripts(Material(has_summaries=False)),
    cuts=st.lists(st.integers(1, 4), max_size=12),
)
def test_each_window_begins_with_the_one_before(
    store: SqliteStore, transcript: Transcript, cuts: list[int]
) -> None:
    parts = parts_on(store, automatic=False, tool_limits={"*": 10**9})
    session = Session(id=f"s{next(NUMBERS)}", source="test", started=1)
    chat = StoredConversation(parts, store.create(session))
    before: list[str] = []
    at = 0
    for size in [*cuts, len(transcript)]:
        for message in transcript[at : at + size]:
            chat.add_response(message)
        at += size
        after = wire(chat.messages())
        assert after[: len(before)] == before
        before = after


@st.composite
def _unruly(draw: st.DrawFn) -> Transcript:
    """Messages in any order: results without calls, calls twice, calls that nobody answers."""
    names = st.sampled_from("abc")
    calls = st.lists(names, max_size=3)
    messages: list[Message] = []
    for kind in draw(st.lists(st.sampled_from(("user", "calls", "result")), max_size=12)):
        match kind:
            case "user":
                messages.append(user(draw(st.sampled_from(("hello", "")))))
            case "calls":
                asked = tuple(ToolCall(name, "bash", "{}") for name in draw(calls))
                messages.append(Message(Role.ASSISTANT, (Text("on it"), *asked)))
            case _:
                answers = [ToolResult(name, (Text("ok"),)) for name in draw(calls)]
                messages.append(Message(Role.TOOL, tuple(answers)))
    return tuple(messages)


CALLERS_IN_A_ROW = (
    user("hello"),
    Message(Role.ASSISTANT, (Text("on it"), ToolCall("a", "bash", "{}"))),
    Message(Role.ASSISTANT, (Text("on it"), ToolCall("b", "bash", "{}"))),
    Message(Role.TOOL, (ToolResult("b", (Text("ok"),)),)),
    user("hello"),
)


@example(CALLERS_IN_A_ROW, "")
@given(st.one_of(_unruly(), transcripts()), st.sampled_from(("", "ship it")))
def test_what_is_added_is_written_as_if_all_were_written_anew(
    transcript: Transcript, goal: str
) -> None:
    mirror = LiveWindow(_Log(transcript, goal), ENGINE, "s")  # type: ignore[arg-type]
    for size in range(len(transcript) + 1):
        mirror.refresh()
        shown = with_goal(repair(transcript[:size]), goal)
        assert wire(mirror.body("openai").messages) == wire(
            DIALECTS["openai"].encode(shown).messages
        )
        _Log.size = size + 1
    _Log.size = 0


@example(CALLERS_IN_A_ROW)
@given(st.one_of(_unruly(), transcripts()))
def test_bodies_of_one_strand_begin_alike(transcript: Transcript) -> None:
    mirror = LiveWindow(_Log(transcript), ENGINE, "s")  # type: ignore[arg-type]
    begun_with: dict[SharedPrefix | None, list[str]] = {}
    for size in range(len(transcript) + 1):
        mirror.refresh()
        body = mirror.body("openai")
        before, after = begun_with.get(body.prefix, []), wire(body.messages)
        assert after[: len(before)] == before
        begun_with[body.prefix] = after
        _Log.size = size + 1
    _Log.size = 0


class _Log:
    """A log that one more message is added to whenever somebody looks."""

    size = 0

    def __init__(self, transcript: Transcript, goal: str = "") -> None:
        self.transcript = transcript
        self.session = Session(id="s", source="api", started=1, goal=goal)
        _Log.size = 0

    def refresh(self, id_: str, known: Head | None) -> Refreshed:
        head = Head(0, None, min(_Log.size, len(self.transcript)))
        state = SessionState(
            session=self.session, head=head, tip=None, pins=frozenset(), compactions=0
        )
        return Refreshed(state, self.since(id_, known.size if known else 0), known is None)

    def since(self, id_: str, position: int) -> tuple[Entry, ...]:
        return tuple(
            Entry(
                id=at + 1,
                session=id_,
                position=at + 1,
                kind=Kind.SAID,
                message=message,
                at=0,
                tokens=0,
            )
            for at, message in enumerate(self.transcript[: _Log.size])
            if at >= position
        )


class _Counting(Compressor):
    """An engine that counts how many messages it was asked to weigh."""

    weighed = 0

    def load(self, messages: object) -> Load:
        listed = list(messages)  # type: ignore[call-overload]
        self.weighed += len(listed)
        return super().load(listed)


def test_a_call_costs_the_same_at_twenty_thousand_messages(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "store.db")
    store.create(Session(id="s", source="test", started=1))
    store.append("s", [Draft(message=user(f"word {n}"), at=1) for n in range(20_000)])
    chat = begun(tmp_path / "other.db", automatic=False)
    chat.store.close()
    engine = _Counting(context_length=10_000_000)
    parts = replace(chat.live.deps, store=store, engine=engine)
    long = StoredConversation(parts, store.session("s"))
    assert len(long.messages()) == 20_000
    read = _rows_read(store)
    costs: list[tuple[int, int]] = []
    for number in range(3):
        engine.weighed = 0
        read.clear()
        for message in turn(number):
            long.add_response(message)
            long.messages()
        costs.append((engine.weighed, sum(read)))
    assert costs[0] == costs[1] == costs[2]
    assert costs[0][0] <= 4 * len(turn(0))
    assert costs[0][1] <= len(turn(0))
    store.close()


def _rows_read(store: SqliteStore) -> list[int]:
    """Count the entries that the store hands out from now on."""
    counted: list[int] = []
    refresh = store.refresh

    def counting_refresh(id_: str, known: Head | None) -> Refreshed:
        found = refresh(id_, known)
        counted.append(len(found.entries))
        return found

    store.refresh = counting_refresh  # type: ignore[method-assign]
    return counted
