"""`holdfast chat`: a conversation in the terminal that never runs out of room."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.cli.flags import (
    configuration,
    serving_flags,
    setting_flags,
    store_flags,
    summarizer_flag,
)
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import silence_log, tell
from holdfast.errors import MissingExtra
from holdfast.views.words import clean

if TYPE_CHECKING:
    from holdfast.cli.chat.room import ChatRoom, PromptReader
    from holdfast.config import Setting, Settings
    from holdfast.wiring.chats import ChatOptions, Chats

_YES = frozenset({"y", "yes"})


class _Options(TypedDict):
    resume: str
    fold: bool
    system: str
    rehearse: bool
    no_tools: bool
    no_memory: bool
    as_json: bool
    model_name: Setting | None
    context_length: Setting | None
    base_url: Setting | None
    provider: Setting | None


@click.command(
    "chat",
    epilog=examples(
        "holdfast chat",
        "holdfast chat --model local --context-length 2048",
        "holdfast chat --model claude-sonnet-4-5 --resume last",
        "echo 'What is a port?' | holdfast chat --model local --json",
    ),
)
@click.option("--resume", default="", metavar="ID", help="Go on with a conversation, or with last.")
@click.option("--fold", is_flag=True, help="Fold a resumed conversation that is too large.")
@click.option("--system", default="", metavar="TEXT", help="The prompt of a new conversation.")
@click.option("--rehearse", is_flag=True, help="Play a short conversation where nobody can type.")
@click.option("--no-tools", is_flag=True, help="Give the model no tools.")
@click.option("--no-memory", is_flag=True, help="Neither recall nor remember anything.")
@click.option("--json", "as_json", is_flag=True, help="Print each turn as a line of JSON.")
@serving_flags
@setting_flags
@summarizer_flag
@store_flags
def command(*, summarizer: str | None, **options: Unpack[_Options]) -> Exit:
    """Talk with a model; the conversation never runs out of room.

    Without a model in the settings, a small one on this machine answers; it needs no key. What is
    said is stored before it is sent: a conversation survives Ctrl-C, a crash and a full window,
    and --resume goes on with it, with its own model unless --model names another. Lines from a
    pipe are answered one by one; the exit code is 1 when one of them was not, and 3 when there
    were none.
    """
    settings = configuration(options, summarizer).settings
    return _begun(settings, options)


def _begun(settings: Settings, options: _Options) -> Exit:
    # Imported only here, so that help does not wait for SDKs.
    from holdfast.cli.chat.loop import converse, farewell, greeting, report_turns
    from holdfast.cli.chat.rehearsed import show_rehearsed
    from holdfast.cli.chat.room import ChatRoom
    from holdfast.views.sessions import find_session
    from holdfast.wiring.chats import Chats

    silence_log("holdfast")
    is_rehearsal = options["rehearse"] and not _is_terminal()
    rooms: list[ChatRoom] = []

    def approve(question: str) -> bool:
        return rooms[0].ask(f"{clean(question)} [y/N] ").strip().lower() in _YES

    if is_rehearsal:
        settings, options = _rehearsed(settings, options)

    def fold(question: str) -> bool:
        if options["fold"]:
            return True
        question = f"{clean(question)}; fold it?"
        if rooms:
            return approve(question)
        return not options["as_json"] and _is_terminal() and click.confirm(question, err=True)

    chosen = _chat_options(options, approve, is_rehearsal=is_rehearsal)
    chats = Chats(settings, os.environ, replace(chosen, fold=fold))
    with _closing(chats):
        name = options["resume"]
        resumed = find_session(chats.store, name).id if name else ""
        room = ChatRoom(chats, chats.begin(resumed, options["system"]))
        rooms.append(room)
        reader = room.reader = _reader(room, options, is_rehearsal=is_rehearsal)
        if options["as_json"]:
            turns, failed = report_turns(room, reader)
        else:
            room.show(greeting(room))
            turns, failed = converse(room, reader)
            if is_rehearsal:
                show_rehearsed(room)
            else:
                room.show(farewell(room))
    if failed and reader.echoes:
        return Exit.FAILED
    if reader.echoes and not turns:
        tell("nothing was said: standard input was empty")
        return Exit.NOTHING_TO_DO
    return Exit.DONE


def _rehearsed(settings: Settings, options: _Options) -> tuple[Settings, _Options]:
    """Return what a rehearsal is played with: its own prompt, in a window that its words fill."""
    from holdfast.cli.chat.rehearsed import PROMPT, WINDOW

    model = replace(settings.model, context_length=settings.model.context_length or WINDOW)
    return replace(settings, model=model), {**options, "system": options["system"] or PROMPT}


def _chat_options(
    options: _Options, approve: Callable[[str], bool], *, is_rehearsal: bool
) -> ChatOptions:
    from holdfast.cli.chat.rehearsed import LONGEST_ANSWER
    from holdfast.wiring.chats import ChatOptions

    chosen = ChatOptions(
        approve=approve,
        names_model=options["model_name"] is not None,
        names_window=options["context_length"] is not None,
        names_server=options["base_url"] is not None or options["provider"] is not None,
        tools=not options["no_tools"],
        memory=not options["no_memory"],
    )
    if not is_rehearsal:
        return chosen
    # The same everywhere, and soon over.
    return replace(chosen, tools=False, memory=False, longest_answer=LONGEST_ANSWER)


def _reader(room: ChatRoom, options: _Options, *, is_rehearsal: bool) -> PromptReader:
    from holdfast.cli.chat.room import LineReader

    if is_rehearsal:
        from holdfast.cli.chat.rehearsed import REHEARSAL

        return LineReader(REHEARSAL)
    if options["as_json"] or not _is_terminal():
        # Bytes that are no text become question marks.
        lines = sys.stdin.buffer if sys.stdin is not None else ()
        return LineReader(line.decode("utf-8", "replace") for line in lines)
    from holdfast.cli.chat.commands import names
    from holdfast.cli.chat.turns import show_news

    if find_spec("prompt_toolkit") is None:
        raise MissingExtra("`holdfast chat` in a terminal", "chat")
    from holdfast.cli.chat.terminal import Below, Terminal

    history = room.chats.memory_files.folder.parent / "chat_history"
    return Terminal(history, names(), Below(room.status, lambda: show_news(room)))


def _is_terminal() -> bool:
    # The interpreter has None for a stream that was closed at its start.
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout and sys.stdout.isatty())


@contextmanager
def _closing(chats: Chats) -> Generator[None]:
    """Close everything at the end, and say what memory did not get to."""
    try:
        yield
    finally:
        left = chats.close()
        if left:
            tell(*left)
