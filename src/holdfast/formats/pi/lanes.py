"""Version 4 of Pi's sessions, as the entries of version 3.

There every line says what it changes: the tree of entries, which entry a lane is at, the name of
the session or a label, or what a run did, which is no part of the conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.loose import mapping, string

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LANES", "entry_of"]

LANES = frozenset(["header", "entry", "lane", "fact", "record"])
"""What a line of version 4 may be."""
_MAIN = "main"
_OURS = frozenset(["kind", "lane", "seq"])


def entry_of(line: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return the entry that a line stands for; None for one that is no part of the conversation."""
    match line:
        case {"kind": "header"}:
            origin = line.get("parentSessionId") or line.get("legacyParentSessionPath")
            return {
                "type": "session",
                "version": line.get("version"),
                "id": line.get("id"),
                "timestamp": line.get("createdAt"),
                "cwd": line.get("cwd"),
                "parentSession": string(origin),
            }
        case {"kind": "entry"}:
            return {key: value for key, value in line.items() if key not in _OURS}
        case {"kind": "lane", "lane": lane} if lane == _MAIN:
            return {"type": "leaf", "targetId": line.get("leafId")}
        case {"kind": "fact", "fact": "name"}:
            # A name is the session's, whichever lane was written last.
            return {"type": "session_info", "parentId": None, "name": line.get("name")}
        case {"kind": "fact", "fact": "label"}:
            return {"type": "label", **mapping(line)}
        case _:
            return None
