"""Summaries: the record, how it is asked for, read, checked, cut to size, or made with no model.

Read in this order: `record`, `render`, `reader`, `checkpoint`, `asking`, `writing`,
`deterministic`.
"""

from holdfast.summary.asking import Answer, Ask, Composed, Declined, Failure, Job, Written
from holdfast.summary.brief import user_words
from holdfast.summary.checkpoint import Checkpoint, read_checkpoint, render_checkpoint
from holdfast.summary.deterministic import deterministic
from holdfast.summary.flaws import problem, repair
from holdfast.summary.focus import derive_focus
from holdfast.summary.foreign import adopt
from holdfast.summary.lasting import Lasting, lasting_words, statements
from holdfast.summary.masking import redact_all
from holdfast.summary.provenance import verify
from holdfast.summary.reader import read
from holdfast.summary.record import Record
from holdfast.summary.render import render
from holdfast.summary.trim import trim
from holdfast.summary.writing import write

__all__ = [
    "Answer",
    "Ask",
    "Checkpoint",
    "Composed",
    "Declined",
    "Failure",
    "Job",
    "Lasting",
    "Record",
    "Written",
    "adopt",
    "derive_focus",
    "deterministic",
    "lasting_words",
    "problem",
    "read",
    "read_checkpoint",
    "redact_all",
    "render",
    "render_checkpoint",
    "repair",
    "statements",
    "trim",
    "user_words",
    "verify",
    "write",
]
