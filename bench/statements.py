"""How fast turns are read as statements, chosen for a record and looked for afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.report import Result, Table, alone, stopwatch
from bench.transcripts import SIZES, megabytes, transcript
from holdfast.summary import Job, RecordDraft, audit, draft, render
from holdfast.tokens import Scale
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from bench.report import Cell
    from bench.transcripts import Chat

BUDGET = 8_000
"""Tokens of the record, as in a window of 200,000."""


def run() -> Result:
    """Measure the reading, the choice and the audit, and return the table."""
    columns = ("messages", "MB", "statements", "read ms", "MB/s", "choose ms", "audit ms")
    note = (
        f"For a record of {BUDGET:,} tokens. Of old turns only the asks and conclusions are read, "
        "so long transcripts look faster."
    )
    rows = tuple(_row(size, transcript(size)) for size in SIZES)
    return Result("statements", (Table("statements", columns, rows, note),))


def _row(size: int, chat: list[Chat]) -> tuple[Cell, ...]:
    count, weight = Scale().text, megabytes(chat)
    messages = DIALECTS["openai"].decode(Body(list(chat)))
    job = Job(messages, None, BUDGET, 0, count, str, "")
    told: RecordDraft = draft(job)
    window = render(told.record(BUDGET, count)[0])
    reading = stopwatch(lambda: draft(job), rounds=3)
    choosing = stopwatch(lambda: told.record(BUDGET, count), rounds=3)
    auditing = stopwatch(lambda: audit(told.statements, window, window), rounds=3)
    return (
        f"{size:,}",
        f"{weight:.1f}",
        len(told.statements),
        f"{1000 * reading:.0f}",
        f"{weight / reading:.0f}",
        f"{1000 * choosing:.0f}",
        f"{1000 * auditing:.0f}",
    )


if __name__ == "__main__":
    alone(run)
