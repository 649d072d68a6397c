"""How many compactions a long run of an agent needs in a small window, without a model.

Seeded sessions go through an engine message by message, as an agent would send them. Before each
call of the model the engine is asked whether a compaction is due, and compacts if it is. The same
estimate weighs the windows of all engines.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

import holdfast
from bench.report import Bar, Result, Table, alone
from bench.transcripts import transcript

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.report import Cell
    from bench.transcripts import Chat

CALLS = 600
WINDOW = 16_000
SEEDS = range(1, 7)
LONGEST = 1_500
"""Messages that surely have so many calls."""
TRAFFIC = {"short results": 0.25, "results twice as long": 0.5}
OURS = "holdfast, no model"
ENGINES = {OURS: "compressor", "truncate": "truncate"}
BEFORE = {"short results": 296, "results twice as long": 511}
"""Compactions of all seeds together by commit e21db88, the version before, with this driver."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one session of an agent came to."""

    before: tuple[int, ...]
    """Tokens of the window before each compaction."""
    after: tuple[int, ...]
    results: tuple[int, ...]
    """Tokens of each tool result."""


def run() -> Result:
    """Send all traffic through each engine and return the table."""
    rows: list[tuple[Cell, ...]] = []
    ours: dict[str, list[Run]] = {}
    for traffic, verbosity in TRAFFIC.items():
        chats = [transcript(LONGEST, seed=seed, verbosity=verbosity) for seed in SEEDS]
        for policy, name in ENGINES.items():
            runs = [
                drive(holdfast.load_engine(name, context_length=WINDOW), chat) for chat in chats
            ]
            rows.append((traffic, policy, *_figures(runs)))
            if policy == OURS:
                ours[traffic] = runs
    columns = ("traffic", "engine", "compactions", "fewest", "most", "freed", "left", "most left")
    sizes = " and ".join(
        f"{mean(each for one in runs for each in one.results):,.0f}" for runs in ours.values()
    )
    note = (
        f"{CALLS} tool calls at a window of {WINDOW:,} tokens; means over {len(SEEDS)} seeds, with "
        "the fewest and the most that a seed needs. Freed and left are mean tokens of a "
        f"compaction, by estimate; most left is the largest window after one. Results have {sizes} "
        "tokens on average."
    )
    table = Table("compactions", columns, tuple(rows), note)
    return Result("compactions", (table,), tuple(bar(each, runs) for each, runs in ours.items()))


def drive(engine: holdfast.ContextEngine, chat: Sequence[Chat], calls: int = CALLS) -> Run:
    """Let an engine keep the window of an agent until so many tools were called."""
    window: list[Chat] = []
    before: list[int] = []
    after: list[int] = []
    results: list[int] = []
    for message in chat:
        if message["role"] == "assistant":
            if len(results) >= calls:
                return Run(tuple(before), tuple(after), tuple(results))
            # The model is about to be asked.
            tokens = holdfast.estimate_tokens(window)
            if engine.should_compress(tokens) and (shorter := engine.compress(window)) != window:
                window = list(shorter)
                before.append(tokens)
                after.append(holdfast.estimate_tokens(window))
        elif message["role"] == "tool":
            results.append(holdfast.estimate_tokens(str(message["content"])))
        window.append(message)
    raise ValueError(f"the session has {len(results)} calls, and {calls} are wanted")


def bar(traffic: str, runs: Sequence[Run]) -> Bar:
    """Return the promise: at least a third fewer compactions than the version before."""
    before = BEFORE[traffic] / len(SEEDS)
    now = mean(len(each.after) for each in runs)
    return Bar(
        f"compactions in {CALLS} calls at {WINDOW // 1_000}k, {traffic}: "
        f"a third fewer than the {before:.1f} before",
        f"{now:.1f}, {1 - now / before:.0%} fewer",
        3 * now <= 2 * before,
    )


def _figures(runs: Sequence[Run]) -> tuple[Cell, ...]:
    counts = [len(each.after) for each in runs]
    after = [left for each in runs for left in each.after]
    freed = [
        heavy - left for each in runs for heavy, left in zip(each.before, each.after, strict=True)
    ]
    means = (f"{mean(freed):,.0f}", f"{mean(after):,.0f}")
    return (f"{mean(counts):.1f}", min(counts), max(counts), *means, max(after))


if __name__ == "__main__":
    alone(run)
