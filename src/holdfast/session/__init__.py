"""Sessions as values: the log, the views that make windows of it, and the tree of lineage.

Read in this order: `sessions`, `entries`, `views`, `lineage`, `titles`, `layout`,
`squeezing`, `packing`.
"""

from holdfast.session.entries import (
    MESSAGE_ID_MARK,
    Draft,
    Entry,
    Head,
    Kind,
    Refreshed,
    SessionState,
    Window,
    names_itself,
    with_own_id,
)
from holdfast.session.lineage import (
    children_of,
    latest_leaf,
    next_title,
    path_to,
    places_of,
    siblings_of,
)
from holdfast.session.packing import (
    Packer,
    blob_hashes,
    likely_hashes,
    unpack,
)
from holdfast.session.searchable import searchable
from holdfast.session.sessions import (
    CLOSABLE,
    EndReason,
    Fork,
    Session,
    Usage,
    is_among,
    session_id,
)
from holdfast.session.squeezing import squeeze, unsqueeze
from holdfast.session.titles import title_from
from holdfast.session.views import (
    Addition,
    Cause,
    Change,
    CompactionRecord,
    Piece,
    Span,
    Spawn,
    View,
    fork_view,
    line_to,
    merge_spans,
    redo_target,
    undo_target,
    with_originals,
)

__all__ = [
    "CLOSABLE",
    "MESSAGE_ID_MARK",
    "Addition",
    "Cause",
    "Change",
    "CompactionRecord",
    "Draft",
    "EndReason",
    "Entry",
    "Fork",
    "Head",
    "Kind",
    "Packer",
    "Piece",
    "Refreshed",
    "Session",
    "SessionState",
    "Span",
    "Spawn",
    "Usage",
    "View",
    "Window",
    "blob_hashes",
    "children_of",
    "fork_view",
    "is_among",
    "latest_leaf",
    "likely_hashes",
    "line_to",
    "merge_spans",
    "names_itself",
    "next_title",
    "path_to",
    "places_of",
    "redo_target",
    "searchable",
    "session_id",
    "siblings_of",
    "squeeze",
    "title_from",
    "undo_target",
    "unpack",
    "unsqueeze",
    "with_originals",
    "with_own_id",
]
