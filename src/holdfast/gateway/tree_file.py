"""The tree of messages in a file beside the store, so that a restart forgets no conversation.

It is an index: what was said is in the store. A tree that is lost or cannot be read is begun anew,
and conversations that go on are then taken for new ones.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.recognition.atoms import Atom, AtomKind
from holdfast.recognition.matching import Continuity
from holdfast.recognition.tree import Node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from holdfast.recognition.matching import Recognition
    from holdfast.recognition.request import WireRequest

__all__ = ["TreeFile"]

_PATIENCE_MS = 5_000
_AT_ONCE = 400
_TABLES = """
CREATE TABLE IF NOT EXISTS conversations (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL,
    tools INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS conversations_by_identity ON conversations(identity);
CREATE TABLE IF NOT EXISTS nodes (
    id INTEGER PRIMARY KEY,
    parent INTEGER,
    depth INTEGER NOT NULL,
    kind TEXT NOT NULL,
    digest BLOB NOT NULL,
    call TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    position INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS nodes_by_parent ON nodes(parent);
CREATE INDEX IF NOT EXISTS nodes_by_call ON nodes(call) WHERE call != '';
CREATE TABLE IF NOT EXISTS prefixes (
    hash BLOB NOT NULL,
    node INTEGER NOT NULL,
    PRIMARY KEY (hash, node)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS visits (
    node INTEGER NOT NULL,
    identity TEXT NOT NULL,
    PRIMARY KEY (node, identity)
) WITHOUT ROWID;
"""
