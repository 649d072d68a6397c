"""Rows are read and written in as few statements as they can be."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import StoreDamaged
from holdfast.session import Draft, Fork, Session, Spawn, Usage
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


@pytest.mark.parametrize("usage", [Usage(), Usage(calls=1, input_tokens=7)])
def test_a_message_and_its_usage_change_the_session_in_one_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, usage: Usage
) -> None:
    asked: list[str] = []

    class Traced(sqlite3.Connection):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            self.set_trace_callback(asked.append)

    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *values, **named: connect(*values, **named | {"factory": Traced})
    )
    with closing(SqliteStore(tmp_path / "store.db")) as store:
        store.create(Session(id="s", source="cli", started=1))
        asked.clear()
        store.append("s", [Draft(message=user("words"), at=1)], usage)
        assert sum(each.strip().startswith("UPDATE sessions") for each in asked) == 1
        assert store.session("s").usage == usage


def test_a_key_that_is_no_number_is_damage() -> None:
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(StoreDamaged, match="what a view shows"),
    ):
        names_of(connection, ["1"])  # type: ignore[list-item]
