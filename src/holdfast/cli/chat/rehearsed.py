"""The end of a rehearsal: where each thing that was said early stands now.

It is looked for in what the model sees, passage by passage: in the record, section by section, and
in the messages that are there word for word. What is in neither is in the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.agent.rehearsal import DETAIL, FACTS, WINDOW
from holdfast.cli.chat.turns import show_news
from holdfast.cli.root import as_typed, to_type
from holdfast.cli.screen import Line, Styled, wrapped
from holdfast.summary import read_checkpoint
from holdfast.views.messages import record_sections
from holdfast.views.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.agent.rehearsal import Fact
    from holdfast.cli.chat.room import ChatRoom
    from holdfast.session import Entry

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
