"""When compaction is due, and when to warn that it soon will be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.compaction.policy import Policy
    from holdfast.tokens import Load

__all__ = ["WARN_AT", "Preflight", "Pressure", "due", "hygiene_due"]

WARN_AT = 0.85
"""The share of the threshold from which on the user is warned."""
_FEWEST_FOR_HYGIENE = 4


def due(load: Load, policy: Policy) -> tuple[str, ...]:
    """Return which of the three budgets the load has reached; nothing means not due."""
    budget = policy.budget
    reached = (
        [] if load.tokens < budget.tokens else [f"{load.tokens:,} of {budget.tokens:,} tokens"]
    )
    others = [each for each in budget.exceeded(load) if not each.endswith("tokens")]
    return (*reached, *others)


def hygiene_due(load: Load, messages: int, policy: Policy) -> bool:
    """Say whether a session that grew between turns is compacted before an agent sees it."""
    return messages >= _FEWEST_FOR_HYGIENE and load.tokens >= policy.hygiene_tokens


@dataclass(frozen=True, slots=True)
class Pressure:
    """Warns once on the way to the threshold, and again only after usage fell below."""

    warned: bool = False

    def read(self, tokens: int, threshold: int) -> tuple[Pressure, str | None]:
        """Return the gauge after this reading, and the warning if it is time for one."""
        if tokens < WARN_AT * threshold:
            return Pressure(), None
        if self.warned:
            return self, None
        percent = round(100 * tokens / threshold)
        return Pressure(warned=True), (
            f"Context is {percent}% to compaction ({tokens:,}/{threshold:,} tokens)"
        )


@dataclass(frozen=True, slots=True)
class Preflight:
    """Defers to the provider: a request that was just proved to fit is not judged by estimate.

    The rough estimate overstates requests with large tool schemas. Once a provider reports that
    the request stayed under the threshold, only growth beyond what it proved counts.
    """

    real: int = 0
    rough: int = 0

    def proved(self, *, real: int, rough: int) -> Preflight:
        """Return what is known after a provider reported the real size of a request."""
        return Preflight(real, rough) if real > 0 else self

    def expected(self, rough: int) -> int:
        """Return the size to judge by: the proven part as reported, the growth as estimated."""
        if not self.real or rough < self.rough:
            return rough
        return self.real + (rough - self.rough)
