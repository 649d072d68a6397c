"""Facts in messages: who used them, how often, and where.

Megabytes of tool output must not cost seconds, so names are counted as bytes in whole messages at
once, output is read newest first up to a limit, and values are built only for the names that lead.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from holdfast.facts.quotes import quotes
from holdfast.facts.rules import Fact, Strength, read_run, runs, strength
from holdfast.facts.sources import Voice, spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from holdfast.transcript.parts import Message

    Mask: TypeAlias = Callable[[Sequence[str]], Sequence[str]]

__all__ = ["Evidence", "gather"]

_NEWEST = 4_000
"""How many messages are read: in older ones a name has lost all but a thousandth of its heat."""
_WRITTEN_LIMIT = 250_000
"""Characters of users' and agents' own words that are read, newest first."""
_PRINTED_LIMIT = 350_000
"""Characters of tool output that are read, newest first.

On real sessions a megabyte keeps no more of the names that are used again, and 300,000 characters
keep a hundredth less.
"""
_LEADERS = 3_000
"""How many of the hottest runs are read as names."""
_MOST = 1_800

# In sessions that were never compacted, agents used 19 % of the names again that they had written
# before, and 2.5 to 3.5 % of those that only a tool or a user had. The weights are coarse on
# purpose: half or twice of any of them moves the share of kept names by a hundredth.
_WEIGHTS = {
    Voice.ASKED: 2.0,
    Voice.SAID: 6.0,
    Voice.CALLED: 6.0,
    Voice.PRINTED: 1.0,
    Voice.GIVEN: 0.3,
    # Enough to stay while there is room; too little to keep what is used now out for ever.
    Voice.KEPT: 1.5,
}
_WARRANTS = {
    Strength.CALLED: frozenset({Voice.CALLED, Voice.KEPT}),
    Strength.SPOKEN: frozenset({Voice.ASKED, Voice.SAID, Voice.KEPT}),
    Strength.WRITTEN: frozenset({Voice.ASKED, Voice.SAID, Voice.CALLED, Voice.KEPT}),
}
_HALF_LIFE = 320
_FIRST_SPAN = 16
_QUOTED = 0.25
"""A whole line, per character, tells less than the names in it."""


class Evidence(NamedTuple):
    """A fact with where it was seen; a named tuple for the same reason as the fact."""

    fact: Fact
    first: int
    """The first message it occurred in."""
    last: int
    """The last message it occurred in."""
    heat: float = 0.0
    """How often and how recently it was used, an agent's own uses counting most."""


def gather(messages: Sequence[Message], mask: Mask | None = None) -> tuple[Evidence, ...]:
    """Return the facts of the messages with where they were seen, in order of appearance.

    What users and the agent wrote is read in full, as long as it is not enormous; what tools
    printed is read newest first. Of many thousand names only the most used are returned.

    Args:
        messages: What is read.
        mask: Redacts the texts before they are read. A secret is known by what stands around it,
            so it must go before names are taken out of their surroundings.
    """
    census = _Census()
    census.read(messages, mask or _as_they_are)
    names = census.evidence()
    lines: dict[Fact, Evidence] = {}
    found = list(quotes(messages))
    masked = (mask or _as_they_are)([quote.fact.text for quote in found])
    for quote, text in zip(found, masked, strict=True):
        fact = Fact(quote.fact.kind, text)
        seen = lines.get(fact)
        lines[fact] = Evidence(
            fact,
            first=quote.index if seen is None else seen.first,
            last=quote.index,
            heat=_QUOTED * 0.5 ** ((len(messages) - quote.index) / _HALF_LIFE),
        )
    return tuple(sorted((*names, *lines.values()), key=attrgetter("first")))


def _as_they_are(texts: Sequence[str]) -> Sequence[str]:
    return texts


def _heard(messages: Sequence[Message]) -> Iterator[tuple[int, Voice, str]]:
    """Yield what is read, newest first: who said it where, within the limits."""
    printed, written = _PRINTED_LIMIT, _WRITTEN_LIMIT
    newest = len(messages)
    for index in range(newest - 1, max(newest - _NEWEST, 0) - 1, -1):
        for voice, text in spoken(messages[index]):
            if voice is Voice.PRINTED:
                printed -= len(text)
            else:
                written -= len(text)
            if (printed if voice is Voice.PRINTED else written) >= 0:
                yield index, voice, text
        if printed < 0 and written < 0:
            return


class _Census:
    """Counts runs by voice and age, in spans that double in length towards the past."""

    def __init__(self) -> None:
        self._counts: dict[tuple[Voice, int], Counter[bytes]] = {}
        self._seen: list[tuple[int, list[bytes]]] = []

    def read(self, messages: Sequence[Message], mask: Mask) -> None:
        """Count the runs of the messages, newest first."""
        heard = list(_heard(messages))
        newest = len(messages)
        masked = mask([text for _, _, text in heard])
        held: dict[tuple[Voice, int], list[bytes]] = {}
        for (index, voice, _), text in zip(heard, masked, strict=True):
            span = ((newest - index - 1) // _FIRST_SPAN).bit_length()
            found = runs(text)
            held.setdefault((voice, span), []).extend(found)
            self._seen.append((index, found))
        self._counts = {key: Counter(found) for key, found in held.items()}

    def evidence(self) -> Iterator[Evidence]:
        """Yield the leading names."""
        heard = {
            needed: frozenset[bytes]().union(
                *(counts for (voice, _), counts in self._counts.items() if voice in voices)
            )
            for needed, voices in _WARRANTS.items()
        }
        every = dict.fromkeys(chain.from_iterable(self._counts.values()))
        heat = self._heat(_names(every, heard[Strength.WRITTEN]))
        leaders = _leaders(heat, heard)
        first, last = self._places({run for _, held in leaders for run in held})
        for fact, held in leaders:
            if len(held) == 1:
                run = held[0]
                yield Evidence(fact, first[run], last[run], heat[run])
                continue
            yield Evidence(
                fact,
                min([first[run] for run in held]),
                max([last[run] for run in held]),
                sum([heat[run] for run in held]),
            )

    def _heat(self, names: Iterable[bytes]) -> dict[bytes, float]:
        heat = dict.fromkeys(names, 0.0)
        for (voice, span), counts in self._counts.items():
            middle = _FIRST_SPAN * 0.75 * 2**span
            weight = _WEIGHTS[voice] * 0.5 ** (middle / _HALF_LIFE)
            for run, times in counts.items():
                if run in heat:
                    heat[run] += weight * times
        return heat

    def _places(self, wanted: set[bytes]) -> tuple[dict[bytes, int], dict[bytes, int]]:
        first: dict[bytes, int] = {}
        last: dict[bytes, int] = {}
        for index, found in self._seen:
            for run in wanted.intersection(found):
                last.setdefault(run, index)
                first[run] = index
        return first, last


def _leaders(
    heat: Mapping[bytes, float], heard: Mapping[Strength, frozenset[bytes]]
) -> Iterable[tuple[Fact, list[bytes]]]:
    """Return the hottest names, each with the runs that hold it (`app.py`, `app.py:12`)."""
    names = sorted(heat, key=heat.__getitem__, reverse=True)
    found: dict[str, tuple[Fact, list[bytes]]] = {}
    for run in names[:_LEADERS]:
        for fact in read_run(run):
            text = fact.text
            if (known := found.get(text)) is not None:
                known[1].append(run)
            elif len(found) < _MOST:
                needed = strength(fact)
                if needed is Strength.FIRM or run in heard[needed]:
                    found[text] = (fact, [run])
    return found.values()


def _names(every: Iterable[bytes], written: frozenset[bytes]) -> list[bytes]:
    """Return the runs that may be names.

    Plain words are prose, and tools print numbers and times by the thousand: this is the cheapest
    way to be rid of most of them.
    """
    return [
        run
        for run in every
        if len(run) > 2
        and not (run.isalpha() and run[1:].islower())
        and (not run[:1].isdigit() or run in written or _LIKE_COMMIT(run))
    ]


_LIKE_COMMIT = re.compile(rb"(?=[0-9]*[a-f])[0-9a-f]{7,40}").fullmatch
