"""The chat for scripts: a line of JSON for each turn."""

import json
from pathlib import Path

from tests.adapters.provider import error, provider
from tests.cli.chat.talking import asks_for, says, stored, talk


def test_every_turn_is_a_line(home: Path) -> None:
    replies = (asks_for("list_files"), says("None."), error(401, "no such key"))
    with provider(*replies) as server:
        ended = talk(server, "Which files?", "/quit", "Again", flags=("--json",))
    assert ended.code == 1
    (session,) = stored(home)
    first, second, third = map(json.loads, ended.text.splitlines())
    assert first == {
        "said": "Which files?",
        "answer": "None.",
        "stopped": None,
        "tools": ["list_files"],
        "warnings": [],
        "compactions": 0,
        "prompt_tokens": 18,
        "output_tokens": 6,
        "cost": 0.0,
        "session": session.id,
    }
    assert (second["answer"], second["stopped"].split(";")[0]) == (None, "commands are for people")
    assert third["stopped"].startswith("m: ")


def test_nothing_said_prints_nothing(home: Path) -> None:
    with provider(says("never")) as server:
        ended = talk(server, flags=("--json",))
    assert (ended.code, ended.text) == (3, "")
