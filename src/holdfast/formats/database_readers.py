"""Readers of the databases in which agents keep their sessions.

Read `reader` first. Nothing here opens a file: rows come in as mappings, events go out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.cursor.database import CURSOR_CHAT
from holdfast.formats.database_reader import DatabaseReader, Query, Row, Tables
from holdfast.formats.hermes.database import HERMES_STATE
from holdfast.formats.langgraph.database import LANGGRAPH
from holdfast.formats.openclaw_database import OPENCLAW_DATABASE
from holdfast.formats.opencode.database import OPENCODE_DATABASE

if TYPE_CHECKING:
    from holdfast.formats.session_reader import Sign

__all__ = ["DATABASES", "DatabaseReader", "Query", "Row", "Tables", "recognize_tables"]

DATABASES: tuple[DatabaseReader, ...] = (
    HERMES_STATE,
    LANGGRAPH,
    OPENCODE_DATABASE,
    OPENCLAW_DATABASE,
    CURSOR_CHAT,
)


def recognize_tables(tables: Tables) -> tuple[DatabaseReader, Sign] | None:
    """Return whose database has these tables, and why; the surest wins."""
    best: tuple[DatabaseReader, Sign] | None = None
    for reader in DATABASES:
        sign = reader.recognize(tables)
        if sign is not None and (best is None or sign.confidence > best[1].confidence):
            best = reader, sign
    return best
