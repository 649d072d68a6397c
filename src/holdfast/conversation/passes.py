"""A pass: one compaction of a stored session, under its lease.

The window is read, a new one is computed from that snapshot, and the session gets it in one step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.compaction import Abandoned, CompactionReport, Folded, Pruned, Report, Request
from holdfast.conversation.dependencies import Strategy
from holdfast.conversation.lease import Taken, hold_lease
from holdfast.conversation.waiting import Summarize
from holdfast.conversation.window import heading_of, with_prompt
from holdfast.errors import Conflict, SessionEnded
from holdfast.ports import Blocking
from holdfast.session import (
    Cause,
    Change,
    CompactionRecord,
    Draft,
    EndReason,
    Fork,
    Session,
    Spawn,
    next_title,
)
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.conversation.dependencies import Dependencies
    from holdfast.conversation.live import LiveSession
    from holdfast.conversation.waiting import Steps
    from holdfast.ports import WindowEngine
    from holdfast.session import Entry, Piece, Window
    from holdfast.transcript import Message, Transcript


@dataclass(frozen=True, slots=True)
class CompactionTrigger:
    """What a pass is asked to do, and what set it off."""

    name: str
    """`manual`, `in_loop`, `preflight`, `hygiene`, `recovery`, `ahead_of_time`, `model_switch`."""
    request: Request = Request()  # noqa: RUF009 - a frozen value


@dataclass(frozen=True, slots=True)
class PassResult:
    """How a pass ended, and the session in which the conversation goes on."""

    report: CompactionReport
    session: Session
    holder: str = ""
    """Who compacts the session at this moment, if it is somebody else."""
    is_overtaken: bool = False
    """Whether the window was changed while the pass was made, so that its result is no good."""


class _Notes:
    """Hands each message to memory once, also where one engine takes over from another."""

    def __init__(self, ask: Callable[[Transcript], str]) -> None:
        self._ask = ask
        self._seen: set[int] = set()
        self._noted = ""

    def __call__(self, messages: Transcript) -> str:
        """Return what memory notes of the messages, and has noted in this pass."""
        fresh = tuple(message for message in messages if id(message) not in self._seen)
        if fresh:
            self._seen.update(map(id, fresh))
            self._noted = "\n\n".join(filter(None, (self._noted, self._ask(fresh).strip())))
        return self._noted


def compaction_pass(
    deps: Dependencies,
    session: Session,
    window: Window,
    trigger: CompactionTrigger,
    store_change: Callable[[Change], Session],
) -> Steps[PassResult]:
    """Compact the window of a session: read before, then computed, then stored in one step.

    What was appended since then stays, after what the compaction made. If anybody else changed
    the window, or holds the session, nothing is written and the report says so.

    Args:
        store_change: Stores the result, as `commit` does, and returns the session that goes on.
    """
    engine = deps.engine
    with hold_lease(deps, session.id) as lease:
        if isinstance(lease, Taken):
            holder = lease.lease.holder
            reason = f"another compaction of this session is running, by {holder}"
            return PassResult(abandoned(window.transcript, reason), session, holder)
        shown = with_prompt(window.transcript, heading_of(session).prompt)
        engine.host = replace(engine.host, goal=session.goal, remembered=())
        request = replace(
            trigger.request,
            stored={
                result.call_id: entry.id
                for entry in window.entries
                for result in entry.message.results
            },
            before_folding=_Notes(deps.before_folding) if deps.before_folding else None,
            recall=deps.options.recall,
        )
        report = yield from _engine_pass(engine, shown, request)
        if not isinstance(report.result, Folded | Pruned):
            return PassResult(report, session)
        change = _change(deps, window, report, trigger)
        try:
            return PassResult(report, store_change(change))
        except (Conflict, SessionEnded) as error:
            given_up = abandoned(window.transcript, str(error))
            return PassResult(given_up, session, is_overtaken=True)


def _engine_pass(
    engine: WindowEngine, transcript: Transcript, request: Request
) -> Steps[CompactionReport]:
    flow = engine.compaction(transcript, request)
    try:
        want = next(flow)
        while True:
            if isinstance(want, Blocking):
                want = flow.send((yield want))
            else:
                want = flow.send((yield Summarize(engine, want, request.is_manual)))
    except StopIteration as ended:
        return ended.value


def pieces_of(entries: tuple[Entry, ...], result: Transcript, *, at: int) -> tuple[Piece, ...]:
    """Return a compacted transcript as the entries that it keeps and drafts for the rest.

    Messages that a compaction leaves alone are the same objects afterwards. A draft names the
    entry that it stands for, where there is one.
    """
    same = {id(entry.message): entry for entry in entries}
    owners: dict[object, int] = {}
    for entry in entries:
        for mark in _marks(entry.message):
            # What was rewritten before stands for what was said.
            owners.setdefault(mark, entry.stands_for or entry.id)
    pins = {each.stands_for or each.id for each in entries if each.message.pinned}

    def stood_for(owned: list[int]) -> int | None:
        # Where words were put beside pinned ones, it is those that a pin is known by.
        return next((each for each in owned if each in pins), next(iter(owned), None))

    return tuple(
        same.get(id(message))
        or Draft(
            message=message,
            at=at,
            stands_for=stood_for([owners[mark] for mark in _marks(message) if mark in owners]),
        )
        for message in result
    )


def _marks(message: Message) -> Iterator[object]:
    """Yield what a message is known by although a compaction has rewritten some of it."""
    yield from map(id, message.parts)
    yield from (("call", call.id) for call in message.calls)
    yield from (("result", result.call_id) for result in message.results)
    if message.role is Role.SYSTEM:
        yield Role.SYSTEM


def abandoned(transcript: Transcript, reason: str) -> CompactionReport:
    """Return the report of a pass that left everything as it was."""
    size = len(transcript)
    return CompactionReport(
        Abandoned(transcript, Report(messages_before=size, messages_after=size), reason)
    )


def _change(
    deps: Dependencies, window: Window, report: CompactionReport, trigger: CompactionTrigger
) -> Change:
    at = deps.clock.moment()
    transcript = report.result.transcript
    pieces = tuple(
        structs.replace(
            piece,
            message=structs.replace(piece.message, pinned=False),
            tokens=deps.engine.load((piece.message,)).tokens,
        )
        if isinstance(piece, Draft)
        else piece
        for piece in pieces_of(window.entries, transcript, at=at)
    )
    summary = next((message.summary.text for message in transcript if message.summary), "")
    bill = deps.bill(report) if deps.bill else None
    paid = {"break_even": bill.break_even} if bill else {}
    record = CompactionRecord(
        at=at,
        trigger=trigger.name,
        strategy=deps.options.strategy,
        focus=trigger.request.focus,
        summary=summary,
        report={**report.as_json(), **paid},
        duration_ms=round(report.duration_ms),
        cost=bill.summarizing if bill else 0.0,
        cache_cost=bill.rewriting if bill else 0.0,
    )
    return Change(
        cause=Cause.COMPACTION,
        pieces=pieces,
        generation=window.head.generation,
        seen=window.head.size,
        at=at,
        compaction=record,
    )


def commit(live: LiveSession, session: Session, window: Window, change: Change) -> Session:
    """Store what a compaction made, and return the session in which the conversation goes on."""
    deps = live.deps
    if deps.options.strategy is Strategy.IN_PLACE:
        deps.store.change(session.id, change)
        return session
    taken = [each.title for each in deps.store.lineage(session.id)]
    child = Session(
        id=deps.unused_id(),
        source=session.source,
        started=change.at,
        title=next_title(session.title, taken),
        model=session.model,
        goal=session.goal,
        parent=session.id,
        fork=Fork.COMPRESSION,
        metadata=session.metadata,
    )
    return live.spawn(
        Spawn(
            child=child,
            shows=window.entries,
            parent_end=EndReason.COMPRESSION,
            generation=change.generation,
            change=change,
        )
    )
