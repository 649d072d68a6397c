"""What may stand in the window after a compaction: each policy turns an event into text.

A policy is a function from an event and a number of characters to the text of the window. Peers
that live in another environment are commands: they get a JSON file with `messages` and `budget`,
and print the window.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import holdfast
from bench.continuity.events import words
from bench.continuity.names import heard, names
from bench.windows import fitted, openai, window_text
from holdfast.summary import adopt, render

if TYPE_CHECKING:
    from bench.continuity.events import Event

Build: TypeAlias = Callable[["Event", int], str]

WINDOW = 200_000


@dataclass(frozen=True, slots=True)
class Policy:
    """A way to compact, and how large its window may be."""

    name: str
    build: Build
    factor: float = 1.0
    """Size against the agent's own summary; 0 for a policy with a size of its own."""
    needs_summary: bool = False
    """Whether it can run only where the agent's own summary can be read."""


def own_summary(event: Event, size: int) -> str:
    del size
    return event.summary


def plain_tail(event: Event, size: int) -> str:
    return words(event.folded)[-size:]


def frequent_names(event: Event, size: int) -> str:
    """Return the names that occurred most, later ones counting more: the crude list."""
    found = [name for text in heard(event.folded) for name in names(text)]
    half_life = max(len(found) / 4, 1)
    heat: Counter[str] = Counter()
    for place, name in enumerate(found):
        heat[name] += 0.5 ** ((len(found) - place) / half_life)  # type: ignore[assignment]
    listed = ""
    for name, _ in heat.most_common():
        if len(listed) + len(name) + 1 > size:
            break
        if name not in listed:
            listed += f"{name} "
    return listed


def without_model(event: Event, size: int) -> str:
    """Return what `compress(fit=...)` keeps, at the largest fit whose text is within the size."""
    return window_text(fitted(openai(event.folded), size))


def with_summary(event: Event, size: int) -> str:
    """Return the same with the agent's own summary as the summarizer's answer."""
    answer = render(adopt(event.summary, "claude-code"))
    return window_text(fitted(openai(event.folded), size, lambda _prompt: answer))


def default_policy(event: Event, size: int) -> str:
    del size
    done = holdfast.compress(openai(event.folded), context_length=WINDOW, force=True)
    return window_text(done.messages)


def command(*arguments: str) -> Build:
    """Return a policy that another program carries out.

    The program gets the name of a JSON file `{"messages": [...], "budget": n}` as its last
    argument, the messages in OpenAI's layout and the budget in characters, and prints the window.
    """

    def build(event: Event, size: int) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "event.json"
            path.write_text(json.dumps({"messages": openai(event.folded), "budget": size}), "utf-8")
            done = subprocess.run(
                [*arguments, str(path)], capture_output=True, text=True, check=True
            )
        return done.stdout

    return build


SIZES = {"1x": 1.0, "2x": 2.0, "4x": 4.0}


def at_sizes(name: str, build: Build) -> tuple[Policy, ...]:
    """Return the policy at each of the sizes that are compared."""
    return tuple(Policy(f"{name}, {size}", build, factor) for size, factor in SIZES.items())


POLICIES = (
    Policy("the agent's own summary", own_summary, needs_summary=True),
    Policy("list of frequent recent names", frequent_names),
    *at_sizes("plain tail", plain_tail),
    *at_sizes("holdfast", without_model),
    Policy("holdfast, own summary as answer, 1.4x", with_summary, 1.4, needs_summary=True),
    Policy("holdfast, own summary as answer, 2x", with_summary, 2.0, needs_summary=True),
    Policy("holdfast, default policy", default_policy, 0.0),
)
