"""Sessions in from other agents and out to them: events into the store, and the store as events.

Read in this order: `identity`, `marks`, `matching`, `writer`, `strands`, `describing`, `files`,
`repeats`, `kinship`, `imported_index`, `new`, `tally`, `report`, `batch`, `run`, `stories`,
`arriving`; then `keys`, `showing`, `children`, `leaving`, `ledger`, `relations`.
"""

from holdfast.transfer.exporter import export_session
from holdfast.transfer.identity import Identity, ImportOrigin, ImportRecord, import_record
from holdfast.transfer.imported_index import (
    FileFingerprint,
    ImportedFiles,
    StatedParent,
    stated_parent,
    unlinked_children,
)
from holdfast.transfer.importer import Importer, SmallFile, read_small_file
from holdfast.transfer.session_writer import FOLD, Count, ImportTally, Skipped

__all__ = [
    "FOLD",
    "Count",
    "FileFingerprint",
    "Identity",
    "ImportOrigin",
    "ImportRecord",
    "ImportTally",
    "ImportedFiles",
    "Importer",
    "Skipped",
    "SmallFile",
    "StatedParent",
    "export_session",
    "import_record",
    "read_small_file",
    "stated_parent",
    "unlinked_children",
]
