"""Files with conversations: provider documents in any container, and agents' session files.

Read in this order: `document`, `source`, `container`, `sessions`, `reading`, `writing`.
"""

from holdfast.formats.catalog import FORMATS
from holdfast.formats.document import Document, Format, Guess, Problem, ReadOnlyFormat
from holdfast.formats.reading import detect, read, read_all
from holdfast.formats.window import live
from holdfast.formats.writing import write

__all__ = [
    "FORMATS",
    "Document",
    "Format",
    "Guess",
    "Problem",
    "ReadOnlyFormat",
    "detect",
    "live",
    "read",
    "read_all",
    "write",
]
