"""`holdfast sessions undo`, `redo` and `rewind`: steps back and forth between windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from holdfast.cli.consent import agreed, yes_flag
from holdfast.cli.desk import Desk, at_desk, session_argument
from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.finding import find_leaf
from holdfast.cli.lines import Line, Span, counted
from holdfast.cli.screen import tell
from holdfast.wiring.conversations import stored_conversation

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.conversation import StoredConversation
    from holdfast.session import Window

__all__ = ["redo_command", "rewind_command", "undo_command"]


@dataclass(frozen=True, slots=True)
class _Step:
    """A step that was taken, with the window before and after it."""

    session: str
    before: Window
    after: Window


@click.command(
    "undo", epilog=examples("holdfast sessions undo last", "holdfast sessions undo 20261116_0930")
)
@session_argument
@at_desk
def undo_command(desk: Desk, name: str) -> Exit:
    """Take the newest compaction or rewind back.

    The window is then what it was before, byte for byte, followed by what was said since. Nothing
    is lost: redo goes forward again. The exit code is 3 when there is nothing to undo.
    """
    return _stepped(desk, name, lambda live: live.undo(), ("undone", "nothing to undo"))


@click.command(
    "redo", epilog=examples("holdfast sessions redo last", "holdfast sessions redo 20261116_0930")
)
@session_argument
@at_desk
def redo_command(desk: Desk, name: str) -> Exit:
    """Bring back what an undo took away.

    The exit code is 3 when there is nothing to bring back.
    """
    return _stepped(desk, name, lambda live: live.redo(), ("redone", "nothing to redo"))


@click.command(
    "rewind",
    epilog=examples(
        "holdfast sessions rewind last", "holdfast sessions rewind 20261116_0930 --turns 3 --yes"
    ),
)
@session_argument
@click.option(
    "--turns",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many turns; a turn begins with what the user said.",
)
@yes_flag
@at_desk
def rewind_command(desk: Desk, name: str, *, turns: int, yes: bool) -> Exit:
    """Take the last turns out of the window.

    They stay in the store, are found by search, and undo brings them back.
    """
    session = find_leaf(desk.store, name)
    question = f"Take the last {counted(turns, 'turn')} out of the window of {session.id}?"
    if not agreed(question, yes=yes):
        return Exit.NOTHING_TO_DO
    return _stepped(
        desk, session.id, lambda live: bool(live.rewind(turns)), ("rewound", "nothing to rewind")
    )


def _stepped(
    desk: Desk, name: str, step: Callable[[StoredConversation], bool], words: tuple[str, str]
) -> Exit:
    """Take a step in the session where the conversation goes on, and say what it changed."""
    done, nothing = words
    session = find_leaf(desk.store, name)
    before = desk.store.window(session.id)
    taken = step(stored_conversation(desk.settings, desk.store, session))
    found = _Step(session.id, before, desk.store.window(session.id))
    if not taken and not desk.as_json:
        tell(f"{nothing} in session {session.id}")
    else:
        desk.answer(_fields(found, done=taken), lambda _: _drawn(found, done))
    return Exit.DONE if taken else Exit.NOTHING_TO_DO


def _fields(step: _Step, *, done: bool) -> dict[str, object]:
    return {
        "session": step.session,
        "done": done,
        "messages_before": len(step.before.entries),
        "messages_after": len(step.after.entries),
        "tokens_before": step.before.tokens,
        "tokens_after": step.after.tokens,
    }


def _drawn(step: _Step, done: str) -> list[Line]:
    before, after = step.before, step.after
    return [
        (
            Span(done, "bold green"),
            Span(f" in session {step.session}: "),
            Span(f"{len(before.entries):,} -> {counted(len(after.entries), 'message')}, "),
            Span(f"about {before.tokens:,} -> {after.tokens:,} tokens in the window"),
        )
    ]
