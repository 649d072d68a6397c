"""Stores as SQL text, so that files of every released version stay readable in a diff.

`python -m tests.promises.store_text` writes the text of the present version. It is run once for
each version, before the version is released; the text of a released version never changes.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from holdfast.ports import Amendment
from holdfast.session import (
    Cause,
    Change,
    CompactionRecord,
    Draft,
    EndReason,
    Fork,
    Session,
    Spawn,
    Usage,
)
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.schema import VERSION
from holdfast.transcript import Media, Message, Role, Summary, Text, ToolCall, ToolResult

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
ROOT, BRANCH = "20261116_090000_000001", "20261116_090000_000002"


def fill(store: SqliteStore) -> None:
    """Put something of everything into a store; always the same."""
    store.create(Session(id=ROOT, source="cli", started=1_000, title="Invoices", model="m"))
    picture = Media("image", "image/png", "iVBORw0KGgoAAAANSUhEUg==")
    long = Text("row of a table\n" * 400)
    messages = (
        Message(Role.SYSTEM, (Text("Be careful."),)),
        Message(Role.USER, (Text("Where is the Käse invoice? 請求書"), picture)),
        Message(Role.ASSISTANT, (ToolCall("c1", "bash", '{"command":"grep"}'),)),
        Message(Role.TOOL, (ToolResult("c1", (long,), name="bash"),)),
        Message(Role.ASSISTANT, (Text("In src/invoices/march.py."),)),
        Message(Role.USER, (Text("Rename it to april."),)),
    )
    drafts = [_draft(message, number) for number, message in enumerate(messages)]
    entries = store.append(ROOT, drafts, Usage(1, 20, 30))
    store.amend(ROOT, Amendment(goal="Find invoices", metadata={"team": "billing"}))
    store.pin(ROOT, entries[1].id, pinned=True)
    summary = Message(Role.USER, (Summary("The invoice is in src/invoices/march.py."),))
    change = Change(
        cause=Cause.COMPACTION,
        pieces=(entries[0], entries[1], _draft(summary, 9), entries[5]),
        generation=0,
        seen=6,
        at=2_000,
        compaction=CompactionRecord(at=2_000, trigger="manual", summary="in march"),
    )
    store.change(ROOT, change)
    shown = store.window(ROOT).entries
    child = Session(
        id=BRANCH, source="cli", started=3_000, title="Invoices #2", parent=ROOT, fork=Fork.BRANCH
    )
    store.spawn(Spawn(child=child, shows=shown, parent_end=EndReason.BRANCHED))
    store.append(BRANCH, [_draft(Message(Role.USER, (Text("And may?"),)), 10)])
    store.remember("window::m", "8000")


def text_of(path: Path) -> str:
    """Return a file as SQL that makes the same file."""
    with closing(sqlite3.connect(path)) as connection:
        return "".join(f"{line};\n" for line in _statements(connection))


def load(text: str, path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(text)


def _statements(connection: sqlite3.Connection) -> Iterator[str]:
    yield "PRAGMA journal_mode = WAL"
    master = connection.execute(
        "SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
    ).fetchall()
    virtual = [name for name, _, sql in master if sql.startswith("CREATE VIRTUAL")]
    shadows = [
        name for name, _, _ in master if any(name.startswith(f"{each}_") for each in virtual)
    ]
    for name, _, sql in master:
        if name not in shadows and not name.startswith("sqlite_"):
            yield sql
    tables = [name for name, kind, _ in master if kind == "table" and name not in virtual]
    for name in tables:
        if name in shadows or name == "sqlite_sequence":
            yield f"DELETE FROM {name}"
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
        quoted = " || ', ' || ".join(f"quote({column})" for column in columns)
        for (row,) in connection.execute(f"SELECT {quoted} FROM {name}"):
            yield f"INSERT INTO {name} VALUES ({row})"
    for pragma in ("application_id", "user_version"):
        (value,) = connection.execute(f"PRAGMA {pragma}").fetchone()
        yield f"PRAGMA {pragma} = {value}"


def _draft(message: Message, number: int) -> Draft:
    return Draft(message=message, at=1_000 + number, tokens=10 + number)


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        file = Path(folder) / "store.db"
        with closing(SqliteStore(file)) as made:
            fill(made)
        (FIXTURES / f"store_v{VERSION}.sql").write_text(text_of(file), "utf-8")
