"""LiteLLM's proxy beside ours: same upstream, same clients, same run, servers in turn.

It runs as its documentation recommends: one uvicorn worker on uvloop, logging of errors alone. It
has no database, no key, no callback and no retries; it reads its prices from its own package and
reports nothing to anybody.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.request import urlopen

from bench.gateway.cells import DIRECT, HOLDFAST, PASSTHROUGH, Cell, taken_in_turn
from bench.gateway.processes import Serving, clients, holdfast, module, running
from bench.gateway.tables import LATE, MIDDLE, added, load_of, pair
from bench.peers.environments import LITELLM, PeerFailed, installed
from bench.report import Bar, Result, Table

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from subprocess import Popen

    from bench.gateway.cells import Figures
    from bench.report import Cell as Shown

_NAME = "litellm"
_TENTH = 0.1
_PATIENCE_S = 120.0
_SETTINGS = {
    "litellm_settings": {
        "set_verbose": False,
        "num_retries": 0,
        "request_timeout": 600,
        "callbacks": [],
    },
    "general_settings": {"disable_spend_logs": True},
}
_ENVIRONMENT = {
    # Without a key it has the least to check.
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOG": "ERROR",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_TELEMETRY": "False",
    "NO_PROXY": "*",
}

Beside = tuple[Cell, "Mapping[str, Figures]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSizes:
    """How much is done; tests do less."""

    crowds: tuple[int, ...] = (50, 200)
    rate: int = 15
    """Requests of 20 kB a second, of all clients together: what LiteLLM's one core has time for."""
    seconds: float = 6.0
    requests: int = 100
    """Of one client, with 20 kB."""
    large: int = 12
    """Conversations of 1 MB."""
    large_rate: int = 1
    large_seconds: float = 8.0
    large_requests: int = 8


def compare_gateways(sizes: PeerSizes = PeerSizes()) -> Result:
    """Put the same load on LiteLLM's proxy and on ours and return the table."""
    installed(LITELLM)
    load = os.getloadavg()[0]
    with ExitStack() as stack:
        upstream = stack.enter_context(module("upstream"))
        servers = (
            upstream,
            stack.enter_context(module("passthrough", upstream.url)),
            stack.enter_context(holdfast(upstream.url)),
            stack.enter_context(_litellm(upstream.url)),
        )
        driven = stack.enter_context(clients())
        found: list[Beside] = []
        for cell in _cells(sizes):
            sys.stderr.write(f"gateway beside LiteLLM: {cell.work}, {cell.clients} clients\n")
            figures = taken_in_turn(cell, servers, driven)
            if lost := figures[HOLDFAST].taken.unrecorded:
                raise PeerFailed(f"ours did not record {lost} requests of {cell.work} in time")
            if not cell.is_new:
                found.append((cell, figures))
    return Result("gateway-peers", (peer_table(found, load),), peer_bars(found))


def _cells(sizes: PeerSizes) -> list[Cell]:
    one = Cell(work="20 kB", requests=sizes.requests, rounds=2)
    crowd = replace(one, requests=0, rate=sizes.rate, seconds=sizes.seconds)
    large = Cell(work="1 MB", kind="1 MB", requests=sizes.large_requests, rounds=2)
    crowd_of_large = replace(
        large, requests=0, rate=sizes.large_rate, seconds=sizes.large_seconds, rounds=1
    )
    cells: list[Cell] = []
    numbers = (max(sizes.crowds), sizes.large)
    for alone, many, number in zip((one, large), (crowd, crowd_of_large), numbers, strict=True):
        # One at a time, so that each is recorded before it goes on.
        begun = replace(alone, is_new=True, requests=number, rounds=1)
        each = [alone, *(replace(many, clients=clients_) for clients_ in sizes.crowds)]
        cells += [
            begun,
            *(replace(cell, is_streamed=way) for cell in each for way in (True, False)),
        ]
    closed = replace(one, clients=sizes.crowds[0], requests=2 * sizes.requests)
    return [*cells, closed]


@contextmanager
def _litellm(upstream: str) -> Generator[Serving]:
    """Serve with LiteLLM's proxy, in its own environment and with a home of its own."""
    params = {"model": "openai/bench", "api_base": f"{upstream}/v1", "api_key": "sk-bench"}
    settings = {"model_list": [{"model_name": "bench", "litellm_params": params}], **_SETTINGS}
    with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        path = Path(folder) / "config.yaml"
        # JSON is YAML as well.
        path.write_text(json.dumps(settings), "utf-8")
        program = str(LITELLM.python.with_name("litellm"))
        place = ["--host", "127.0.0.1", "--port", str(port)]
        command = [program, "--config", str(path), *place, "--num_workers", "1"]
        environment = {"PATH": os.environ["PATH"], "HOME": folder, **_ENVIRONMENT}
        with running(command, environment, Path(folder) / "output.txt") as process:
            serving = Serving(_NAME, f"http://127.0.0.1:{port}", process.pid)
            _wait_for(serving, process, Path(folder) / "output.txt")
            yield serving


def _wait_for(serving: Serving, process: Popen[str], output: Path) -> None:
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urlopen(f"{serving.url}/health/liveliness", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.3)
    raise PeerFailed(f"LiteLLM's proxy does not answer: {output.read_text('utf-8')[-2000:]}")


def peer_table(found: Sequence[Beside], load: float) -> Table:
    """Return what each adds to the first byte, and the time of a core for a request."""
    rows: list[tuple[Shown, ...]] = []
    for cell, figures in found:
        servers = (PASSTHROUGH, HOLDFAST, _NAME)
        rows.append(
            (
                f"{cell.work}, {'streamed' if cell.is_streamed else 'whole'}",
                cell.clients,
                load_of(cell),
                pair(figures[DIRECT].first(MIDDLE), figures[DIRECT].first(LATE)),
                *(pair(*(added(figures, name, at) for at in (MIDDLE, LATE))) for name in servers),
                f"{_share(figures):.2f}",
                " / ".join(f"{figures[name].each:.1f}" for name in servers),
            )
        )
    columns = (
        "requests",
        "clients",
        "pace",
        "direct, first byte",
        "pass-through adds",
        "holdfast adds",
        "LiteLLM adds",
        "holdfast against LiteLLM",
        "CPU, pass-through / holdfast / LiteLLM",
    )
    note = (
        f"{LITELLM.requirement} with httptools, one uvicorn worker on uvloop, no database, key, "
        "callback or retry; ours with its store. Milliseconds, p50 / p99, and *against LiteLLM* "
        "the p50 of what is added; CPU in milliseconds of a core for a request. Conversations of "
        "OpenAI's chat that go on with one new message a request; 1 MB are 2,000 messages. *At a "
        "pace*: clients think between requests, so that all together ask so often, which is what "
        f"LiteLLM's one core can answer. Load of the machine before the run: {load:.1f}."
    )
    return Table("gateway-peers", columns, tuple(rows), note)


def peer_bars(found: Sequence[Beside]) -> tuple[Bar, ...]:
    """Return the promise of a tenth, for each row with time to think."""
    return tuple(
        Bar(
            f"gateway, {cell.work}, {'streamed' if cell.is_streamed else 'whole'}, {cell.clients} "
            "clients: adds less than a tenth of what LiteLLM's proxy does (p50)",
            " against ".join(f"{added(figures, name, MIDDLE):.1f}" for name in (HOLDFAST, _NAME))
            + " ms",
            _share(figures) < _TENTH,
        )
        for cell, figures in found
        if cell.clients == 1 or cell.rate
    )


def _share(figures: Mapping[str, Figures]) -> float:
    return added(figures, HOLDFAST, MIDDLE) / max(added(figures, _NAME, MIDDLE), 0.001)
