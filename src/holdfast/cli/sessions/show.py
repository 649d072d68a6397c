"""`holdfast sessions show`: one session with its window to scale and its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import click

from holdfast.cli.flags import session_argument, setting_flags
from holdfast.cli.inspect import MapScale, conversation_strip, legend, window_bar
from holdfast.cli.root import examples
from holdfast.cli.screen import Styled, table
from holdfast.cli.store import with_store
from holdfast.recall.values import agent_of
from holdfast.session import places_of
from holdfast.session.lineage_reader import said_until
from holdfast.transcript import one_line
from holdfast.views.context_map import ratio_of, weighed
from holdfast.views.inspection import session_details
from holdfast.views.messages import (
    NO_NAMES,
    call_names,
    full_text,
    message_fields,
    origin_of,
    speaker_of,
)
from holdfast.views.sessions import find_session, state_of, title_of
from holdfast.views.timeline import parent_words
from holdfast.views.words import clock_time, counted, crop
from holdfast.wiring import counter_of, policy_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Unpack

    from holdfast.cli.screen import Line, OutputScreen
    from holdfast.cli.store import OpenStore
    from holdfast.session import Entry
    from holdfast.transcript import Message
    from holdfast.views.inspection import SessionDetails

_LABEL = 12


class _Options(TypedDict):
    scope: str
    message: int | None
    whole: bool
    limit: int


@click.command(
    "show",
    epilog=examples(
        "holdfast sessions show last",
        "holdfast sessions show 20261116_0930 --all --limit 0",
        "holdfast sessions show last --message 1204 --whole",
    ),
)
@session_argument
@click.option("--window", "scope", flag_value="window", default="window", help="The window only.")
@click.option("--all", "scope", flag_value="all", help="List everything that was ever said.")
@click.option("--message", type=int, metavar="N", help="Show the message with this id in full.")
@click.option("--whole", is_flag=True, help="With --message: as it was said, not as shortened.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="How many messages to list, the newest; 0 for all.",
)
@setting_flags
@with_store
def show_command(opened: OpenStore, name: str, **options: Unpack[_Options]) -> None:
    """Show a session: its window to scale, and its messages.

    The window is what the model sees now. --all lists everything that was said instead, also what
    was folded or rewound and what the sessions before this one said. The number in front of a
    message is its id, which --message, fork and pin take.
    """
    session = find_session(opened.store, name)
    if options["message"] is not None:
        (entry,) = weighed([opened.store.entry(options["message"])], ratio_of(session))
        message = opened.store.whole(options["message"]) if options["whole"] else entry.message
        names = (
            call_names(opened.store, entry)
            if any(not each.name for each in message.results)
            else {}
        )
        fields = {**message_fields(entry, message), "text": full_text(message, names)}
        opened.answer(fields, lambda _: message_drawn(entry, message, names))
        return
    if options["whole"]:
        raise click.UsageError("--whole goes with --message")
    settings = opened.settings_of(session)
    details = session_details(opened.store, session, policy_of(settings), counter_of(settings))
    entries = details.window
    if options["scope"] == "all":
        entries = weighed(said_until(opened.store, session.id), ratio_of(session))
    kept = entries[-options["limit"] :] if options["limit"] else entries
    left_out = len(entries) - len(kept)
    opened.answer(
        details.as_json(kept, left_out), lambda view: session_drawn(details, kept, left_out, view)
    )


def session_drawn(
    details: SessionDetails, entries: Sequence[Entry], left_out: int, view: OutputScreen
) -> list[Line]:
    """Return the whole picture; `left_out` says how many older messages are not listed."""
    title = crop(title_of(details.session), view.width - 2)
    lines: list[Line] = [(Styled(title, "bold"),)]
    for label, words in _known(details):
        if words:
            # One line each: a long goal or path is cut, and --json has all of it.
            cut = Styled(crop(words, view.width - _LABEL))
            lines.append((Styled(f"  {label:<{_LABEL - 2}}", "dim"), cut))
    lines += [(), *_maps(details, view)]
    if entries:
        lines += [(), (Styled("messages", "bold"),)]
        if left_out:
            hint = f"  {counted(left_out, 'earlier message')} not listed; --limit 0 lists all"
            lines.append((Styled(hint, "dim"),))
        lines += entries_drawn(entries, view.width)
    return lines


def entries_drawn(entries: Sequence[Entry], width: int) -> list[Line]:
    """Return one line for each entry, with its id and its marks."""
    rows = [("id", "speaker", "tokens", "marks", "beginning")]
    for entry in entries:
        message = entry.message
        marks = {
            origin_of(message): True,
            "pinned": message.pinned,
            "cut": entry.shortened,
            "derived": bool(entry.kind) and message.summary is None,
        }
        shown = " ".join(mark for mark, holds in marks.items() if mark and holds)
        speaker, tokens = speaker_of(message), f"{entry.tokens:,}"
        rows.append((str(entry.id), speaker, tokens, shown, one_line(message, width)))
    return table(rows, width, right=frozenset({0, 2}))


def _known(details: SessionDetails) -> Iterator[tuple[str, str]]:
    session, usage = details.session, details.session.usage
    yield "id", session.id
    yield "goal", session.goal
    yield "model", session.model
    places = places_of(details.path)
    agent = agent_of(session.source)
    yield "source", session.source
    yield "agent", f"{agent} {places['version']}" if agent and "version" in places else ""
    for label in ("folder", "branch", "file"):
        yield label, places.get(label, "")
    ended = f" since {clock_time(session.ended)}" if session.ended is not None else ""
    yield "state", f"{state_of(session)}{ended}"
    yield "used", f"{clock_time(session.started)} to {clock_time(session.touched)}"
    if usage.calls:
        used = f"{counted(usage.calls, 'call')}, {usage.input_tokens:,} tokens in"
        used += f", {usage.output_tokens:,} out"
        used += f", {usage.cache_read_tokens:,} from caches" if usage.cache_read_tokens else ""
        used += f", ${usage.cost:,.2f}" if usage.cost else ""
        yield "usage", used
    if len(details.path) > 1:
        yield "came from", " > ".join(each.id for each in details.path[:-1]) + f" ({session.fork})"
    if details.elder is not None:
        yield "part of", parent_words(details.elder)
    passes = len(details.compactions)
    yield "compacted", counted(passes, "time") if passes else ""
    yield "undone", "sessions redo brings back what was undone" if details.is_undone else ""
    for warning in details.warnings:
        yield "warning", warning


def _maps(details: SessionDetails, view: OutputScreen) -> Iterator[Line]:
    window, threshold = details.limits.window, details.limits.threshold
    scale = MapScale(window=window, threshold=threshold, width=view.width, colored=view.colored)
    usage = details.usage
    share = f"{usage.tokens / max(window, 1):.0%}"
    yield (
        Styled("the window", "bold"),
        Styled(f": {counted(len(details.window), 'message')}, "),
        Styled(f"{usage.tokens:,} of {window:,} tokens, {share} used"),
    )
    yield from window_bar(usage, scale)
    if usage.tokens:
        yield (Styled("the conversation", "bold"), Styled(" from beginning to end"))
        yield conversation_strip(usage, scale)
        yield ()
        yield from legend(usage, scale)


def message_drawn(
    entry: Entry, message: Message, names: Mapping[str, str] = NO_NAMES
) -> list[Line]:
    """Return a heading with what is known of the message, then all of it.

    Args:
        names: The names of calls by their ids, where results do not carry them.
    """
    speaker = " ".join(filter(None, (speaker_of(message), origin_of(message))))
    marks = [f"message {entry.id} of session {entry.session}", clock_time(entry.at)]
    marks += ["pinned"] if message.pinned else []
    marks += ["made by a compaction"] if entry.kind else []
    marks += [f"role {message.role}"] if speaker != message.role else []
    lines: list[Line] = [(Styled(speaker, "bold"), Styled(f": {', '.join(marks)}", "dim"))]
    if entry.shortened and message == entry.message:
        lines.append((Styled("shown in part; --whole shows all of it", "yellow"),))
    return [*lines, (), *((Styled(line),) for line in full_text(message, names).splitlines())]
