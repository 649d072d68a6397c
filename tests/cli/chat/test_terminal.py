"""The chat in a real terminal: typed to, interrupted, left."""

import os
import re
import shutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.chat.full import FULL, TURNS, full_chat
from tests.cli.chat.slow import slow_provider
from tests.cli.chat.talking import asks_for, at, said_in, says, sent, stored
from tests.cli.chat.typing import Keyboard, terminal
from tests.cli.running import REPOSITORY, run
from tests.providers.provider import Provider, Reply, provider

ENTER, ALT_ENTER, CTRL_C, CTRL_D, UP, TAB = "\r", "\x1b\r", "\x03", "\x04", "\x1b[A", "\t"
COLOR = re.compile(r"\x1b\[(?:\d+;)*3[1-6](?:;\d+)*m")
LONG = " ".join(f"word{number}" for number in range(300))


@contextmanager
def chatting(*replies: Reply, flags: tuple[str, ...] = ()) -> Generator[tuple[Keyboard, Provider]]:
    with provider(*replies) as server, terminal(*at(server, *flags)) as keyboard:
        keyboard.wait("/help lists the commands, Ctrl-D leaves.")
        keyboard.wait("%)")
        yield keyboard, server


def test_a_talk_in_several_lines_with_history_and_completion(home: Path) -> None:
    with chatting(says("Hello.")) as (keyboard, server):
        keyboard.type(f"one\\{ENTER}two{ALT_ENTER}three{ENTER}")
        keyboard.wait("Hello.")
        keyboard.wait("cache 0%")
        assert sent(server)[-1]["content"] == "one\ntwo\nthree"
        keyboard.type("\x1b[200~pasted\nlines\x1b[201~" + ENTER)
        keyboard.wait("Hello.")
        keyboard.wait("tokens (")
        assert sent(server)[-1]["content"] == "pasted\nlines"
        keyboard.type(f"/sta{TAB}")
        keyboard.wait("tus")
        keyboard.type(ENTER)
        keyboard.wait("folds at")
        keyboard.type(UP + ENTER)
        keyboard.wait("folds at")
        keyboard.type(CTRL_C)
        keyboard.wait("(Ctrl-D or /quit leaves)")
        keyboard.wait("tokens (")
        keyboard.type(CTRL_D)
        keyboard.wait("chat --resume ")
        assert keyboard.ended() == 0
    assert "+/status" in (home / "profiles/default/chat_history").read_text("utf-8")
    with chatting(says("Hello."), flags=("--resume", "last")) as (keyboard, _):
        assert "Going on with: one (5 messages in the window)." in keyboard.screen
        keyboard.type(UP + ENTER)
        keyboard.wait("folds at")
        keyboard.type(f"/quit{ENTER}")
        assert keyboard.ended() == 0


def test_a_conversation_that_is_too_large_is_folded_only_with_a_yes(home: Path) -> None:
    long = " ".join(f"fact{number}" for number in range(3_000))
    with provider(says("Noted.")) as server:
        run(*at(server), stdin=f"{long}\nmore\n".encode())
        small = at(server, "--resume", "last", "--context-length", "4096")
        for answer, code in (("n", 1), ("y", 0)):
            with terminal(*small) as keyboard:
                keyboard.wait("fold it? [y/N]")
                keyboard.type(f"{answer}{ENTER}")
                if code == 0:
                    keyboard.wait("tokens (")
                    keyboard.type(CTRL_D)
                assert keyboard.ended() == code
            (session,) = stored(home)
            assert (session.context_length == 4_096) == (code == 0)


def test_a_tool_runs_only_with_a_yes(here: Path, home: Path) -> None:
    touch = asks_for("run_command", command="touch done")
    with chatting(touch, says("No."), touch, says("Yes.")) as (keyboard, _):
        keyboard.type(f"do it{ENTER}")
        keyboard.wait("run: touch done [y/N]")
        keyboard.type(f"n{ENTER}")
        keyboard.wait("No.")
        keyboard.wait("tokens (")
        assert not (here / "done").exists()
        keyboard.type(f"do it{ENTER}")
        keyboard.wait("run: touch done [y/N]")
        keyboard.type(f"y{ENTER}")
        keyboard.wait("Yes.")
        assert (here / "done").exists()


def test_ctrl_c_keeps_what_was_said(home: Path) -> None:
    with slow_provider("First words.", pause=20.0) as server, terminal(*at(server)) as keyboard:
        keyboard.wait("tokens (")
        keyboard.type(f"talk{ENTER}")
        keyboard.wait("First")
        keyboard.type(CTRL_C)
        keyboard.wait("[stopped; what was said is kept]")
        keyboard.wait("tokens (")
        keyboard.type(CTRL_D)
        assert keyboard.ended() == 0
    (session,) = stored(home)
    assert said_in(home, session.id) == [
        ("user", "talk"),
        ("assistant", "First words.\n[stopped here by the user]"),
    ]


def test_ctrl_c_at_a_question_stops_the_turn(home: Path) -> None:
    with chatting(asks_for("run_command", command="ls"), says("never")) as (keyboard, server):
        keyboard.type(f"do it{ENTER}")
        keyboard.wait("[y/N]")
        keyboard.type(CTRL_C)
        keyboard.wait("[stopped; what was said is kept]")
        assert len(server.requests) == 1


def test_a_fold_in_the_background_is_told_while_the_prompt_waits(home: Path) -> None:
    replies = [says("Yes.", tokens=650 * number) for number in range(1, 6)]
    with chatting(*replies, flags=("--context-length", "4096")) as (keyboard, _):
        for turn in range(4):
            keyboard.type(f"{turn} {LONG}{ENTER}")
            keyboard.wait("Yes.")
            keyboard.wait(" tokens (")
        keyboard.type(f"last {LONG}{ENTER}")
        told = keyboard.wait("in the background\n")
        assert "[folded] 11 -> " in told
        keyboard.wait("folded 1x")


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("color", [{}, {"NO_COLOR": "1"}])
def test_it_fits_the_terminal(home: Path, columns: int, color: dict[str, str]) -> None:
    words = "Words that are more than any of these terminals has columns for. " * 4
    with (
        provider(says(words)) as server,
        terminal(*at(server), columns=columns, env=color) as keyboard,
    ):
        keyboard.wait("tokens (")
        keyboard.type(f"Hi{ENTER}")
        keyboard.wait("has columns")
        keyboard.wait("tokens (")
        # A terminal that is not yet the program's own has shown the keys itself as well.
        answer = keyboard.screen.rpartition("Hi\n")[2].partition("\n>")[0]
        drawn = keyboard.raw
    assert " ".join(answer.split()) == words.strip()
    assert max(map(len, answer.splitlines())) <= columns
    assert bool(COLOR.search(drawn)) is not bool(color)


def test_without_the_extra_it_says_what_to_install(home: Path, tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['prompt_toolkit'] = None\n"
    (tmp_path / "sitecustomize.py").write_text(hidden, "utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    with (
        provider(says("never")) as server,
        terminal(*at(server), env={"PYTHONPATH": path}) as keyboard,
    ):
        keyboard.wait("pip install")
        assert keyboard.ended() == 1
        assert "Traceback" not in keyboard.screen


def test_the_line_below_the_prompt_says_that_the_model_of_summaries_is_down(home: Path) -> None:
    with full_chat() as server, terminal(*at(server, *FULL), columns=100) as keyboard:
        keyboard.wait("tokens (")
        for words in TURNS[:-1]:
            keyboard.type(f"{words}{ENTER}")
            keyboard.wait("Yes.")
            keyboard.wait(" tokens (")
        keyboard.type(f"{TURNS[-1]}{ENTER}")
        keyboard.wait("[warning] m is unavailable")
        keyboard.wait("· m is unavailable, /status")
        keyboard.type(f"/status{ENTER}")
        keyboard.wait("warning       m is unavailable: HTTP 503")


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_ctrl_c_in_make_run_stops_the_answer_and_not_make(tmp_path: Path) -> None:
    program = tmp_path / "slow.py"
    program.write_text(
        "import time\n"
        "try:\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt: print('stopped')\n"
    )
    variables = (f"BIN={Path(sys.executable).parent}", f"CHAT={program}", "STAMP=LICENSE")
    with terminal("run", *variables, cwd=REPOSITORY, program=("make", "-o", "LICENSE")) as keys:
        keys.wait("ready")
        keys.type(CTRL_C)
        keys.wait("stopped")
        assert keys.ended() == 0
    assert "***" not in keys.screen


def test_ctrl_c_that_a_library_took_for_an_error_of_its_own_stops_the_answer(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pydantic_core import SchemaError

    from holdfast.cli.screen import is_interrupt

    wrapped = SchemaError('Error building "model" validator:\n  KeyboardInterrupt: ')
    assert is_interrupt(wrapped)
    assert not is_interrupt(SchemaError('Error building "model" validator'))
    chained = ValueError("a schema")
    chained.__context__ = KeyboardInterrupt()
    assert is_interrupt(chained)
