"""Whatever happens to sessions, their windows are those of a model that is easy to believe."""

from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from holdfast.ports import Store
from holdfast.session import (
    Cause,
    Change,
    CompactionRecord,
    Draft,
    EndReason,
    Entry,
    Fork,
    Piece,
    Session,
    Spawn,
    redo_target,
    session_id,
)
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import SqliteStore
from holdfast.transcript import Message, Role, Text

INDEXES = st.integers(0, 1_000)


@dataclass
class Model:
    """A session as lists of texts: one line of windows, with what was undone ahead of it."""

    said: list[str] = field(default_factory=list)
    """Everything that was ever said in it."""
    windows: list[list[str]] = field(default_factory=lambda: [[]])
    """What was shown at each step, oldest first; what is said goes to all of them."""
    at: int = 0
    ended: bool = False

    @property
    def window(self) -> list[str]:
        return self.windows[self.at]

    def say(self, texts: list[str]) -> None:
        self.said += texts
        for window in self.windows:
            window += texts

    def show(self, texts: list[str]) -> None:
        del self.windows[self.at + 1 :]
        self.windows.append(texts)
        self.at += 1


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.directory = TemporaryDirectory()
        self.path = Path(self.directory.name) / "store.db"
        self.store = self.opened()
        self.models: dict[str, Model] = {}
        self.count = 0

    def opened(self) -> Store:
        """Return the store of a machine, created or opened again."""
        return SqliteStore(self.path)

    def teardown(self) -> None:
        health = self.store.check()
        self.store.close()
        self.directory.cleanup()
        assert health.problems == ()

    @initialize()
    def begin(self) -> None:
        id_ = self.new_id()
        self.store.create(Session(id=id_, source="cli", started=self.count))
        self.models[id_] = Model()

    @rule(which=INDEXES, count=st.integers(0, 4), is_long=st.booleans())
    def append(self, which: int, count: int, is_long: bool) -> None:
        id_ = self.live(which)
        texts = [self.text(is_long=is_long) for _ in range(count)]
        self.store.append(id_, [draft(text) for text in texts])
        self.models[id_].say(texts)

    @rule(which=INDEXES, kept=st.lists(st.booleans(), max_size=12), late=st.booleans())
    def compact(self, which: int, kept: list[bool], late: bool) -> None:
        """Fold some messages into a summary, while others may arrive."""
        id_ = self.live(which)
        read = self.store.window(id_)
        pieces: list[Piece] = [draft(self.text())]
        pieces += chosen(read.entries, kept)
        change = Change(
            cause=Cause.COMPACTION,
            pieces=tuple(pieces),
            generation=read.head.generation,
            seen=read.head.size,
            at=self.count,
            compaction=CompactionRecord(at=self.count, trigger="manual"),
        )
        arrived = [self.text()] if late else []
        self.store.append(id_, [draft(text) for text in arrived])
        self.store.change(id_, change)
        self.models[id_].say(arrived)
        self.models[id_].show([*map(text_of, pieces), *arrived])

    @rule(which=INDEXES, left=INDEXES)
    def rewind(self, which: int, left: int) -> None:
        id_ = self.live(which)
        read = self.store.window(id_)
        pieces = read.entries[: left % (len(read.entries) + 1)]
        change = Change(
            cause=Cause.REWIND,
            pieces=pieces,
            generation=read.head.generation,
            seen=read.head.size,
            at=self.count,
        )
        self.store.change(id_, change)
        self.models[id_].show([text_of(piece) for piece in pieces])

    @rule(which=INDEXES)
    def undo(self, which: int) -> None:
        id_ = self.live(which)
        head = self.store.head(id_)
        parents = {view.id: view.parent for view in self.store.views(id_)}
        if self.models[id_].at > 0:
            assert head.view is not None
            self.store.move(id_, parents[head.view], head.generation)
            self.models[id_].at -= 1

    @rule(which=INDEXES)
    def redo(self, which: int) -> None:
        id_ = self.live(which)
        head, model = self.store.head(id_), self.models[id_]
        target = redo_target(self.store.views(id_), head.view, self.store.tip(id_))
        assert (target is not None) == (model.at + 1 < len(model.windows))
        if target is not None:
            self.store.move(id_, target, head.generation)
            model.at += 1

    @precondition(lambda self: len(self.models) < 6)
    @rule(which=INDEXES, shown=INDEXES, keeps_parent=st.booleans())
    def branch(self, which: int, shown: int, keeps_parent: bool) -> None:
        parent = list(self.models)[which % len(self.models)]
        entries = self.store.window(parent).entries
        shows = entries[: shown % (len(entries) + 1)]
        ends = not keeps_parent and not self.models[parent].ended
        child = self.new_id()
        self.store.spawn(
            Spawn(
                child=Session(
                    id=child, source="cli", started=self.count, parent=parent, fork=Fork.BRANCH
                ),
                shows=shows,
                parent_end=EndReason.BRANCHED if ends else None,
            )
        )
        self.models[parent].ended = self.models[parent].ended or ends
        self.models[child] = Model(windows=[[text_of(entry) for entry in shows]])

    @precondition(lambda self: len(self.models) < 6)
    @rule(which=INDEXES, kept=st.lists(st.booleans(), max_size=12), late=st.booleans())
    def rotate(self, which: int, kept: list[bool], late: bool) -> None:
        parent = self.live(which)
        read = self.store.window(parent)
        pieces: list[Piece] = [draft(self.text()), *chosen(read.entries, kept)]
        arrived = [self.text()] if late else []
        self.store.append(parent, [draft(text) for text in arrived])
        child = self.new_id()
        change = Change(
            cause=Cause.COMPACTION,
            pieces=tuple(pieces),
            generation=read.head.generation,
            seen=read.head.size,
            at=self.count,
        )
        self.store.spawn(
            Spawn(
                child=Session(
                    id=child, source="cli", started=self.count, parent=parent, fork=Fork.COMPRESSION
                ),
                shows=read.entries,
                parent_end=EndReason.COMPRESSION,
                generation=read.head.generation,
                change=change,
            )
        )
        self.models[parent].say(arrived)
        self.models[parent].ended = True
        whole = [*map(text_of, read.entries), *arrived]
        model = Model(windows=[whole])
        model.show([*map(text_of, pieces), *arrived])
        self.models[child] = model

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.opened()

    @invariant()
    def windows_are_those_of_the_model(self) -> None:
        for id_, model in self.models.items():
            window = self.store.window(id_)
            assert [text_of(entry) for entry in window.entries] == model.window
            assert window.head == self.store.head(id_)

    @invariant()
    def nothing_that_was_said_is_lost(self) -> None:
        for id_, model in self.models.items():
            said = [text_of(entry) for entry in self.store.since(id_, 0)]
            assert said == model.said
            log = self.store.entries(id_, 1, 1_000_000)
            assert [entry.position for entry in log] == list(range(1, len(log) + 1))
            assert self.store.session(id_).is_live is not model.ended

    def live(self, which: int) -> str:
        """Return a session that lives; where none does, begin another."""
        living = [id_ for id_, model in self.models.items() if not model.ended]
        if not living:
            self.begin()
            living = [list(self.models)[-1]]
        return living[which % len(living)]

    def new_id(self) -> str:
        self.count += 1
        return session_id("20261116_090000", self.count)

    def text(self, *, is_long: bool = False) -> str:
        self.count += 1
        return f"message {self.count}" + (" and more" * 400 if is_long else "")


def draft(text: str) -> Draft:
    return Draft(message=Message(Role.USER, (Text(text),), form="string"), at=1)


def text_of(piece: Piece) -> str:
    return piece.message.text


def chosen(entries: tuple[Entry, ...], kept: list[bool]) -> list[Entry]:
    return [entry for entry, is_kept in zip(entries, kept, strict=False) if is_kept]


class MemoryMachine(StoreMachine):
    """The same with a store in memory."""

    def opened(self) -> Store:
        return MemoryStore(str(self.path))


SETTINGS = settings(
    max_examples=40,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = SETTINGS
TestMemoryMachine = MemoryMachine.TestCase
TestMemoryMachine.settings = SETTINGS
