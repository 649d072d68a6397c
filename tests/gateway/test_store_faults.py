"""What a client of `holdfast serve` sees when the store is locked, full, read-only or gone.

The faults are real ones, made from outside while the program runs.
"""

import ctypes
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import httpx2
import pytest

from tests.agents.answers import Answer
from tests.gateway.faults import client_sees, table
from tests.gateway.scripted import PATHS, Upstream, question, stream, streamed, upstream

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="faults are made with Linux calls")
SAID = Answer(1, "Port 4242.")
PIECES = b"".join(streamed("openai", SAID))
UNRECORDED = "forwarded unchanged and not recorded; the log of the gateway says why"


@dataclass
class Served:
    """A gateway in a process of its own."""

    process: subprocess.Popen[str]
    upstream: Upstream
    url: str
    profile: Path

    def ask(self, text: str, dialect: str = "openai") -> httpx2.Response:
        body = question(dialect, text)
        return httpx2.post(f"{self.url}{PATHS[dialect]}", json=body, timeout=60)


def obey_file_modes() -> None:
    """Take from a process of root's what lets it write where file modes forbid it."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):
        libc.prctl(24, capability, 0, 0, 0)


@contextmanager
def served(home: Path, *flags: str) -> Generator[Served]:
    """Serve as a user does; file modes hold for root, too."""
    environ = {
        **os.environ,
        "HOLDFAST_HOME": str(home),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    with upstream(stream(PIECES)) as up:
        command = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--upstream", up.url]
        process = subprocess.Popen(
            [*command, *flags],
            env=environ,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=obey_file_modes,
        )
        assert process.stderr is not None
        line = process.stderr.readline()
        url = line.partition("listens on ")[2].partition(";")[0]
        assert url, line + process.stderr.read()
        try:
            yield Served(process, up, url, home / "profiles" / "default")
        finally:
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=60)
            assert "Traceback" not in errors


@contextmanager
def locked(here: Served) -> Generator[None]:
    other = sqlite3.connect(here.profile / "holdfast.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextmanager
def full(here: Served) -> Generator[None]:
    # No file of the process may grow: what a full disk says to a write.
    before = resource.prlimit(here.process.pid, resource.RLIMIT_FSIZE, (1, -1))
    try:
        yield
    finally:
        resource.prlimit(here.process.pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def gone(here: Served) -> Generator[None]:
    aside = here.profile.with_name("aside")
    shutil.move(here.profile, aside)
    try:
        yield
    finally:
        shutil.rmtree(here.profile, ignore_errors=True)
        shutil.move(aside, here.profile)


def read_only(home: Path) -> None:
    with served(home) as here:
        here.ask("Hello")
    for place in [*home.rglob("*"), home]:
        place.chmod(0o555 if place.is_dir() else 0o444)


def no_folder(home: Path) -> None:
    home.chmod(0o555)


def damaged(home: Path) -> None:
    folder = home / "profiles" / "default"
    folder.mkdir(parents=True)
    (folder / "holdfast.db").write_bytes(b"no database " * 1000)


MEANWHILE = {"locked": locked, "full": full, "gone": gone}
BEFORE = {"read-only": read_only, "no folder": no_folder, "damaged": damaged}
WARNED = "the answer, with `X-Holdfast-Warning`"
REFUSED = "503 in the shape of the dialect; nothing reaches the upstream"


@client_sees("the store is deleted, or its disk is gone", f"{WARNED}, until it is back")
@client_sees("the disk of the store is full", f"{WARNED}, until there is room again")
@client_sees("the store is locked by another process for more than 10 seconds", WARNED)
@pytest.mark.parametrize("fault", MEANWHILE.values(), ids=MEANWHILE)
def test_a_request_goes_on_unrecorded_while_the_store_fails(
    tmp_path: Path, fault: Callable[[Served], AbstractContextManager[None]]
) -> None:
    with served(tmp_path) as here:
        assert here.ask("Hello").headers["x-holdfast-session"]
        with fault(here):
            began = time.monotonic()
            found = here.ask("Which port?")
            assert (found.status_code, found.content) == (200, PIECES)
            assert found.headers["x-holdfast-warning"] == UNRECORDED
            assert time.monotonic() - began < 20
            assert here.upstream.requests[-1].fields == question("openai", "Which port?")
        found = here.ask("Which port?")
        assert "x-holdfast-warning" not in found.headers
        assert found.headers["x-holdfast-session"]


@client_sees("the store is read-only, damaged, or its folder cannot be made", WARNED)
@pytest.mark.parametrize("broken", BEFORE.values(), ids=BEFORE)
def test_a_request_goes_on_unrecorded_where_the_store_cannot_be_opened_for_writing(
    tmp_path: Path, broken: Callable[[Path], None]
) -> None:
    broken(tmp_path)
    with served(tmp_path) as here:
        for dialect in PATHS:
            found = here.ask("Which port?", dialect)
            assert (found.status_code, found.content) == (200, PIECES)
            assert found.headers["x-holdfast-warning"] == UNRECORDED
        assert httpx2.get(f"{here.url}/v1/models").status_code == 200
        assert httpx2.get(f"{here.url}/readyz").status_code == 503
        # What was said before can be read where the store can.
        listed = httpx2.get(f"{here.url}/api/sessions")
        assert listed.status_code == (200 if broken is read_only else 503)


def test_a_store_that_could_not_be_opened_is_used_as_soon_as_it_can_be(tmp_path: Path) -> None:
    no_folder(tmp_path)
    with served(tmp_path) as here:
        assert "x-holdfast-warning" in here.ask("Which port?").headers
        tmp_path.chmod(0o755)
        time.sleep(1.1)
        assert here.ask("Which port?").headers["x-holdfast-session"]
        assert httpx2.get(f"{here.url}/readyz").status_code == 200


@client_sees("any of these, with `gateway.strict`", REFUSED)
@pytest.mark.parametrize("fault", [*MEANWHILE, *BEFORE])
def test_a_strict_gateway_refuses_while_the_store_fails(tmp_path: Path, fault: str) -> None:
    if fault in BEFORE:
        BEFORE[fault](tmp_path)
    with served(tmp_path, "--strict") as here, ExitStack() as held:
        if fault in MEANWHILE:
            here.ask("Hello")
            held.enter_context(MEANWHILE[fault](here))
        here.upstream.requests.clear()
        for dialect in PATHS if fault != "locked" else ["anthropic"]:
            found = here.ask("Which port?", dialect)
            assert found.status_code == 503
            assert "gateway.strict demands it" in found.json()["error"]["message"]
        assert here.upstream.requests == []


def test_the_table_of_the_operators_page_is_that_of_the_tests(repository: Path) -> None:
    for module in ("test_faults", "test_proxy", "test_upstream"):
        import_module(f"tests.gateway.{module}")
    page = (repository / "docs" / "gateway" / "operate.md").read_text("utf-8")
    shown = page.partition("\n## Faults\n")[2].partition("\n## ")[0]
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert sorted(rows) == sorted(table().splitlines()), f"it should have:\n{table()}"
