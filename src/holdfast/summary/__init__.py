"""Summaries: the record, how it is asked for, read, checked, cut to size, or made with no model.

Read in this order: `record`, `reader` and `checkpoint` (the value and its text); `brief`,
`tracing`, `cues`, `claims`, `provenance` and `writing` (a record that a model writes); `reference`
(a summary that is not known to be ours); `turns`, `statements`, `actions`, `state`, `story`,
`standing` and `draft` (everything that turns can tell, and what fits); `audit` (the proof).
"""

from holdfast.summary.audit import Audit, Stated, audit, compared
from holdfast.summary.brief import derive_focus, user_words
from holdfast.summary.checkpoint import (
    Answer,
    Ask,
    Checkpoint,
    Composed,
    Declined,
    Failure,
    Job,
    Written,
    read_checkpoint,
    render_checkpoint,
)
from holdfast.summary.draft import RecordDraft, draft
from holdfast.summary.provenance import Heard, agreed_in
from holdfast.summary.reader import adopt
from holdfast.summary.record import Record, render
from holdfast.summary.reference import joined, referred, words_in
from holdfast.summary.statements import Statement
from holdfast.summary.writing import problem, repair, write

__all__ = [
    "Answer",
    "Ask",
    "Audit",
    "Checkpoint",
    "Composed",
    "Declined",
    "Failure",
    "Heard",
    "Job",
    "Record",
    "RecordDraft",
    "Stated",
    "Statement",
    "Written",
    "adopt",
    "agreed_in",
    "audit",
    "compared",
    "derive_focus",
    "draft",
    "joined",
    "problem",
    "read_checkpoint",
    "referred",
    "render",
    "render_checkpoint",
    "repair",
    "user_words",
    "words_in",
    "write",
]
