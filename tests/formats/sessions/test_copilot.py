"""The events of Copilot CLI read as a conversation."""

from holdfast.formats import read
from holdfast.transcript import shape
from tests.formats.samples import sample


def test_events_become_messages_and_sub_agents_are_left_out() -> None:
    document = read(sample("copilot.jsonl"))
    assert (document.format, document.problems) == ("copilot", ())
    assert shape(document.transcript, 100) == "\n".join(
        [
            "00 system    You help.",
            "01 user      List the files",
            '02 assistant (thinking) | Listing. | -> shell {"command": "ls"} | '
            '-> shell {"command":"pwd"}',
            "03 tool      result: a.txt",
            "04 tool      error: denied",
            "05 assistant Done.",
        ]
    )
