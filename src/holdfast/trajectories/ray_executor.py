"""Processes batches on Ray Data: on this machine, or on a cluster that is running.

The driver reads the input and writes the output, as in any other run; nodes get batches as bytes
and send bytes back. So a cluster needs no shared disk for files of trajectories, and the output is
that of the process pool. Sessions of agents are opened by the node that takes them.
"""

from __future__ import annotations

import logging
import os
import pickle
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import warnings
from contextlib import ExitStack, contextmanager, redirect_stdout
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from holdfast import __version__
from holdfast.errors import ConfigError, HoldfastError, MissingExtra
from holdfast.system.processes import safe_path
from holdfast.trajectories.running import each_by_itself, jobs_for
from holdfast.trajectories.work import process

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from holdfast.trajectories.items import TrajectoryBatch
    from holdfast.trajectories.work import Outcome, Work

_LOCAL = "local"
_WAVE = 64
"""Batches of one dataset: all of them are put into Ray's memory at once."""
_STORE_BYTES = 512 << 20
_TRIES = 2
"""How often a batch is tried again whose worker died."""
_PATIENCE = 120.0
"""Seconds in which a cluster has to answer."""


class RayFailed(HoldfastError):
    """Ray cannot be used as it was asked for; the message says why."""


class RayExecutor:
    """Processes batches on Ray Data, in order; a context, because Ray has to be ended."""

    def __init__(self, address: str, jobs: int | None) -> None:
        """Describe where Ray runs; nothing is started yet.

        Args:
            address: `local`, `auto` for a cluster that this machine is part of, or HOST:PORT.
            jobs: How many batches are processed at once; None for one a core.
        """
        if find_spec("ray") is None:
            raise MissingExtra("a run on Ray", "ray")
        if "://" in address:
            raise ConfigError(
                f"{address} is an address of Ray Client, through which Ray Data does not work; run "
                "this on a node of the cluster with --ray auto or --ray HOST:PORT"
            )
        self._address = address
        self._jobs = jobs
        self._folder = ""
        self._before: Any = None
        self._stack = ExitStack()

    def __enter__(self) -> RayExecutor:
        """Start Ray here, or connect to the cluster.

        Raises:
            RayFailed: it does not start or answer, or its nodes have another version of holdfast.
        """
        # Ray is to report nothing, and to keep no credential on the disk.
        usual = {
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
            "RAY_COLOR_PREFIX": "0",
        }
        if self._address == _LOCAL and "RAY_AUTH_MODE" not in os.environ:
            usual |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        for name, value in usual.items():
            os.environ.setdefault(name, value)
        # Workers are started as long as this lasts.
        self._stack.enter_context(safe_path())
        self._before = signal.getsignal(signal.SIGTERM)
        quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
        try:
            if self._address == _LOCAL:
                # A path of its own, because Ray never removes its files; a short one, because it
                # keeps sockets in it.
                self._folder = tempfile.mkdtemp(prefix="ray")
                _ray().init(
                    address=_LOCAL,
                    num_cpus=jobs_for(self._jobs),
                    num_gpus=0,
                    include_dashboard=False,
                    object_store_memory=_STORE_BYTES,
                    _temp_dir=self._folder,
                    **quiet,
                )
            else:
                _reach(self._address)
                _ray().init(address=self._address, **quiet)
            self._check_nodes()
        except HoldfastError:
            self._end()
            raise
        except Exception as error:
            self._end()
            raise RayFailed(f"Ray did not start at {self._address}: {error}") from error
        return self

    def __exit__(self, *_: object) -> None:
        """End Ray here, or leave the cluster."""
        self._end()

    def outcomes(
        self, batches: Iterable[TrajectoryBatch], work: Work
    ) -> Iterator[tuple[TrajectoryBatch, tuple[Outcome, ...]]]:
        """Yield what becomes of each batch, in order, a wave of them at a time."""
        incoming = iter(batches)
        while wave := list(islice(incoming, max(_WAVE, 4 * self._cores()))):
            for batch, found in self._wave(wave, work):
                apart = partial(self._wave, work=work)
                yield batch, each_by_itself(batch, apart) if found is None else found

    def _wave(
        self, batches: Sequence[TrajectoryBatch], work: Work
    ) -> Iterator[tuple[TrajectoryBatch, tuple[Outcome, ...] | None]]:
        """Yield what becomes of each of the batches; None where the worker died each time."""
        data = cast("Any", import_module("ray.data"))
        items = [
            {"index": index, "task": pickle.dumps((batch, work))}
            for index, batch in enumerate(batches)
        ]
        with _ray_warnings():
            dataset = data.from_items(items, override_num_blocks=len(items)).map(
                outcomes_of_row,
                num_cpus=1,
                compute=data.TaskPoolStrategy(size=self._cores()),
                max_retries=_TRIES,
            )
            context = dataset.context
            context.enable_progress_bars = False
            context.print_on_execution_start = False
            context.execution_options.preserve_order = True
            context.execution_no_progress_timeout_s = -1
            # A batch whose worker always dies is missing from the rows, and the others are there.
            context.max_errored_blocks = -1
            rows: Iterator[dict[str, Any]] = iter(dataset.iter_rows())
        row: dict[str, Any] | None = None
        is_over = False
        for index, batch in enumerate(batches):
            if row is None and not is_over:
                # Ray tells of workers that died on standard output, which is not its own.
                with redirect_stdout(sys.stderr):
                    row = next(rows, None)
                is_over = row is None
            if row is None or row["index"] != index:
                yield batch, None
            else:
                yield batch, cast("tuple[Outcome, ...]", pickle.loads(row["outcomes"]))
                row = None

    def _cores(self) -> int:
        if self._jobs is not None:
            return self._jobs
        return max(int(_ray().cluster_resources().get("CPU", 1)), 1)

    def _check_nodes(self) -> None:
        """Refuse nodes that would process batches in another way, or not at all."""
        with _ray_warnings():
            # Its logging is set up when its context is first made.
            cast("Any", import_module("ray.data")).DataContext.get_current()
        logging.getLogger("ray.data").setLevel(logging.CRITICAL)
        ask = _ray().remote(num_cpus=0, max_retries=0)(version)
        found = _ray().get(ask.remote(), timeout=_PATIENCE)
        if found != __version__:
            raise RayFailed(f"the nodes have holdfast {found}, and {__version__} runs here")

    def _end(self) -> None:
        _ray().shutdown()
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
        # Ray puts a handler of its own in this place.
        signal.signal(signal.SIGTERM, self._before or signal.SIG_DFL)
        self._stack.close()


def outcomes_of_row(row: dict[str, Any]) -> dict[str, Any]:
    """Process the batch of a row; runs on the nodes."""
    batch, work = pickle.loads(row["task"])
    return {"index": row["index"], "outcomes": pickle.dumps(process(batch, work))}


def version() -> str:
    """Return which holdfast a node has."""
    return __version__


def _ray() -> Any:
    return import_module("ray")


def _reach(address: str) -> None:
    """Find out whether anything listens at an address: Ray itself would wait for minutes."""
    if address == "auto":
        return
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit():
        raise ConfigError(f"{address} is no address; allowed: local, auto or HOST:PORT")
    try:
        socket.create_connection((host, int(port)), 5).close()
    except OSError as error:
        raise RayFailed(f"nothing answers at {address}: {error}") from error


@contextmanager
def _ray_warnings() -> Generator[None]:
    """Leave Ray's warnings about its own options out."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        yield
