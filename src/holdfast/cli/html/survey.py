"""What is known of a session before it is written: its figures, and what its window weighs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.cli.census import take_census
from holdfast.cli.story import Compacted, Said, standing_of
from holdfast.formats.events import native_of
from holdfast.transcript import Media, ToolCall, ToolResult, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.cli.census import Kind
    from holdfast.cli.story import Happening, Standing
    from holdfast.session import Entry
    from holdfast.tokens import Scale
    from holdfast.transcript import Part

__all__ = ["Survey", "Weighed", "Weight", "survey_of", "weighed"]

_AT_ONCE = 64
_HEAVIEST = 10
_SKETCH = 90


@dataclass(frozen=True, slots=True)
class Survey:
    """The figures of a story."""

    messages: int
    counts: Mapping[str, int]
    """How many calls, errors, images and compactions there are, by what they are called."""
    models: tuple[str, ...]
    """The models that answered, the most frequent first."""
    places: frozenset[int]
    """The ids of the messages that have a place in the page."""


@dataclass(frozen=True, slots=True)
class Weight:
    """One message of the window: what it is made of, and where it can be read."""

    id: int
    stands_for: int | None
    pieces: tuple[tuple[Kind, int], ...]


@dataclass(frozen=True, slots=True)
class Weighed:
    """The window, weighed."""

    weights: tuple[Weight, ...]
    heaviest: tuple[tuple[int, Weight, str], ...]
    """The tokens of the heaviest messages, heaviest first, and how they begin."""
    standing: Mapping[int, Standing]

    @property
    def tokens(self) -> int:
        """Return the tokens of everything."""
        return sum(tokens for weight in self.weights for _, tokens in weight.pieces)


def survey_of(happenings: Iterable[Happening]) -> Survey:
    """Count what a story tells."""
    counts, models = Counter[str](), Counter[str]()
    places: set[int] = set()
    messages = 0
    for happening in happenings:
        if isinstance(happening, Said):
            messages += 1
            places.add(happening.entry.id)
            models[native_of(happening.message).model] += 1
            for part in happening.message.parts:
                counts.update(_counted(part))
        elif isinstance(happening, Compacted):
            counts["compaction"] += 1
            places.update(entry.id for entry in happening.summaries)
    named = tuple(model for model, _ in models.most_common() if model)
    return Survey(messages, counts, named, frozenset(places))


def weighed(window: Iterable[Entry], scale: Scale) -> Weighed:
    """Weigh what the model sees, holding little of it at a time."""
    weights: list[Weight] = []
    heaviest: list[tuple[int, Weight, str]] = []
    standing: dict[int, Standing] = {}
    waiting = iter(window)
    while some := tuple(islice(waiting, _AT_ONCE)):
        census = take_census(tuple(entry.message for entry in some), scale)
        # A scale remembers what it has weighed, which is all of it in the end.
        scale.keep_only(())
        for entry, pieces in zip(some, census.pieces, strict=True):
            weight = Weight(entry.id, entry.stands_for, pieces)
            weights.append(weight)
            tokens = sum(tokens for _, tokens in pieces)
            heaviest.append((tokens, weight, one_line(entry.message, _SKETCH)))
            standing.update(standing_of(entry))
        heaviest = nlargest(_HEAVIEST, heaviest, key=lambda each: (each[0], -each[1].id))
    return Weighed(tuple(weights), tuple(heaviest), standing)


def _counted(part: Part) -> Iterator[str]:
    match part:
        case ToolCall():
            yield "tool call"
        case ToolResult():
            if part.is_error:
                yield "tool error"
            for piece in part.content:
                yield from _counted(piece)
        case Media(kind="image"):
            yield "image"
        case _:
            return
