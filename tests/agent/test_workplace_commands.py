"""Commands run with approval, within time and bounds, and leave nothing behind."""

import os
import time
from pathlib import Path

import pytest

from holdfast.agent import RunCommand, ToolFailed, Workplace


@pytest.fixture
def tool(tmp_path: Path) -> RunCommand:
    return RunCommand(Workplace(tmp_path))


def test_every_command_needs_approval(tool: RunCommand) -> None:
    assert tool.needs_approval({"command": "ls -l"}) == "run: ls -l"


def test_output_errors_and_exit_code_come_back(tool: RunCommand, tmp_path: Path) -> None:
    answer = tool.run({"command": "pwd; echo problem >&2; exit 3"})
    assert answer == f"{tmp_path.resolve()}\nproblem\n[exit code 3]"


def test_a_command_has_no_input(tool: RunCommand) -> None:
    assert tool.run({"command": "cat"}) == "[exit code 0]"


def test_a_command_that_takes_too_long_is_ended_with_what_it_started(
    tool: RunCommand, tmp_path: Path
) -> None:
    command = "sleep 300 & echo $! > child; echo begun; sleep 300"
    assert tool.run({"command": command, "timeout": 1}) == "begun\n[stopped after 1 s]"
    child = int((tmp_path / "child").read_text())
    assert ended(child)


def test_what_a_command_leaves_behind_is_ended_and_holds_nothing_up(
    tool: RunCommand, tmp_path: Path
) -> None:
    begun = time.monotonic()
    assert tool.run({"command": "sleep 300 & echo $! > child"}) == "[exit code 0]"
    assert time.monotonic() - begun < 30
    assert ended(int((tmp_path / "child").read_text()))


def ended(process: int) -> bool:
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            if not os.path.isdir("/proc"):
                pytest.skip("no /proc here")
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_a_long_output_shows_its_beginning_and_its_end(tool: RunCommand) -> None:
    answer = tool.run({"command": "seq 1 100000"})
    assert answer.startswith("1\n2\n")
    assert answer.endswith("100000\n[exit code 0]")
    assert "bytes left out" in answer
    assert len(answer) < 21_000


def test_a_command_that_is_none_is_refused(tool: RunCommand) -> None:
    with pytest.raises(ToolFailed, match="command is missing"):
        tool.run({"command": " "})
