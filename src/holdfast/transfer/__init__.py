"""Sessions in from other agents and out to them: events into the store, and the store as events.

In: `importer` reads files with `file_import`, which follows each branch (`strands`), finds by
prefix hashes what is stored (`resuming`), makes rows (`new_session`) and writes (`session_writer`);
`imported_index` and `repeated_usage` relate what was imported. Out: `exporter`.
"""

from holdfast.transfer.exporter import export_session
from holdfast.transfer.file_import import ImportTally, Skipped
from holdfast.transfer.identity import Identity, ImportOrigin, ImportRecord, import_record
from holdfast.transfer.imported_index import (
    FileFingerprint,
    ImportedFiles,
    StatedParent,
    stated_parent,
    unlinked_children,
)
from holdfast.transfer.importer import Importer, SmallFile, read_small_file
from holdfast.transfer.session_writer import FOLD, Count

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
