"""Stored sessions as training files: what was said, without or with what holdfast wrote.

Read in this order: `reading` (a session as messages, and what of them nobody said), `shaping`
(messages as trainers take them, with secrets masked), `export` (which sessions, on which side of a
split, what those of one lineage have in common, and all of it as lines).
"""

from holdfast.training.export import (
    Example,
    LeftOut,
    LeftOutReason,
    Selection,
    Split,
    TrainingExport,
    examples,
    order_of,
)
from holdfast.training.reading import SyntheticChoice
from holdfast.training.shaping import TRAINING_FORMATS

__all__ = [
    "TRAINING_FORMATS",
    "Example",
    "LeftOut",
    "LeftOutReason",
    "Selection",
    "Split",
    "SyntheticChoice",
    "TrainingExport",
    "examples",
    "order_of",
]
