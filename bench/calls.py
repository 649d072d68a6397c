"""What a model call costs beside the model: is compaction due, cache marks and books, the body.

Bodies come from the mirror that conversations keep of their window, over a log in memory, so that
no database is measured: shared, as the agent sends them, and as copies, which callers get.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import median, quantiles
from typing import TYPE_CHECKING, cast

import holdfast
from bench.report import Bar, Table
from bench.transcripts import SIZES, transcript
from holdfast.conversation.window import LiveWindow
from holdfast.ports import Prompt
from holdfast.session import Entry, Head, Kind, Refreshed, Session, SessionState, Usage
from holdfast.system import SystemClock
from holdfast.wire import DIALECTS, Body
from holdfast.wiring.usage_accounting import UsageAccounting

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from bench.report import Cell
    from bench.transcripts import Chat
    from holdfast.ports import Delta, Store
    from holdfast.transcript import Message

APPENDED = 200
APPENDED_ANTHROPIC = 10
"""Fewer, since a body in Anthropic's layout is written anew for each call."""
FLATTEST = 1.5
PER_CALL_LIMIT = 0.001
_TOKENS = 900
"""About what a message of these transcripts weighs, for the provider's report."""


@dataclass(frozen=True, slots=True)
class CallCosts:
    """Seconds of each call, by what they were spent on."""

    due: list[float]
    booked: list[float]
    written: list[float]
    copied: list[float]
    booked_anthropic: list[float]
    written_anthropic: list[float]

    @property
    def both(self) -> list[float]:
        """Return what a call costs beside its body: the same messages were appended for both."""
        return [one + other for one, other in zip(self.due, self.booked, strict=True)]


def call_costs(messages: Sequence[Chat]) -> CallCosts:
    """Return what calls cost after each of some messages more."""
    fresh = transcript(APPENDED + 2, seed=11)[1 : APPENDED + 1]
    openai = _prepared(messages, fresh, _Model("openai", "https://openrouter.ai/api/v1"))
    few = fresh[:APPENDED_ANTHROPIC]
    anthropic = _prepared(messages, few, _Model("anthropic", ""))
    copied = _copied(messages, few)
    return CallCosts(
        _due(messages, fresh), openai[1], openai[0], copied, anthropic[1], anthropic[0]
    )


def calls_table(calls: dict[int, CallCosts], weights: dict[int, float]) -> Table:
    """Return the table of all sizes."""
    rows: list[tuple[Cell, ...]] = []
    for work, name in (
        ("is compaction due", "due"),
        ("cache marks and books", "booked"),
        ("both", "both"),
        ("the request's messages", "written"),
        ("the same, copied for a caller", "copied"),
        ("cache marks and books, Anthropic's layout", "booked_anthropic"),
        ("the request's messages, Anthropic's layout", "written_anthropic"),
    ):
        costs: dict[int, list[float]] = {size: getattr(calls[size], name) for size in calls}
        rows += [
            (
                work,
                f"{size:,}",
                f"{weights[size]:.1f}",
                f"{1e6 * median(spent):,.0f}",
                f"{1e6 * quantiles(spent, n=20, method='inclusive')[-1]:,.0f}",
                f"{1e6 * max(spent):,.0f}",
                f"{median(spent) / median(costs[SIZES[0]]):.2f}",
            )
            for size, spent in costs.items()
        ]
    columns = ("work", "messages", "MB", "median µs", "p95 µs", "max µs", f"against {SIZES[0]}")
    note = (
        f"After each of the same {APPENDED} messages was appended ({APPENDED_ANTHROPIC} in "
        "Anthropic's layout): `should_compress`; the accounting's `prepare` and `settle`, which "
        "set the markers, expect what the cache does and take in the report; and the messages of "
        "the request, as the agent sends them, copied so that a caller may change them "
        f"({APPENDED_ANTHROPIC} times), or written anew."
    )
    return Table("per-call", columns, tuple(rows), note)


def calls_bars(calls: dict[int, CallCosts]) -> tuple[Bar, ...]:
    """Return the bars for what is neither the model nor the body."""
    small, large = median(calls[SIZES[0]].both), median(calls[SIZES[-1]].both)
    ratio = large / small
    return (
        Bar(
            f"work per model call at 20,000 messages: at most {FLATTEST}x of 200",
            f"{ratio:.2f}x",
            ratio <= FLATTEST,
        ),
        Bar("work per model call: at most 1 ms", f"{1000 * large:.3f} ms", large <= PER_CALL_LIMIT),
    )


def _due(messages: Sequence[Chat], fresh: Sequence[Chat]) -> list[float]:
    grown = list(messages)
    compressor = holdfast.Compressor(context_length=1_000_000)
    compressor.should_compress(grown)
    spent: list[float] = []
    for message in fresh:
        grown.append(message)
        started = time.perf_counter()
        compressor.should_compress(grown)
        spent.append(time.perf_counter() - started)
    return spent


def _prepared(
    messages: Sequence[Chat], fresh: Sequence[Chat], model: _Model
) -> tuple[list[float], list[float]]:
    """Return the seconds for bodies, and those for marks and books."""
    log = _Log(DIALECTS["openai"].decode(Body([*messages, *fresh])))
    mirror = LiveWindow(cast("Store", log), holdfast.Compressor(), "bench")
    accounting = UsageAccounting(model, SystemClock())
    written: list[float] = []
    booked: list[float] = []
    for size in range(len(messages), len(log.entries) + 1):
        log.size = size
        mirror.refresh()
        started = time.perf_counter()
        body = mirror.shared_body(model.dialect)
        made = time.perf_counter()
        accounting.prepare(Prompt(body=body))
        accounting.settle(Usage(calls=1, input_tokens=_TOKENS * size))
        written.append(made - started)
        booked.append(time.perf_counter() - made)
    # The first call reads everything.
    return written[1:], booked[1:]


def _copied(messages: Sequence[Chat], fresh: Sequence[Chat]) -> list[float]:
    log = _Log(DIALECTS["openai"].decode(Body([*messages, *fresh])))
    mirror = LiveWindow(cast("Store", log), holdfast.Compressor(), "bench")
    spent: list[float] = []
    for size in range(len(messages), len(log.entries) + 1):
        log.size = size
        mirror.refresh()
        started = time.perf_counter()
        mirror.body("openai")
        spent.append(time.perf_counter() - started)
    return spent[1:]


@dataclass(frozen=True, slots=True)
class _Model:
    """A model that is never asked."""

    dialect: str
    endpoint: str
    name: str = "claude-sonnet-4-5"
    context_length: int | None = None

    def stream(self, prompt: Prompt) -> Generator[Delta]:
        raise NotImplementedError(prompt)


class _Log:
    """The log of a session, of which the first messages have been said."""

    def __init__(self, transcript: Sequence[Message]) -> None:
        self.entries = tuple(
            Entry(
                id=position,
                session="bench",
                position=position,
                kind=Kind.SAID,
                message=message,
                at=0,
                tokens=0,
            )
            for position, message in enumerate(transcript, 1)
        )
        self.size = 0

    def refresh(self, _: str, known: Head | None) -> Refreshed:
        state = SessionState(
            session=Session(id="bench", source="bench", started=0),
            head=Head(0, None, self.size),
            tip=None,
            pins=frozenset(),
            compactions=0,
        )
        said = self.entries[known.size if known else 0 : self.size]
        return Refreshed(state, said, is_whole=known is None)
