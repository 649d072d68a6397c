"""What an agent packed inside its database comes out as it went in."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from holdfast.agent_files.databases import detect_database, tell_database, unpacked
from holdfast.formats.events import MessageEvent

if TYPE_CHECKING:
    from pathlib import Path

zstandard = pytest.importorskip("zstandard")

ENTRY = {
    "type": "message",
    "id": "e1",
    "parentId": None,
    "message": {"role": "user", "content": "Which port? " * 50},
}


def test_a_value_that_is_packed_is_unpacked_and_any_other_stays() -> None:
    packed = zstandard.ZstdCompressor().compress(b"8443" * 1000)
    assert unpacked(packed) == b"8443" * 1000
    for other in (None, 7, "text", b"", b"8443", packed[:9], b"\x28\xb5\x2f\xfd?"):
        assert unpacked(other) == other


def test_a_large_entry_of_openclaw_is_read_though_it_is_packed(tmp_path: Path) -> None:
    path = tmp_path / "openclaw-agent.sqlite"
    packed = zstandard.ZstdCompressor().compress(json.dumps(ENTRY).encode())
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("CREATE TABLE session_windows (session_id TEXT, session_key TEXT)")
        owner.execute(
            "CREATE TABLE transcript_events"
            " (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB)"
        )
        owner.execute("INSERT INTO session_windows VALUES ('w1', 'agent:main:main')")
        owner.execute("INSERT INTO transcript_events VALUES ('w1', 1, NULL, ?)", (packed,))
    assert detect_database(path).format == "openclaw-database"
    told = [each for each in tell_database(path) if isinstance(each, MessageEvent)]
    assert [each.message.text for each in told] == ["Which port? " * 50]
