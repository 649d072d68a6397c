"""Killed at any moment, the gateway goes on with every conversation of its clients."""

import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from holdfast.ports import Listing
from holdfast.stores.sqlite import SqliteStore
from tests.gateway.scripted import upstream
from tests.promises.gateway_clients import (
    Clients,
    ServedGateway,
    SmallProvider,
    Talk,
    served_gateway,
    stored_marks,
)
from tests.promises.killing import SOAKS

RUNS, KILLS = (10, 10) if SOAKS else (1, 4)
LONGEST = 1.5
"""Seconds that a gateway lives at most."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(RUNS))
def test_clients_of_a_killed_gateway_go_on_and_nothing_is_missing_or_doubled(
    tmp_path: Path, seed: int
) -> None:
    random, provider = Random(seed), SmallProvider()
    with upstream(provider) as there, served_gateway(tmp_path / "home", there.url) as gateway:
        clients = Clients(gateway.port, random)
        clients.begin()
        try:
            for _ in range(KILLS):
                time.sleep(random.uniform(0.0, LONGEST))
                gateway.kill()
                time.sleep(0.2)
                assert_acknowledged_is_stored(gateway, provider, clients.talks)
                there.requests.clear()
                gateway.start()
        finally:
            clients.end()
        gateway.terminate()
        print(
            f"seed {seed}: {len(clients.talks)} conversations, {provider.answered} requests,",
            f"{provider.folded} folded, {provider.refused} refused",
        )
        assert provider.problems == []
        assert provider.folded
        assert_each_conversation_once(gateway.file, clients.talks)


def assert_acknowledged_is_stored(
    gateway: ServedGateway, provider: SmallProvider, talks: Sequence[Talk]
) -> None:
    """Look for what was forwarded, and for the answers whose end a client saw."""
    stored = stored_marks(gateway.file)
    for talk in [*talks]:
        known = [*talk.marks]
        upto = max((at for at, mark in enumerate(known) if mark in provider.forwarded), default=-1)
        answers = [mark for mark in known if mark.startswith("say-")]
        missing = [mark for mark in [*known[: upto + 1], *answers] if mark not in stored]
        assert missing == [], (talk.name, talk.dialect, gateway.log)
    assert [mark for mark, count in stored.items() if count > 1] == []


def assert_each_conversation_once(file: Path, talks: Sequence[Talk]) -> None:
    """Check that every conversation is one session with everything in it, in its order."""
    stored = stored_marks(file)
    assert [mark for mark, count in stored.items() if count > 1] == []
    assert [mark for talk in talks for mark in talk.marks if mark not in stored] == []
    with closing(SqliteStore(file)) as store:
        sessions = store.sessions(Listing(limit=None))
        assert len(sessions) == len(talks)
        assert all(each.is_live and each.parent is None for each in sessions)
