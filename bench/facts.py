"""How fast exact facts are found in transcripts and in single texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.report import Result, Table, alone, stopwatch
from bench.texts import kinds
from bench.transcripts import SIZES, megabytes, transcript
from holdfast.facts import extract, gather, rank
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from bench.report import Cell

__all__ = ["run"]


def run() -> Result:
    """Measure the extractor and return its tables."""
    rows: list[tuple[Cell, ...]] = []
    for size in SIZES:
        chat = transcript(size)
        messages = DIALECTS["openai"].decode(Body(list(chat)))
        found = gather(messages)
        gathering = stopwatch(lambda m=messages: gather(m), rounds=3)
        ranking = stopwatch(lambda f=found: rank(f), rounds=3)
        weight = megabytes(chat)
        rows.append(
            (
                f"{size:,}",
                f"{weight:.1f}",
                len(found),
                f"{1000 * gathering:.0f}",
                f"{1000 * ranking:.0f}",
                f"{weight / gathering:.0f}",
            )
        )
    columns = ("messages", "MB", "facts", "gather ms", "rank ms", "MB/s")
    note = "Tool output beyond a limit is not read, newest first, so long transcripts look faster."
    return Result("facts", (Table("facts", columns, tuple(rows), note), _by_kind()))


def _by_kind() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for kind, texts in kinds().items():
        size = sum(len(text.encode()) for text in texts) / 1e6
        seconds = stopwatch(lambda t=texts: [extract(text) for text in t], rounds=2)
        found = sum(len(extract(text)) for text in texts)
        rows.append((kind, f"{found / size / 1000:.1f}", f"{size / seconds:.1f}"))
    columns = ("kind of text", "facts a kB", "MB/s")
    return Table("facts-speed", columns, tuple(rows), "`extract` on one document at a time.")


if __name__ == "__main__":
    alone(run)
