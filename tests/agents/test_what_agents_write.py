"""The agents themselves write sessions, and what we read is what their models saw.

`make agents` installs them and runs this; without them there is nothing to test.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.agents.answering import Model, marks_of, model
from tests.agents.answers import Call
from tests.agents.commands import holdfast, installed
from tests.agents.programs import CLAUDE_CODE, CODEX, PROGRAMS, Desk, Program

BIN = installed()
pytestmark = pytest.mark.timeout(600)
Session = dict[str, Any]


@pytest.fixture
def provider() -> Iterator[Model]:
    with model() as serving:
        yield serving


@pytest.fixture
def seat(provider: Model, tmp_path: Path) -> Callable[[Program], Desk]:
    def seated(program: Program) -> Desk:
        desk = Desk(program, tmp_path / "home", tmp_path / "project", provider.url, BIN)
        desk.prepare()
        return desk

    return seated


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def imported(desk: Desk, store: Path) -> list[Session]:
    place = str(desk.home / desk.program.place)
    report = json.loads(holdfast(store, "import", place, "--json", "--yes"))
    assert report["problems"] == []
    listed: list[Session] = json.loads(holdfast(store, "sessions", "list", "--all", "--json"))
    assert len(listed) == report["sessions"]
    return listed


def window(store: Path, session: Session, dialect: str) -> list[str]:
    fields = json.loads(holdfast(store, "sessions", "export", session["id"], "--format", dialect))
    return marks_of(
        next(fields[name] for name in ("messages", "input", "contents") if name in fields)
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.name)
def test_the_window_that_is_imported_is_what_the_model_was_sent(
    program: Program, provider: Model, seat: Callable[[Program], Desk], store: Path
) -> None:
    desk = seat(program)
    provider.wanted = program.runs("echo out-1")
    desk.ask("Run it for me, ask-1.")
    provider.wanted = program.runs("echo out-2; exit 3")
    desk.ask_again("And now this, ask-2.")
    if program.compact:
        desk.ask_again(program.compact)
    desk.ask_again("What comes next, ask-3?")
    (session,) = imported(desk, store)
    sent = provider.shown("ask-3")
    assert window(store, session, program.dialect) == [*sent.marks, sent.mark]
    for mark in ("ask-1", "out-1", "ask-2", "out-2"):
        # Whatever a compaction has left out of the window.
        assert mark in holdfast(store, "search", f'"{mark}"', "--json")


def test_a_sub_agent_is_a_child_and_a_fork_tells_what_it_copied_at_no_cost(
    provider: Model, seat: Callable[[Program], Desk], store: Path
) -> None:
    tools = tuple(each.replace("Bash", "Agent") for each in CLAUDE_CODE.command)
    desk = seat(replace(CLAUDE_CODE, command=tools))
    errand = {"prompt": "Count them, ask-50.", "subagent_type": "general-purpose"}
    provider.wanted = Call("Agent", {"description": "count", **errand})
    desk.ask("Have it counted, ask-1.")
    desk.go_on(("--continue", "--fork-session"), "On another way, ask-2.")
    sessions = imported(desk, store)
    (child,) = [each for each in sessions if each["fork"] == "delegation"]
    (fork,) = [each for each in sessions if "ask-2" in window(store, each, "anthropic")]
    (first,) = [each for each in sessions if each["id"] not in (child["id"], fork["id"])]
    assert child["parent"] == first["id"]
    assert window(store, child, "anthropic")[0] == "ask-50"
    sent = provider.shown("ask-2")
    assert window(store, fork, "anthropic") == [*sent.marks, sent.mark]
    calls = sum(each["usage"]["calls"] for each in sessions)
    assert calls == len([each for each in provider.requests if each.is_turn])


def test_a_compaction_that_codex_makes_by_itself_is_told(
    provider: Model, seat: Callable[[Program], Desk], store: Path
) -> None:
    desk = seat(CODEX)
    provider.wanted = CODEX.runs("echo out-1")
    desk.ask("Run it for me, ask-1.")
    desk.go_on(("-c", "model_auto_compact_token_limit=50", *CODEX.goes_on), "Go on, ask-2.")
    desk.ask_again("What comes next, ask-3?")
    (session,) = imported(desk, store)
    sent = provider.shown("ask-3")
    assert "out-1" not in sent.marks
    assert window(store, session, "responses") == [*sent.marks, sent.mark]
