"""Stores with sessions for the tests of training files."""

import json
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.compaction import PassContext
from holdfast.compaction.fold import assemble
from holdfast.compaction.prune import prune
from holdfast.compaction.repair import repair
from holdfast.conversation.passes import pieces_of
from holdfast.ports import Store
from holdfast.session import Cause, Change, CompactionRecord, Draft, EndReason, Fork, Session, Spawn
from holdfast.stores.sqlite import SqliteStore
from holdfast.tokens import Scale
from holdfast.training import Example, LeftOut, TrainingExport, examples, order_of
from holdfast.transcript import Message, ToolCall, ToolResult, seams
from holdfast.transcript.toolkit import Toolkit

RECORD = "THE RECORD OF WHAT WAS FOLDED"
SHORTER = "[A SHORTER FORM OF WHAT A TOOL SAID]"


class _Terse(Toolkit):
    """Says the same of every call."""

    def describe(self, call: ToolCall, result: ToolResult | None) -> str:  # noqa: ARG002 - of every call
        return SHORTER


_CONTEXT = PassContext(Scale(), str, toolkit=_Terse())


@contextmanager
def scratch() -> Generator[SqliteStore]:
    """Open an empty store, for properties: a fixture is shared by all of their cases."""
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "holdfast.db")
        try:
            yield store
        finally:
            store.close()


def begin(store: Store, id_: str, messages: Iterable[Message] = (), **known: object) -> str:
    """Store a session with these messages, and return its id."""
    session = Session(**{"id": id_, "source": "cli", "started": 1, **known})  # type: ignore[arg-type]
    store.create(session)
    say(store, id_, *messages)
    return id_


def say(store: Store, id_: str, *messages: Message) -> None:
    store.append(id_, [Draft(message=message, at=2, tokens=1) for message in messages])


def compact(store: Store, id_: str, head: int, tail: int, rotated_to: str = "") -> str:
    """Fold what stands between two seams as a compaction does, and return where it goes on."""
    window = store.window(id_)
    shown = repair(window.transcript)
    pruned = prune(shown, _CONTEXT, protected=len(shown)).transcript
    cuts = seams(pruned)
    start, stop = sorted((cuts[head % len(cuts)], cuts[tail % len(cuts)]))
    result = repair(assemble(pruned[:start], RECORD, (), pruned[stop:]))
    told = {"summary": {"origin": "model", "model": "gpt-5"}}
    change = Change(
        cause=Cause.COMPACTION,
        pieces=pieces_of(window.entries, result, at=3),
        generation=window.head.generation,
        seen=window.head.size,
        at=3,
        compaction=CompactionRecord(at=3, trigger="manual", summary=RECORD, report=told),
    )
    if not rotated_to:
        store.change(id_, change)
        return id_
    child = replace(store.session(id_), id=rotated_to, parent=id_, fork=Fork.COMPRESSION)
    store.spawn(
        Spawn(
            child=child,
            shows=window.entries,
            parent_end=EndReason.COMPRESSION,
            generation=window.head.generation,
            change=change,
        )
    )
    return rotated_to


def branch(store: Store, id_: str, child: str, upto: int, fork: Fork = Fork.BRANCH) -> str:
    """Let another session go on from an early part of this one's window."""
    shows = store.window(id_).entries[:upto]
    session = Session(id=child, source="cli", started=5, parent=id_, fork=fork)
    store.spawn(Spawn(child=session, shows=shows))
    return child


def export(store: Store, wanted: TrainingExport) -> list[Example | LeftOut]:
    return list(examples(store, wanted, order_of(store, wanted.selection)))


def lines(store: Store, wanted: TrainingExport) -> list[dict[str, object]]:
    """Return what an export writes, line by line."""
    found = export(store, wanted)
    return [json.loads(each.line) for each in found if isinstance(each, Example)]


def line_of(store: Store, id_: str, wanted: TrainingExport) -> dict[str, object]:
    (found,) = [each for each in lines(store, wanted) if each["id"] == id_]
    return found


def turns(line: dict[str, object]) -> Sequence[dict[str, object]]:
    found = line.get("messages") or line["conversations"]
    assert isinstance(found, list)
    return found
