"""Where a transcript is cut: head, middle and tail, and what of the middle stays.

Cuts fall on seams only, so calls and results never part. The tail is chosen by weight from the
end; the newest user message always stays, even when its own turn is folded behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from holdfast.tokens import BOUNDARY_IMAGE_TOKENS, IMAGE_TOKENS, Scale
from holdfast.transcript import (
    Media,
    Message,
    Role,
    ToolResult,
    newest_reply,
    newest_user,
    open_calls,
    seams,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.compaction.policy import Shares
    from holdfast.transcript import Transcript

__all__ = ["Cut", "cut", "head_end", "system_end"]


@dataclass(frozen=True, slots=True)
class Cut:
    """The two seams, and the messages between them that stay word for word."""

    head: int
    tail: int
    kept: tuple[int, ...] = ()
    why: str = ""

    def folded(self) -> tuple[int, ...]:
        """Return the indices of the messages that a summary will stand for."""
        staying = set(self.kept)
        return tuple(index for index in range(self.head, self.tail) if index not in staying)


def system_end(transcript: Transcript) -> int:
    """Return the index of the first message that is not part of the system prompt."""
    return next(
        (index for index, message in enumerate(transcript) if message.role is not Role.SYSTEM),
        len(transcript),
    )


def head_end(transcript: Transcript, protect_first_n: int) -> int:
    """Return the seam at which a head of the system prompt and the first few messages ends.

    The newest user message is never in the head: it follows the summary.
    """
    newest = newest_user(transcript)
    last = len(transcript) if newest is None else newest
    wanted = min(system_end(transcript) + protect_first_n, last)
    return max(seam for seam in seams(transcript) if seam <= wanted)


def cut(transcript: Transcript, head: int, shares: Shares, scale: Scale) -> Cut:
    """Return where the tail begins and which messages of the middle stay.

    The newest user message costs the tail nothing: its share was set aside before.
    """
    size = len(transcript)
    weights = [_boundary_weight(message, scale) for message in transcript]
    newest = newest_user(transcript)
    if newest is not None:
        weights[newest] = 0
    # behind[i] is the weight of transcript[i:].
    behind = [*reversed([0, *accumulate(reversed(weights))])]
    places = [seam for seam in seams(transcript) if seam >= head]
    tail, why = _tail(places, behind, shares, size)
    return Cut(head, tail, _kept(transcript, head, tail, shares, weights), why)


def _tail(
    places: Sequence[int], behind: Sequence[int], shares: Shares, size: int
) -> tuple[int, str]:
    within = next((seam for seam in places if behind[seam] <= shares.tail), size)
    before = max((seam for seam in places if seam < within), default=None)
    head = places[0] if places else 0
    why = "the tail holds what its budget allows"
    if before is not None and before > head and behind[before] <= shares.ceiling < behind[head]:
        within, why = before, "the exchange at the edge of the budget stays whole"
    if size - within < shares.fewest:
        within = max((seam for seam in places if size - seam >= shares.fewest), default=head)
        why = f"the tail is never shorter than {shares.fewest} messages"
    return within, why


def _kept(
    transcript: Transcript, head: int, tail: int, shares: Shares, weights: Sequence[int]
) -> tuple[int, ...]:
    """Return the messages of the middle that stay: the task, the reply, open calls, pins."""
    newest = newest_user(transcript)
    staying: set[int] = set()
    if newest is not None and head <= newest < tail:
        staying.add(newest)
    waiting = open_calls(transcript)
    live = [index for index in waiting.values() if newest is None or index > newest]
    for index in live:
        staying.update(_exchange(transcript, index, head, tail))
    spent = 0
    pins = [index for index in range(head, tail) if transcript[index].pinned]
    reply = newest_reply(transcript)
    wishes = pins[::-1] if reply is None else [reply, *pins[::-1]]
    for index in wishes:
        exchange = _exchange(transcript, index, head, tail)
        cost = sum(weights[at] for at in exchange if at not in staying)
        if spent + cost <= shares.pins:
            spent += cost
            staying.update(exchange)
    return tuple(sorted(staying))


def _exchange(transcript: Transcript, index: int, head: int, tail: int) -> range:
    """Return the exchange of the message, as far as it lies in the middle.

    Only the neighborhood is looked at: results follow their calls.
    """
    if not head <= index < tail:
        return range(0)
    start = index
    while start > head and transcript[start].role is Role.TOOL:
        start -= 1
    end = index + 1
    while end < tail and transcript[end].role is Role.TOOL:
        end += 1
    return range(start, end)


def _boundary_weight(message: Message, scale: Scale) -> int:
    """Return the weight with images priced a little higher, so that cuts err on the safe side."""
    images = 0
    for part in message.parts:
        if isinstance(part, Media):
            images += 1
        elif isinstance(part, ToolResult) and len(part.content) > 1:
            images += sum(isinstance(piece, Media) for piece in part.content)
    return scale.weigh(message) + images * (BOUNDARY_IMAGE_TOKENS - IMAGE_TOKENS)
