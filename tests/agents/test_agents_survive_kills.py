"""The agents themselves go on when the gateway under them is killed at random instants.

`make agents` installs them and runs this; without them there is nothing to test.
"""

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from holdfast.recognition.request import MESSAGES, dialect_of_path
from tests.agents.answers import Call
from tests.agents.commands import installed
from tests.agents.programs import CLAUDE_CODE, CODEX, PI, Desk, Program
from tests.gateway.scripted import Received, Script, answer, upstream
from tests.promises.gateway_clients import (
    MARK,
    ServedGateway,
    SmallProvider,
    served_gateway,
    stored_marks,
)
from tests.promises.killing import SOAKS

BIN = installed()
pytestmark = pytest.mark.timeout(900)
RUNS = 6 if SOAKS else 1
STEPS = 30
"""Tool steps of each of the two turns."""
PAUSE = (2.0, 8.0)
"""Seconds that a gateway lives."""
PATIENT = '{"retry": {"enabled": true, "maxRetries": 10, "baseDelayMs": 500}}'
"""Pi gives up after 14 seconds, which two kills in a row may take on a busy machine."""
PROGRAMS = (
    replace(PI, files={**PI.files, ".pi/agent/settings.json": PATIENT}),
    CLAUDE_CODE,
    CODEX,
)


@dataclass
class AgentProvider(SmallProvider):
    """Has an agent run commands, as many as are left."""

    program: Program = PI
    left: int = 0
    steps: int = 0

    def __call__(self, received: Received) -> Script:
        if not dialect_of_path(received.target) or "count_tokens" in received.target:
            body = b"" if received.method == "HEAD" else b'{"data": [], "input_tokens": 100}'
            return answer(body)
        return super().__call__(received)

    def look(self, dialect: str, fields: Mapping[str, Any]) -> None:
        """Take every request: agents say more at the end than what was asked."""
        self.forwarded.update(MARK.findall(json.dumps(fields[MESSAGES[dialect]])))

    def next_call(self, fields: Mapping[str, Any], _last: str, /) -> Call | None:
        if not fields.get("tools") or not self.left:
            return None
        self.left -= 1
        self.steps += 1
        listing = f"seq -f 'out-{self.steps} line %g of the listing' 100; sleep 0.1"
        return self.program.runs(listing)


class Killer:
    """Kills a gateway again and again, and starts it anew."""

    def __init__(self, gateway: ServedGateway, random: Random) -> None:
        self.kills = 0
        self._gateway, self._random = gateway, random
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._kill)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _kill(self) -> None:
        while not self._over.wait(self._random.uniform(*PAUSE)):
            self._gateway.kill()
            self.kills += 1
            self._gateway.start()


@pytest.mark.parametrize("seed", range(RUNS))
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.name)
def test_an_agent_goes_on_under_kills_with_nothing_missing_or_doubled(
    program: Program, seed: int, tmp_path: Path
) -> None:
    if not (BIN / program.command[0]).exists():
        pytest.skip(f"{program.name} is not installed")
    # So slow that some kills come in the middle of an answer.
    model = AgentProvider(program=program, pause=0.05)
    began = time.monotonic()
    with upstream(model) as there, served_gateway(tmp_path / "store", there.url) as gateway:
        url = f"http://127.0.0.1:{gateway.port}"
        desk = Desk(program, tmp_path / "home", tmp_path / "project", url, BIN)
        desk.prepare()
        killer = Killer(gateway, Random(seed))
        try:
            model.left = STEPS
            desk.ask("Keep in mind that the port is 8443, ask-1. Then list what is there.")
            model.left = STEPS
            desk.ask_again("List the rest as well, ask-2.")
        finally:
            killer.stop()
        gateway.terminate()
        print(
            program.name, f"seed {seed}: {killer.kills} kills, {model.answered} requests,",
            f"{model.folded} folded, {model.steps} steps, {time.monotonic() - began:.0f} s",
        )  # fmt: skip
        assert killer.kills
        assert model.folded
        assert model.problems == []
        stored = stored_marks(gateway.file)
        told = {mark for mark in model.forwarded if not mark.startswith("say-")}
        assert {"ask-1", "ask-2", "out-1"} <= told
        assert told - stored.keys() == set()
        assert [mark for mark, count in stored.items() if count > 1] == []
