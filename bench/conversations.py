"""Thousands of conversations in one process: threads, descriptors, and who waits for whom.

2,000 conversations are opened over one store, 200 of them compact at once, and one that does
nothing of the kind goes on storing messages meanwhile. They are driven by an event loop, or by
blocking callers whose passes run in the background, with the record that needs no model, with a
model that is awaited, and with a function that blocks; both take two seconds.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import holdfast
from bench.report import Bar, Result, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from bench.report import Cell
    from holdfast.wiring.asynchronous import AsyncConversation

CONVERSATIONS, AT_ONCE, FEW = 2_000, 200, 7
THREADS = 48
"""What a process may have at most: seven of ours, the caller's, and calls of blocking functions."""
LONGEST_WAIT = 5.0
_TURNS = 22
_THINKING = 2.0
_RECORD = "## Goal\nFinish the task.\n\n## Completed Actions\n1. Read the code.\n"


@dataclass(frozen=True, slots=True)
class Crowd:
    """What one run came to."""

    threads: int
    descriptors: int
    """More than there were before the first conversation was opened, at the worst moment."""
    waits: tuple[float, ...]
    """Milliseconds that one message took to be stored while others compacted, sorted."""
    lost: int
    """Messages that are in no log."""


async def _awaited(_: str) -> str:
    await asyncio.sleep(_THINKING)
    return _RECORD


def _blocking(_: str) -> str:
    time.sleep(_THINKING)
    return _RECORD


WRITERS: dict[str, Callable[[str], object] | None] = {
    "no model": None,
    "a model that is awaited": _awaited,
    "a function that blocks": _blocking,
}


def run() -> Result:
    """Drive all crowds and return the table."""
    rows: list[tuple[Cell, ...]] = []
    found: list[tuple[str, int, Crowd]] = []
    for name, writer in WRITERS.items():
        for compacting in (FEW, AT_ONCE):
            for shell, drive in (("awaiting", _awaiting), ("blocking", _in_background)):
                with tempfile.TemporaryDirectory() as folder:
                    crowd = drive(Path(folder), writer, compacting)
                found.append((shell, compacting, crowd))
                rows.append(_row(f"{shell}, {name}", compacting, crowd))
    columns = ("driven by", "compact at once", "threads", "descriptors", "p50", "p95", "worst")
    note = (
        f"{CONVERSATIONS:,} conversations are open. The last three columns are the milliseconds "
        "until one more message is stored in a conversation that does not compact. What computes "
        "holds Python's lock: without a model that is most of the time."
    )
    table = Table("conversations", columns, tuple(rows), note)
    return Result("conversations", (table,), _bars(found))


def _row(name: str, compacting: int, crowd: Crowd) -> tuple[Cell, ...]:
    waits = crowd.waits
    shown = [f"{waits[int(len(waits) * share)]:.1f}" for share in (0.5, 0.95)]
    return (name, compacting, crowd.threads, crowd.descriptors, *shown, f"{waits[-1]:.1f}")


def _bars(found: list[tuple[str, int, Crowd]]) -> tuple[Bar, ...]:
    threads = max(crowd.threads for _, _, crowd in found)
    files = max(crowd.descriptors for _, _, crowd in found)
    lost = sum(crowd.lost for _, _, crowd in found)
    few = [
        crowd.waits[int(len(crowd.waits) * 0.95)]
        for shell, compacting, crowd in found
        if shell == "awaiting" and compacting == FEW and len(crowd.waits) > 20
    ]
    return (
        Bar(f"at most {THREADS} threads, whatever compacts", str(threads), threads <= THREADS),
        Bar("descriptors do not grow with conversations", f"{files} more", files <= 20),
        Bar("nothing is lost", f"{lost} messages", not lost),
        Bar(
            "while seven wait for their model, an eighth stores a message within "
            f"{LONGEST_WAIT:.0f} ms (p95)",
            f"{max(few):.1f} ms",
            max(few) < LONGEST_WAIT,
        ),
    )


def _descriptors() -> int:
    place = Path("/proc/self/fd")
    return len(os.listdir(place)) if place.exists() else 0


@contextmanager
def _watched() -> Generator[dict[str, int]]:
    """Note how many threads and descriptors there are at the worst moment."""
    before, worst, over = _descriptors(), {"threads": 0, "descriptors": 0}, threading.Event()

    def look() -> None:
        while not over.wait(0.01):
            # The thread that looks is not counted.
            worst["threads"] = max(worst["threads"], threading.active_count() - 1)
            worst["descriptors"] = max(worst["descriptors"], _descriptors() - before)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield worst
    finally:
        over.set()
        thread.join()


def _words(number: int, role: str) -> str:
    return f"{role} {number}: " + "some words of a long talk about the harbor " * 18


def _opened(folder: Path, writer: object, **options: object) -> holdfast.Conversations:
    return holdfast.Conversations(
        folder / "crowd.db",
        context_length=8_000,
        summarizer=writer,  # type: ignore[arg-type]
        most=CONVERSATIONS,
        **options,  # type: ignore[arg-type]
    )


def _crowd(worst: dict[str, int], waits: list[float], lost: int) -> Crowd:
    return Crowd(worst["threads"], worst["descriptors"], tuple(sorted(waits)), lost)


def _awaiting(folder: Path, writer: object, compacting: int) -> Crowd:
    async def drive() -> Crowd:
        waits: list[float] = []
        with _watched() as worst, _opened(folder, writer, automatic=False) as conversations:
            chats = [await conversations.aopen(f"user-{n}") for n in range(CONVERSATIONS)]
            for chat in chats[:compacting]:
                for number in range(_TURNS):
                    await chat.add_user(_words(number, "question"))
                    await chat.add_assistant(_words(number, "answer"))
            over = asyncio.Event()
            beside = asyncio.create_task(_store_beside(chats[-1], over, waits))
            await asyncio.gather(*(chat.compact() for chat in chats[:compacting]))
            over.set()
            await beside
            sizes = [len(await chat.log()) for chat in chats[:compacting]]
            kept = sum(sizes) + len(await chats[-1].log())
            lost = compacting * 2 * _TURNS + len(waits) - kept
        return _crowd(worst, waits, lost)

    return asyncio.run(drive())


async def _store_beside(chat: AsyncConversation, over: asyncio.Event, waits: list[float]) -> None:
    while not over.is_set():
        started = time.perf_counter()
        await chat.add_user("hello")
        waits.append((time.perf_counter() - started) * 1000)
        await asyncio.sleep(0.01)


def _in_background(folder: Path, writer: object, compacting: int) -> Crowd:
    waits: list[float] = []
    with _watched() as worst, _opened(folder, writer, background=True) as conversations:
        chats = [conversations.open(f"user-{n}") for n in range(CONVERSATIONS)]
        for number in range(_TURNS):
            for chat in chats[:compacting]:
                chat.add_user(_words(number, "question"))
                chat.add_assistant(_words(number, "answer"))
        while any(chat.status().compacting for chat in chats[:compacting]) or not waits:
            started = time.perf_counter()
            chats[-1].add_user("hello")
            waits.append((time.perf_counter() - started) * 1000)
            time.sleep(0.01)
        kept = sum(len(chat.log) for chat in (*chats[:compacting], chats[-1]))
        lost = compacting * 2 * _TURNS + len(waits) - kept
    return _crowd(worst, waits, lost)
