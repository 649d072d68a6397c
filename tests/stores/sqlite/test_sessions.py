"""What goes wrong with the row of a session is called by its name."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import StoreError
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.testing.store_case import FIRST


def test_only_a_second_session_of_the_same_id_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    session = Session(id=FIRST, source="cli", started=1)
    with closing(SqliteStore(path)) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON sessions"
                " BEGIN SELECT RAISE(ABORT, 'no more sessions'); END"
            )
            with pytest.raises(StoreError, match="no more sessions"):
                store.create(session)
            connection.execute("DROP TRIGGER full")
        store.create(session)
        with pytest.raises(StoreError, match=f"there is a session {FIRST} already"):
            store.create(session)
