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
from holdfast.facts import gather, ledger, rank
from holdfast.summary import adopt, render
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.continuity.events import Event

__all__ = ["POLICIES", "Build", "Policy", "command"]

Build: TypeAlias = Callable[["Event", int], str]

LEDGER = 0.4
WINDOW = 200_000
TRIES = 10


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


def ledger_alone(event: Event, size: int) -> str:
    return _ledger(event, size, "")


def ledger_and_tail(event: Event, size: int) -> str:
    tail = plain_tail(event, int(size * (1 - LEDGER)) - 1)
    return f"{_ledger(event, int(size * LEDGER), tail)}\n{tail}"


def summary_and_ledger(event: Event, size: int) -> str:
    return f"{event.summary}\n{_ledger(event, size - len(event.summary) - 1, event.summary)}"


def fitted(event: Event, size: int) -> str:
    """Return what `compress(fit=...)` keeps, at the largest fit whose text is within the size."""
    return _fitted(event, size, None)


def fitted_with_summary(event: Event, size: int) -> str:
    """Return the same with the agent's own summary as the summarizer's answer."""
    answer = render(adopt(event.summary, "claude-code"))
    return _fitted(event, size, lambda _prompt: answer)


def default_policy(event: Event, size: int) -> str:
    del size
    body = DIALECTS["openai"].encode(event.folded)
    done = holdfast.compress(body.messages, context_length=WINDOW, force=True)
    return words(DIALECTS["openai"].decode(Body(list(done.messages))))


def command(*arguments: str) -> Build:
    """Return a policy that another program carries out.

    The program gets the name of a JSON file `{"messages": [...], "budget": n}` as its last
    argument, the messages in OpenAI's layout and the budget in characters, and prints the window.
    """

    def build(event: Event, size: int) -> str:
        body = DIALECTS["openai"].encode(event.folded)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "event.json"
            path.write_text(json.dumps({"messages": body.messages, "budget": size}), "utf-8")
            done = subprocess.run(
                [*arguments, str(path)], capture_output=True, text=True, check=True
            )
        return done.stdout

    return build


def _ledger(event: Event, size: int, present: str) -> str:
    return ledger(rank(gather(event.folded)), present=present, budget=size, count=len)


def _fitted(event: Event, size: int, summarizer: Callable[[str], str] | None) -> str:
    messages = DIALECTS["openai"].encode(event.folded).messages
    best, low, high = "", size // 8, size
    for _ in range(TRIES):
        tokens = (low + high) // 2
        window = _window(messages, tokens, summarizer)
        if len(window) > size:
            high = tokens
            continue
        low = tokens
        if len(window) > len(best):
            best = window
    return best


def _window(
    messages: Sequence[dict[str, object]], tokens: int, summarizer: Callable[[str], str] | None
) -> str:
    done = holdfast.compress(messages, fit=tokens, summarizer=summarizer)
    return words(DIALECTS["openai"].decode(Body(list(done.messages))))


POLICIES = (
    Policy("the agent's own summary", own_summary, needs_summary=True),
    Policy("plain tail", plain_tail),
    Policy("list of frequent recent names", frequent_names),
    Policy("ledger alone", ledger_alone),
    Policy("ledger 40 % + plain tail", ledger_and_tail),
    Policy("own summary + ledger 40 % more", summary_and_ledger, 1.4, needs_summary=True),
    Policy("own summary + ledger 100 % more", summary_and_ledger, 2.0, needs_summary=True),
    Policy("holdfast, equal size", fitted),
    Policy("holdfast, twice the size", fitted, 2.0),
    Policy("holdfast, own summary as answer, 1.4x", fitted_with_summary, 1.4, needs_summary=True),
    Policy("holdfast, own summary as answer, 2x", fitted_with_summary, 2.0, needs_summary=True),
    Policy("holdfast, default policy", default_policy, 0.0),
)
