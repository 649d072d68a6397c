"""One compaction of a stored session: under the lease, from a snapshot, swapped at once."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.compaction import Abandoned, CompactionReport, Folded, Pruned, Report, Request
from holdfast.conversation.current import follow
from holdfast.conversation.heading import heading_of, with_prompt
from holdfast.conversation.holding import Taken, holding
from holdfast.conversation.parts import Strategy, Switch
from holdfast.errors import Conflict, HoldfastError, SessionEnded
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

    from holdfast.conversation.parts import Listener, Parts
    from holdfast.session import Entry, Piece, Window
    from holdfast.transcript import Message, Transcript

__all__ = ["Order", "Pass", "commit", "compact", "pieces_of", "switched", "tell"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """A compaction that is wanted, and why."""

    trigger: str
    request: Request = Request()  # noqa: RUF009 - a frozen value


@dataclass(frozen=True, slots=True)
class Pass:
    """How a compaction went, and the session in which the conversation goes on."""

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


def compact(
    parts: Parts,
    session: Session,
    window: Window,
    order: Order,
    keep: Callable[[Change], Session],
) -> Pass:
    """Compact the window of a session as it was read, and store the result.

    What was appended since then stays, after what the compaction made. If anybody else changed
    the window, or holds the session, nothing is written and the report says so.

    Args:
        parts: Store, engine and the rest.
        session: The session.
        window: Its window as it was read.
        order: What is wanted.
        keep: Stores the result, as `commit` does, and returns the session that goes on.
    """
    with holding(parts, session.id) as lease:
        if isinstance(lease, Taken):
            holder = lease.lease.holder
            reason = f"another compaction of this session is running, by {holder}"
            return Pass(_abandoned(window.transcript, reason), session, holder)
        shown = with_prompt(window.transcript, heading_of(session).prompt)
        parts.engine.host = replace(parts.engine.host, goal=session.goal, remembered=())
        request = replace(
            order.request,
            stored=_results(window.entries),
            before_folding=_Notes(parts.before_folding) if parts.before_folding else None,
            recall=parts.options.recall,
        )
        report = parts.engine.compact(shown, request)
        if not isinstance(report.result, Folded | Pruned):
            return Pass(report, session)
        change = _change(parts, window, report, order)
        try:
            return Pass(report, keep(change))
        except (Conflict, SessionEnded) as error:
            given_up = _abandoned(window.transcript, str(error))
            return Pass(given_up, session, is_overtaken=True)


def pieces_of(entries: tuple[Entry, ...], result: Transcript, *, at: int) -> tuple[Piece, ...]:
    """Return a compacted transcript as what stays and what takes the place of something.

    Messages that a compaction leaves alone are the same objects afterwards.
    """
    same = {id(entry.message): entry for entry in entries}
    owners: dict[object, int] = {}
    for entry in entries:
        for mark in _marks(entry.message):
            # What was rewritten before stands for what was said.
            owners.setdefault(mark, entry.stands_for or entry.id)
    return tuple(
        same.get(id(message))
        or Draft(
            message=message,
            at=at,
            stands_for=next((owners[mark] for mark in _marks(message) if mark in owners), None),
        )
        for message in result
    )


def switched(parts: Parts, spawn: Spawn) -> Session:
    """Create the child, and let every pointer follow, all or nothing."""
    child = spawn.child
    switch = Switch(child.parent or "", child.id, child.fork or "")
    told: list[int] = []

    def before_commit() -> None:
        try:
            follow(switch)
            for index, listener in enumerate(parts.listeners):
                told.append(index)
                listener(switch)
        except HoldfastError:
            raise
        except Exception as error:
            raise HoldfastError(
                f"session {switch.old} stays the current one, since the switch to "
                f"{switch.new} was refused: {type(error).__name__}: {error}"
            ) from error

    try:
        return parts.store.spawn(spawn, before_commit)
    except BaseException:
        back = Switch(switch.new, switch.old, "rollback")
        follow(back)
        for index in reversed(told):
            tell(parts.listeners[index], back)
        raise


def tell(listener: Listener, switch: Switch) -> None:
    """Tell a listener of something that it cannot prevent any more."""
    try:
        listener(switch)
    except Exception:  # noqa: BLE001 - a listener's failure must not undo what has happened
        _log.warning("a listener did not follow to session %s", switch.new, exc_info=True)


def _marks(message: Message) -> Iterator[object]:
    """Yield what a message is known by although a compaction has rewritten some of it."""
    yield from map(id, message.parts)
    yield from (("call", call.id) for call in message.calls)
    yield from (("result", result.call_id) for result in message.results)
    if message.role is Role.SYSTEM:
        yield Role.SYSTEM


def _results(entries: tuple[Entry, ...]) -> dict[str, int]:
    """Return which entry answers which call."""
    return {result.call_id: entry.id for entry in entries for result in entry.message.results}


def _abandoned(transcript: Transcript, reason: str) -> CompactionReport:
    size = len(transcript)
    return CompactionReport(
        Abandoned(transcript, Report(messages_before=size, messages_after=size), reason)
    )


def _change(parts: Parts, window: Window, report: CompactionReport, order: Order) -> Change:
    at = parts.clock.moment()
    transcript = report.result.transcript
    pieces = tuple(
        replace(
            piece,
            message=replace(piece.message, pinned=False),
            tokens=parts.engine.load((piece.message,)).tokens,
        )
        if isinstance(piece, Draft)
        else piece
        for piece in pieces_of(window.entries, transcript, at=at)
    )
    summary = next((message.summary.text for message in transcript if message.summary), "")
    bill = parts.bill(report) if parts.bill else None
    paid = {"break_even": bill.break_even} if bill else {}
    record = CompactionRecord(
        at=at,
        trigger=order.trigger,
        strategy=parts.options.strategy,
        focus=order.request.focus,
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


def commit(parts: Parts, session: Session, window: Window, change: Change) -> Session:
    """Store what a compaction made, and return the session in which the conversation goes on."""
    if parts.options.strategy is Strategy.IN_PLACE:
        parts.store.change(session.id, change)
        return session
    taken = [each.title for each in parts.store.lineage(session.id)]
    child = Session(
        id=parts.unused_id(),
        source=session.source,
        started=change.at,
        title=next_title(session.title, taken),
        model=session.model,
        goal=session.goal,
        parent=session.id,
        fork=Fork.COMPRESSION,
        metadata=session.metadata,
    )
    spawn = Spawn(
        child=child,
        shows=window.entries,
        parent_end=EndReason.COMPRESSION,
        generation=change.generation,
        change=change,
    )
    return switched(parts, spawn)
