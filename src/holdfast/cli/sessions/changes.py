"""Commands that change a session: compress, undo, redo, rewind, fork, rename, goal, pin, end."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import click

from holdfast.cli.flags import (
    agreed,
    now_ms,
    session_argument,
    setting_flags,
    summarizer_flag,
    yes_flag,
)
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import Styled, Unusable, silence_log, tell
from holdfast.cli.store import find_leaf, with_store
from holdfast.ports.store import Amendment
from holdfast.session import EndReason, Fork, Session, Spawn, next_title
from holdfast.views.context_map import ratio_of, weighed
from holdfast.views.inspection import WindowStep
from holdfast.views.sessions import find_session, session_fields
from holdfast.views.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from holdfast.cli.screen import Line
    from holdfast.cli.store import OpenStore
    from holdfast.conversation import StoredConversation
    from holdfast.ports import Store
    from holdfast.session import Entry

_ENDS = {"unchanged": Exit.NOTHING_TO_DO, "abandoned": Exit.FAILED}
_STYLES = {"unchanged": "bold yellow", "abandoned": "bold red"}


@click.command(
    "compress",
    epilog=examples(
        "holdfast sessions compress last",
        'holdfast sessions compress 20261116_0930 --focus "the billing bug"',
    ),
)
@session_argument
@click.option("--focus", default="", metavar="TEXT", help="What deserves most of the record.")
@setting_flags
@summarizer_flag
@with_store
def compress_command(opened: OpenStore, name: str, *, focus: str) -> Exit:
    """Compact the window of a stored session now.

    The record is written by the configured model, or without one. sessions diff shows what went,
    sessions undo takes it back. The exit code is 3 when there was nothing to do.
    """
    from holdfast.compaction.report import feedback

    silence_log("holdfast.engines")
    session = find_leaf(opened.store, name)
    live = _live(opened, session)
    report = live.compress(focus)
    first, *rest = told = feedback(report)
    value = {"session": live.id, "feedback": list(told), **report.as_json()}
    lines: list[Line] = [(Styled(first, _STYLES.get(report.outcome, "bold green")),)]
    lines += [(Styled(each, "yellow" if each.startswith("Warning") else ""),) for each in rest]
    if live.id != session.id:
        lines.append((Styled(f"The conversation goes on in session {live.id}."),))
    opened.answer(value, lambda _: lines)
    return _ENDS.get(report.outcome, Exit.DONE)


@click.command(
    "undo", epilog=examples("holdfast sessions undo last", "holdfast sessions undo 20261116_0930")
)
@session_argument
@with_store
def undo_command(opened: OpenStore, name: str) -> Exit:
    """Take the newest compaction or rewind back.

    The window is then what it was before, byte for byte, followed by what was said since. Nothing
    is lost: redo goes forward again. The exit code is 3 when there is nothing to undo.
    """
    return _stepped(opened, name, lambda live: live.undo(), ("undone", "nothing to undo"))


@click.command(
    "redo", epilog=examples("holdfast sessions redo last", "holdfast sessions redo 20261116_0930")
)
@session_argument
@with_store
def redo_command(opened: OpenStore, name: str) -> Exit:
    """Bring back what an undo took away.

    The exit code is 3 when there is nothing to bring back.
    """
    return _stepped(opened, name, lambda live: live.redo(), ("redone", "nothing to redo"))


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
@with_store
def rewind_command(opened: OpenStore, name: str, *, turns: int, yes: bool) -> Exit:
    """Take the last turns out of the window.

    They stay in the store, are found by search, and undo brings them back.
    """
    session = find_leaf(opened.store, name)
    question = f"Take the last {counted(turns, 'turn')} out of the window of {session.id}?"
    if not agreed(question, yes=yes):
        return Exit.NOTHING_TO_DO
    return _stepped(
        opened, session.id, lambda live: bool(live.rewind(turns)), ("rewound", "nothing to rewind")
    )


def _stepped(
    opened: OpenStore, name: str, step: Callable[[StoredConversation], bool], words: tuple[str, str]
) -> Exit:
    """Take a step in the session where the conversation goes on, and say what it changed."""
    done, nothing = words
    session = find_leaf(opened.store, name)
    before = opened.store.window(session.id)
    taken = step(_live(opened, session))
    after = opened.store.window(session.id)
    found = WindowStep(session.id, taken, before, after, ratio_of(session))
    if not taken and not opened.as_json:
        tell(f"{nothing} in session {session.id}")
    else:
        weights = f"{found.tokens(before):,} -> {found.tokens(after):,}"
        line = (
            Styled(done, "bold green"),
            Styled(f" in session {session.id}: "),
            Styled(f"{len(before.entries):,} -> {counted(len(after.entries), 'message')}, "),
            Styled(f"about {weights} tokens in the window"),
        )
        opened.answer(found.as_json(), lambda _: [line])
    return Exit.DONE if taken else Exit.NOTHING_TO_DO


class _ForkOptions(TypedDict):
    at: int | None
    title: str
    end_parent: bool


@click.command(
    "fork",
    epilog=examples(
        "holdfast sessions fork last",
        'holdfast sessions fork 20261116_0930 --at 1204 --title "Another approach"',
    ),
)
@session_argument
@click.option("--at", type=int, metavar="MESSAGE", help="The id of the last message it shares.")
@click.option("--title", default="", metavar="T", help="Its title; the next of the line if none.")
@click.option("--end-parent", is_flag=True, help="End the session that it came from.")
@with_store
def fork_command(opened: OpenStore, name: str, **options: Unpack[_ForkOptions]) -> None:
    """Begin a session that shares what was said so far.

    Nothing is copied, and the session it comes from goes on unless --end-parent is given. With
    --at, the fork ends at a message, or before it where a tool's answer would be parted from its
    call. The new id is printed first.
    """
    parent = find_session(opened.store, name)
    shown = _shared(opened.store, parent, options["at"])
    deps = _live(opened, parent).live.deps
    taken = [each.title for each in opened.store.lineage(parent.id)]
    child = Session(
        id=deps.unused_id(),
        source=parent.source,
        started=deps.clock.moment(),
        title=options["title"] or next_title(parent.title, taken),
        model=parent.model,
        goal=parent.goal,
        parent=parent.id,
        fork=Fork.BRANCH,
    )
    end = EndReason.BRANCHED if options["end_parent"] else None
    child = opened.store.spawn(Spawn(child=child, shows=shown, parent_end=end))
    fields = {**session_fields(child), "messages": len(shown)}
    words = f"{child.title or 'it'} shares {counted(len(shown), 'message')} with {parent.id}"
    opened.answer(
        fields,
        lambda _: [(Styled(child.id, "bold green"),), (Styled(words),)],
    )


def _shared(store: Store, parent: Session, at: int | None) -> tuple[Entry, ...]:
    """Return what the fork shows: the window, or an older one that still had the message."""
    from holdfast.conversation.lineage import up_to

    window = store.window(parent.id).entries
    if at is None:
        return window
    older = [view.id for view in reversed(store.views(parent.id))]
    for view in [None, *older, None]:
        if any(entry.id == at for entry in window):
            return up_to(window, at)
        window = store.window_at(parent.id, view).entries
    home = store.entry(at).session
    elsewhere = f"; it was said in session {home}, which can be forked instead"
    raise Unusable(f"message {at} is in no window of session {parent.id}{elsewhere}")


@click.command("rename", epilog=examples('holdfast sessions rename last "The billing bug"'))
@session_argument
@click.argument("title")
@with_store
def rename_command(opened: OpenStore, name: str, title: str) -> None:
    """Give a session another title."""
    session = find_session(opened.store, name)
    renamed = opened.store.amend(session.id, Amendment(title=title.strip()))
    words = f"session {renamed.id} is now called {renamed.title or 'nothing'}"
    opened.answer(session_fields(renamed), lambda _: [(Styled(words),)])


@click.command(
    "goal",
    epilog=examples(
        "holdfast sessions goal last",
        'holdfast sessions goal last "Ship the billing service"',
        "holdfast sessions goal last --clear",
    ),
)
@session_argument
@click.argument("text", required=False)
@click.option("--clear", is_flag=True, help="Take the goal away.")
@with_store
def goal_command(opened: OpenStore, name: str, text: str | None, *, clear: bool) -> Exit:
    """Show, set or clear the goal of a session.

    The goal is shown to the model with every request, and survives every compaction and fork.
    """
    if clear and text is not None:
        raise click.UsageError("a goal is either set or cleared")
    session = find_leaf(opened.store, name)
    if clear or text is not None:
        goal = Amendment(goal="" if text is None else text.strip())
        session = opened.store.amend(session.id, goal)
    if not session.goal and not opened.as_json:
        tell(f"session {session.id} has no goal{' any more' if clear else ''}")
        return Exit.DONE if clear else Exit.NOTHING_TO_DO
    opened.answer(
        {"session": session.id, "goal": session.goal},
        lambda _: [(Styled(line),) for line in session.goal.splitlines()],
    )
    return Exit.DONE


@click.command(
    "pin",
    epilog=examples(
        "holdfast sessions pin last",
        "holdfast sessions pin last 1204",
        "holdfast sessions pin last 1204 --remove",
    ),
)
@session_argument
@click.argument("message", type=int, required=False)
@click.option("--remove", is_flag=True, help="Let compactions fold the message again.")
@with_store
def pin_command(opened: OpenStore, name: str, message: int | None, *, remove: bool) -> Exit:
    """Keep a message word for word in every compaction.

    MESSAGE is the id of a message, as sessions show lists it. Without one, the pins are listed.
    Pins have a tenth of what a compaction leaves; it warns of one that is over that. A pin brings
    nothing back that was folded before.
    """
    if remove and message is None:
        raise click.UsageError("name the message whose pin is to be removed")
    session = find_leaf(opened.store, name)
    if message is not None:
        # Refuse a message of another conversation: its pin would do nothing.
        home = opened.store.session(opened.store.entry(message).session)
        if home.root != session.root:
            raise Unusable(f"message {message} belongs to session {home.id}, not to {session.id}")
        opened.store.pin(session.id, message, pinned=not remove)
        window = opened.store.window(session.id).entries
        if not remove and all(message not in (each.id, each.stands_for) for each in window):
            tell(f"message {message} is not in the window, and its pin does not bring it back")
    kept = (opened.store.entry(each) for each in sorted(opened.store.pins(session.id)))
    pins = weighed(kept, ratio_of(session))
    if not pins and not opened.as_json:
        tell(f"nothing is pinned in session {session.id}")
        return Exit.DONE if message is not None else Exit.NOTHING_TO_DO
    from holdfast.cli.sessions.show import entries_drawn
    from holdfast.views.messages import entry_fields

    value = {"session": session.id, "pins": [entry_fields(each) for each in pins]}
    opened.answer(value, lambda view: entries_drawn(pins, view.width))
    return Exit.DONE


@click.command(
    "end", epilog=examples("holdfast sessions end last", "holdfast sessions end last --reopen")
)
@session_argument
@click.option("--reopen", is_flag=True, help="Let a closed session go on.")
@with_store
def end_command(opened: OpenStore, name: str, *, reopen: bool) -> Exit:
    """End a session; opening it again takes that back.

    The exit code is 3 when it has ended already, or with --reopen when it has not.
    """
    session = find_session(opened.store, name)
    if (session.ended is None) == reopen:
        ended = f"has ended already ({session.end_reason})"
        tell(f"session {session.id} {'is live' if reopen else ended}")
        return Exit.NOTHING_TO_DO
    changed = opened.store.end(session.id, None if reopen else EndReason.CLOSED, now_ms())
    words = f"{'reopened' if reopen else 'ended'} session {changed.id}"
    opened.answer(session_fields(changed), lambda _: [(Styled(words),)])
    return Exit.DONE


def _live(opened: OpenStore, session: Session) -> StoredConversation:
    """Return a stored session as a conversation that can be changed."""
    # Imported only here: a title or a goal is set without an engine.
    from holdfast.wiring.conversations import stored_conversation

    return stored_conversation(opened.settings_of(session), opened.store, session)
