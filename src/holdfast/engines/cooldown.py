"""How long automatic work leaves a failed summarizer alone.

A compaction is wanted again on every turn once a window is nearly full. Without a pause a
provider that is down would be asked every few seconds, and the turn would wait each time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.summary import Declined, Failure

if TYPE_CHECKING:
    from typing import Final

__all__ = ["READY", "Cooldown", "after"]

_SECONDS: Final = {
    # A garbled answer is mostly one bad connection; the next one is a different connection.
    Failure.MISREAD: 30.0,
    # Nothing changes until a person configures a provider.
    Failure.UNCONFIGURED: 600.0,
}
_OTHER_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Cooldown:
    """A pause that ends at a moment of the clock, and why it was called."""

    until: float = float("-inf")
    reason: str = ""
    seconds: float = 0.0
    """How long it lasts from beginning to end."""

    def left(self, now: float) -> float:
        """Return the seconds that remain, 0.0 when the pause is over."""
        return max(0.0, self.until - now)

    def refusal(self, now: float) -> Declined | None:
        """Return what an automatic ask is told during the pause, or None after it."""
        left = self.left(now)
        if left == 0.0:
            return None
        # The whole pause, not what is left of it: a sentence that counts down is news every time,
        # and old when it is read in a status.
        reason = (
            f"the summarizer failed recently ({self.reason}); it is asked again "
            f"{self.seconds:.0f} s after that, or at once by a manual compress"
        )
        return Declined(Failure.COOLDOWN, reason, retry_after=left)


READY: Final = Cooldown()
"""No pause."""


def after(declined: Declined, now: float) -> Cooldown:
    """Return the pause that follows the failure of the last model in the chain.

    The provider's own `Retry-After` counts when it asks for more. A refused credential has no
    pause: the compaction is aborted, and the next try with a repaired credential may work.
    """
    if declined.failure is Failure.AUTH:
        return READY
    pause = max(_SECONDS.get(declined.failure, _OTHER_SECONDS), declined.retry_after or 0.0)
    return Cooldown(now + pause, declined.reason, pause)
