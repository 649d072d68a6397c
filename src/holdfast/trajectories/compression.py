"""Makes one trajectory smaller: counts it, plans which turns go, and puts a summary there.

Only as much is replaced as the target asks for. The rest of the middle stays as it is, so that a
model that is trained on it still sees work with tools.

`prepare` reads, redacts, counts and decides; `finish` puts the summary in its place. Between them
a model may be asked, or nobody. Both are pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, assert_never

from holdfast.errors import ConfigError
from holdfast.formats.json_access import mapping
from holdfast.providers.exact_counter import ExactCounter, require_splintr
from holdfast.summary import Ask, Written
from holdfast.tokens import Estimator
from holdfast.trajectories.asking import NOTICE, PREFIX, RegionMaterial, ask_for, cut_to, told
from holdfast.trajectories.metrics import TrajectoryMetrics
from holdfast.trajectories.turns import (
    RawTurn,
    Shape,
    TrajectoryTurn,
    added,
    read_turns,
    redacted,
    spoken,
)
from holdfast.transcript import Role
from holdfast.wire.provenance import LABEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.tokens import Counter

AUTO = "auto"
ESTIMATE = "estimate"
DEFAULT_VOCABULARY = "o200k"


def tokenizer_named(name: str) -> str:
    """Return the tokenizer that a name stands for; `auto` is the best that is installed."""
    if name != AUTO:
        return name
    return ESTIMATE if find_spec("splintr") is None else DEFAULT_VOCABULARY


def counter_for(name: str) -> Counter:
    """Return the counter behind a name: a vocabulary, a model, a `tokenizer.json`, or `estimate`.

    Raises:
        ConfigError: there is no such vocabulary, or the file is none.
        MissingExtra: exact counting is not installed.
    """
    name = tokenizer_named(name)
    if name == ESTIMATE:
        return Estimator()
    require_splintr()
    return _exact(name)


@lru_cache(maxsize=4)
def _exact(name: str) -> Counter:
    return ExactCounter.from_file(Path(name)) if name.endswith(".json") else ExactCounter(name)


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
    """
    excess = sum(tokens) - policy.target_tokens
    if excess <= 0:
        return Fits()
    # A protected turn of the first half belongs to the beginning that is kept; one further back, as
    # the first result of a tool that is called late, ends the part that may go. The part is aligned
    # to calls and their results.
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
    wanted = excess + policy.summary_tokens
    stop, weight = start, 0
    while stop < end and (weight < wanted or roles[stop] is Role.TOOL):
        weight += tokens[stop]
        stop += 1
    return Region(start, stop, weight) if weight > policy.summary_tokens else Stuck()


@dataclass(frozen=True, slots=True)
class Rules:
    """What every trajectory is treated by."""

    policy: TrajectoryPolicy
    count: Callable[[str], int]
    redact: Callable[[str], str] | None
    """Masks secrets; None keeps them."""


@dataclass(frozen=True, slots=True)
class CompressedTrajectory:
    """A trajectory as it leaves, and what became of it."""

    turns: tuple[RawTurn, ...]
    metrics: TrajectoryMetrics


@dataclass(frozen=True, slots=True)
class Pending:
    """A trajectory of which a part waits to be replaced by a summary."""

    shape: Shape
    turns: tuple[TrajectoryTurn, ...]
    tokens: tuple[int, ...]
    region: Region
    redacted_turns: int

    def ask(self, rules: Rules, window: int | None) -> Ask:
        """Return the request for the summary, sized to the summarizer's window."""
        return ask_for(self.material, rules.policy.summary_tokens, window, rules.count)

    @property
    def material(self) -> RegionMaterial:
        """Return the turns that the summary will stand for."""
        start, stop = self.region.start, self.region.stop
        return RegionMaterial(self.turns[start:stop], self.tokens[start:stop], start, self.shape)


Prepared: TypeAlias = CompressedTrajectory | Pending


def prepare(raw: Sequence[object], rules: Rules) -> Prepared:
    """Read a trajectory and decide what of it is replaced.

    Raises:
        DecodeError: a turn cannot be read; it says which.
    """
    shape, turns = read_turns(raw)
    masked = turns if rules.redact is None else redacted(turns, rules.redact)
    hidden = sum(one is not other for one, other in zip(turns, masked, strict=True))
    tokens = tuple(turn.tokens(rules.count) for turn in masked)
    plan = plan_region([turn.role for turn in masked], tokens, rules.policy)
    match plan:
        case Region():
            return Pending(shape, masked, tokens, plan, hidden)
        case Fits() | Stuck():
            total, count = sum(tokens), len(tokens)
            metrics = TrajectoryMetrics(
                original_tokens=total,
                compressed_tokens=total,
                original_turns=count,
                compressed_turns=count,
                skipped_under_target=isinstance(plan, Fits),
                still_over_limit=isinstance(plan, Stuck),
                redacted_turns=hidden,
            )
            return CompressedTrajectory(tuple(turn.raw for turn in masked), metrics)
        case _:
            assert_never(plan)


def finish(pending: Pending, answer: Written | None, rules: Rules) -> CompressedTrajectory:
    """Put the summary in the place of the turns: what a model wrote, or the deterministic record.

    What is added, the note to the system turn included, weighs no more than the allowance.
    """
    start, stop = pending.region.start, pending.region.stop
    head, noted = _with_notice(pending, rules.count)
    budget = rules.policy.summary_tokens - noted

    def weigh(text: str) -> int:
        return rules.count(PREFIX + text)

    text = ""
    if answer is not None:
        # Some models repeat the prefix.
        text = answer.text.strip().removeprefix(PREFIX.strip()).strip()
        text = text if rules.redact is None else rules.redact(text)
    if text:
        text = cut_to(text, budget, weigh)
    else:
        text = told(pending.material, budget, weigh)
        answer = None
    summary = {
        **spoken(pending.shape, PREFIX + text, pending.turns),
        LABEL: {
            "synthetic": "summary",
            "origin": "deterministic" if answer is None else "model",
            **({"model": answer.model} if answer is not None and answer.model else {}),
            "turns": [start, stop],
        },
    }
    tail = [turn.raw for turn in pending.turns[stop:]]
    added_tokens = weigh(text)
    total = sum(pending.tokens)
    after = total - pending.region.tokens + noted + added_tokens
    turns = (*head, summary, *tail)
    metrics = TrajectoryMetrics(
        original_tokens=total,
        compressed_tokens=after,
        original_turns=len(pending.turns),
        compressed_turns=len(turns),
        turns_compressed_start_idx=start,
        turns_compressed_end_idx=stop,
        was_compressed=True,
        still_over_limit=after > rules.policy.target_tokens,
        summary_tokens=added_tokens,
        summary_origin="deterministic" if answer is None else "model",
        redacted_turns=pending.redacted_turns,
    )
    return CompressedTrajectory(turns, metrics)


def estimated(pending: Pending, policy: TrajectoryPolicy) -> TrajectoryMetrics:
    """Return the figures of a trajectory whose summary takes all of its allowance."""
    total, region = sum(pending.tokens), pending.region
    after = total - region.tokens + policy.summary_tokens
    return TrajectoryMetrics(
        original_tokens=total,
        compressed_tokens=after,
        original_turns=len(pending.turns),
        compressed_turns=len(pending.turns) - (region.stop - region.start) + 1,
        turns_compressed_start_idx=region.start,
        turns_compressed_end_idx=region.stop,
        was_compressed=True,
        still_over_limit=after > policy.target_tokens,
        summary_tokens=policy.summary_tokens,
        redacted_turns=pending.redacted_turns,
    )


def _with_notice(pending: Pending, count: Callable[[str], int]) -> tuple[list[RawTurn], int]:
    """Return the turns before the summary, with a note in the system turn, and what that weighs."""
    head = [turn.raw for turn in pending.turns[: pending.region.start]]
    for index, turn in enumerate(pending.turns[: pending.region.start]):
        if turn.role is Role.SYSTEM:
            if any(NOTICE.strip() in text for text in turn.texts):
                break
            noted = added(turn, NOTICE)
            label = {**mapping(turn.raw.get(LABEL)), "synthetic": "note", "partial": True}
            head[index] = {**noted.raw, LABEL: label}
            return head, noted.tokens(count) - pending.tokens[index]
    return head, 0
