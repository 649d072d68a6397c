"""Rows are read in as few statements as they can be."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.errors import StoreDamaged
from holdfast.session import Draft, Fork, Session, Spawn
from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.rows import names_of
from holdfast.stores.sqlite.views import views_of
from holdfast.testing.builders import user


def test_what_a_view_shows_of_many_sessions_is_named_in_one_statement(tmp_path: Path) -> None:
    path, count = tmp_path / "store.db", 40
    with closing(SqliteStore(path)) as store:
        shows = []
        for number in range(count):
            id_ = f"s{number:02}"
            store.create(Session(id=id_, source="cli", started=1))
            shows += store.append(id_, [Draft(message=user("words"), at=1)])
        child = Session(id="child", source="cli", started=1, parent="s00", fork=Fork.BRANCH)
        store.spawn(Spawn(child=child, shows=tuple(shows)))
        asked: list[str] = []
        with closing(sqlite3.connect(path)) as connection:
            connection.set_trace_callback(asked.append)
            (view,) = views_of(connection, "child")
        assert [span.session for span in view.spans] == [f"s{number:02}" for number in range(count)]
        assert len(asked) == 3


def test_a_key_that_is_no_number_is_damage() -> None:
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(StoreDamaged, match="what a view shows"),
    ):
        names_of(connection, ["1"])  # type: ignore[list-item]
