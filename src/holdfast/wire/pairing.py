"""The rule that providers share: each call is answered, once, right after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.transcript import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Step", "check_pairing"]


@dataclass(frozen=True, slots=True)
class Step:
    """What one message does about calls."""

    index: int
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


def check_pairing(steps: Iterable[Step]) -> Iterator[Violation]:
    """Yield a violation for each call without its result right after it, and the reverse.

    Calls that nothing follows are no violation: their tools may still be running.
    """
    waiting: dict[str, int] = {}
    answered: set[str] = set()
    for step in steps:
        if not step.results and waiting:
            yield from _unanswered(waiting)
            waiting = {}
        for call_id in step.results:
            if waiting.pop(call_id, None) is not None:
                answered.add(call_id)
                continue
            problem = "has its result already" if call_id in answered else "is not right before it"
            message = f"a result answers call {call_id!r}, which {problem}"
            yield Violation(step.index, "pairing", message)
        for call_id in step.calls:
            if call_id in waiting:
                yield Violation(step.index, "pairing", f"call id {call_id!r} is used twice")
            waiting[call_id] = step.index


def _unanswered(waiting: dict[str, int]) -> Iterator[Violation]:
    for call_id, index in waiting.items():
        message = f"call {call_id!r} has no result right after it"
        yield Violation(index, "pairing", message)
