"""A session whose summarizer works or fails as it is told to, on a clock moved by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.compaction import Policy
from holdfast.conversation import StoredConversation
from holdfast.engines import ChatEngine, EngineDeps, SummarizerFallback
from holdfast.errors import SummarizerUnavailable
from holdfast.session import Session
from holdfast.stores.sqlite import SqliteStore
from holdfast.summary import Ask
from holdfast.testing import FixedClock
from tests.conversation.talking import WINDOW, parts_on
from tests.promises.conversations import record

ID = "20260101_000000_abcdef"
DOWN = "moody is unavailable: HTTP 503"


class Moody:
    """Writes a good record, or is down."""

    name = "moody"
    window: int | None = None

    def __init__(self) -> None:
        self.is_down = True

    def write(self, ask: Ask) -> str:
        del ask
        if self.is_down:
            raise SummarizerUnavailable("HTTP 503")
        return record()

    async def awrite(self, ask: Ask) -> str:
        return self.write(ask)


class MoodySession:
    """A session in a store of its own, with the summarizer and the clock of its engine."""

    def __init__(
        self,
        path: Path,
        *,
        knobs: dict[str, Any] | None = None,
        store: Any = SqliteStore,
        **options: Any,
    ) -> None:
        self.model, self.clock = Moody(), FixedClock(1_000.0)
        self._knobs: dict[str, Any] = {"context_length": WINDOW, **(knobs or {})}
        opened = store(path)
        opened.create(Session(id=ID, source="api", started=1))
        self.chat = self.again(opened, **options)

    def again(self, store: SqliteStore | None = None, **options: Any) -> StoredConversation:
        """Return the session as a process has it that begins now."""
        parts = parts_on(store or SqliteStore(Path(self.chat.store.name)), **options)
        parts = replace(parts, engine=self._engine(), another_engine=self._engine)
        return StoredConversation(parts, parts.store.session(ID))

    def recover(self) -> None:
        """Let the model work again, and its pause be over."""
        self.model.is_down = False
        self.clock.advance(61.0)

    def _engine(self) -> ChatEngine:
        fallback = SummarizerFallback(self.model, clock=self.clock)
        return ChatEngine(Policy(**self._knobs), EngineDeps(clock=self.clock, fallback=fallback))
