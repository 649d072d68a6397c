"""Choosing a conversation by number, by title, by id, or none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.cli.chat.commands import chosen, listed, recent
from holdfast.cli.screen import Unusable, plain
from holdfast.errors import UnknownSession
from holdfast.stores.sqlite import SqliteStore
from holdfast.wiring import Conversation


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """Return a store with two conversations, a branch, an aside, and one with a prompt alone."""
    store = SqliteStore(tmp_path / "store.db")
    for title in ("Tides", "Tidy up"):
        chat = Conversation.open(store=store, title=title, active=False)
        chat.set_system("Be brief.")
        chat.add_user(title)
        chat.add_assistant("Yes.")
    chat.branch(title="Another way", keep_parent=True)
    chat.review(title="aside")
    Conversation.open(store=store, active=False).set_system("Be brief.")
    yield store
    store.close()


def test_conversations_are_listed_and_nothing_else(store: SqliteStore) -> None:
    rows = recent(store)
    assert sorted(row.session.title for row in rows) == ["Another way", "Tides", "Tidy up"]
    assert {row.size for row in rows} == {3}
    assert [len(recent(store, limit)) for limit in (1, 2)] == [1, 2]
    text = plain(listed(rows, 40, rows[0].session.touched))
    assert text.splitlines()[0].split() == ["used", "window", "title"]
    assert all(len(line) <= 40 for line in text.splitlines())
    assert plain(listed([], 40, 0)) == "there are no conversations yet"


def test_one_is_chosen_by_whatever_names_it(store: SqliteStore) -> None:
    rows = recent(store)
    first = rows[0].session

    def pick(words: str) -> str | None:
        found = chosen(store, rows, words)
        return None if found is None else found.id

    assert pick("1") == first.id
    assert pick(first.id) == first.id
    assert pick(first.id[-6:]) == first.id
    assert pick(" another ") == next(r.session.id for r in rows if r.session.title == "Another way")
    assert pick("") is None
    with pytest.raises(Unusable, match="2 conversations have 'tid' in their title"):
        pick("tid")
    with pytest.raises(UnknownSession, match="there is no session '99'"):
        pick("99")
