"""`holdfast inspect`: the map is to scale at any width, plain in a pipe, colored on request."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import SESSION, SMALL_WINDOW, launch, run


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    ended = run("inspect", str(SESSION), *SMALL_WINDOW, "--messages", env={"COLUMNS": str(columns)})
    bars = [line for line in ended.text.splitlines() if line.startswith(" [")]
    assert ended.code == 0
    assert {len(bar) for bar in bars} == {columns - 1}
    listed = ended.text.partition("\nmessages\n")[2].splitlines()
    assert len(listed) == 145
    assert max(map(len, listed)) <= columns


def test_a_pipe_gets_no_colors_and_a_terminal_does() -> None:
    assert "\x1b" not in run("inspect", str(SESSION)).text
    assert "\x1b[" in run("inspect", str(SESSION), env={"FORCE_COLOR": "1"}).text
    assert (
        "\x1b" not in run("inspect", str(SESSION), env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).text
    )


def test_colors_change_nothing_but_the_bars() -> None:
    env = {"FORCE_COLOR": "1", "COLUMNS": "80", "TERM": "xterm-256color"}
    colored = launch("inspect", str(SESSION), env=env).text
    plain = launch("inspect", str(SESSION), env={"COLUMNS": "80"}).text
    bare = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line for line in bare.splitlines() if "tokens to go" in line] == [
        line for line in plain.splitlines() if "tokens to go" in line
    ]
    assert "█" in bare


def test_the_figures_add_up() -> None:
    found = json.loads(run("inspect", str(SESSION), *SMALL_WINDOW, "--json", "--messages").output)
    assert sum(found["kinds"].values()) == found["tokens"]
    assert sum(each["tokens"] for each in found["shape"]) == found["tokens"]
    assert sum(found["roles"].values()) == found["messages"] == len(found["shape"])
    weights = [each["tokens"] for each in found["heaviest"]]
    assert weights == sorted((each["tokens"] for each in found["shape"]), reverse=True)[:5]
    assert found["would"]["decision"] == "fold"
    assert found["due"] == [f"{found['tokens']:,} of 27,200 tokens"]
    assert found["hygiene_due"] is True


def test_what_would_be_folded_is_what_compress_folds() -> None:
    inspected = json.loads(run("inspect", str(SESSION), *SMALL_WINDOW, "--json").output)
    report = json.loads(run("compress", str(SESSION), *SMALL_WINDOW, "--dry-run", "--json").output)
    assert len(inspected["would"]["folded"]) == report["folded"]


@pytest.mark.parametrize(
    ("options", "decision"),
    [
        (["--fit", "20"], "impossible"),
        (["--fit", "90000"], "nothing"),
        (["--fit", "9000"], "prune"),
        (["--fit", "2000"], "fold"),
    ],
)
def test_a_fit_can_be_asked_about(options: list[str], decision: str) -> None:
    found = json.loads(run("inspect", str(SESSION), "--json", *options).output)
    assert found["would"]["decision"] == decision
    assert "now it would " in run("inspect", str(SESSION), *options).text


def test_an_empty_transcript_is_drawn_too() -> None:
    ended = run("inspect", "-", stdin=b'{"messages": []}')
    assert ended.code == 0
    assert "0 messages, 0 tokens" in ended.text


def test_what_a_tool_printed_cannot_command_the_terminal(tmp_path: Path) -> None:
    file = tmp_path / "odd.json"
    words = "\x1b[2Jgone\x07 \u202e日本語 \x9b31m"
    file.write_text(json.dumps([{"role": "user", "content": words}]), "utf-8")
    shown = run("inspect", str(file), "--messages").text
    assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(shown)
    assert "日本語" in shown
