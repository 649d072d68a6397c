"""Facts in messages: who used them, how often, and where.

Megabytes of tool output must not cost seconds, so names are counted as bytes in whole messages at
once, output is read newest first up to a limit, and values are built only for the names that lead.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from holdfast.facts.quotes import quotes
from holdfast.facts.rules import Strength, read_run, runs, strength
from holdfast.facts.sources import Voice, spoken
from holdfast.transcript.parts import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.facts.rules import Fact
    from holdfast.transcript.parts import Message

__all__ = ["Evidence", "gather"]

_NEWEST = 4_000
"""How many messages are read: in older ones a name has lost all but a thousandth of its heat."""
_WRITTEN_LIMIT = 1_000_000
"""Characters of users' and agents' own words that are read, newest first."""
_PRINTED_LIMIT = 1_000_000
"""Characters of tool output that are read, newest first.

On real sessions a quarter of it already finds every name that is used again within a ledger's
size, and a tenth does not.
"""
_LEADERS = 5_000
"""How many of the hottest runs are read as names."""
_MOST = 2_000

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
    Strength.FIRM: frozenset[Voice](),
}
_HALF_LIFE = 320
_FIRST_SPAN = 16
_QUOTED = 0.25
"""A whole line, per character, tells less than the names in it."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact with where it was seen."""

    fact: Fact
    uses: int
    """How often it occurred in what was read."""
    first: int
    """The first message it occurred in."""
    last: int
    """The last message it occurred in."""
    speakers: frozenset[Role]
    """Who used it; a tool that printed it counts as a speaker."""
    heat: float = 0.0
    """How often and how recently it was used, an agent's own uses counting most."""


def gather(messages: Sequence[Message]) -> tuple[Evidence, ...]:
    """Return the facts of the messages with where they were seen, in order of appearance.

    What users and the agent wrote is read in full, as long as it is not enormous; what tools
    printed is read newest first. Of many thousand names only the most used are returned.
    """
    census = _Census()
    census.read(messages)
    found = {each.fact: each for each in census.evidence()}
    for quote in quotes(messages):
        seen = found.get(quote.fact)
        found[quote.fact] = Evidence(
            quote.fact,
            uses=1 if seen is None else seen.uses + 1,
            first=quote.index if seen is None else seen.first,
            last=quote.index,
            speakers=frozenset((quote.voice.role,)),
            heat=_QUOTED * 0.5 ** ((len(messages) - quote.index) / _HALF_LIFE),
        )
    return tuple(sorted(found.values(), key=lambda each: (each.first, -each.heat)))


class _Census:
    """Counts runs by voice and age, in spans that double in length towards the past."""

    def __init__(self) -> None:
        self._counts: dict[tuple[Voice, int], Counter[bytes]] = {}
        self._seen: list[tuple[int, list[bytes]]] = []

    def read(self, messages: Sequence[Message]) -> None:
        """Count the runs of the messages, newest first."""
        printed, written = _PRINTED_LIMIT, _WRITTEN_LIMIT
        newest = len(messages)
        for index in range(newest - 1, max(newest - _NEWEST, 0) - 1, -1):
            span = ((newest - index - 1) // _FIRST_SPAN).bit_length()
            for voice, text in spoken(messages[index]):
                if voice is Voice.PRINTED:
                    printed -= len(text)
                else:
                    written -= len(text)
                if (printed if voice is Voice.PRINTED else written) >= 0:
                    found = runs(text)
                    self._counts.setdefault((voice, span), Counter()).update(found)
                    self._seen.append((index, found))

    def evidence(self) -> Iterator[Evidence]:
        """Yield the leading names."""
        heat = self._heat()
        heard = self._heard()
        leaders = _leaders(heat, heard)
        first, last = self._places({run for held in leaders.values() for run in held})
        tables = tuple(self._counts.values())
        for fact, held in leaders.items():
            yield Evidence(
                fact,
                uses=sum([counts[run] for counts in tables for run in held if run in counts]),
                first=min([first[run] for run in held]),
                last=max([last[run] for run in held]),
                speakers=frozenset(
                    [voice.role for voice in heard if not heard[voice].isdisjoint(held)]
                ),
                heat=sum([heat[run] for run in held]),
            )

    def _heat(self) -> dict[bytes, float]:
        heat: dict[bytes, float] = {}
        for (voice, span), counts in self._counts.items():
            middle = _FIRST_SPAN * 0.75 * 2**span
            weight = _WEIGHTS[voice] * 0.5 ** (middle / _HALF_LIFE)
            for run, count in counts.items():
                heat[run] = heat.get(run, 0.0) + weight * count
        return heat

    def _places(self, wanted: set[bytes]) -> tuple[dict[bytes, int], dict[bytes, int]]:
        first: dict[bytes, int] = {}
        last: dict[bytes, int] = {}
        for index, found in self._seen:
            for run in wanted.intersection(found):
                last.setdefault(run, index)
                first[run] = index
        return first, last

    def _heard(self) -> dict[Voice, set[bytes]]:
        heard: dict[Voice, set[bytes]] = {}
        for (voice, _), counts in self._counts.items():
            heard.setdefault(voice, set()).update(counts)
        return heard


def _leaders(heat: dict[bytes, float], heard: dict[Voice, set[bytes]]) -> dict[Fact, list[bytes]]:
    """Return the hottest names, each with the runs that hold it (`app.py`, `app.py:12`)."""
    # Lower-case words are prose; this is the cheapest way to be rid of most of them.
    names = [run for run in heat if len(run) > 2 and not (run.isalpha() and run.islower())]
    names.sort(key=heat.__getitem__, reverse=True)
    found: dict[Fact, list[bytes]] = {}
    for run in islice(names, _LEADERS):
        for fact in read_run(run):
            if fact in found:
                found[fact].append(run)
            elif len(found) < _MOST and _is_warranted(fact, run, heard):
                found[fact] = [run]
    return found


def _is_warranted(fact: Fact, run: bytes, heard: dict[Voice, set[bytes]]) -> bool:
    warrants = _WARRANTS[strength(fact)]
    return not warrants or any(run in heard.get(voice, ()) for voice in warrants)
