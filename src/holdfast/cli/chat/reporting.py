"""The chat for scripts: every turn as one line of JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from holdfast.agent.events import Asked, Done, Folded, Stopped, Warned
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.agent.events import Event
    from holdfast.cli.chat.reader import Reader
    from holdfast.cli.chat.room import Room

__all__ = ["report_turns"]

_COMMAND = "commands are for people; `holdfast sessions` does the same for scripts"


def report_turns(room: Room, reader: Reader) -> tuple[int, int]:
    """Answer every message; returns how many there were, and how many were not answered."""
    turns = failed = 0
    while (words := reader.read()) is not None:
        turns += 1
        told = _told(room, words)
        failed += told["stopped"] is not None
        click.echo(json.dumps(told, ensure_ascii=False))
    return turns, failed


def _told(room: Room, words: str) -> dict[str, object]:
    """Return what came of one message."""
    told: dict[str, object] = {
        "said": words,
        "answer": None,
        "stopped": None,
        "tools": [],
        "warnings": [],
        "compactions": 0,
    }
    return {**told, **_outcome(room, words), "warning": _standing(room), "session": room.chat.id}


def _outcome(room: Room, words: str) -> dict[str, object]:
    if words.startswith("/") and not words.startswith("//"):
        return {"stopped": _COMMAND}
    try:
        return _figures(list(room.agent.turn(words.removeprefix("/"))))
    except HoldfastError as error:
        return {"stopped": str(error)}


def _standing(room: Room) -> str:
    """Return what is wrong with the conversation now, whichever turn brought it."""
    try:
        return room.chat.status().warning
    except HoldfastError as error:
        return str(error)


def _figures(events: list[Event]) -> dict[str, object]:
    done = next((event for event in events if isinstance(event, Done)), None)
    stopped = next((event for event in events if isinstance(event, Stopped)), None)
    return {
        "answer": done.reply if done else None,
        "stopped": stopped.reason if stopped else None,
        "tools": [event.call.name for event in events if isinstance(event, Asked)],
        "warnings": [event.text for event in events if isinstance(event, Warned)],
        "compactions": sum(isinstance(event, Folded) for event in events),
        "prompt_tokens": done.usage.prompt_tokens if done else 0,
        "output_tokens": done.usage.output_tokens if done else 0,
        "cost": done.usage.cost if done else 0.0,
    }
