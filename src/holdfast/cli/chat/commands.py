"""The slash commands: what each is called, what it says of itself, and how it is found."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from holdfast.cli.chat import elsewhere, knowledge, shaping
from holdfast.cli.chat.playing import play
from holdfast.cli.chat.room import Leave, Room
from holdfast.cli.lines import Line, Span
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "Command", "names", "run"]

_Run: TypeAlias = Callable[[Room, str], "Sequence[Line]"]
_KEYS = (
    "Enter sends; Alt-Enter or a final backslash begins another line.",
    "Ctrl-C stops an answer and keeps what was said; Ctrl-D leaves.",
    "A message that begins with a slash is written with two: //etc/hosts",
)


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a user may tell the chat itself."""

    name: str
    about: str
    run: _Run
    argument: str = ""
    aliases: tuple[str, ...] = ()


def run(room: Room, line: str) -> bool:
    """Carry out a command line and show what it has to say; says whether there is such a one."""
    name, *rest = line.removeprefix("/").split(maxsplit=1) or [""]
    command = _KNOWN.get(name.lower())
    if command is not None:
        room.show(command.run(room, rest[0].strip() if rest else ""))
        return True
    near = difflib.get_close_matches(name.lower(), _KNOWN, 1, 0.6)
    hint = f"did you mean /{near[0]}?" if near else "/help lists them, // says it to the model"
    room.show([(Span(f"there is no command /{name}; {hint}", "yellow"),)])
    return False


def names() -> list[str]:
    """Return every name with its slash, for completion."""
    return sorted(f"/{name}" for name in _KNOWN)


def _help(_: Room, __: str) -> list[Line]:
    usages = [_usage(command) for command in COMMANDS]
    width = max(map(len, usages))
    lines: list[Line] = [
        (Span(f"{usage:<{width}}  ", "cyan"), Span(command.about))
        for usage, command in zip(usages, COMMANDS, strict=True)
    ]
    return [*lines, (), *((Span(words, "dim"),) for words in _KEYS)]


def _usage(command: Command) -> str:
    also = "".join(f", /{alias}" for alias in command.aliases)
    return f"/{command.name}{also} {command.argument}".rstrip()


def _retry(room: Room, _: str) -> list[Line]:
    if not room.chat.log or room.chat.log[-1].message.role is Role.ASSISTANT:
        return [(Span("nothing waits for an answer"),)]
    play(room, room.agent.answer())
    return []


def _leave(_: Room, __: str) -> list[Line]:
    raise Leave


COMMANDS: tuple[Command, ...] = (
    Command("compress", "Fold the window now.", shaping.compress, "[focus]", ("compact",)),
    Command("undo", "Take the newest compaction or rewind back.", shaping.undo),
    Command("redo", "Bring back what an undo took away.", shaping.redo),
    Command("rewind", "Take the last turns out of the window.", shaping.rewind, "[turns]"),
    Command("retry", "Let the model answer what you said last.", _retry),
    Command("pin", "Keep your last message as it is.", shaping.pin),
    Command("goal", "Show, set or drop the goal.", shaping.goal, "[text|-]"),
    Command("title", "Show or set the title.", shaping.title, "[text]"),
    Command("status", "How the conversation stands.", shaping.status),
    Command("usage", "Tokens, cache and cost so far.", shaping.usage),
    Command("new", "Begin anew; this one stays stored.", elsewhere.begin_anew),
    Command("branch", "Go another way from here.", elsewhere.branch, "[title]"),
    Command("resume", "Go on with another conversation.", elsewhere.resume, "[id]"),
    Command("sessions", "List the conversations used last.", elsewhere.sessions),
    Command("aside", "Ask beside the conversation.", elsewhere.aside, "QUESTION"),
    Command("model", "Show the model, or switch to another.", elsewhere.model, "[name [tokens]]"),
    Command("export", "Write the conversation to a file.", elsewhere.export, "[FILE]"),
    Command("search", "Find what was ever said.", knowledge.search, "WORDS"),
    Command("memory", "Show or edit what is remembered.", knowledge.memory, "[add|remove TEXT]"),
    Command("tools", "List what the model may use.", knowledge.tools),
    Command("help", "List the commands.", _help),
    Command("quit", "Leave; the conversation can be resumed.", _leave, aliases=("exit",)),
)
_KNOWN = {name: each for each in COMMANDS for name in (each.name, *each.aliases)}
