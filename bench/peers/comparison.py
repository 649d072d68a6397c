"""The speed table beside peers: same transcripts, same run, same machine, processes in turn."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from bench import outputs
from bench.peers.environments import HERMES, LANGCHAIN, installed, output
from bench.project import Dice, project
from bench.report import REPOSITORY, Bar, Result, Table
from bench.transcripts import SIZES, transcript

if TYPE_CHECKING:
    from bench.report import Cell

TURNS = 2
ROUNDS = {200: 5, 2_000: 3, 20_000: 2}
TWICE = 2.0
PIECES = 900
NOTE = (
    f"{HERMES.requirement}, {LANGCHAIN.requirement}. CPU time of the fastest round, processes in "
    "turn. *Without a model*: our deterministic record, ledger and audit beside the fallback that "
    "Hermes writes when no model answers. *Model answers at once*: both write for a model that is "
    "a fixed text. *Least work*: Hermes plans, prunes and assembles around a fixed text and writes "
    "for nobody; ours as without a model. `trim_messages` drops what does not fit and writes no "
    "record. Work per call is ours with one new message, theirs over all messages, as they do it."
)


@dataclass(frozen=True, slots=True)
class _Pair:
    """What one piece of work took, in seconds: ours, and a peer's."""

    work: str
    size: int
    ours: float
    theirs: float

    @property
    def factor(self) -> float:
        """Return how many times faster ours is."""
        return self.theirs / self.ours


def compare() -> Result:
    """Run the same work through holdfast and its peers and return the tables."""
    for peer in (HERMES, LANGCHAIN):
        installed(peer)
    with tempfile.TemporaryDirectory() as folder:
        pairs = [pair for size in SIZES for pair in _pairs(Path(folder) / f"{size}.json", size)]
        redaction = _redaction(Path(folder) / "mixed.txt")
    works = dict.fromkeys(pair.work for pair in pairs)
    rows: list[tuple[Cell, ...]] = [
        (pair.work, f"{pair.size:,}", *map(_time, (pair.ours, pair.theirs)), f"{pair.factor:,.1f}x")
        for work in works
        for pair in pairs
        if pair.work == work
    ]
    columns = ("work", "messages", "holdfast", "peer", "factor")
    table = Table("peers", columns, (*rows, redaction), NOTE)
    return Result("peers", (table,), _bars(pairs))


def _pairs(path: Path, size: int) -> list[_Pair]:
    path.write_text(json.dumps(transcript(size)), "utf-8")
    turns = [_turn(str(path), str(ROUNDS[size])) for _ in range(TURNS)]
    ours, hermes, langchain = (
        {key: min(turn[at][key] for turn in turns) for key in turns[0][at]} for at in range(3)
    )
    works = {
        "compaction without a model: Hermes": (ours["deterministic"], hermes["fallback"]),
        "compaction, model answers at once: Hermes": (ours["model"], hermes["model"]),
        "compaction: Hermes, least work": (ours["deterministic"], hermes["least"]),
        "compaction: LangChain `trim_messages`": (ours["deterministic"], langchain["trim"]),
        "per call, estimate: Hermes": (ours["per_call"], hermes["per_call"]),
        "per call, estimate and cache marks: Hermes": (
            ours["per_call"],
            hermes["per_call"] + hermes["cache_marks"],
        ),
    }
    return [_Pair(work, size, *seconds) for work, seconds in works.items()]


def _turn(path: str, rounds: str) -> tuple[dict[str, float], ...]:
    return (
        json.loads(_ours("speed", path, rounds)),
        json.loads(output(HERMES, "speed", path, rounds)),
        json.loads(output(LANGCHAIN, "speed", path, rounds)),
    )


def _ours(*arguments: str) -> str:
    command = [sys.executable, "-m", "bench.peers.ours_work", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    return done.stdout


def _redaction(path: Path) -> tuple[Cell, ...]:
    dice = Dice(9)
    names = project(dice, files=300)
    sources = [outputs.logs, outputs.python, outputs.records, outputs.diff, outputs.failures]
    pieces = [
        "\n".join(islice(dice.any(sources)(dice, names), 40 + dice.below(60)))
        for _ in range(PIECES)
    ]
    path.write_text("\f".join(pieces), "utf-8")
    size = path.stat().st_size / 1e6
    ours = json.loads(_ours("redact", str(path), "3"))["seconds"]
    theirs = json.loads(output(HERMES, "redact", str(path), "2"))["seconds"]
    rates = (f"{size / seconds:.1f} MB/s" for seconds in (ours, theirs))
    return (
        f"redaction of {size:.1f} MB of mixed text: Hermes",
        "",
        *rates,
        f"{theirs / ours:.1f}x",
    )


def _bars(pairs: list[_Pair]) -> tuple[Bar, ...]:
    return tuple(
        Bar(
            f"{pair.work}, {pair.size:,} messages, audit included: at least 2x faster",
            f"{pair.factor:.1f}x",
            pair.factor >= TWICE,
        )
        for pair in pairs
        if pair.work.endswith(("a model: Hermes", "at once: Hermes")) and pair.size > SIZES[0]
    )


def _time(seconds: float) -> str:
    if seconds < 0.001:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1000 * seconds:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"
