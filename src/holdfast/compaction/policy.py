"""The knobs of compaction, checked once, the arithmetic that follows, and what a pass is given.

Every figure that a later step uses (threshold, tail, record, ledger) is derived here, so that
threshold > head + summary + tail holds for any window, from 2k to 10M tokens.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.compaction.live import LiveState
from holdfast.errors import ConfigError
from holdfast.keywords import names_checked
from holdfast.tokens import MESSAGE_TOKENS, SUMMARY_TOKENS, Budget
from holdfast.transcript.toolkit import Toolkit
from holdfast.wire.provenance import unsigned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.tokens import Scale
    from holdfast.transcript import Transcript
    from holdfast.wire.provenance import Sign

SMALLEST_WINDOW = 1_000
"""Tokens below which no window can hold a system prompt, a record and a task."""

LEAST = 320
"""Tokens of the smallest summary that says something."""
SOFT_CEILING = 1.5
"""How far over its budget the tail may go to keep one oversized exchange whole, or all messages
that are protected."""

_FLOOR_SHARE = 0.85
"""The most of the window that the threshold floor may take: small models must work too."""
_RECORD_OF_MIDDLE = 0.20
_RECORD_OF_WINDOW = 0.05
_RECORD_FLOOR, _RECORD_CEILING = 2_000, 12_000
_RECORD_OF_THRESHOLD, _RECORD_OF_SMALL, _READABLE = 0.10, 0.12, 900
"""Where 5 % of the window cannot hold a readable record, this share of the threshold may; a little
more where that is under so many tokens."""
_RECORD_OF_SHORT_MIDDLE = 0.40
"""The floor gives way where it would be nearly as heavy as what the record stands for."""
_SAID_OF_THRESHOLD = 0.10
_SAID_OF_MIDDLE = 0.25
_LIVE_OF_THRESHOLD = 0.05
_PINS_OF_THRESHOLD = 0.10
_AHEAD_OF_THRESHOLD = 0.80
"""The share of the threshold at which a compaction may begin before it is due."""
_ROOM_OF_REQUEST = 0.20
"""The share of a request that messages have below the threshold, or what the overhead leaves: else
a compaction would be due at every step while half of the window is free."""

_FEWEST = 3
_SHARE = "over 0 and up to 1"
_OPTIONAL = ("fit", "reserve")
_WHOLE_NUMBERS = (
    *("context_length", "protect_first_n", "protect_last_n", "threshold_floor", "overhead"),
    *("max_bytes", "max_images", *_OPTIONAL),
)

_FIT_TAIL, _FIT_LIVE, _FIT_PINS = 0.35, 0.20, 0.05
"""How a fixed number of tokens is shared once the system prompt and the task have theirs: the
record takes the rest, and what it has no use for goes to the tail."""
_FIT_TAIL_WRITTEN = 0.125
"""The tail beside a record that a model writes, which is worth more than half of the tail."""


@dataclass(frozen=True, slots=True)
class Shares:
    """How many tokens each part of the compacted window may take."""

    limit: int
    """What the whole window may weigh."""
    tail: int
    ceiling: int
    """What the tail may weigh when its oldest exchange is oversized."""
    record: int = 0
    said: int = 0
    """Users' words beside the record."""
    live: int = 0
    pins: int = 0
    fewest: int = 0
    """The tail is never shorter than this many messages."""
    strict: bool = False
    """The limit is a promise rather than an aim: everything but what must stay gives way."""
    protected: int = 0
    """The tail has this many messages where they weigh no more than `widest`."""
    widest: int = 0


@names_checked
@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What to keep, when to act and what to aim for."""

    context_length: int = 200_000
    """What the model accepts, in tokens."""
    threshold: float = 0.50
    """The share of the window at which compaction is due."""
    target_ratio: float = 0.20
    """The share of the threshold that stays as the verbatim tail."""
    protect_first_n: int = 3
    """Messages kept after the system prompt, until the first summary exists."""
    protect_last_n: int = 20
    """Messages at the end that the tail has at least, where half as much again as its budget holds
    them; pruning never touches them."""
    threshold_floor: int = 64_000
    reserve: int | None = None
    """Tokens kept free for the answer; by default an eighth of the window, at most 8,192."""
    max_bytes: int = 20_000_000
    """The largest request body."""
    max_images: int = 100
    """The most images in a request."""
    hygiene: float = 0.85
    """The share of the window at which a session is compacted before an agent sees it."""
    abort_on_summary_failure: bool = False
    """Change nothing when the model fails, rather than write the record without one."""
    fit: int | None = None
    """Make the result weigh at most this many tokens, whatever the window."""
    overhead: int = 0
    """Tokens that every request has beside its messages, such as the schemas of tools."""

    def __post_init__(self) -> None:
        """Reject knobs that cannot be met, so that no function checks them again."""
        for key in _WHOLE_NUMBERS:
            value = getattr(self, key)
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            _demand(key, value, "a whole number", is_whole or (value is None and key in _OPTIONAL))
        for key in ("threshold", "target_ratio", "hygiene"):
            value = getattr(self, key)
            _demand(key, value, "a number", isinstance(value, int | float))
        window, ratio, fit = self.context_length, self.target_ratio, self.fit
        first, last, reserve = self.protect_first_n, self.protect_last_n, self.reserve
        fits_half = reserve is None or 0 <= reserve < window // 2
        _demand("context_length", window, f">= {SMALLEST_WINDOW}", window >= SMALLEST_WINDOW)
        _demand("threshold", self.threshold, _SHARE, 0 < self.threshold <= 1)
        _demand("target_ratio", ratio, "0.10 to 0.80", 0.10 <= ratio <= 0.80)
        _demand("protect_first_n", first, ">= 0", first >= 0)
        _demand("overhead", self.overhead, ">= 0", self.overhead >= 0)
        _demand("protect_last_n", last, ">= 1", last >= 1)
        _demand("hygiene_threshold", self.hygiene, _SHARE, 0 < self.hygiene <= 1)
        _demand("fit", fit, ">= 1", fit is None or fit >= 1)
        _demand("reserve", reserve, "0 to half of context_length", fits_half)

    @property
    def threshold_tokens(self) -> int:
        """Return the weight of a request at which compaction is due."""
        window, limit = self.context_length, self.limit_tokens
        floor = min(self.threshold_floor, int(_FLOOR_SHARE * window))
        if self.overhead:
            left = max(limit - self.overhead, 0)
            floor = max(floor, self.overhead + min(left, int(_ROOM_OF_REQUEST * limit)))
        return min(max(int(self.threshold * window), floor), limit)

    @property
    def room_tokens(self) -> int:
        """Return what messages weigh when compaction is due: the threshold less the overhead.

        Where the overhead alone is more than a request may weigh, no fold can make room.
        """
        is_hopeless = self.overhead >= self.limit_tokens
        return max(self.threshold_tokens - (0 if is_hopeless else self.overhead), 1)

    @property
    def limit_tokens(self) -> int:
        """Return what a request may weigh at most, with room left for the answer."""
        window = self.context_length
        return window - (min(8_192, window // 8) if self.reserve is None else self.reserve)

    @property
    def crowding(self) -> str:
        """Say that a request has little room for messages, if that is so."""
        limit, left = self.limit_tokens, max(self.limit_tokens - self.overhead, 0)
        if left >= _ROOM_OF_REQUEST * limit:
            return ""
        return (
            f"tools, and what else goes out beside the messages, take {self.overhead:,} of the "
            f"{limit:,} tokens of a request: {left:,} are left for messages, which are compacted "
            "often. Use fewer tools, or a model with a larger window."
        )

    @property
    def ahead_tokens(self) -> int:
        """Return the weight from which on a compaction in the background pays."""
        room = max(self.threshold_tokens - self.overhead, 0)
        return min(self.overhead, self.threshold_tokens) + int(_AHEAD_OF_THRESHOLD * room)

    @property
    def hygiene_tokens(self) -> int:
        """Return the weight at which a session is compacted before an agent sees it."""
        return int(self.hygiene * self.context_length)

    @property
    def target_tokens(self) -> int:
        """Return what the tail may weigh, and what pruning alone must reach to be enough."""
        return self.fit or int(self.room_tokens * self.target_ratio)

    @property
    def head_tokens(self) -> int:
        """Return what the opening may weigh to be kept at the first fold."""
        return self.target_tokens // 2

    @property
    def budget(self) -> Budget:
        """Return the three limits beyond which compaction is due."""
        return Budget(self.threshold_tokens, self.max_bytes, self.max_images)

    def shares(
        self,
        *,
        fixed: int,
        rest: int,
        previous: int = 0,
        tail: int | None = None,
        written: bool = False,
    ) -> Shares:
        """Return how the window is shared out.

        Args:
            fixed: the weight of what stays whatever happens: system prompt, newest user words.
            rest: the weight of everything else.
            previous: the weight of the summary so far, which the record has to carry on.
            tail: the most that the tail may weigh, where that is less than its usual share.
            written: whether a model is asked for the record.
        """
        limit = self.fit or self.room_tokens
        room = max(limit - fixed - SUMMARY_TOKENS - MESSAGE_TOKENS, 0)
        if self.fit is not None:
            tail = int(room * (_FIT_TAIL_WRITTEN if written else _FIT_TAIL))
            live, pins = int(room * _FIT_LIVE), int(room * _FIT_PINS)
            return Shares(limit, tail, tail, room - tail, live=live, pins=pins, strict=True)
        # What stays in any case is no part of what can be shared out.
        shared = max(limit - fixed, 1)
        usual = int(shared * self.target_ratio)
        widest = int(usual * SOFT_CEILING)
        widest, tail = (widest, usual) if tail is None else (min(widest, tail), min(usual, tail))
        middle = max(rest - tail, 0)
        # Of all messages may weigh, not of what is shared: a record is as long for a long task.
        small = max(limit * _RECORD_OF_THRESHOLD, min(limit * _RECORD_OF_SMALL, _READABLE))
        shortest = int(min(_RECORD_FLOOR, small, middle * _RECORD_OF_SHORT_MIDDLE))
        window = max(self.context_length - self.overhead, 0)
        longest = max(shortest, min(int(window * _RECORD_OF_WINDOW), _RECORD_CEILING))
        wishes = {
            "tail": tail,
            "record": min(max(int(middle * _RECORD_OF_MIDDLE), shortest, previous), longest),
            "said": min(shared * _SAID_OF_THRESHOLD, middle * _SAID_OF_MIDDLE + previous),
            "live": shared * _LIVE_OF_THRESHOLD,
            "pins": shared * _PINS_OF_THRESHOLD,
        }
        factor = min(1.0, room / sum(wishes.values()))
        granted = {name: int(wish * factor) for name, wish in wishes.items()}
        # An oversized exchange is rare, and may use what is left over.
        most = granted["tail"] + room - sum(granted.values())
        return Shares(
            limit=limit,
            ceiling=min(int(granted["tail"] * SOFT_CEILING), most),
            fewest=_FEWEST,
            strict=False,
            protected=self.protect_last_n,
            widest=min(widest, most),
            **granted,
        )


@dataclass(frozen=True, slots=True)
class Request:
    """How one pass is wanted."""

    current_tokens: int | None = None
    """The real size of the transcript, if the provider has just reported it."""
    focus: str = ""
    """The topic that deserves most of the record."""
    force: bool = False
    """Ignore cooldown and anti-thrashing, and compact even what fits the tail."""
    policy: Policy | None = None
    """The knobs of this pass alone, where they are not the engine's own."""
    stored: Mapping[str, int] = field(default_factory=dict[str, int])
    """Where tool results are kept whole, as message ids by call id: pointers to them are left."""
    before_folding: Callable[[Transcript], str] | None = None
    """Sees the messages that are about to be folded; what it returns joins the record."""
    recall: tuple[str, ...] = ()
    """Names of the tools by which the model can find again what is folded."""

    @property
    def is_manual(self) -> bool:
        """Say whether a person asked for the pass."""
        return self.force or bool(self.focus)


@dataclass(frozen=True, slots=True)
class PassContext:
    """What a compaction works with besides the transcript."""

    scale: Scale
    redact: Callable[[str], str]
    toolkit: Toolkit = field(default_factory=Toolkit)
    today: str = ""
    summarizer_window: int | None = None
    """What one request to the summarizer may hold; None when there is no summarizer."""
    host: LiveState = field(default_factory=LiveState)
    """What the host reports of the agent's state."""
    request: Request = Request()
    """How the pass is wanted."""
    sign: Sign = unsigned
    """Makes the check by which a summary is known to be ours."""

    def __post_init__(self) -> None:
        """Let the toolkit redact what it cuts."""
        object.__setattr__(self, "toolkit", replace(self.toolkit, redact=self.redact))


def _demand(key: str, value: object, allowed: str, holds: bool) -> None:  # noqa: FBT001 - a condition, not a mode
    if not holds:
        raise ConfigError(f"{key} is {value!r}; allowed: {allowed}")
