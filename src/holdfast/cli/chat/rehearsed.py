"""A rehearsal: a short conversation that shows what holdfast does, for people without one.

A user says who she is, states a rule, decides something and why, gives a value and corrects it.
Between that she pastes lists that fill a small window, so that all of it is folded. At the end it
is shown where each of these things stands now. It is looked for in what the model sees, passage by
passage: in the record, section by section, and in the messages that are there word for word. What
is in neither is in the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.chat.turns import show_news
from holdfast.cli.root import as_typed, to_type
from holdfast.cli.screen import Line, Styled, wrapped
from holdfast.summary import read_checkpoint
from holdfast.views.messages import record_sections
from holdfast.views.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.cli.chat.room import ChatRoom
    from holdfast.session import Entry

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


_PATIENCE = 10.0
"""Seconds for a compaction that is under way when a rehearsal ends."""
_INDENT = 20
_MORE = {
    "sessions diff last": "what was folded, and what stands for it",
    f'search "{DETAIL.words[0]}"': "what only the store has",
    "chat --resume last": "go on; /undo brings the folded messages back",
}
_SAMPLE = "holdfast sample"


@dataclass(frozen=True, slots=True)
class WindowPassage:
    """A part of the window: an entry of the record, or a message."""

    place: str
    text: str


def show_rehearsed(room: ChatRoom) -> None:
    """Show where the facts of the rehearsal stand after what was folded."""
    room.chat.wait(_PATIENCE)
    show_news(room)
    window = room.chats.store.window(room.chat.id).entries
    told, log = tuple(passages(window)), room.chat.log
    shown = {each.stands_for or each.id for each in window}
    lines: list[Line] = [(Styled("What was said early, and where it stands now:", "bold"),)]
    for fact in (*FACTS, DETAIL):
        said = next((each for each in log if fact.stands_in(each.message.text)), None)
        # A turn that failed may have said nothing.
        if said is not None:
            current, outdated = telling(fact, told)
            if not current:
                where = f"store: message {said.position}, which a search finds"
                verdict = "no" if fact in FACTS else "store"
                judged = _labeled(
                    verdict, fact.name, (fact.line_in(said.message.text), where), room.view.width
                )
            else:
                found = current[0]
                where = found.place
                if said.id not in shown:
                    where += f"; message {said.position} was folded"
                if outdated:
                    where += f"; but {fact.outdated} stands there too, {outdated[0].place}"
                elif fact.outdated:
                    where += f"; {fact.outdated} stands nowhere in the window"
                words = fact.line_in(found.text)
                judged = _labeled(
                    "no" if outdated else "yes", fact.name, (words, where), room.view.width
                )
            lines += judged
    lines += [(), *_closing(room, len(log), sum(each.tokens for each in log))]
    room.show(lines)


def passages(window: Sequence[Entry]) -> Iterator[WindowPassage]:
    """Yield what the model sees, in parts that say one thing each."""
    for number, entry in enumerate(window, 1):
        summary = entry.message.summary
        if summary is not None:
            for heading, entries in record_sections(read_checkpoint(summary.text)):
                yield from (WindowPassage(f"record: {heading}", each) for each in entries)
        else:
            place = f"window: message {number}, word for word"
            yield WindowPassage(place, entry.message.text)


def telling(
    fact: Fact, told: Sequence[WindowPassage]
) -> tuple[list[WindowPassage], list[WindowPassage]]:
    """Return the passages that tell a fact, and those that tell only what it corrects."""
    current = [each for each in told if fact.stands_in(each.text)]
    outdated = [each for each in told if fact.outdated and fact.outdated in each.text]
    return current, [each for each in outdated if each not in current]


def _labeled(verdict: str, name: str, texts: tuple[str, str], width: int) -> list[Line]:
    """Return a verdict with the words it is about, and below them where they stand."""
    style = {"yes": "green", "no": "red"}.get(verdict, "cyan")
    words, where = ([line.strip() for line in wrapped(each, width - _INDENT)] for each in texts)
    margin = Styled(" " * _INDENT)
    return [
        (Styled(f"  {verdict:<6}{name:<12}", style), Styled(words[0])),
        *((margin, Styled(line)) for line in words[1:]),
        *((margin, Styled(line, "dim")) for line in where),
    ]


def _closing(room: ChatRoom, messages: int, tokens: int) -> list[Line]:
    now, width = room.chat.status(), room.view.width
    words = (
        f"The store has all that was said: {counted(messages, 'message')}, about {tokens:,} "
        f"tokens. The window of {now.context_length:,} tokens has {now.messages:,} of them, about "
        f"{now.tokens:,} tokens."
    )
    if not now.compactions:
        words += (
            f" Nothing was folded: that is due at {now.threshold:,}, which these words do not "
            f"fill. --context-length {WINDOW} shows it."
        )
    lines: list[Line] = [*((Styled(line),) for line in wrapped(words, width)), ()]
    lines.append((Styled("To see more:", "bold"),))
    commands = {to_type(each, room.chats.settings): about for each, about in _MORE.items()}
    commands[as_typed(_SAMPLE)] = "an agent at work, two hundred messages compacted"
    for command, about in commands.items():
        lines += [(Styled(f"  {command}", "cyan"),), (Styled(f"      {about}", "dim"),)]
    return lines
