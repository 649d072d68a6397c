"""OpenClaw sessions are Pi's with marks, copies and parents of their own."""

from holdfast.formats import read
from holdfast.transcript import shape
from tests.formats.samples import sample


def test_openclaw_is_known_by_its_marks_and_its_copies_are_left_out() -> None:
    document = read(sample("openclaw.jsonl"))
    assert document.format == "openclaw"
    assert shape(document.transcript) == "\n".join(
        [
            "00 user      It is Monday.",
            "01 user      Status?",
            "02 assistant -> status {}",
            "03 tool      result: green",
            "04 assistant All green.",
            "05 system    checked",
        ]
    )
