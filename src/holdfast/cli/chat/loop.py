"""The chat: read what the user says, let the agent answer, and never lose a word of it."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import click

from holdfast.agent.events import Done, Stopped, ToolCallRequested, Warned, WindowCompacted
from holdfast.cli.chat.commands import run
from holdfast.cli.chat.room import LeaveChat, memory_line, model_line
from holdfast.cli.chat.turns import LineWrapper, play, readable
from holdfast.cli.root import to_type
from holdfast.cli.screen import Styled, is_interrupt
from holdfast.errors import HoldfastError
from holdfast.transcript import is_user_word
from holdfast.views.words import counted

if TYPE_CHECKING:
    from holdfast.cli.chat.room import ChatRoom, PromptReader
    from holdfast.cli.screen import Line

_ESCAPE = "//"
"""Begins a message that itself begins with a slash."""
_ECHOED, _FRONT = 6, 4
"""Lines of a message that are shown of what was read, and how many of them from its front."""
_TYPED = "What you typed is in the history: press the up arrow."
_COMMAND = "commands are for people; `holdfast sessions` does the same for scripts"


def converse(room: ChatRoom, reader: PromptReader) -> tuple[int, int]:
    """Talk until there is nothing more to read; returns how many turns there were, and failed."""
    turns = failed = 0
    while True:
        try:
            words = reader.read()
            if words is None:
                return turns, failed
            turns += 1
            failed += not _heard(room, reader, words.strip())
        except LeaveChat:
            return turns, failed
        except (KeyboardInterrupt, Exception) as error:
            if reader.echoes or not is_interrupt(error):
                raise
            room.show([(Styled("(Ctrl-D or /quit leaves)", "dim"),)])


def _heard(room: ChatRoom, reader: PromptReader, words: str) -> bool:
    """Take in one message or command; says whether it went well."""
    if not words:
        return True
    if reader.echoes:
        # What was read, as if it had been typed; of a long list its ends are enough.
        lines = readable(words).splitlines()
        shown = [(Styled("> ", "bold"), Styled(line)) for line in lines]
        if len(lines) <= _ECHOED:
            echoed = shown
        else:
            more = (Styled("> ", "bold"), Styled(f"... {len(lines) - _ECHOED:,} more lines", "dim"))
            echoed = [*shown[:_FRONT], more, *shown[_FRONT - _ECHOED :]]
        room.show(echoed)
    try:
        if words.startswith("/") and not words.startswith(_ESCAPE):
            went_well = run(room, words)
        else:
            said = words.removeprefix("/") if words.startswith(_ESCAPE) else words
            went_well = play(room, room.agent.turn(said))
        if reader.echoes:
            room.show([room.status(), ()])
    except (HoldfastError, OSError) as error:
        room.show([(Styled(str(error), "bold red"),)])
        if not reader.echoes and not words.startswith("/"):
            room.show([(Styled(_TYPED, "dim"),)])
        return False
    return went_well


def greeting(room: ChatRoom) -> list[Line]:
    """Return what is said when a chat begins."""
    now = room.chat.status()
    lines: list[Line] = [
        (Styled("holdfast chat", "bold"), Styled(f" with {model_line(room.chats)}")),
        (Styled(f"{room.chats.accounting.line} {memory_line(room.chats)}", "dim"),),
    ]
    if room.reader is not None and not room.reader.echoes:
        lines.append((Styled("/help lists the commands, Ctrl-D leaves.", "dim"),))
    if now.messages > 1:
        title, size = now.title or now.session, counted(now.messages, "message")
        lines.append((Styled(f"Going on with: {title} ({size} in the window).", "cyan"),))
        # The last thing the user said with what came of it, as far as it is in the window.
        entries = room.chats.store.window(room.chat.id).entries
        places = [place for place, each in enumerate(entries) if is_user_word(each.message)]
        shown: list[Line] = []
        for entry in entries[places[-1] :] if places else ():
            mark = "> " if is_user_word(entry.message) else ""
            flow = LineWrapper(room.view.width)
            text = flow.push(f"{mark}{readable(entry.message.text).strip()}") + flow.finish()
            shown += [(Styled(line, "dim"),) for line in text.splitlines() if text.strip()]
        lines += shown
    return lines


def farewell(room: ChatRoom) -> list[Line]:
    """Return what is said when a chat ends, and drop a conversation that was none."""
    if room.chats.forget_if_unused(room.chat):
        return []
    room.chats.ended(room.chat)
    server = room.chat.session.server
    at = f" --base-url {shlex.quote(str(server['base_url']))}" if server.get("named") else ""
    command = to_type(f"chat --resume {room.chat.id}{at}", room.chats.settings)
    return [(Styled("To go on with this:", "dim"),), (Styled(f"  {command}", "cyan"),)]


def report_turns(room: ChatRoom, reader: PromptReader) -> tuple[int, int]:
    """Answer every message; returns how many there were, and how many were not answered."""
    turns = failed = 0
    while (words := reader.read()) is not None:
        turns += 1
        # What came of one message.
        if words.startswith("/") and not words.startswith("//"):
            outcome_fields = {"stopped": _COMMAND}
        else:
            try:
                events = list(room.agent.turn(words.removeprefix("/")))
                done = next((event for event in events if isinstance(event, Done)), None)
                stopped = next((event for event in events if isinstance(event, Stopped)), None)
                outcome_fields = {
                    "answer": done.reply if done else None,
                    "stopped": stopped.reason if stopped else None,
                    "tools": [
                        event.call.name for event in events if isinstance(event, ToolCallRequested)
                    ],
                    "warnings": [event.text for event in events if isinstance(event, Warned)],
                    "compactions": sum(isinstance(event, WindowCompacted) for event in events),
                    "prompt_tokens": done.usage.prompt_tokens if done else 0,
                    "output_tokens": done.usage.output_tokens if done else 0,
                    "cost": done.usage.cost if done else 0.0,
                }
            except HoldfastError as error:
                outcome_fields = {"stopped": str(error)}
        try:
            # Whichever turn brought it.
            warning = room.chat.status().warning
        except HoldfastError as error:
            warning = str(error)
        told: dict[str, object] = {
            "said": words,
            "answer": None,
            "stopped": None,
            "tools": [],
            "warnings": [],
            "compactions": 0,
            **outcome_fields,
            "warning": warning,
            "session": room.chat.id,
        }
        failed += told["stopped"] is not None
        click.echo(json.dumps(told, ensure_ascii=False))
    return turns, failed
