"""A gateway that is asked to end finishes what it has begun; several workers share one store."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from random import Random

import pytest

from tests.gateway.scripted import PATHS, Upstream, upstream
from tests.promises.gateway_clients import (
    Clients,
    ServedGateway,
    SmallProvider,
    Talk,
    Unanswered,
    served_gateway,
    stored_marks,
)
from tests.promises.killing import SOAKS
from tests.promises.test_gateway_kill import assert_each_conversation_once

pytestmark = pytest.mark.timeout(300)
RESTARTS = 20 if SOAKS else 2
RACES = 60 if SOAKS else 8
ONE, TWO = (), ("--workers", "2")
either = pytest.mark.parametrize("workers", [ONE, TWO] if SOAKS else [TWO], ids=len)


@pytest.fixture
def provider() -> SmallProvider:
    return SmallProvider()


@pytest.fixture
def there(provider: SmallProvider) -> Iterator[Upstream]:
    with upstream(provider) as serving:
        yield serving


@either
def test_an_open_feed_of_events_does_not_hold_up_the_end(
    tmp_path: Path, there: Upstream, workers: tuple[str, ...]
) -> None:
    with (
        served_gateway(tmp_path / "home", there.url, *workers) as gateway,
        closing(HTTPConnection("127.0.0.1", gateway.port, timeout=60)) as feed,
    ):
        feed.request("GET", "/api/events")
        events = feed.getresponse()
        assert events.readline() == b"event: ready\n"
        assert gateway.terminate() < 10
        assert events.read().endswith(b"\n\n")


@either
def test_what_is_on_its_way_is_finished_and_nobody_else_is_let_in(
    tmp_path: Path, provider: SmallProvider, there: Upstream, workers: tuple[str, ...]
) -> None:
    provider.pause = 0.4
    with served_gateway(tmp_path / "home", there.url, *workers) as gateway:
        talks = [
            Talk(f"t{at}", dialect, Random(at), streams=True) for at, dialect in enumerate(PATHS)
        ]
        with ThreadPoolExecutor(len(talks)) as threads:
            turns = [threads.submit(each.turn, gateway.port, 1) for each in talks]
            while provider.answered < len(talks):
                time.sleep(0.01)
            ending = threading.Thread(target=gateway.terminate)
            ending.start()
            time.sleep(1.0)
            late = Talk("late", "openai", Random(9), streams=False)
            with pytest.raises(Unanswered):
                late.once(gateway.port)
            for each in turns:
                each.result()
            ending.join()
        assert_each_conversation_once(gateway.file, talks)


@either
def test_a_restart_under_load_cuts_no_answer_and_loses_nothing(
    tmp_path: Path, provider: SmallProvider, there: Upstream, workers: tuple[str, ...]
) -> None:
    with served_gateway(tmp_path / "home", there.url, *workers) as gateway:
        clients = Clients(gateway.port, Random(1))
        clients.begin()
        try:
            for _ in range(RESTARTS):
                time.sleep(0.7)
                assert gateway.terminate() < 20
                gateway.start()
        finally:
            clients.end()
        gateway.terminate()
        assert provider.problems == []
        assert sum(each.cut for each in clients.talks) == 0
        assert_each_conversation_once(gateway.file, clients.talks)


def test_requests_of_one_conversation_that_race_each_other_are_recorded_once(
    tmp_path: Path, provider: SmallProvider, there: Upstream
) -> None:
    """Each request is sent three times at once, as by a client that gave up too early."""
    with served_gateway(tmp_path / "home", there.url, "--workers", "3") as gateway:
        talks = [
            Talk(f"r{at}", dialect, Random(at), streams=at % 2 == 0, is_named=at % 3 == 0)
            for at, dialect in enumerate(PATHS)
        ]
        with ThreadPoolExecutor(len(talks)) as threads:
            assert [*threads.map(race, talks, [gateway.port] * len(talks))] == [None] * len(talks)
        gateway.terminate()
        assert provider.problems == []
        assert_each_conversation_once(gateway.file, talks)


def race(talk: Talk, port: int) -> None:
    """Go on with what comes of one of three equal requests."""
    talk.say("ask")
    for step in range(RACES):
        with ThreadPoolExecutor(3) as racing:
            told = [racing.submit(talk.once, port) for _ in range(3)]
            answers = [each.result() for each in told]
        assert [status for status, _ in answers] == [200] * 3, answers
        talk.take(talk.read(talk.random.choice(answers)[1]))
        talk.say("out", "nothing is left" if step == RACES - 1 else "go on")
    talk.take(talk.read(talk.once(port)[1]))


def test_workers_end_when_the_process_that_started_them_was_killed(
    tmp_path: Path, provider: SmallProvider, there: Upstream
) -> None:
    with served_gateway(tmp_path / "home", there.url, "--workers", "2") as gateway:
        talk = Talk("k1", "anthropic", Random(1), streams=True)
        talk.turn(gateway.port, 3)
        gateway.kill()
        gateway.start()
        talk.turn(gateway.port, 3)
        gateway.terminate()
        assert_each_conversation_once(gateway.file, [talk])


def test_a_worker_that_was_killed_is_replaced_and_its_conversations_go_on(
    tmp_path: Path, provider: SmallProvider, there: Upstream
) -> None:
    random = Random(5)
    with served_gateway(tmp_path / "home", there.url, "--workers", "2") as gateway:
        clients = Clients(gateway.port, random)
        clients.begin()
        try:
            for _ in range(RESTARTS):
                time.sleep(random.uniform(0.5, 1.5))
                os.kill(random.choice(workers_of(gateway)), signal.SIGKILL)
        finally:
            clients.end()
        gateway.terminate()
        assert provider.problems == []
        assert_each_conversation_once(gateway.file, clients.talks)
        assert stored_marks(gateway.file)


def workers_of(gateway: ServedGateway) -> list[int]:
    """Return the processes that serve, as far as they have started."""
    assert gateway.process is not None
    found: list[int] = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
            command = (each / "cmdline").read_text()
        except OSError:
            continue
        if parent == gateway.process.pid and "spawn_main" in command:
            found.append(int(each.name))
    return found
