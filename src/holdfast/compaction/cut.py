"""Where a transcript is cut: head, middle and tail, and what of the middle stays.

Cuts fall on seams only, so calls and results never part. The tail is chosen by weight from the
end; the newest user message always stays, even when its own turn is folded behind it.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import TYPE_CHECKING

from holdfast.tokens import BOUNDARY_IMAGE_TOKENS, IMAGE_TOKENS
from holdfast.transcript import (
    Media,
    Role,
    ToolResult,
    newest_reply,
    newest_user,
    open_calls,
    seams,
)
from holdfast.transcript.project_rules import is_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.compaction.policy import Shares
    from holdfast.tokens import Scale
    from holdfast.transcript import Transcript

_POOR = 0.5
"""The share of its budget below which a tail takes in an oversized exchange at its edge."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The two seams, and the messages between them that stay word for word."""

    head: int
    tail: int
    kept: tuple[int, ...] = ()
    why: str = ""

    def folded(self) -> tuple[int, ...]:
        """Return the indices of the messages that a summary will stand for."""
        starts = (self.head, *(at + 1 for at in self.kept))
        return tuple(chain.from_iterable(map(range, starts, (*self.kept, self.tail))))


def system_end(transcript: Transcript) -> int:
    """Return the index of the first message that is not part of the system prompt."""
    others = (at for at, message in enumerate(transcript) if message.role is not Role.SYSTEM)
    return next(others, len(transcript))


@dataclass(frozen=True, slots=True)
class Measured:
    """A transcript with what every cut of it needs, computed once."""

    transcript: Transcript
    weights: tuple[int, ...]
    """The tokens of each message."""
    seams: tuple[int, ...]
    newest: int | None
    """The index of the newest user message."""
    rules: tuple[int, ...] = field(init=False)
    """Where blocks of project rules are, which stay beside the summary."""
    boundary: tuple[int, ...] = field(init=False)
    """The weights with images priced a little higher, so that cuts err on the safe side."""

    def __post_init__(self) -> None:
        """Walk the messages once for all cuts."""
        user = Role.USER  # looked up once: a member of an enumeration is found slowly
        rules: list[int] = []
        weights = [*self.weights]
        for at, message in enumerate(self.transcript):
            if message.role is user and is_rules(message):
                rules.append(at)
            for part in message.parts:
                for piece in part.content if type(part) is ToolResult else (part,):
                    if type(piece) is Media:
                        weights[at] += BOUNDARY_IMAGE_TOKENS - IMAGE_TOKENS
        object.__setattr__(self, "rules", tuple(rules))
        object.__setattr__(self, "boundary", tuple(weights))

    def weight(self, start: int = 0, end: int | None = None) -> int:
        """Return the weight of a run of messages."""
        return sum(self.weights[start:end])

    def task(self, start: int = 0) -> int:
        """Return the weight of the newest user message, if it stands at an index or behind it."""
        return 0 if self.newest is None or self.newest < start else self.weights[self.newest]


def measured(transcript: Transcript, scale: Scale) -> Measured:
    """Weigh every message once and find the seams."""
    weights = tuple(map(scale.weigh, transcript))
    return Measured(transcript, weights, seams(transcript), newest_user(transcript))


def head_ends(it: Measured, protect_first_n: int) -> tuple[int, ...]:
    """Return the seams at which a head of the system prompt and the first messages may end.

    The one that keeps an exchange whole comes first, the one that leaves it out second. The
    newest user message is never in the head: it follows the summary.
    """
    last = len(it.transcript) if it.newest is None else it.newest
    wanted = min(system_end(it.transcript) + protect_first_n, last)
    within = it.seams[bisect_right(it.seams, wanted) - 1]
    beyond = it.seams[bisect_left(it.seams, wanted)]
    return (beyond, within) if beyond <= last else (within,)


def cut(it: Measured, head: int, shares: Shares, aside: range = range(0)) -> Cut:
    """Return where the tail begins and which messages of the middle stay.

    The newest user message costs the tail nothing, and neither do messages that stay whatever the
    tail holds: their share was set `aside` before.
    """
    weights = [*it.boundary]
    for at in (*aside, *(() if it.newest is None else (it.newest,))):
        weights[at] = 0
    # behind[i] is the weight of transcript[i:].
    behind = [0, *accumulate(reversed(weights))][::-1]
    places = it.seams[bisect_left(it.seams, head) :]
    # Seams go up and the weight behind them goes down, so the first that fits is found by halving.
    at = bisect_left(places, -shares.tail, key=lambda seam: -behind[seam])
    tail = places[at] if at < len(places) else len(weights)
    why = "the tail holds what its budget allows"
    # Only where little would be left without it: else each fold would free less for nothing.
    poor = behind[tail] < shares.tail * _POOR
    if poor and at > 1 and behind[places[at - 1]] <= shares.ceiling < behind[head]:
        tail, why = places[at - 1], "the exchange at the edge of the budget stays whole"
    floor = _latest(places, len(weights) - shares.protected, head)
    if head < floor < tail and behind[floor] <= shares.widest:
        tail, why = floor, f"the last {shares.protected} messages are protected"
    if len(weights) - tail < shares.fewest:
        tail = _latest(places, len(weights) - shares.fewest, head)
        why = f"the tail is never shorter than {shares.fewest} messages"
    staying, reply, spent = _staying(it, head, tail), newest_reply(it.transcript), 0
    pins = [index for index in range(tail - 1, head - 1, -1) if it.transcript[index].pinned]
    for index in pins if reply is None else (reply, *pins):
        exchange = _exchange(it, index, head, tail)
        cost = sum(weights[at] for at in exchange if at not in staying)
        if spent + cost <= shares.pins:
            spent += cost
            staying.update(exchange)
    staying.update(range(aside.start, min(aside.stop, tail)))
    return Cut(head, tail, tuple(sorted(staying)), why)


def must_stay(it: Measured) -> tuple[int, ...]:
    """Return what stays whatever happens: the system prompt too."""
    return tuple(sorted({*range(system_end(it.transcript))} | _staying(it)))


def _staying(it: Measured, head: int = 0, tail: int = sys.maxsize) -> set[int]:
    """Return what stays of a stretch whatever happens: project rules, the task, calls that wait.

    A call that a later user message left behind was abandoned, and does not wait.
    """
    newest, start = ((), 0) if it.newest is None else ((it.newest,), it.newest + 1)
    staying = {at for at in (*it.rules, *newest) if head <= at < tail}
    for index in open_calls(it.transcript[start:]).values():
        staying.update(_exchange(it, start + index, head, tail))
    return staying


def spoken(it: Measured) -> range:
    """Return the exchange with the newest reply that a person can see; empty without one."""
    reply = newest_reply(it.transcript)
    return range(0) if reply is None else _exchange(it, reply)


def _latest(places: Sequence[int], at: int, default: int) -> int:
    """Return the last of the places that is no later than an index."""
    after = bisect_right(places, at)
    return places[after - 1] if after else default


def _exchange(it: Measured, index: int, head: int = 0, tail: int = sys.maxsize) -> range:
    """Return the exchange of the message, if it lies in the middle.

    It reaches from seam to seam: calls keep their results, and reasoning what it thought of.
    """
    if not head <= index < tail:
        return range(0)
    after = bisect_right(it.seams, index)
    return range(max(it.seams[after - 1], head), min(it.seams[after], tail))
