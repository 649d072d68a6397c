"""Providers that behave badly on purpose, and one that writes down what it was told."""

import threading
import time
from collections.abc import Callable, Mapping
from random import Random

from holdfast.ports import MemoryProvider
from holdfast.transcript import Transcript
from holdfast.wire.tool_specs import ToolSpec

HANGS = 300.0


class Recorder(MemoryProvider):
    """Remembers every call in order; answers what it is given."""

    def __init__(self, name: str = "recorder", *, answer: object = "", delay: float = 0.0) -> None:
        self._name = name
        self.answer = answer
        self.delay = delay
        self.calls: list[tuple[object, ...]] = []
        self.random = Random(7)

    @property
    def name(self) -> str:
        return self._name

    def note(self, *call: object) -> None:
        if self.delay:
            time.sleep(self.random.random() * self.delay)
        self.calls.append(call)

    def system_block(self) -> str:
        self.note("system_block")
        return f"block of {self._name}"

    def tools(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec(f"{self._name}_search", "Search."),)

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        self.note("call", name, str(dict(arguments)))
        return self.answer  # type: ignore[return-value]

    def on_turn_start(self, words: str, turn: int) -> None:
        self.note("on_turn_start", words, turn)

    def prefetch(self, query: str) -> str:
        self.note("prefetch", query)
        return self.answer  # type: ignore[return-value]

    def queue_prefetch(self, query: str) -> None:
        self.note("queue_prefetch", query)

    def sync(self, user: str, assistant: str) -> None:
        self.note("sync", user, assistant)

    def on_pre_compress(self, messages: Transcript) -> str:
        self.note("on_pre_compress", str(len(messages)))
        return self.answer  # type: ignore[return-value]

    def on_session_switch(self, old: str, new: str, reason: str, *, rewound: bool = False) -> None:
        self.note("on_session_switch", old, new, reason, *(["rewound"] if rewound else []))

    def on_session_end(self, messages: Transcript) -> None:
        self.note("on_session_end", str(len(messages)))

    def shutdown(self) -> None:
        self.note("shutdown")


class Plain(MemoryProvider):
    """A built-in that has nothing to say."""

    @property
    def name(self) -> str:
        return "files"


class Troubled(Recorder):
    """Hangs or raises in every hook that is named; letting go ends what hangs."""

    def __init__(self, *hooks: str, trouble: Callable[[], None] | None = None) -> None:
        super().__init__("troubled", answer="fine")
        self.hooks = hooks
        self.released = threading.Event()
        self.trouble = trouble or self.hang

    def hang(self) -> None:
        self.released.wait(HANGS)

    def note(self, *call: object) -> None:
        super().note(*call)
        if call[0] in self.hooks:
            self.trouble()

    def count(self, hook: str) -> int:
        return sum(call[0] == hook for call in self.calls)
