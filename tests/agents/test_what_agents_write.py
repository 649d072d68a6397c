"""The agents themselves write sessions, and what we read is what their models saw.

`make agents` installs them and runs this; without them there is nothing to test.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.answering import Model, marks_of, model
from tests.agents.commands import holdfast, installed
from tests.agents.programs import PROGRAMS, Desk, Program

BIN = installed()
pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def provider() -> Iterator[Model]:
    with model() as serving:
        yield serving


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.name)
def test_the_window_that_is_imported_is_what_the_model_was_sent(
    program: Program, provider: Model, tmp_path: Path
) -> None:
    desk = Desk(program, tmp_path / "home", tmp_path / "project", provider.url, BIN)
    desk.prepare()
    provider.wanted = program.runs("echo out-1")
    desk.ask("Run it for me, ask-1.")
    provider.wanted = program.runs("echo out-2; exit 3")
    desk.ask_again("And now this, ask-2.")
    if program.compact:
        desk.ask_again(program.compact)
    desk.ask_again("What comes next, ask-3?")
    store = tmp_path / "store"
    report = json.loads(
        holdfast(store, "import", str(desk.home / program.place), "--json", "--yes")
    )
    assert (report["sessions"], report["problems"]) == (1, [])
    (session,) = json.loads(holdfast(store, "sessions", "list", "--json"))
    exported = holdfast(store, "sessions", "export", session["id"], "--format", program.dialect)
    sent = provider.shown("ask-3")
    assert marks_of(_messages(exported)) == [*sent.marks, sent.mark]
    for mark in ("ask-1", "out-1", "ask-2", "out-2"):
        # Whatever a compaction has left out of the window.
        assert mark in holdfast(store, "search", f'"{mark}"', "--json")


def _messages(exported: str) -> list[object]:
    fields = json.loads(exported)
    return next(fields[name] for name in ("messages", "input", "contents") if name in fields)
