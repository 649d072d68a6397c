"""Which turns of a trajectory are replaced by a summary: greedy, from the front of the middle.

Only as much is replaced as the target asks for. The rest of the middle stays as it is, so that a
model that is trained on it still sees work with tools.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import ConfigError
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Fits", "Region", "Stuck", "TrajectoryPlan", "TrajectoryPolicy", "plan_region"]

_LEAST_SUMMARY = 32
"""Tokens under which a summary says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryPolicy:
    """What a trajectory may weigh, and which of its turns are never replaced.

    Raises:
        ConfigError: a figure that cannot be met.
    """

    target_tokens: int = 15_250
    """What a trajectory is brought down to; one that weighs no more stays as it is."""
    summary_tokens: int = 750
    """What is added for what is taken away: the summary's turn and the note to the system turn."""
    protect_first: tuple[Role, ...] = (Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL)
    """Whose first turn is kept."""
    protect_last: int = 4
    """How many turns at the end are kept."""

    def __post_init__(self) -> None:
        """Refuse what cannot be met."""
        if self.summary_tokens < _LEAST_SUMMARY:
            raise ConfigError(
                f"summary tokens are {self.summary_tokens}; allowed: {_LEAST_SUMMARY} or more"
            )
        if self.target_tokens <= self.summary_tokens:
            raise ConfigError(
                f"the target is {self.target_tokens:,} tokens; allowed: more than the "
                f"{self.summary_tokens:,} of the summary"
            )
        if self.protect_last < 0:
            raise ConfigError(f"protect last is {self.protect_last}; allowed: 0 or more")


@dataclass(frozen=True, slots=True)
class Fits:
    """The trajectory weighs no more than its target."""


@dataclass(frozen=True, slots=True)
class Region:
    """The turns from `start` up to `stop` are replaced."""

    start: int
    stop: int
    tokens: int
    """What they weigh together."""


@dataclass(frozen=True, slots=True)
class Stuck:
    """The trajectory is too heavy, and nothing of it can be replaced with a gain."""


TrajectoryPlan: TypeAlias = Fits | Region | Stuck


def plan_region(
    roles: Sequence[Role], tokens: Sequence[int], policy: TrajectoryPolicy
) -> TrajectoryPlan:
    """Return which turns are replaced: the first that together weigh what has to go.

    What has to go is what the trajectory weighs above its target, and the allowance for the
    summary. A cut never parts a tool's turn from the turn that called it: the region ends behind
    the last result of a call, or before the call where its results are kept.

    Args:
        roles: Who speaks in each turn.
        tokens: What each turn weighs.
        policy: The target, and what is protected.
    """
    excess = sum(tokens) - policy.target_tokens
    if excess <= 0:
        return Fits()
    start, end = _compressible(roles, policy)
    wanted = excess + policy.summary_tokens
    stop, weight = start, 0
    while stop < end and (weight < wanted or roles[stop] is Role.TOOL):
        weight += tokens[stop]
        stop += 1
    return Region(start, stop, weight) if weight > policy.summary_tokens else Stuck()


def _compressible(roles: Sequence[Role], policy: TrajectoryPolicy) -> tuple[int, int]:
    """Return the part between what is protected, aligned to calls and their results.

    A protected turn of the first half belongs to the beginning that is kept; one further back, as
    the first result of a tool that is called late, ends the part.
    """
    count = len(roles)
    firsts = {roles.index(role) for role in policy.protect_first if role in roles}
    middle = count // 2
    start = max((each + 1 for each in firsts if each < middle), default=0)
    end = min([count - policy.protect_last, *(each for each in firsts if each >= middle)])
    end = max(end, start)
    while start < end and roles[start] is Role.TOOL:
        start += 1
    while end > start and end < count and roles[end] is Role.TOOL:
        end -= 1
    return start, end
