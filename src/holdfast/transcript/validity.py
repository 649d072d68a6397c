"""When a transcript is valid: rules that hold for every provider.

What a single provider demands beyond these lives with its codec in the wire layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.transcript.parts import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.transcript.parts import Message

__all__ = ["Violation", "check"]


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule."""

    index: int
    """The message that breaks it."""
    rule: str
    """A stable name, such as `pairing`."""
    message: str
    """A sentence for a person."""


def check(transcript: Sequence[Message]) -> tuple[Violation, ...]:
    """Return what is wrong with the transcript; nothing means it is valid.

    Calls without a result at the very end are not a violation: their tools may be running.
    """
    return tuple(_pairing(transcript))


def _pairing(transcript: Sequence[Message]) -> Iterator[Violation]:
    waiting: dict[str, int] = {}
    seen: set[str] = set()
    for index, message in enumerate(transcript):
        if waiting and message.role is not Role.TOOL and not _continues(transcript, index):
            yield from _unanswered(waiting)
            waiting = {}
        for result in message.results:
            if waiting.pop(result.call_id, None) is None:
                problem = "has two results" if result.call_id in seen else "does not exist"
                yield Violation(
                    index, "pairing", f"a result answers call {result.call_id!r}, which {problem}"
                )
        for call in message.calls:
            if call.id in waiting:
                yield Violation(index, "pairing", f"call id {call.id!r} is used twice")
            waiting[call.id] = index
            seen.add(call.id)


def _continues(transcript: Sequence[Message], index: int) -> bool:
    """Say whether an assistant message goes on adding calls to those of its neighbor."""
    return (
        transcript[index].role is Role.ASSISTANT
        and index > 0
        and transcript[index - 1].role is Role.ASSISTANT
    )


def _unanswered(waiting: dict[str, int]) -> Iterator[Violation]:
    for call_id, at in waiting.items():
        yield Violation(at, "pairing", f"call {call_id!r} has no result right after it")
