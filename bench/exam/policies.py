"""What each policy leaves of a session: the windows that sit the exam.

A policy is a function from a sitting and a number of characters to a window. Sizes are multiples of
the length of the agent's own summary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import holdfast
from bench.windows import fitted, told, window_text
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from bench.exam.sittings import Sitting

OWN_SUMMARY = "the agent's own summary"
CONTEXT = 200_000
SIZES = (1, 2, 4)
LEDGER = re.compile(r"^## Evidence\b.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Window:
    """What a policy leaves, as text."""

    text: str
    summaries: tuple[str, ...] = ()
    """The summaries that holdfast wrote into it."""


Build: TypeAlias = Callable[["Sitting", int], Window]


@dataclass(frozen=True, slots=True)
class Policy:
    """A way to compact, and how large its window may be."""

    name: str
    build: Build
    factor: float = 1
    """Size against the agent's own summary; 0 for a policy with a size of its own."""


def ledger_share(window: Window) -> float | None:
    """Return the part of the window's summaries that is the evidence ledger, if it has any."""
    whole = sum(map(len, window.summaries))
    ledger = sum(len(found) for each in window.summaries for found in LEDGER.findall(each))
    return ledger / whole if whole else None


def at_sizes(name: str, build: Build) -> tuple[Policy, ...]:
    """Return the policy at each of the sizes that are compared."""
    return tuple(Policy(f"{name}, {factor}x", build, factor) for factor in SIZES)


def own_summary(sitting: Sitting, size: int) -> Window:
    del size
    return Window(sitting.own_summary)


def plain_tail(sitting: Sitting, size: int) -> Window:
    return Window(window_text(sitting.messages)[-size:])


def talk_alone(sitting: Sitting, size: int) -> Window:
    """Return what user and assistant said, the newest that fits."""
    said = [
        {"role": message["role"], "content": told(message)}
        for message in sitting.messages
        if message["role"] in ("user", "assistant")
    ]
    return Window(window_text(said)[-size:])


def without_model(sitting: Sitting, size: int) -> Window:
    return _window(fitted(sitting.messages, size))


def with_own_summary(sitting: Sitting, size: int) -> Window:
    """Return what is left when the model answers with the agent's own summary, as it is."""
    return _window(fitted(sitting.messages, size, lambda _prompt: sitting.own_summary))


def default_policy(sitting: Sitting, size: int) -> Window:
    del size
    return _window(holdfast.compress(sitting.messages, context_length=CONTEXT, force=True).messages)


def _window(messages: Sequence[dict[str, object]]) -> Window:
    summaries = (message.summary for message in DIALECTS["openai"].decode(Body(list(messages))))
    return Window(window_text(messages), tuple(each.text for each in summaries if each))


POLICIES = (
    Policy(OWN_SUMMARY, own_summary),
    *at_sizes("plain tail", plain_tail),
    *at_sizes("only what user and assistant said", talk_alone),
    *at_sizes("holdfast, no model", without_model),
    Policy("holdfast, default policy", default_policy, 0),
    Policy("holdfast, own summary as answer, 1.5x", with_own_summary, 1.5),
)
