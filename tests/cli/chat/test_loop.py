"""A chat from its first line to its last: the rehearsal, and the model on this machine."""

import json
from pathlib import Path

from holdfast.agent.rehearsal import FACTS, REHEARSAL
from tests.adapters.local import local_model
from tests.adapters.provider import provider
from tests.cli.chat.talking import says, shown, stored, talk
from tests.cli.running import launch

ANSWER = "It may be the clock or the network, so somebody who lives close by should have a look. "


def test_a_rehearsal_fills_its_window_and_says_what_is_still_known(home: Path) -> None:
    replies = [says(ANSWER * 4, tokens=40 + 150 * turn) for turn in range(len(REHEARSAL))]
    with provider(*replies) as server:
        ended = talk(server, flags=("--rehearse",))
    assert (ended.code, ended.errors) == (0, "")
    assert "[folded] " in ended.text
    lines = shown(ended)
    assert [line[2:] for line in lines if line.startswith("> ")] == list(REHEARSAL)
    title = lines.index("Facts from the beginning, and whether the window has them:")
    assert [line[6:] for line in lines[title + 1 :]] == list(FACTS)
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
