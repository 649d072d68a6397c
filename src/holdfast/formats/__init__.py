"""Files with conversations: providers' documents in any container, and agents' session files.

Read in this order: `events`, `source`, `json_access`, `content`, `reader`; then an
agent, such as `droid` or `codex`; `documents`, `catalog`, `reading`.
"""

from holdfast.formats.catalog import FORMATS
from holdfast.formats.events import Problem
from holdfast.formats.reader import Document, Format, Guess, ReadOnlyFormat
from holdfast.formats.reading import WRITABLE, detect, read, read_all, write

__all__ = [
    "FORMATS",
    "WRITABLE",
    "Document",
    "Format",
    "Guess",
    "Problem",
    "ReadOnlyFormat",
    "detect",
    "read",
    "read_all",
    "write",
]
