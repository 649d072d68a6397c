"""The agents themselves go on from a session that we compacted, and see what we say they see.

`make agents` installs them and runs this; without them there is nothing to test.
"""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.agents.answering import Model, marks_of, model
from tests.agents.commands import holdfast, installed
from tests.agents.programs import CLAUDE_CODE, CODEX, PI, Desk, Program

BIN = installed()
TURNS = 60
pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True)
class Resumed:
    """Where a session must lie for a program to go on with it."""

    program: Program
    place: Callable[[Desk, str], Path]
    """Returns the file of a session, from its id."""
    how: Callable[[str, Path], tuple[str, ...]]
    """Returns what names the session, from its id and its file."""


def _project_of(desk: Desk, id_: str) -> Path:
    folder = re.sub(r"[^A-Za-z0-9]", "-", str(desk.project))
    return desk.home / ".claude" / "projects" / folder / f"{id_}.jsonl"


def _day_of(desk: Desk, id_: str) -> Path:
    day = desk.home / ".codex" / "sessions" / "2026" / "01" / "02"
    return day / f"rollout-2026-01-02T03-04-05-{id_}.jsonl"


def _home_of(desk: Desk, id_: str) -> Path:
    return desk.home / f"{id_}.jsonl"


RESUMED = (
    Resumed(CLAUDE_CODE, _project_of, lambda id_, _: ("--resume", id_)),
    Resumed(CODEX, _day_of, lambda id_, _: ("resume", id_)),
    Resumed(PI, _home_of, lambda _, file: ("--session", str(file))),
)


@pytest.fixture
def provider() -> Iterator[Model]:
    with model() as serving:
        yield serving


@pytest.mark.parametrize("resumed", RESUMED, ids=lambda each: each.program.name)
def test_a_compacted_session_is_gone_on_with(
    resumed: Resumed, provider: Model, tmp_path: Path
) -> None:
    program = resumed.program
    desk = Desk(program, tmp_path / "home", tmp_path / "project", provider.url, BIN)
    desk.prepare()
    talk, written = tmp_path / "talk.json", tmp_path / "written.jsonl"
    talk.write_text(json.dumps(_talk()))
    compact = ("--fit", "3000", "--protect-first", "0", "--to", program.name)
    holdfast(tmp_path, "compress", str(talk), *compact, "-o", str(written))
    read = holdfast(tmp_path, "compress", str(written), "--to", program.dialect)
    id_ = _id_in(written.read_text())
    file = resumed.place(desk, id_)
    file.parent.mkdir(parents=True, exist_ok=True)
    written.rename(file)
    desk.go_on(resumed.how(id_, file), "Go on, ask-1000.")
    request = provider.shown("ask-1000")
    assert request.marks == [*marks_of([read]), "ask-1000"]
    sent = json.dumps(request.body)
    # Of a result that something was said about, a fit keeps the beginning and the end.
    assert f"line 5 of part {TURNS}" in sent
    assert "line 5 of part 7" not in sent


@pytest.mark.parametrize("program", [CLAUDE_CODE, CODEX, PI], ids=lambda each: each.name)
def test_a_session_that_was_sent_is_gone_on_with_by_the_command_that_was_printed(
    program: Program, provider: Model, tmp_path: Path
) -> None:
    desk = Desk(program, tmp_path / "home", tmp_path / "project", provider.url, BIN)
    desk.prepare()
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps(_talk()))
    holdfast(tmp_path, "import", str(talk))
    send = ("sessions", "send", "last", "--to", program.name, "--folder", str(desk.project))
    told = json.loads(
        holdfast(tmp_path, *send, "--yes", "--json", HOME=str(desk.home), PATH=desk.environ["PATH"])
    )
    resumes = shlex.split(told["command"].rpartition(" && ")[2])
    assert resumes[0] == program.command[0]
    desk.go_on(resumes[1:], "Go on, ask-1000.")
    request = provider.shown("ask-1000")
    assert request.marks[-1] == "ask-1000"
    assert f"say-{TURNS}" in request.marks
    assert "line 20 of part 7" in json.dumps(request.body)


def _talk() -> list[object]:
    """Return a conversation in which everything has a mark."""
    said: list[object] = []
    for turn in range(1, TURNS + 1):
        written = {"name": "read", "arguments": json.dumps({"path": f"src/part_{turn}.py"})}
        call = {"id": f"call_{turn}", "type": "function", "function": written}
        lines = "\n".join(f"line {line} of part {turn}" for line in range(40))
        said += [
            {"role": "user", "content": f"Look at part {turn}, ask-{turn}."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{turn}", "content": f"out-{turn}\n{lines}"},
            {"role": "assistant", "content": f"Part {turn} is fine, say-{turn}."},
        ]
    return said


def _id_in(written: str) -> str:
    first = [json.loads(line) for line in written.splitlines()[:3]]
    names = (each.get("sessionId") or each.get("payload", each).get("id") for each in first)
    return next(name for name in names if name)
