"""Filters as conditions on the log, where the log is not as it was written."""

import sqlite3
from contextlib import closing
from pathlib import Path

from holdfast.recall import Filters
from holdfast.session import Fork, Session, Spawn
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing.store_case import drafts


def test_a_view_that_cannot_be_read_does_not_stop_a_search(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore(path)
    store.create(Session(id="parent", source="cli", started=1))
    entries = store.append("parent", drafts("a walrus"))
    child = Session(id="child", source="cli", started=2, parent="parent", fork=Fork.BRANCH)
    store.spawn(Spawn(child=child, shows=entries))
    store.append("child", drafts("another walrus"))
    store.trash(["parent"], 3)
    both = store.search("walrus", Filters(), limit=5, now=9)
    assert {hit.session_id for hit in both} == {"parent", "child"}
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE views SET spans = '[[1, 2]]'")
    (hit,) = store.search("walrus", Filters(), limit=5, now=9)
    store.close()
    assert hit.session_id == "child"
