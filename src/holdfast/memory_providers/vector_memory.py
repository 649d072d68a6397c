"""A memory provider for people without a service: passages found by meaning, on this machine.

Passages and their vectors are in an SQLite file of their own. A connection lives for one step, so
that any thread and any process may come at any time. A search is one product with the matrix of all
vectors, which is kept in memory.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from holdfast.errors import MemoryUnavailable
from holdfast.memory_providers.embedding import WIDTH, one_thread
from holdfast.memory_providers.memory_words import (
    RecalledMemory,
    Utterance,
    as_answer,
    as_lines,
    asked,
    exchange,
    folded,
    search_tool,
    shortened,
)
from holdfast.ports.memory import MemoryProvider
from holdfast.redaction import redact
from holdfast.stores.sqlite.failures import is_busy, is_damage, is_refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from holdfast.memory_providers.embedding import Array, Embedder
    from holdfast.ports import Clock
    from holdfast.transcript import Transcript
    from holdfast.wire.tool_specs import ToolSpec

_VERSION = 1
_MARK = 0x48465645
"""Tells the file from any other that SQLite can open."""
_PATIENCE = 5.0
"""Seconds that a step waits for other processes."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS passages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    digest BLOB NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    text TEXT NOT NULL,
    vector BLOB NOT NULL
)
"""
_ABOUT = """
SELECT (SELECT count(*) FROM sqlite_master), application_id, user_version
FROM pragma_application_id, pragma_user_version
"""
"""One statement, so that it sees one state of the file."""

_MOST = 100_000
"""Passages that are searched, the newest; as a matrix they take 150 MB."""
_BYTES = 4 * WIDTH
_ROOM = 256


@dataclass(frozen=True, slots=True)
class VectorPassage:
    """Some words that are kept."""

    digest: bytes
    """What equal words have in common; they are kept once."""
    text: str
    vector: bytes = b""


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage as it stands in the file."""

    id: int
    at: int
    """When it was last said: milliseconds since the epoch."""
    passage: VectorPassage


class VectorFile:
    """Keeps passages; nothing is written before the first of them, and nothing is ever changed.

    Every failure is a `MemoryUnavailable` that names the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def known(self, digests: Iterable[bytes]) -> frozenset[bytes]:
        """Return which of these passages are kept already."""
        if not self.path.exists():
            return frozenset()
        ask = "SELECT digest FROM passages WHERE digest = ?"
        with self._opened() as file:
            found = (file.execute(ask, (digest,)).fetchone() for digest in digests)
            return frozenset(row[0] for row in found if row is not None)

    def keep(self, passages: Sequence[VectorPassage], at: int) -> None:
        """Keep passages; one that is there already is said again now."""
        rows = [(each.digest, at, each.text, each.vector) for each in passages]
        with self._opened() as file:
            file.execute("BEGIN IMMEDIATE")
            file.executemany(
                "INSERT INTO passages (digest, at, text, vector) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (digest) DO UPDATE SET at = max(at, excluded.at)",
                rows,
            )
            file.execute("COMMIT")

    def said_again(self, digests: Iterable[bytes], at: int) -> None:
        """Take note that passages which are kept were said at this moment."""
        with self._opened() as file:
            file.execute("BEGIN IMMEDIATE")
            file.executemany(
                "UPDATE passages SET at = max(at, ?) WHERE digest = ?",
                [(at, digest) for digest in digests],
            )
            file.execute("COMMIT")

    def newest_id(self) -> int:
        """Return the number of the newest passage; 0 where there is none."""
        if not self.path.exists():
            return 0
        with self._opened() as file:
            return file.execute("SELECT coalesce(max(id), 0) FROM passages").fetchone()[0]

    def vectors(self, after: int) -> list[tuple[int, bytes]]:
        """Return the vectors of the passages with a higher number, in order."""
        ask = "SELECT id, vector FROM passages WHERE id > ? ORDER BY id"
        with self._opened() as file:
            return file.execute(ask, (after,)).fetchall()

    def passages(self, ids: Iterable[int]) -> tuple[StoredPassage, ...]:
        """Return those of the passages that are there, without their vectors."""
        ask = "SELECT id, at, digest, text FROM passages WHERE id = ?"
        with self._opened() as file:
            rows = [file.execute(ask, (id_,)).fetchone() for id_ in ids]
        return tuple(
            StoredPassage(row[0], row[1], VectorPassage(row[2], row[3])) for row in rows if row
        )

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        try:
            if not self.path.exists():
                # An empty file that only its owner may read.
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            with closing(
                sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            ) as file:
                self._prepare(file)
                yield file
        except sqlite3.Error as error:
            raise self._explained(error) from error
        except OSError as error:
            raise MemoryUnavailable(
                f"{self.path} cannot be used: {error.strerror or error}"
            ) from error

    def _prepare(self, file: sqlite3.Connection) -> None:
        """Make the tables of an empty file, and refuse one that is not ours."""
        if self._is_ours(file):
            return
        file.execute("BEGIN IMMEDIATE")
        # Again, now that nobody else can be making them.
        if not self._is_ours(file):
            file.execute(_SCHEMA)
            file.execute(f"PRAGMA application_id = {_MARK}")
            file.execute(f"PRAGMA user_version = {_VERSION}")
        file.execute("COMMIT")

    def _is_ours(self, file: sqlite3.Connection) -> bool:
        """Say whether the tables are there; an empty file has none yet."""
        tables, mark, version = file.execute(_ABOUT).fetchone()
        if (mark, version) == (_MARK, _VERSION):
            return True
        if not tables and not mark:
            return False
        writer = "a newer version of holdfast" if mark == _MARK else "another program"
        raise MemoryUnavailable(
            f"{self.path} was written by {writer}; move it away and the memory begins anew"
        )

    def _explained(self, error: sqlite3.Error) -> MemoryUnavailable:
        if is_busy(error):
            return MemoryUnavailable(f"{self.path} was held by others for too long; try again")
        if is_damage(error):
            return MemoryUnavailable(
                f"{self.path} is damaged ({error}); move it away and the memory begins anew"
            )
        if is_refusal(error):
            return MemoryUnavailable(
                f"{self.path} cannot be written ({error}); look at its permissions"
            )
        return MemoryUnavailable(f"{self.path} cannot be used: {error}")


class NearestPassages:
    """Finds the passages whose vectors point most nearly where a query's does.

    The matrix is read from the file when it is first needed, and later only what other steps and
    other processes have added.
    """

    def __init__(self, file: VectorFile) -> None:
        self._file = file
        self._ids: list[int] = []
        self._matrix: Array | None = None
        self._turn = threading.Lock()

    def to(self, query: Array, count: int) -> list[tuple[int, float]]:
        """Return the numbers of the nearest passages with their cosines, best first."""
        import numpy as np

        with self._turn:
            newest = self._file.newest_id()
            last = self._ids[-1] if self._ids else 0
            if newest < last:
                # Somebody has moved the file away; another one has taken its place, or none.
                self._ids, self._matrix, last = [], None, 0
            if newest > last:
                self._append(self._file.vectors(max(last, newest - _MOST)))
            if self._matrix is None or not self._ids:
                return []
            with one_thread():
                cosines = self._matrix[: len(self._ids)] @ query
            count = min(count, len(self._ids))
            places = np.argpartition(-cosines, count - 1)[:count]
            ordered = sorted(places.tolist(), key=lambda place: -float(cosines[place]))
            return [(self._ids[place], float(cosines[place])) for place in ordered]

    def _append(self, rows: Sequence[tuple[int, bytes]]) -> None:
        import numpy as np

        # A vector of another width is nothing that this version has written.
        whole = [(id_, vector) for id_, vector in rows if len(vector) == _BYTES]
        if not whole:
            return
        added = np.frombuffer(b"".join(vector for _, vector in whole), dtype="<f4")
        size = len(self._ids)
        matrix, needed = self._matrix, size + len(whole)
        if matrix is None or len(matrix) < needed:
            # It doubles, so that adding is cheap.
            larger = np.zeros((max(needed + _ROOM, 2 * size), WIDTH), dtype=np.float32)
            if matrix is not None:
                larger[:size] = matrix[:size]
            matrix = larger
        matrix[size:needed] = added.reshape(-1, WIDTH)
        self._matrix = matrix
        self._ids.extend(id_ for id_, _ in whole)


LONGEST = 800
"""Characters of a passage: about the 256 tokens that the model reads."""
_SHORTEST = 8
_BLANK_LINES = re.compile(r"\n\s*\n")
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[\u3002\uff01\uff1f])|\n")

_LIMIT = 6
_FLOOR = 0.3
"""The cosine below which the model's notion of likeness is chance."""
_TIE = 0.02
"""Cosines that differ by less are equal, and the newer passage comes first."""
_SPARE = 4
"""How many times more passages are looked at than are returned, for the ties among them."""
_TOOL = search_tool(
    "memory_search",
    "Search by meaning what was said in earlier conversations with this user.",
)


def passages(text: str) -> tuple[str, ...]:
    """Return the text in passages that end where a paragraph, a sentence or a word does.

    Words too few to mean anything by themselves, such as `ok`, make no passage.
    """
    packed = _packed(_pieces(text))
    return tuple(each for each in packed if len(each) >= _SHORTEST)


def _pieces(text: str) -> Iterator[str]:
    """Yield the largest pieces that fit: paragraphs, else sentences, else words, else signs."""
    for paragraph in _BLANK_LINES.split(text.strip()):
        if len(paragraph) <= LONGEST:
            yield paragraph.strip()
            continue
        for sentence in map(str.strip, _SENTENCES.split(paragraph)):
            rest = sentence
            while len(rest) > LONGEST:
                gap = rest.rfind(" ", LONGEST // 2, LONGEST)
                end = gap if gap > 0 else LONGEST
                yield rest[:end].strip()
                rest = rest[end:].strip()
            yield rest


def _packed(pieces: Iterable[str]) -> Iterator[str]:
    """Yield neighbors together as long as they fit."""
    held = ""
    for piece in filter(None, pieces):
        joined = f"{held}\n{piece}" if held else piece
        if len(joined) > LONGEST:
            yield held
            joined = piece
        held = joined
    if held:
        yield held


class VectorMemory(MemoryProvider):
    """Remembers what was said, word for word, and finds it by meaning.

    What this conversation said is not recalled for it as long as it stands in its window: it
    would be there twice. From the fold on it is recalled like everything older.
    """

    def __init__(
        self,
        file: VectorFile,
        embedder: Embedder,
        clock: Clock,
        *,
        redact: Callable[[str], str] = redact,
    ) -> None:
        self._file = file
        self._embedder = embedder
        self._clock = clock
        self._redact = redact
        self._nearest = NearestPassages(file)
        self._in_window: frozenset[bytes] = frozenset()
        self._turn = threading.Lock()

    @property
    def name(self) -> str:
        """Return the name in the settings."""
        return "vector"

    def tools(self) -> tuple[ToolSpec, ...]:
        """Return the search."""
        return (_TOOL,)

    def call(self, name: str, arguments: Mapping[str, object]) -> str:
        """Answer a search of the model's; it may find what is in its window, too."""
        if name != _TOOL.name:
            return super().call(name, arguments)
        query, limit = asked(arguments, _LIMIT, self._redact)
        return as_answer(self._search(query, limit, frozenset()))

    def prefetch(self, query: str) -> str:
        """Return what was said that bears on the query."""
        words = shortened(query, self._redact)
        if not words:
            return ""
        return as_lines(self._search(words, _LIMIT, self._in_window))

    def sync(self, user: str, assistant: str) -> None:
        """Keep an exchange."""
        kept = self._keep(exchange(user, assistant, self._redact))
        with self._turn:
            self._in_window |= kept

    def on_pre_compress(self, messages: Transcript) -> str:
        """Keep what is folded, and recall it from now on."""
        kept = self._keep(folded(messages, self._redact))
        with self._turn:
            self._in_window -= kept
        return ""

    def on_session_switch(self, old: str, new: str, reason: str, *, rewound: bool = False) -> None:
        """Forget what stood in the window, unless the conversation only goes on elsewhere.

        What the user took back is not recalled either: it would be back at once.
        """
        del old, new
        if reason != "compression" and not rewound:
            self._empty_window()

    def on_session_end(self, messages: Transcript) -> None:
        """Keep what was not said in an exchange; the window is empty afterwards."""
        self._keep(folded(messages, self._redact))
        self._empty_window()

    def _empty_window(self) -> None:
        with self._turn:
            self._in_window = frozenset()

    def _keep(self, words: Iterable[Utterance]) -> frozenset[bytes]:
        """Keep the passages of the words, and return what tells them."""
        cut = (Utterance(each.speaker, part) for each in words for part in passages(each.text))
        wanted = {each.digest: each for each in cut}
        if not wanted:
            return frozenset()
        known = self._file.known(wanted)
        fresh = [(digest, each) for digest, each in wanted.items() if digest not in known]
        at = self._clock.moment()
        if fresh:
            rows = self._embedder.embed([each.text for _, each in fresh]).astype("<f4")
            self._file.keep(
                [
                    VectorPassage(digest, f"{each.speaker}: {each.text}", row.tobytes())
                    for (digest, each), row in zip(fresh, rows, strict=True)
                ],
                at,
            )
        if known:
            self._file.said_again(known, at)
        return frozenset(wanted)

    def _search(self, query: str, limit: int, without: frozenset[bytes]) -> list[RecalledMemory]:
        if not self._file.newest_id():
            return []
        (vector,) = self._embedder.embed([query])
        found = self._nearest.to(vector, limit * _SPARE + len(without))
        cosines = {id_: cosine for id_, cosine in found if cosine >= _FLOOR}
        kept = [each for each in self._file.passages(cosines) if each.passage.digest not in without]
        best = sorted(
            kept, key=lambda each: (round(cosines[each.id] / _TIE), each.at), reverse=True
        )
        return [
            RecalledMemory(
                each.passage.text,
                datetime.fromtimestamp(each.at / 1000).date().isoformat(),
                cosines[each.id],
            )
            for each in best[:limit]
        ]
