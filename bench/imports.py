"""How fast other agents' session files are taken into the store, and in how much memory.

Files of several agents' shapes are written by our own writers from the seeded transcripts; where
the folder of real sessions is there, its files are measured too. Times are CPU seconds of the
fastest round, so that other work on the machine disturbs them little. What several processes do
together is measured by the clock, from the search for files to the last commit, with every file
of the folder as `holdfast import` would take it. Absolute figures say as much about the machine as
about us, so the plainest program that one could write is measured beside them: it keeps each line
of a file as it is and gives its words to SQLite's full-text index.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
import time
import tracemalloc
from contextlib import closing, suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, cast

from bench.report import Bar, Result, Table, alone, shared
from bench.transcripts import transcript
from holdfast.agent_files.detection import FoundFile, ReadOptions, examine, gather
from holdfast.agent_files.finding import find_files
from holdfast.config import Settings
from holdfast.config.settings import StoreSettings
from holdfast.formats.catalog import SESSIONS
from holdfast.formats.documents import window_events
from holdfast.formats.events import About
from holdfast.stores.sqlite import SqliteStore
from holdfast.tokens import Estimator, Scale
from holdfast.transfer import Importer, ImportOrigin
from holdfast.wire import DIALECTS, Body
from holdfast.wiring.import_job import ImportJob, collecting_seldom
from holdfast.wiring.import_pool import ImportPool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bench.report import Cell

FASTEST = 30.0
"""MB/s that real sessions must reach."""
STEEPEST = 2.0
"""How much more memory a file may take that is four times as long: names, not messages."""
MESSAGES = 2_000
ROUNDS = 3
MEGABYTE = 1_000_000
AGENTS = ("claude-code", "codex", "pi")
STARTED = 1_700_000_000_000


def run() -> Result:
    """Measure speed on generated and real files, and how memory grows with a file."""
    rows: list[tuple[Cell, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for agent in AGENTS:
            path = _written(Path(folder) / f"{agent}.jsonl", agent, MESSAGES)
            rows.append(_row(f"{agent}, generated", _found([path])))
        peaks = [
            _peak(_written(Path(folder) / f"{size}.jsonl", AGENTS[0], size))
            for size in (MESSAGES, 4 * MESSAGES)
        ]
    real = shared()
    if real is not None:
        sessions = [real / "data" / "sessions"]
        rows.append(_row_plain("real files of lines, by the plainest program", sessions[0]))
        rows.append(_row("real sessions of all agents", _found(sessions)))
        rows.append(_row_at_once("real sessions, every core, by the clock", sessions))
    speed = float(rows[-1][4])
    name = "real" if real is not None else "generated"
    growth = peaks[1] / peaks[0]
    columns = ("files", "MB", "messages", "seconds", "MB/s", "again, MB/s")
    note = "Into an empty store; again is a second reading that finds everything stored."
    return Result(
        "imports",
        (Table("imports", columns, tuple(rows), note),),
        (
            Bar(f"import of {name} sessions: 30 MB/s", f"{speed:.0f} MB/s", kept=speed >= FASTEST),
            Bar(
                "import of a file four times as long: at most twice the memory",
                f"{peaks[0] / MEGABYTE:.0f} and {peaks[1] / MEGABYTE:.0f} MB",
                kept=growth <= STEEPEST,
            ),
        ),
    )


def _written(path: Path, agent: str, messages: int) -> Path:
    """Write a session file as an agent would."""
    said = DIALECTS["openai"].decode(Body(transcript(messages)))
    about = About(id=f"bench-{messages}", started=STARTED, model="model-1", cwd="/srv/shop")
    writer = next(each.write for each in SESSIONS if each.format.name == agent)
    assert writer is not None
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in writer(window_events(said, about)))
    return path


def _found(paths: Iterable[Path]) -> list[FoundFile]:
    files = find_files(map(str, paths)).files
    looks = [examine(file, ReadOptions()) for file in files]
    return [look for look in looks if isinstance(look, FoundFile) and not look.is_spread]


def _row(name: str, found: list[FoundFile]) -> tuple[Cell, ...]:
    size = sum(each.size for each in found) / MEGABYTE
    rounds = [_imported(found) for _ in range(ROUNDS)]
    messages = rounds[0][0]
    first, again = min(each[1] for each in rounds), min(each[2] for each in rounds)
    return name, round(size, 1), messages, round(first, 2), size / first, size / again


def _row_plain(name: str, folder: Path) -> tuple[Cell, ...]:
    files = sorted(folder.rglob("*.jsonl"))
    size = sum(file.stat().st_size for file in files) / MEGABYTE
    lines, seconds = min((_kept_plainly(files) for _ in range(ROUNDS)), key=itemgetter(1))
    return name, round(size, 1), lines, round(seconds, 2), size / seconds, ""


def _kept_plainly(files: Sequence[Path]) -> tuple[int, float]:
    """Return how many lines were stored and indexed, and the seconds of that."""
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(sqlite3.connect(Path(folder) / "plain.db", isolation_level=None)) as database,
    ):
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("CREATE TABLE lines (id INTEGER PRIMARY KEY, line TEXT)")
        database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'porter')")
        started, count = time.process_time(), 0
        for file in files:
            database.execute("BEGIN")
            for line in file.read_bytes().splitlines():
                with suppress(ValueError):
                    words = "\n".join(_strings(json.loads(line)))
                    count += 1
                    values = (count, line.decode("utf-8", "replace"))
                    database.execute("INSERT INTO lines VALUES (?, ?)", values)
                    database.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (count, words))
            database.execute("COMMIT")
        return count, time.process_time() - started


def _strings(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text.encode("utf-8", "replace").decode()
            case dict(fields):
                waiting += cast("dict[str, object]", fields).values()
            case list(values):
                waiting += cast("list[object]", values)
            case _:
                continue


def _row_at_once(name: str, paths: Sequence[Path]) -> tuple[Cell, ...]:
    looks = gather(find_files(map(str, paths)).files, ReadOptions())
    size = sum(look.size for look in looks if isinstance(look, FoundFile)) / MEGABYTE
    messages, seconds = min((_imported_at_once(paths) for _ in range(ROUNDS)), key=itemgetter(1))
    return name, round(size, 1), messages, round(seconds, 2), size / seconds, ""


def _imported_at_once(paths: Sequence[Path]) -> tuple[int, float]:
    """Return how many messages several processes stored, and in how many seconds.

    They are taken as the command takes them, from the search for files to the last commit.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "holdfast.db"
        settings = Settings(store=StoreSettings(url=str(path)))
        started = time.perf_counter()
        with collecting_seldom(), ImportPool(settings) as pool:
            files = find_files(map(str, paths)).files
            pool.start_early(files)
            with closing(SqliteStore(path)) as store:
                job = ImportJob(store, settings)
                pool.start(files)
                looks = gather(files, ReadOptions(), pool.examine)
                found = [look for look in looks if isinstance(look, FoundFile)]
                done = list(pool.take(found, job.take) or map(job.take, found))
                job.join(done)
                messages = sum(taken.tally.count.messages for taken in done)
                return messages, time.perf_counter() - started


def _imported(found: list[FoundFile]) -> tuple[int, float, float]:
    """Return how many messages were stored, and the seconds of that and of doing it again."""
    counter = Estimator()
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SqliteStore(Path(folder) / "holdfast.db")) as store,
    ):
        importer = Importer(store, lambda message: Scale(counter).weigh(message))
        moments = [time.process_time()]
        messages = 0
        for _ in range(2):
            for each in found:
                origin = ImportOrigin(each.guess.format, str(each.files[0].path))
                messages += importer.take(origin, each.tell).count.messages
            moments.append(time.process_time())
    return messages, moments[1] - moments[0], moments[2] - moments[1]


def _peak(path: Path) -> int:
    """Return the bytes that Python holds at most while a file is imported."""
    found = _found([path])
    tracemalloc.start()
    try:
        _imported(found)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    alone(run)
