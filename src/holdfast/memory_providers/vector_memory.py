"""A memory provider for people without a service: passages found by meaning, on this machine."""

from __future__ import annotations

import re
import threading
from datetime import datetime
from typing import TYPE_CHECKING

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
from holdfast.memory_providers.vector_file import NearestPassages, VectorPassage
from holdfast.ports.memory import MemoryProvider
from holdfast.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from holdfast.memory_providers.embedding import Embedder
    from holdfast.memory_providers.vector_file import VectorFile
    from holdfast.ports import Clock
    from holdfast.transcript import Transcript
    from holdfast.wire.tool_specs import ToolSpec

__all__ = ["LONGEST", "VectorMemory", "passages"]

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
