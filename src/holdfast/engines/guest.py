"""A plug-in's code on a thread of its own: whatever it does becomes a value, and in time.

All calls of one plug-in run on one thread, one after the other: what it opened there it may use
there, and it need not be written for several threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.deadline import DedicatedThread, Ending, sentence_of
from holdfast.engines.contract import missing_names
from holdfast.errors import ConfigError
from holdfast.wire.encodable import encodable

if TYPE_CHECKING:
    from holdfast.engines.contract import ContextEngine

__all__ = ["Busy", "Guest", "PluginEnding"]

_REASON_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Busy:
    """Another call is under way; this one was not made."""


PluginEnding: TypeAlias = Ending | Busy


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
        self._thread = DedicatedThread(f"holdfast-engine-{name}")

    def arrive(self) -> PluginEnding:
        """Build the engine, and see whether it has what an engine needs."""
        return self.run(self._built)

    def ask(
        self,
        call: Callable[[ContextEngine], object],
        *,
        seconds: float | None = None,
        patience: float = 0.0,
    ) -> PluginEnding:
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

    def run(self, call: Callable[[], object], seconds: float | None = None) -> Ending:
        """Return what a piece of code came to on the plug-in's thread, within the deadline."""
        return self._thread.call_within(seconds or self.deadline, lambda: _failing_in_words(call))


class _Said(Exception):
    """What a plug-in's error said."""


def _failing_in_words(call: Callable[[], object]) -> object:
    """Call, and raise an error whose words are ours to read: even those are foreign code."""
    try:
        return call()
    except BaseException as error:  # noqa: BLE001 - foreign code: even its exit is only a failure
        said, kind = encodable(sentence_of(error)[:_REASON_LENGTH]), type(error).__name__
        if not isinstance(error, ConfigError):
            said = f"{kind}: {said}"[:_REASON_LENGTH] if said else kind
        raise _Said(said or kind) from None


def _list(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
