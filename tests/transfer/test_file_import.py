"""Many conversations of one file are written in one step, and each as if it were alone."""

from collections.abc import Sequence
from itertools import count

from holdfast.formats.events import About, Event, StrandStarted
from holdfast.ports import Listing
from holdfast.session import Addition, Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.transfer.identity import Identity, proposed_ids
from tests.transfer.taking import ORIGIN, START, importer, opened, take, told


def conversation(strand: str, *words: str) -> list[Event]:
    about = About(id="native-1", started=START)
    keys = (f"{strand}/{word}" for word in words)
    return [
        StrandStarted(strand=strand, line=1, about=about),
        *(told(key, strand=strand) for key in keys),
    ]


def first_id(strand: str) -> str:
    return next(proposed_ids(Identity.of(ORIGIN, "native-1", strand), START))


def twins() -> tuple[str, str]:
    """Return two strands whose sessions would have the same id."""
    seen: dict[str, str] = {}
    for number in count():
        strand = f"s{number}"
        other = seen.setdefault(first_id(strand), strand)
        if other != strand:
            return other, strand
    raise AssertionError


def test_conversations_that_wait_together_never_share_an_id() -> None:
    one, other = twins()
    events = [*conversation(one, "u1"), *conversation(other, "u1", "a1")]
    with opened() as store:
        first = take(store, events)
        assert [store.session(id_).size for id_ in first.sessions] == [1, 2]
        assert first.sessions[0] == first_id(one)
        again = take(store, events)
        assert (again.sessions, set(again.unchanged)) == ((), set(first.sessions))


class Overtaken:
    """A store in which somebody else creates a session right before the first write."""

    def __init__(self, store: SqliteStore, session: Session) -> None:
        self._store = store
        self._sessions = [session]

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def add(self, additions: Sequence[Addition]) -> None:
        if self._sessions:
            self._store.create(self._sessions.pop())
        self._store.add(additions)


def test_a_conversation_whose_id_is_taken_meanwhile_keeps_no_other_back() -> None:
    events = [event for number in range(9) for event in conversation(f"s{number}", "u1", "a1")]
    with opened() as store:
        other = Session(id=first_id("s4"), source="cli", started=1)
        tally = importer(Overtaken(store, other)).take(ORIGIN, lambda: iter(events))  # type: ignore[arg-type]
        expected = {first_id(f"s{number}") for number in range(9)} - {other.id}
        assert len(tally.sessions) == 9
        assert expected < set(tally.sessions)
        assert tally.count.messages == 18
        assert {each.size for each in store.sessions(Listing()) if each.id != other.id} == {2}
        assert take(store, events).sessions == ()


def test_a_conversation_whose_id_a_session_of_ours_has_is_given_another() -> None:
    events = [event for number in range(3) for event in conversation(f"s{number}", "u1", "a1")]
    with opened() as store:
        store.create(Session(id=first_id("s1"), source="cli", started=1))
        made = take(store, events).sessions
        assert len(made) == 3
        assert first_id("s1") not in made
        assert store.session(first_id("s1")).size == 0
        assert take(store, events).count.messages == 0
