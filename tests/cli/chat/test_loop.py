"""A chat from its first line to its last: the rehearsal, and the model on this machine."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli.chat.rehearsed import REHEARSAL
from tests.cli.chat.slow import slow_provider
from tests.cli.chat.talking import at, says, stored, talk
from tests.cli.running import launch
from tests.providers.local import local_model
from tests.providers.provider import provider


def test_a_rehearsal_says_every_turn_without_tools_in_one_session(home: Path) -> None:
    with provider(says("Understood.")) as server:
        ended = talk(server, flags=("--rehearse",))
    assert (ended.code, ended.errors) == (0, "")
    said = [request.fields["messages"][-1]["content"] for request in server.requests]
    assert said == list(REHEARSAL)
    assert "tools" not in server.requests[0].fields
    assert len(stored(home)) == 1


def test_the_model_on_this_machine_answers_without_a_key(home: Path) -> None:
    local_model(1_024).close()
    ended = launch(
        *("chat", "--model", "local", "--context-length", "1024", "--json", "--no-memory"),
        stdin=b"Say hello in one word.\n",
    )
    assert ended.code == 0, ended.errors
    told = json.loads(ended.text)
    assert told["answer"].strip()
    assert told["prompt_tokens"] > 0
    assert (told["stopped"], told["tools"]) == (None, [])


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_an_interrupt_ends_a_chat_that_reads_a_pipe_and_not_one_turn_of_it(home: Path) -> None:
    with slow_provider("It is", pause=30) as server:
        command = [sys.executable, "-m", "holdfast.cli", *at(server, "--no-memory")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as chat:
            assert chat.stdin is not None
            assert chat.stdout is not None
            chat.stdin.write(b"How deep is it?\nAnd the lock?\n")
            chat.stdin.close()
            shown = b""
            while b"It is" not in shown:
                shown += os.read(chat.stdout.fileno(), 4096)
            chat.send_signal(signal.SIGINT)
            assert chat.wait(20) == 130
    assert len(server.requests) == 1
    assert len(stored(home)) == 1
