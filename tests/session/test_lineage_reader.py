"""Logs are read a little at a time and come out whole."""

import os
from pathlib import Path

import pytest

from holdfast.session import Kind
from holdfast.session.lineage_reader import (
    count_until,
    read_log,
    read_segment,
    said_until,
    segments_to,
)
from holdfast.wiring import open_store
from tests.cli.stored import conversation, talk


@pytest.mark.parametrize("strategy", ["in_place", "rotation"])
def test_the_way_holds_what_was_said_and_what_compactions_wrote(
    tmp_path: Path, strategy: str
) -> None:
    with conversation(tmp_path / "holdfast.db", 40, strategy=strategy) as chat:
        chat.compress()
        talk(chat, 1, 40)
        name = chat.id
    store = open_store(tmp_path / "holdfast.db", os.environ)
    try:
        entries = [
            entry for part in segments_to(store, name) for entry in read_segment(store, part)
        ]
        said = tuple(entry for entry in entries if entry.kind is Kind.SAID)
        assert said == said_until(store, name)
        assert len(said) == count_until(store, name) == 1 + 41 * 4
        assert sum(entry.message.summary is not None for entry in entries) == 1
        size = store.head(name).size
        assert tuple(read_log(store, name, 1, size)) == store.entries(name, 1, size)
        assert list(read_log(store, name, 5, 4)) == []
    finally:
        store.close()
