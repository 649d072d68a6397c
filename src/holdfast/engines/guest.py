"""A plug-in's code on a thread of its own: whatever it does becomes a value, and in time.

All calls of one plug-in run on one thread, one after the other: what it opened there it may use
there, and it need not be written for several threads.
"""

from __future__ import annotations

import contextvars
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.engines.contract import missing_names
from holdfast.errors import ConfigError
from holdfast.wire.json_text import encodable

if TYPE_CHECKING:
    from holdfast.engines.contract import ContextEngine

__all__ = ["Busy", "Ending", "Guest", "Hung", "Raised", "Returned"]

_REASON_LENGTH = 300
_Job: TypeAlias = "tuple[contextvars.Context, Callable[[], object], SimpleQueue[Returned | Raised]]"


@dataclass(frozen=True, slots=True)
class Returned:
    """The call came back."""

    value: object


@dataclass(frozen=True, slots=True)
class Raised:
    """The call raised, whatever it was."""

    reason: str


@dataclass(frozen=True, slots=True)
class Hung:
    """The call did not come back in time, and is not waited for any more."""

    reason: str


@dataclass(frozen=True, slots=True)
class Busy:
    """Another call is under way; this one was not made."""


Ending: TypeAlias = Returned | Raised | Hung | Busy


class Guest:
    """Runs what a plug-in brings, and nothing of it in the thread of whoever asks."""

    def __init__(self, name: str, make: Callable[[], object], *, deadline: float) -> None:
        """Hold the plug-in; nothing of it runs before it arrives.

        Args:
            name: The name by which it was chosen.
            make: Imports or builds the engine.
            deadline: Seconds that its slowest call, a compaction, may take.
        """
        self.name = name
        self.deadline = deadline
        self._make = make
        self._engine: object = None
        self._turn = threading.Lock()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def arrive(self) -> Ending:
        """Build the engine, and see whether it has what an engine needs."""
        return self.run(self._built)

    def ask(
        self,
        call: Callable[[ContextEngine], object],
        *,
        seconds: float | None = None,
        patience: float = 0.0,
    ) -> Ending:
        """Return what a call of the engine came to.

        Args:
            call: What to do with the engine.
            seconds: How long it may take; the deadline by default.
            patience: Seconds to wait for a call that is under way.
        """
        if not self._turn.acquire(timeout=patience):
            return Busy()
        try:
            engine = cast("ContextEngine", self._engine)
            return self.run(lambda: call(engine), seconds)
        finally:
            self._turn.release()

    def _built(self) -> object:
        engine = self._make()
        missing = missing_names(engine)
        if missing:
            raise ConfigError(f"a {type(engine).__name__} is no engine: it lacks {_list(missing)}")
        self._engine = engine
        return engine

    def run(
        self, call: Callable[[], object], seconds: float | None = None
    ) -> Returned | Raised | Hung:
        """Return what a piece of code came to on the plug-in's thread, within the deadline."""
        seconds = seconds or self.deadline
        answers: SimpleQueue[Returned | Raised] = SimpleQueue()
        if self._thread is None or not self._thread.is_alive():
            # Also after a fork, in which threads do not go along.
            self._begin()
        self._jobs.put((contextvars.copy_context(), call, answers))
        try:
            return answers.get(timeout=seconds)
        except Empty:
            # Python cannot stop it; whoever comes next gets a thread of its own.
            self._jobs.put(None)
            self._thread = None
            return Hung(f"no answer within {seconds:g} s")

    def _begin(self) -> None:
        self._jobs = SimpleQueue()
        self._thread = threading.Thread(
            target=_work, args=(self._jobs,), name=f"holdfast-engine-{self.name}", daemon=True
        )
        self._thread.start()
        weakref.finalize(self, self._jobs.put, None).atexit = False


def _work(jobs: SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        context, call, answers = job
        answers.put(context.run(_ending, call))
        # Whoever is waiting for the next job holds on to nothing of the last.
        del job, context, call, answers


def _ending(call: Callable[[], object]) -> Returned | Raised:
    try:
        return Returned(call())
    except BaseException as error:  # noqa: BLE001 - foreign code: even its exit is only a failure
        said, kind = _said(error), type(error).__name__
        if isinstance(error, ConfigError):
            return Raised(said or kind)
        return Raised(f"{kind}: {said}"[:_REASON_LENGTH] if said else kind)


def _said(error: BaseException) -> str:
    """Return what an error says in one line; even that is foreign code."""
    try:
        words = "".join(str(error))
        return encodable(" ".join(words.split())[:_REASON_LENGTH])
    except BaseException:  # noqa: BLE001 - an error that cannot be shown has a kind all the same
        return ""


def _list(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
