"""`holdfast run`: an agent with the gateway under it, for one process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.client import HTTPConnection, HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.cli.root import examples
from holdfast.cli.screen import Unusable, silence_log, tell
from holdfast.cli.serve import AGENTS, pointing, url_of
from holdfast.config import load
from holdfast.errors import ConfigError, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from holdfast.cli.serve import Pointing
    from holdfast.config import Settings

_NAMES = tuple(name for name in AGENTS if pointing(name, "").runs)
_LOOK_S = 2.0
_START_S = 30.0
_BY_SIGNAL = 128


@click.command(
    "run",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=examples(
        "holdfast run claude",
        'holdfast run codex exec "look at the tests"',
        "holdfast run pi --continue",
    ),
)
@click.argument("agent", type=click.Choice(_NAMES))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENTS]...")
def command(*, agent: str, arguments: tuple[str, ...]) -> int:
    """Start an agent with the gateway under it.

    The gateway that runs on the configured port is used; where there is none, one is started for
    as long as the agent runs. The agent is told the address by its environment or its flags: none
    of its files are touched. Its exit code is returned. What follows the agent's name is its own.
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise MissingExtra("the gateway", "gateway")
    program = shutil.which(pointing(agent, "").program)
    if program is None:
        raise Unusable(f"{agent} is not on the path; install it, or start it yourself and see "
                       f"holdfast serve --print-env {agent}")  # fmt: skip
    # The screen is the agent's.
    silence_log("holdfast")
    settings = load(os.environ).settings
    with ExitStack() as held:
        host, port = settings.gateway.host, settings.gateway.port
        url = url_of(host, port)
        if _is_ours(host, port):
            words = f"uses the gateway on {url}"
        else:
            settings = _with_own_upstream(settings, pointing(agent, ""))
            url = held.enter_context(_gateway(settings))
            words = f"started a gateway on {url}, which ends with {agent}"
        way = pointing(agent, url)
        given = [*way.arguments]
        if way.extension:
            folder = held.enter_context(tempfile.TemporaryDirectory(prefix="holdfast-"))
            place = Path(folder) / "holdfast.js"
            place.write_text(way.extension, "utf-8")
            given.append(str(place))
        by = ", ".join(way.environ) or f"{given[0]} flags"
        tell(f"holdfast {words}; {agent} is told of it by {by}, for this process only")
        return _ended([program, *given, *arguments], {**os.environ, **way.environ})


def _with_own_upstream(settings: Settings, way: Pointing) -> Settings:
    """Let requests go on to the server that the agent's variable names so far."""
    now = next((os.environ[name] for name in way.environ if os.environ.get(name)), "")
    if not (now and way.dialect):
        return settings
    upstreams = (*settings.gateway.upstreams, f"{way.dialect}={now}")
    return replace(settings, gateway=replace(settings.gateway, upstreams=upstreams))


def _is_ours(host: str, port: int) -> bool:
    """Say whether a gateway answers there."""
    connection = HTTPConnection(host, port, timeout=_LOOK_S)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        return json.loads(answer.read(1000))["service"] == "holdfast"
    except (HTTPException, OSError, ValueError, KeyError, TypeError):
        return False
    finally:
        connection.close()


@contextmanager
def _gateway(settings: Settings) -> Generator[str]:
    """Serve in a thread of this process; on any port that is free where the usual one is taken."""
    from uvicorn import Server

    from holdfast.gateway.app import gateway_app
    from holdfast.gateway.server import bound, server_config

    app = gateway_app(settings)
    try:
        listening = bound(settings.gateway)
    except ConfigError:
        listening = bound(replace(settings.gateway, port=0))
    server = Server(server_config(app))
    thread = threading.Thread(target=lambda: server.run(sockets=[listening]), daemon=True)
    with listening:
        thread.start()
        end = time.monotonic() + _START_S
        while not server.started and thread.is_alive() and time.monotonic() < end:
            time.sleep(0.01)
        try:
            yield url_of(*listening.getsockname()[:2])
        finally:
            server.should_exit = True
            thread.join()


def _ended(words: Sequence[str], environ: dict[str, str]) -> int:
    """Run a program in the foreground, and return its exit code."""
    child: subprocess.Popen[bytes] | None = None

    def pass_on(number: int, _: object) -> None:
        # A terminal sends an interrupt to both; it is the agent's to understand.
        if child is not None and number == signal.SIGTERM:
            child.terminate()

    before = {each: signal.signal(each, pass_on) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        child = subprocess.Popen(words, env=environ)
        code = child.wait()
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    return code if code >= 0 else _BY_SIGNAL - code
