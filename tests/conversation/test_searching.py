"""`session_search`: four shapes, across rotations, without repeating what is in the context."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from contextvars import copy_context
from pathlib import Path
from typing import cast

import pytest

from holdfast.conversation import SessionSearch, activate
from holdfast.conversation.live import SESSION_VARIABLE, SessionStamp
from holdfast.errors import ConfigError
from holdfast.ports import Store
from holdfast.session import Cause, Change, Draft, EndReason, Entry, Fork, Piece, Session, Spawn
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing import FixedClock
from holdfast.transcript import Message, Role, Summary, Text, ToolCall, ToolResult

DAY = 86_400
FIRST, SECOND, OTHER = "20260101_000000_000001", "20260101_000000_000002", "20260101_000000_000003"

Document = dict[str, object]


class World:
    """A store with a clock, in which a test lets people talk."""

    def __init__(self, path: Path) -> None:
        self.store = SqliteStore(path)
        self.clock = FixedClock(DAY)

    def begin(self, id_: str, *words: str, source: str = "cli", title: str = "") -> list[Entry]:
        started = self.clock.moment()
        self.store.create(Session(id=id_, source=source, started=started, title=title))
        return self.say(id_, *words)

    def say(self, id_: str, *words: str | Message) -> list[Entry]:
        """Let user and assistant take turns."""
        found: list[Entry] = []
        for number, each in enumerate(words):
            self.clock.advance(60)
            role = Role.ASSISTANT if number % 2 else Role.USER
            message = each if isinstance(each, Message) else Message(role, (Text(each),))
            found += self.store.append(id_, [Draft(message=message, at=self.clock.moment())])
        return found

    def summary(self) -> Draft:
        message = Message(Role.USER, (Summary("What happened before the kept tail."),))
        return Draft(message=message, at=self.clock.moment())

    def compact(self, id_: str, kept: int) -> None:
        """Replace all but the last messages by a summary, in place."""
        window = self.store.window(id_)
        self.store.change(id_, self._change(window.entries[-kept:], id_))

    def rotate(self, id_: str, child: str, kept: int) -> None:
        """Replace all but the last messages by a summary, in a child."""
        window = self.store.window(id_)
        made = Session(
            id=child, source="cli", started=self.clock.moment(), parent=id_, fork=Fork.COMPRESSION
        )
        self.store.spawn(
            Spawn(
                child=made,
                shows=window.entries,
                parent_end=EndReason.COMPRESSION,
                change=self._change(window.entries[-kept:], id_),
            )
        )

    def fork(self, id_: str, child: str, kind: Fork, shows: tuple[Entry, ...] = ()) -> None:
        source = "subagent" if kind is Fork.DELEGATION else "cli"
        end = EndReason.RESET if kind is Fork.RESET else None
        started = self.clock.moment()
        made = Session(id=child, source=source, started=started, parent=id_, fork=kind)
        self.store.spawn(Spawn(child=made, shows=shows, parent_end=end))

    def search(self, session_id: str | None = None, **extra: object) -> SessionSearch:
        return SessionSearch(self.store, self.clock, session_id=session_id, **extra)  # type: ignore[arg-type]

    def _change(self, kept: tuple[Piece, ...], id_: str) -> Change:
        head = self.store.head(id_)
        return Change(
            cause=Cause.COMPACTION,
            pieces=(self.summary(), *kept),
            generation=head.generation,
            seen=head.size,
            at=self.clock.moment(),
        )


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv(SESSION_VARIABLE, "")
    monkeypatch.setattr(SessionStamp, "session", None)
    made = World(tmp_path / "store.db")
    with closing(made.store):
        yield made


def results(document: Document) -> list[Document]:
    return cast("list[Document]", document["results"])


def matched(document: Document) -> list[int]:
    return [
        cast("int", cast("Document", each["match"])["message_id"]) for each in results(document)
    ]


def quoted(document: Document) -> list[int]:
    passages = cast("list[Document]", document["passages"])
    return [id_ for passage in passages for id_ in ids(passage["messages"])]


def ids(messages: object) -> list[int]:
    return [cast("int", each["id"]) for each in cast("list[Document]", messages)]


def many(count: int, word: str = "turn") -> list[str]:
    return [f"{word} number {each}" for each in range(count)]


def test_a_discovery_shows_goal_match_and_outcome_of_a_conversation(world: World) -> None:
    entries = world.begin(FIRST, *many(10), "the zebra is striped", *many(10), title="Animals")
    (found,) = results(world.search().session_search(query="zebra"))
    place = [entry.id for entry in entries]
    assert (found["session_id"], found["title"]) == (FIRST, "Animals")
    match = cast("Document", found["match"])
    assert match["snippet"] == "the >>>zebra<<< is striped"
    assert ids(found["opening"]) == place[:3]
    assert ids(found["around"]) == place[5:16]
    assert ids(found["closing"]) == place[-3:]


def test_a_short_conversation_is_shown_once(world: World) -> None:
    entries = world.begin(FIRST, "a zebra", "yes")
    (found,) = results(world.search().session_search(query="zebra"))
    assert ids(found["around"]) == [entry.id for entry in entries]
    assert "opening" not in found
    assert "closing" not in found


def test_a_lineage_is_found_once_with_the_first_words_of_its_root_and_the_last_of_its_leaf(
    world: World,
) -> None:
    begun = world.begin(FIRST, *many(12), "zebra", *many(12), title="Animals")
    world.rotate(FIRST, SECOND, 2)
    later = world.say(SECOND, *many(8), "zebra again")
    world.begin(OTHER, "a zebra elsewhere")
    found = results(world.search().session_search(query="zebra"))
    assert sorted(cast("str", each["session_id"]) for each in found) == [SECOND, OTHER]
    mine = next(each for each in found if each["session_id"] == SECOND)
    assert ids(mine["opening"]) == [entry.id for entry in begun[:3]]
    assert ids(mine["around"]) == [entry.id for entry in later[-6:]]
    newest = world.search().session_search(query="zebra", limit=1, sort="newest")
    assert results(newest)[0]["session_id"] == OTHER


def test_a_lineage_is_read_once_however_many_matches_are_in_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.begin(FIRST, *many(12, "zebra"))
    asked: list[str] = []
    lineage = SqliteStore.lineage

    def counted(store: SqliteStore, id_: str) -> tuple[Session, ...]:
        asked.append(id_)
        return lineage(store, id_)

    monkeypatch.setattr(SqliteStore, "lineage", counted)
    search = world.search()
    one = search.session_search(query="zebra", session_id=FIRST, limit=1)
    for_one = len(asked)
    several = search.session_search(query="zebra", session_id=FIRST, limit=5)
    assert (len(quoted(one)), len(quoted(several))) == (1, 5)
    assert len(asked) == 2 * for_one


def test_derived_messages_are_never_shown(world: World) -> None:
    world.begin(FIRST, *many(8))
    world.rotate(FIRST, SECOND, 2)
    world.say(SECOND, "after")
    assert results(world.search().session_search(query="happened before the kept tail")) == []
    read = world.search().session_search(session_id=SECOND)
    assert read["messages_in_all"] == 9
    assert "summary" not in json.dumps(read["messages"])


def test_scrolling_pages_through_a_conversation_across_its_sessions(world: World) -> None:
    begun = world.begin(FIRST, *many(6))
    world.rotate(FIRST, SECOND, 2)
    later = world.say(SECOND, *many(6))
    everything = [entry.id for entry in (*begun, *later)]
    search, seen = world.search(), list[int]()
    edge: int | None = begun[0].id
    while edge is not None:
        page = search.session_search(around_message_id=edge, window=2)
        seen += [each for each in ids(page["messages"]) if each not in seen]
        edge = cast("int | None", page["later"])
    assert seen == everything
    assert search.session_search(around_message_id=begun[0].id, window=2)["earlier"] is None
    back = search.session_search(around_message_id=later[0].id, window=2)
    assert ids(back["messages"]) == everything[4:9]


def test_a_message_is_found_under_the_id_of_any_session_of_its_lineage(world: World) -> None:
    begun = world.begin(FIRST, *many(6))
    world.rotate(FIRST, SECOND, 2)
    later = world.say(SECOND, *many(6))
    search = world.search()
    below = search.session_search(session_id=FIRST, around_message_id=later[3].id, window=1)
    above = search.session_search(session_id=SECOND, around_message_id=begun[3].id, window=1)
    assert (below["session_id"], below["anchor"]) == (SECOND, later[3].id)
    assert (above["session_id"], above["anchor"]) == (FIRST, begun[3].id)


def test_a_message_of_another_conversation_is_named_with_its_own_session(world: World) -> None:
    entries = world.begin(FIRST, *many(2))
    world.begin(OTHER, *many(2))
    found = world.search().session_search(session_id=OTHER, around_message_id=entries[0].id)
    assert found == {
        "error": f"message {entries[0].id} is not of session {OTHER} but of {FIRST}; call again "
        "with that session_id, or with none"
    }


def test_a_stand_in_leads_to_the_message_that_it_stands_for(world: World) -> None:
    first, *_ = world.begin(FIRST, "the long original", *many(3))
    window = world.store.window(FIRST)
    short = Draft(message=Message(Role.USER, (Text("short"),)), at=0, stands_for=first.id)
    change = Change(
        cause=Cause.COMPACTION,
        pieces=(world.summary(), short, *window.entries[1:]),
        generation=0,
        seen=window.head.size,
        at=0,
    )
    world.store.change(FIRST, change)
    summary, stand_in, *_ = world.store.window(FIRST).entries
    search = world.search(FIRST)
    found = search.session_search(around_message_id=stand_in.id, window=0)
    assert found["anchor"] == first.id
    assert "the long original" in search.call({"around_message_id": stand_in.id, "window": 0})
    told = search.session_search(around_message_id=summary.id)
    assert "was written by a compaction" in cast("str", told["error"])


def test_a_long_conversation_is_read_from_both_ends_with_the_gap_stated(world: World) -> None:
    begun = world.begin(FIRST, *many(25))
    world.rotate(FIRST, SECOND, 2)
    later = world.say(SECOND, *many(25))
    everything = [entry.id for entry in (*begun, *later)]
    for id_ in (FIRST, SECOND):
        read = world.search().session_search(session_id=id_)
        assert read["session_id"] == SECOND
        assert ids(read["messages"]) == everything[:20]
        assert ids(read["ending"]) == everything[-10:]
        gap = cast("Document", read["gap"])
        assert (gap["messages"], gap["after_id"], gap["before_id"]) == (
            20,
            everything[19],
            everything[40],
        )


def test_a_branch_is_read_without_what_its_parent_said_afterwards(world: World) -> None:
    begun = world.begin(FIRST, *many(4))
    world.fork(FIRST, SECOND, Fork.BRANCH, world.store.window(FIRST).entries[:2])
    after = world.say(FIRST, "only in the parent")
    own = world.say(SECOND, "only in the branch")
    branch = world.search().session_search(session_id=SECOND)
    assert ids(branch["messages"]) == [begun[0].id, begun[1].id, own[0].id]
    parent = world.search().session_search(session_id=FIRST)
    assert ids(parent["messages"]) == [*(entry.id for entry in begun), after[0].id]


def test_what_a_parent_said_after_its_branch_is_seen_in_the_parent(world: World) -> None:
    world.begin(FIRST, *many(2))
    shared = world.store.window(FIRST).entries
    (lost,) = world.say(FIRST, "said after the branch point")
    world.fork(FIRST, SECOND, Fork.BRANCH, shared)
    world.store.end(FIRST, EndReason.BRANCHED, 1)
    world.say(SECOND, "in the branch")
    seen = world.search().session_search(session_id=SECOND, around_message_id=lost.id)
    assert seen["session_id"] == FIRST
    assert ids(seen["messages"]) == [*(entry.id for entry in shared), lost.id]


def test_matches_with_some_of_the_words_do_not_stand_in_for_one_in_the_context(
    world: World,
) -> None:
    world.begin(FIRST, "the zebra runs", *many(6), "the zebra swims")
    world.compact(FIRST, 2)
    search = world.search(FIRST)
    assert results(search.session_search(query="zebra swims")) == []
    assert len(results(search.session_search(query="zebra flies"))) == 1


def test_a_reset_begins_another_conversation(world: World) -> None:
    world.begin(FIRST, *many(2))
    world.fork(FIRST, SECOND, Fork.RESET)
    own = world.say(SECOND, "anew")
    read = world.search().session_search(session_id=SECOND)
    assert ids(read["messages"]) == [own[0].id]
    assert cast("int", world.search().session_search(session_id=FIRST)["messages_in_all"]) == 2


def test_browsing_lists_each_conversation_once_newest_first(world: World) -> None:
    world.begin(FIRST, "First question", *many(4), title="Animals")
    world.begin(OTHER, "Another question", source="api")
    world.rotate(FIRST, SECOND, 2)
    world.say(SECOND, "more")
    listed = world.search(SECOND).session_search()
    lines = cast("list[Document]", listed["conversations"])
    assert [(line["session_id"], line["preview"], line["messages"]) for line in lines] == [
        (SECOND, "First question", 6),
        (OTHER, "Another question", 1),
    ]
    assert [line.get("current", False) for line in lines] == [True, False]
    only = world.search().session_search(source="api", limit=1)
    assert [line["session_id"] for line in cast("list[Document]", only["conversations"])] == [OTHER]


def test_what_stands_in_the_window_is_not_repeated(world: World) -> None:
    entries = world.begin(FIRST, "a zebra", "a striped one")
    found = world.search(FIRST).session_search(query="zebra")
    assert results(found) == []
    assert "include_current=true" in cast("str", found["note"])
    told = world.search(FIRST).session_search(around_message_id=entries[0].id)
    assert "stands in your context already" in cast("str", told["error"])
    again = world.search(FIRST).session_search(query="zebra", include_current=True)
    assert matched(again) == [entries[0].id]


def test_the_session_that_asks_is_the_current_one_of_the_context(world: World) -> None:
    entries = world.begin(FIRST, "a zebra", "a striped one")

    def ask() -> list[int]:
        return matched(world.search().session_search(query="zebra"))

    def ask_within() -> list[int]:
        activate(FIRST)
        return ask()

    assert ask() == [entries[0].id]
    assert copy_context().run(ask_within) == []


@pytest.mark.parametrize("strategy", ["in_place", "rotation"])
def test_turns_that_were_compacted_away_are_found_from_their_own_session(
    world: World, strategy: str
) -> None:
    entries = world.begin(FIRST, "an early zebra", *many(20), "a late zebra", "kept")
    current = FIRST
    if strategy == "in_place":
        world.compact(FIRST, 2)
    else:
        world.rotate(FIRST, SECOND, 2)
        current = SECOND
    world.say(current, "a newer zebra")
    search = world.search(current)
    assert matched(search.session_search(query="zebra")) == [entries[0].id]
    around = search.session_search(around_message_id=entries[20].id, window=2)
    assert ids(around["messages"]) == [entry.id for entry in entries[18:21]]
    assert (around["in_context"], around["later"]) == (2, None)


def test_a_window_full_of_matches_does_not_hide_what_was_compacted_away(world: World) -> None:
    first, *_ = world.begin(FIRST, "the first zebra", *many(200, "zebra"))
    world.compact(FIRST, 200)
    world.begin(OTHER, "one zebra elsewhere")
    found = world.search(FIRST).session_search(query="zebra")
    assert first.id in matched(found)
    assert {each["session_id"] for each in results(found)} == {FIRST, OTHER}


def test_the_part_of_a_shortened_message_that_the_window_does_not_show_is_found(
    world: World,
) -> None:
    world.begin(FIRST)
    whole = Message(Role.TOOL, (ToolResult("c", (Text("start " * 50 + "zebra"),), name="cat"),))
    short = Message(Role.TOOL, (ToolResult("c", (Text("start [...]"),), name="cat"),))
    (entry,) = world.store.append(FIRST, [Draft(message=short, at=1, whole=whole)])
    search = world.search(FIRST)
    assert matched(search.session_search(query="zebra")) == [entry.id]
    assert results(search.session_search(query="start")) == []
    assert "zebra" in search.call({"around_message_id": entry.id, "window": 0})


def test_results_of_earlier_searches_are_not_found_again(world: World) -> None:
    call = Message(Role.ASSISTANT, (ToolCall("c", "session_search", '{"query": "zebra"}'),))
    answer = Message(Role.TOOL, (ToolResult("c", (Text("zebra zebra zebra"),)),))
    world.begin(FIRST)
    world.say(FIRST, "where was that animal", call, answer, "I found nothing.")
    world.begin(OTHER, "a zebra")
    assert [
        each["session_id"] for each in results(world.search().session_search(query="zebra"))
    ] == [OTHER]


def test_subagents_are_left_out_unless_asked_for(world: World) -> None:
    world.begin(FIRST, "go")
    world.fork(FIRST, SECOND, Fork.DELEGATION)
    (entry,) = world.say(SECOND, "a zebra")
    search = world.search()
    assert matched(search.session_search(query="zebra")) == []
    assert matched(search.session_search(query="zebra", include_subagents=True)) == [entry.id]
    assert matched(search.session_search(query="zebra", source="subagent")) == [entry.id]


def test_a_search_can_be_narrowed(world: World) -> None:
    entries = world.begin(FIRST, "zebra asked", "zebra answered", "zebra asked again")
    search = world.search()
    places = search.session_search(query="zebra", session_id=FIRST, sort="newest", limit=2)
    assert quoted(places) == [entries[2].id, entries[1].id]
    first = search.session_search(query="zebra", session_id=FIRST, sort="oldest", limit=1)
    assert quoted(first) == [entries[0].id]
    assert matched(search.session_search(query="zebra", role="assistant")) == [entries[1].id]
    assert matched(search.session_search(query="zebra", since="30s")) == [entries[2].id]
    assert results(search.session_search(query="zebra", until="1969-01-01")) == []


def test_what_is_in_the_trash_is_not_shown(world: World) -> None:
    entries = world.begin(FIRST, "a zebra")
    world.store.trash([FIRST], 1)
    search = world.search()
    assert results(search.session_search(query="zebra")) == []
    for told in (
        search.session_search(session_id=FIRST),
        search.session_search(around_message_id=entries[0].id),
    ):
        assert "is in the trash" in cast("str", told["error"])


def test_what_a_branch_shows_of_the_trash_is_shown_through_the_branch(world: World) -> None:
    said = world.begin(FIRST, "a zebra runs", "an otter floats", "a walrus swims", "a secret")
    world.clock.advance(60)
    world.fork(FIRST, SECOND, Fork.BRANCH, tuple(said[:3]))
    world.say(SECOND, "and a lynx sleeps")
    world.store.trash([FIRST], 1)
    search = world.search()
    found = search.session_search(query="otter")
    (result,) = cast("list[Document]", found["results"])
    around = cast("list[Document]", result["around"])
    words = ["a zebra runs", "an otter floats", "a walrus swims", "and a lynx sleeps"]
    assert (result["session_id"], [each["text"] for each in around]) == (SECOND, words)
    beside = search.session_search(around_message_id=said[1].id, window=1)
    messages = cast("list[Document]", beside["messages"])
    assert (beside["session_id"], [each["text"] for each in messages]) == (SECOND, words[:3])
    alone = search.session_search(around_message_id=said[1].id, window=0)
    assert alone["session_id"] == SECOND
    assert "is in the trash" in cast(
        "str", search.session_search(around_message_id=said[3].id)["error"]
    )
    assert search.session_search(query="secret")["results"] == []


def test_another_profile_is_looked_into_and_closed(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other.db")
    other.begin(OTHER, "a zebra")
    opened: list[Store] = []

    def open_profile(name: str) -> Store:
        if name != "work":
            raise ConfigError(f"there is no profile {name!r}; there are: work")
        opened.append(other.store)
        return other.store

    search = world.search(OTHER, open_profile=open_profile)
    found = search.session_search(query="zebra", profile="work")
    assert [each["session_id"] for each in results(found)] == [OTHER]
    assert opened == [other.store]
    assert "closed" in cast("str", search.session_search(query="zebra", profile="work")["error"])
    told = search.session_search(profile="play")
    assert told == {"error": "there is no profile 'play'; there are: work"}
    assert "leave out profile" in cast("str", world.search().session_search(profile="x")["error"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("not json", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"query": "!?"}', "no letter and no digit"),
        ('{"session_id": "nope"}', "there is no session"),
        ('{"around_message_id": 4711}', "there is no message 4711"),
        ('{"query": "a", "around_message_id": 1}', "do not go together"),
        ({"around_message_id": 10**30}, "there is no message"),
        ({"since": "0001-01-01"}, "write a date"),
    ],
)
def test_a_wrong_call_is_answered_with_what_to_do(
    world: World, arguments: str | dict[str, object], words: str
) -> None:
    answer = json.loads(world.search().call(arguments))
    assert list(answer) == ["error"]
    assert words in answer["error"]


def test_a_call_is_answered_despite_slips_in_its_json(world: World) -> None:
    world.begin(FIRST, "the zebra is striped", "yes")
    right = world.search().call('{"query": "zebra", "limit": 3}')
    assert FIRST in right
    for written in (
        "{'query': 'zebra', 'limit': 3}",
        '{"query": "zebra", "limit": 3,}',
        '```json\n{"query": "zebra", "limit": 3}\n```',
        '{"query": "zebra", "limit": 3 // three\n}',
    ):
        assert world.search().call(written) == right


@pytest.mark.parametrize("arguments", [None, "", "{}", {}])
def test_a_call_without_arguments_browses(world: World, arguments: str | None) -> None:
    answer = json.loads(world.search().call(arguments))
    assert answer == {
        "shape": "browse",
        "conversations": [],
        "note": "There are no conversations yet.",
    }


def test_a_current_session_of_another_store_hides_nothing(world: World) -> None:
    entries = world.begin(FIRST, "a zebra")
    assert matched(world.search("elsewhere").session_search(query="zebra")) == [entries[0].id]


def test_a_look_around_one_message_reads_few_rows_of_a_long_session(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = [Draft(message=Message(Role.USER, (Text(f"turn {n}"),)), at=n) for n in range(20_000)]
    world.begin(FIRST)
    entries = world.store.append(FIRST, drafts)
    counted = counting(monkeypatch)
    found = world.search().session_search(around_message_id=entries[10_000].id, window=5)
    assert len(ids(found["messages"])) == 11
    assert 11 <= counted() <= 30


def counting(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Return a function that tells how many messages were unpacked since."""
    from holdfast.stores.sqlite import log

    unpacked: list[object] = []
    unpack = log.unpack

    def count(*args: object) -> object:
        unpacked.append(args)
        return unpack(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(log, "unpack", count)
    return lambda: len(unpacked)


def test_the_rows_around_one_message_are_looked_up_by_their_place(world: World) -> None:
    world.begin(FIRST, *many(3))
    select = "EXPLAIN QUERY PLAN SELECT body FROM messages WHERE session = 1 AND kind = 0"
    found = "SEARCH messages USING INDEX messages_by_position"
    with closing(sqlite3.connect(world.store.name)) as connection:
        for order in ("<= 2 ORDER BY position DESC", "> 2 ORDER BY position"):
            plan = connection.execute(f"{select} AND position {order} LIMIT 5").fetchall()
            assert [row[3].split(" (")[0] for row in plan] == [found]
