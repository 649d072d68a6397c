"""Parts of a conversation: ids of new sessions."""

from dataclasses import replace
from pathlib import Path

from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore
from tests.conversation.talking import parts_on


def test_an_id_that_is_taken_is_drawn_again(tmp_path: Path) -> None:
    drawn = iter([7, 7, 8, 8, 9])
    parts = replace(parts_on(SqliteStore(tmp_path / "store.db")), nonce=lambda: next(drawn))
    ids = [parts.unused_id()]
    for _ in range(2):
        parts.store.create(Session(id=ids[-1], source="api", started=1))
        ids.append(parts.unused_id())
    assert [each.rpartition("_")[2] for each in ids] == ["000007", "000008", "000009"]
