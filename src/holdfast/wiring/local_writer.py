"""The model on this machine as a writer of summaries, started with the first one it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.wiring.models import summarizer_by

if TYPE_CHECKING:
    from holdfast.ports import Summarizer
    from holdfast.providers.local_model import LocalModel
    from holdfast.summary import Ask

__all__ = ["LocalWriter"]


class LocalWriter:
    """Writes with a local model, and keeps it: its server lives as long as its last reference.

    The address is asked for each time, since a server that was stopped comes back on another port.
    """

    def __init__(self, model: LocalModel, timeout: float) -> None:
        """Hold the model; nothing is loaded yet."""
        self._model = model
        self._timeout = timeout

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    @property
    def window(self) -> int | None:
        """Return what the model takes, in tokens."""
        return self._model.context_length

    def write(self, ask: Ask) -> str:
        """Return the answer to the prompt."""
        return self._summarizer.write(ask)

    async def awrite(self, ask: Ask) -> str:
        """Return the answer to the prompt without blocking the event loop."""
        return await self._summarizer.awrite(ask)

    @property
    def _summarizer(self) -> Summarizer:
        return summarizer_by(self._model, timeout=self._timeout)
