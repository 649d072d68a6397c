"""The event log of the OpenHands SDK reads as a conversation."""

from holdfast.formats import Problem, read
from holdfast.transcript import Thinking, shape
from tests.formats.samples import sample


def test_events_become_messages() -> None:
    document = read(sample("openhands_events.jsonl"))
    assert document.format == "openhands-events"
    assert shape(document.transcript, 110) == "\n".join(
        [
            "00 system    You are an engineer.",
            "01 user      Review the change",
            '02 assistant (thinking) | I read both files. | -> terminal {"command": "cat a"} | '
            '-> terminal {"command": "cat b"}',
            "03 tool      result: aaa",
            "04 tool      error: no file b",
            '05 assistant (thinking) | -> terminal {"command": "rm a"}',
            "06 tool      error: Do not delete",
            "07 user      [summary] Two files were read.",
            "08 assistant The change is good.",
        ]
    )


def test_thoughts_keep_their_seal() -> None:
    transcript = read(sample("openhands_events.jsonl")).transcript
    thoughts = [transcript[2].parts[0], transcript[5].parts[0]]
    assert thoughts == [Thinking("two files"), Thinking("remove it", "c2VhbA==", {"anthropic": {}})]


def test_a_result_without_its_action_is_a_problem() -> None:
    assert read(sample("openhands_events.jsonl")).problems == (
        Problem(12, "a result answers call 'v9', which is not in the file"),
    )
