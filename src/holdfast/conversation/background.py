"""Work beside the conversation: one compaction at a time, on its own thread."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Background"]

_log = logging.getLogger(__name__)


class Background:
    """Runs one job at a time and never lets it reach the turn.

    The thread is a daemon: a program that ends does not wait for a summary. Nothing is lost by
    that, since a compaction is stored in one step at its very end.
    """

    def __init__(self, on_failure: Callable[[HoldfastError], None]) -> None:
        """Begin idle; no thread is started before there is a job.

        Args:
            on_failure: Told why a job failed, on the job's own thread. It must not raise.
        """
        self._thread: threading.Thread | None = None
        self._on_failure = on_failure
        self._starting = threading.Lock()

    @property
    def is_running(self) -> bool:
        """Say whether a job is under way."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, job: Callable[[], object]) -> bool:
        """Begin a job unless one is under way; says whether it was begun."""
        with self._starting:
            if self.is_running:
                return False
            self._thread = threading.Thread(
                target=self._run, args=(job,), name="holdfast-compaction", daemon=True
            )
            self._thread.start()
            return True

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the job under way; says whether it ended in time."""
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def _run(self, job: Callable[[], object]) -> None:
        try:
            job()
        except HoldfastError as error:
            self._failed(error)
        except Exception as error:  # noqa: BLE001 - a thread's edge; nobody else would see it
            self._failed(HoldfastError(f"{type(error).__name__}: {error}"))

    def _failed(self, error: HoldfastError) -> None:
        _log.warning("the compaction in the background failed: %s", error)
        self._on_failure(error)
