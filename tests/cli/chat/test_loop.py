"""A chat from its first line to its last: the rehearsal, and the model on this machine."""

import json
from pathlib import Path

from holdfast.agent.rehearsal import REHEARSAL
from tests.cli.chat.talking import says, stored, talk
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
