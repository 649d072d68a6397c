"""Stand-ins for the ports and suites for their implementers, shipped for everybody's tests.

`strategies` needs Hypothesis and is imported by its own name.
"""

from holdfast.testing.check_engine import Defect, check_engine
from holdfast.testing.recording import (
    FixedClock,
    MissingRecording,
    RecordingSummarizer,
    ReplayingSummarizer,
    ScriptedSummarizer,
)
from holdfast.testing.store_suite import StoreSuite
from holdfast.testing.summarizer_suite import CounterSuite, SummarizerSuite

__all__ = [
    "CounterSuite",
    "Defect",
    "FixedClock",
    "MissingRecording",
    "RecordingSummarizer",
    "ReplayingSummarizer",
    "ScriptedSummarizer",
    "StoreSuite",
    "SummarizerSuite",
    "check_engine",
]
