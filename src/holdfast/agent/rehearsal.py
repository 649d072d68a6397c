"""The words of a short conversation that shows what holdfast does, for people without one.

A user says who she is, states a rule, decides something and why, gives a value and corrects it.
Between that she pastes lists that fill a small window, so that all of it is folded. At the end one
can ask where each of these things stands.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

WINDOW = 3_072
"""Tokens of a window that these words fill before their end, so that one sees it being folded."""
LONGEST_ANSWER = 48
"""Tokens of an answer: nobody waits for long answers that nobody asked for."""

PROMPT = "You are a helpful assistant for a small software project. Answer briefly."


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the user said early and that has to be known at the end."""

    name: str
    words: tuple[str, ...]
    """What one passage must say, all of it."""
    outdated: str = ""
    """The value that the words correct, which no passage may tell without them."""

    def stands_in(self, text: str) -> bool:
        """Say whether a text tells all of it."""
        return all(words in text for words in self.words)

    def line_in(self, text: str) -> str:
        """Return the line of a text that begins to tell it."""
        return next(line.strip() for line in text.split("\n") if self.words[0] in line)


FACTS = (
    Fact("who", ("Marta Lindqvist", "harbor service")),
    Fact("what", ("/srv/harbor/config/tides.toml",)),
    Fact("constraint", ("Never restart the service", "a ship is in the lock")),
    Fact("decision", ("leave a silent station out", "because repeating its last value")),
    Fact("correction", ("backup is 04:15",), outdated="02:30"),
)
"""What the conversation must still know at its end, in the order in which it was said."""

DETAIL = Fact("detail", ("gauge replaced by Okafor",))
"""What nobody needs at the end; the store has it all the same."""


def _pasted(lines: Iterable[str]) -> str:
    return "\n".join(("```", *lines, "```"))


_PLACES = ("river", "river", "lock", "breakwater")
_HAPPENED = (
    "does not answer, first attempt",
    "does not answer, second attempt",
    "is silent, repeating its last value",
    "answers again",
)
_STATIONS = _pasted(
    f"station {number}: {_PLACES[number % 4]}, reads the level every minute, unit "
    f"{'feet' if number % 9 == 4 else 'meters'}"
    for number in range(1, 20)
)
_STORM = _pasted(
    f"{22 + minute // 60}:{minute % 60:02} station {7 * minute % 60 + 1} "
    + ("gauge replaced by Okafor" if minute == 41 else _HAPPENED[minute // 4 % 4])
    for minute in range(1, 83, 4)
)
_LOADED = _pasted(
    f"loaded the points of station {number} for the last day: {3 * number} requests, too slow for "
    "a phone"
    for number in range(1, 34)
)

REHEARSAL = (
    "Hello. My name is Marta Lindqvist, and I look after the harbor service. These are some of "
    f"its stations:\n{_STATIONS}\nWhich of them would you watch most closely?",
    "The settings of the service are in /srv/harbor/config/tides.toml.",
    "Never restart the service while a ship is in the lock.",
    f"Last night there was a storm, and the reader wrote this:\n{_STORM}\n"
    "The time of our nightly backup is 02:30. May it be in the way of the reader?",
    "We decided to leave a silent station out of the average, because repeating its last value "
    "made the curve look calm while the water rose.",
    "Correction: the time of our nightly backup is 04:15.",
    "People on slow phones complain about the dashboard. This is what it does when it opens:\n"
    f"{_LOADED}\nWhat would nobody miss?",
    "Two stations report in feet. What should a test for the conversion check?",
    "The database was unreachable for four minutes last night. What if it is four hours?",
    "We also want an alarm when the level rises by half a meter in an hour. Who should be told "
    "first, the harbor office or the lock keepers?",
    "And who should be able to say that it was seen?",
    "Now the newest task: write the release note for version 2.7, which brings the alarm and the "
    "silent stations.",
)
"""What the user says, turn by turn."""
