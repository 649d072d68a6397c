"""Puts what an answer of Codex cost on a message of it: a rollout tells it after the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import Told
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.chronicle import Event
    from holdfast.session import Usage

__all__ = ["Spent", "with_costs"]


@dataclass(frozen=True, slots=True)
class Spent:
    """The model was asked, and this is what it cost."""

    usage: Usage


def with_costs(events: Iterable[Event | Spent]) -> Iterator[Event]:
    """Return the events in order, each cost on the message of the model right before it.

    A cost that does not follow an answer goes to the next one, as the oldest files have it. So
    does the second cost of one answer: each is counted once.
    """
    held: Told | None = None
    early: Usage | None = None
    paid = ""
    for event in events:
        if isinstance(event, Spent):
            if held is None or held.native.reply == paid:
                early = event.usage if early is None else early + event.usage
                continue
            held = _charged(held, event.usage)
            paid = held.native.reply
            continue
        if held is not None:
            yield held
            held = None
        if not isinstance(event, Told) or event.message.role is not Role.ASSISTANT:
            yield event
            continue
        held = event
        if early is not None and event.native.reply != paid:
            held, early, paid = _charged(event, early), None, event.native.reply
    if held is not None:
        yield held


def _charged(told: Told, usage: Usage) -> Told:
    return replace(told, native=replace(told.native, usage=usage))
