"""Our store beside Hermes' SessionDB: same messages, same questions, same run, in turn."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from bench.peers.environments import HERMES, installed, output
from bench.peers.store_tables import (
    TRANSCRIPT,
    Appends,
    Beside,
    Calls,
    store_bars,
    store_tables,
)
from bench.report import Result
from bench.store.appending import on_top
from bench.store.compacting import SIZES, whole_compaction
from bench.store.corpus import CHAT, MIXED, Corpus, Sitting
from bench.store.discovering import discoveries
from bench.store.disk import on_disk
from bench.store.filling import BATCH, fill
from bench.store.queries import questions
from bench.store.searching import LIMIT, Answer, answers, ask_store
from bench.store.spread import memory_disk
from bench.transcripts import transcript
from holdfast.stores.sqlite import SqliteStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from bench.store.filling import Filling

_PEER = replace(HERMES, script="hermes_store_work.py")


@dataclass(frozen=True, slots=True)
class StoreSizes:
    """How much is written to each store."""

    appended: int = 10_000
    stored: int = 100_000
    added: int = 3_000
    """Messages that are appended one by one to the stored ones."""


FULL = StoreSizes()
_OURS = "ours.db"
_ROUNDS = 3
"""How often both append the same in turn: other work slows now one of them, now the other."""


def compare_stores(sizes: StoreSizes = FULL) -> Result:
    """Send the same work through both stores and return the tables."""
    installed(_PEER)
    with memory_disk() as folder:
        beside = Beside(HERMES.requirement)
        long = Sitting("20260101_000000_ffffff", "cli", 1_750_000_000_000, transcript(SIZES[0]))
        for name, sittings in (
            (TRANSCRIPT, [long]),
            *((mix.name, [*Corpus(mix).sittings(sizes.appended)]) for mix in (MIXED, CHAT)),
        ):
            for batch in (1, BATCH):
                _say(f"append {name}, {batch} a transaction")
                _append(folder, name, sittings, batch, beside)
        _say(f"{sizes.stored:,} messages")
        _store(folder, sizes, beside)
        for size in SIZES:
            _say(f"compaction of {size:,} messages")
            _compact(folder, size, beside)
    return Result("store-peers", store_tables(beside), store_bars(beside))


def _append(
    folder: Path, name: str, sittings: Sequence[Sitting], batch: int, beside: Beside
) -> None:
    sessions = _written(folder / "sessions.jsonl", sittings)
    places = [folder / f"{name}-{batch}-{number}" for number in range(_ROUNDS)]
    rounds: list[tuple[Filling, dict[str, Any]]] = []
    for place in places:
        place.mkdir()
        theirs = _run("append", str(sessions), str(place / "peer.db"), str(batch))
        rounds.append((_filled(place, sittings, batch), theirs))
    ours, theirs = rounds[0]
    beside.appends[name, batch] = Appends(
        _fastest([_of(mine) for mine, _ in rounds]),
        _fastest([_of_peer(peers) for _, peers in rounds]),
        ours.messages,
    )
    if batch == BATCH:
        mine = on_disk(places[0] / _OURS).size
        beside.disk[name] = mine / ours.content, theirs["bytes"] / ours.content


def _filled(place: Path, sittings: Iterable[Sitting], batch: int) -> Filling:
    store = SqliteStore(place / _OURS)
    try:
        return fill(store, sittings, batch)
    finally:
        store.close()


def _store(folder: Path, sizes: StoreSizes, beside: Beside) -> None:
    sessions = _written(folder / "stored.jsonl", Corpus(MIXED).sittings(sizes.stored))
    theirs, path = str(folder / "peer-stored.db"), folder / "stored.db"
    filled = _run("append", str(sessions), theirs, str(BATCH))
    store = SqliteStore(path)
    corpus = Corpus(MIXED)
    filling = fill(store, corpus.sittings(sizes.stored))
    store.close()
    beside.stored = filling.messages
    name = f"{MIXED.name}, {filling.messages:,} messages"
    beside.appends[name, BATCH] = Appends(_of(filling), _of_peer(filled), filling.messages)
    ratios = on_disk(path).size / filling.content, filled["bytes"] / filling.content
    beside.disk[name] = ratios
    asked = questions(corpus, filling.samples)
    (folder / "questions.json").write_text(json.dumps([asdict(each) for each in asked]), "utf-8")
    found = _run("search", str(folder / "questions.json"), theirs, str(LIMIT))
    store = SqliteStore(path)
    beside.answers = (
        answers(ask_store(store), asked),
        [Answer(*each) for each in found["answers"]],
    )
    beside.discoveries = discoveries(store, asked), found["discovery"]
    more = [Corpus(MIXED, seed=91).sitting(0, sizes.added)]
    alone = replace(more[0], id="20270101_000000_000001", source="api")
    session = _written(folder / "alone.jsonl", [alone])
    added = _run("on_top", str(session), theirs)
    name = f"{MIXED.name}, on {filling.messages:,} messages"
    seconds, processor = on_top(store, MIXED, sizes.added)
    ours = Calls(processor, max(seconds))
    beside.appends[name, 1] = Appends(ours, _of_peer(added), sizes.added)
    store.close()


def _compact(folder: Path, size: int, beside: Beside) -> None:
    source = folder / f"{size}.json"
    source.write_text(json.dumps(transcript(size)), "utf-8")
    theirs = _run("compact", str(source), str(folder / f"peer-whole-{size}.db"))
    ours = whole_compaction(folder, size)
    beside.compactions[size] = ours.processor, theirs["compress"]
    beside.reads[size] = ours.read, theirs["load"]
    beside.loads[size] = ours.load, theirs["load"]


def _fastest(rounds: Sequence[Calls]) -> Calls:
    """Return the least time of all rounds, and the longest call of any."""
    return Calls(min(each.processor for each in rounds), max(each.longest for each in rounds))


def _of(filling: Filling) -> Calls:
    return Calls(filling.processor, max(filling.seconds))


def _of_peer(figures: dict[str, Any]) -> Calls:
    return Calls(figures["processor"], max(figures["seconds"]))


def _written(path: Path, sittings: Iterable[Sitting]) -> Path:
    """Write sessions for the peer, one a line."""
    with path.open("w", encoding="utf-8") as file:
        for sitting in sittings:
            file.write(json.dumps(asdict(sitting), ensure_ascii=False) + "\n")
    return path


def _run(*arguments: str) -> dict[str, Any]:
    return json.loads(output(_PEER, *arguments))


def _say(text: str) -> None:
    sys.stderr.write(f"store beside Hermes: {text}\n")
