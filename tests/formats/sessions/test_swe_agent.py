"""A SWE-agent trajectory reads as its history."""

from holdfast.formats import Problem, read
from holdfast.transcript import Thinking, shape
from tests.formats.samples import sample


def test_history_is_the_conversation() -> None:
    document = read(sample("swe_agent.traj"))
    assert document.problems == (Problem(1, "history[4] has no known role"),)
    assert shape(document.transcript) == "\n".join(
        [
            "00 system    You fix issues.",
            "01 user      Fix the off-by-one error",
            '02 assistant (thinking) | I list files. | -> bash {"command":"ls"}',
            "03 tool      result: loop.py",
            "04 assistant Submitted.",
        ]
    )
    assert document.transcript[2].parts[0] == Thinking("where is it", "c2VhbA==", {"anthropic": {}})
