"""Sessions in from other agents and out to them: events into the store, and the store as events.

Read in this order: `identity`, `marks`, `matching`, `landing`, `strands`, `describing`, `files`,
`repeats`, `kinship`, `families`, `making`, `tally`, `report`, `outbox`, `run`, `stories`,
`arriving`; then `keys`, `showing`, `children`, `leaving`, `ledger`, `relations`.
"""

from holdfast.transfer.arriving import Importer
from holdfast.transfer.identity import Identity, Imported, Origin, imported_of
from holdfast.transfer.landing import FOLD
from holdfast.transfer.leaving import tell_session
from holdfast.transfer.ledger import Ledger, Stamp
from holdfast.transfer.relations import Elder, early_children, elder_of
from holdfast.transfer.stories import Story, story_of
from holdfast.transfer.tally import Count, Skipped, Tally

__all__ = [
    "FOLD",
    "Count",
    "Elder",
    "Identity",
    "Imported",
    "Importer",
    "Ledger",
    "Origin",
    "Skipped",
    "Stamp",
    "Story",
    "Tally",
    "early_children",
    "elder_of",
    "imported_of",
    "story_of",
    "tell_session",
]
