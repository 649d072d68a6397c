"""The agents themselves go on when the gateway under them is killed at random instants.

`make agents` installs them and runs this; without them there is nothing to test.
"""

import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from holdfast.ports import Listing
from holdfast.session import Kind
from holdfast.stores.sqlite import SqliteStore
from tests.agents.commands import installed
from tests.agents.programs import CLAUDE_CODE, CODEX, PI, Desk, Program
from tests.agents.test_agents_through_the_gateway import STEPS, SmallModel, _Small
from tests.promises.gateway_clients import ServedGateway, served_gateway
from tests.promises.killing import SOAKS
from tests.providers.provider import served

BIN = installed()
pytestmark = pytest.mark.timeout(900)
RUNS = 6 if SOAKS else 1
PAUSE = (2.0, 8.0)
"""Seconds that a gateway lives."""
PATIENT = '{"retry": {"enabled": true, "maxRetries": 10, "baseDelayMs": 500}}'
"""Pi gives up after 14 seconds, which two kills in a row may take on a busy machine."""
PROGRAMS = (
    replace(PI, files={**PI.files, ".pi/agent/settings.json": PATIENT}),
    CLAUDE_CODE,
    CODEX,
)


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
    model = SmallModel(program)
    handler = type("Small", (_Small,), {"state": model})
    began = time.monotonic()
    with served(handler) as model.url, served_gateway(tmp_path / "store", model.url) as gateway:
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
            program.name, f"seed {seed}: {killer.kills} kills, {len(model.taken)} requests,",
            f"{model.steps} steps, {time.monotonic() - began:.0f} s",
        )  # fmt: skip
        assert killer.kills
        assert model.problems == []
        assert_stored_once(gateway.file, model)


def assert_stored_once(file: Path, model: SmallModel) -> None:
    """Check that what the model saw is in the store once, in one conversation."""
    store = SqliteStore(file)
    assert store.check().problems == ()
    found: Counter[str] = Counter()
    asked: set[str] = set()
    for session in store.sessions(Listing(limit=None)):
        for entry in store.since(session.id, 0):
            if entry.kind is not Kind.SAID:
                continue
            whole = store.whole(entry.id)
            found.update(each.text.strip().splitlines()[-1] for each in whole.results if each.text)
            if "ask-1" in whole.text:
                asked.add(session.id)
    store.close()
    assert len(asked) == 1
    ends = [f"out-{step} line 40 of the listing" for step in range(1, model.steps + 1)]
    seen = str(model.taken)
    told = [sum(count for line, count in found.items() if end in line) for end in ends]
    assert [end for end, count in zip(ends, told, strict=True) if end in seen and not count] == []
    assert [end for end, count in zip(ends, told, strict=True) if count > 1] == []
