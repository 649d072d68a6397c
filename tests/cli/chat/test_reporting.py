"""The chat for scripts: a line of JSON for each turn."""

import json
from pathlib import Path

from tests.cli.chat.full import FULL, TURNS, full_chat
from tests.cli.chat.talking import asks_for, says, stored, talk
from tests.providers.provider import error, provider


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
        "warning": "",
        "session": session.id,
    }
    assert (second["answer"], second["stopped"].split(";")[0]) == (None, "commands are for people")
    assert third["stopped"].startswith("m: ")


def test_a_pass_without_its_model_is_told_once_and_stands_until_a_good_one(home: Path) -> None:
    with full_chat() as server:
        ended = talk(server, *TURNS, "And?", "So?", flags=(*FULL, "--json"))
    lines = [json.loads(line) for line in ended.text.splitlines()]
    *_, before, told, after = lines
    assert [line["warning"] for line in lines[:-2]] == [""] * (len(lines) - 2)
    assert (before["warnings"], told["compactions"]) == ([], 1)
    assert told["warning"] == after["warning"] == ". ".join(told["warnings"][-2:])
    assert told["warning"].startswith("m is unavailable: HTTP 503")
    assert "the summary model s failed" in told["warning"]
    assert after["warnings"] == []


def test_nothing_said_prints_nothing(home: Path) -> None:
    with provider(says("never")) as server:
        ended = talk(server, flags=("--json",))
    assert (ended.code, ended.text) == (3, "")
