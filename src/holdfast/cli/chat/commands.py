"""The slash commands of a chat: what each is called, what it says of itself, what it does."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.chat.room import ChatRoom, LeaveChat, memory_line, model_line
from holdfast.cli.chat.turns import play
from holdfast.cli.files import write_output
from holdfast.cli.flags import now_ms
from holdfast.cli.screen import Styled, Unusable, table
from holdfast.cli.search import hits_drawn
from holdfast.compaction.report import feedback
from holdfast.errors import MemoryRefused
from holdfast.memory import NOTEBOOKS, Add, Remove
from holdfast.memory import usage as memory_usage
from holdfast.ports.store import Listing
from holdfast.recall.values import Asked, Discovery, Inside, Scope, Wrong
from holdfast.session import EndReason, Fork
from holdfast.transcript import Role, is_user_word
from holdfast.views.export import everything_said
from holdfast.views.markdown import as_markdown
from holdfast.views.search import search_hits
from holdfast.views.sessions import find_session
from holdfast.views.words import ago, clean, counted, crop
from holdfast.wiring.searching import search_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from holdfast.cli.chat.room import ChatRoom
    from holdfast.cli.screen import Line
    from holdfast.conversation import Status
    from holdfast.ports import Store
    from holdfast.session import Session
    from holdfast.wiring.chats import Chats
    from holdfast.wiring.conversations import Conversation

_WHICH = "which one (number, part of the title or id; empty for none)? "
_KEEP = "--keep"
_MOST_LISTED = 15
_LOOKED_AT = 200
_BESIDE = (Fork.DELEGATION, Fork.REVIEW)
"""Forks in which no conversation goes on."""


def begin_anew(room: ChatRoom, _: str) -> list[Line]:
    """Begin with an empty window."""
    left = room.chat.id
    room.move(room.chats.begin_anew(room.chat))
    return plain_line(f"a new conversation; /resume {left} goes back")


def branch(room: ChatRoom, title: str) -> list[Line]:
    """Go another way from here; the conversation ends as it is, unless it is kept."""
    left = room.chat.id
    first, *rest = title.split(maxsplit=1) or [""]
    keeps = first == _KEEP
    title = "".join(rest) if keeps else title
    room.move(room.chats.branch(room.chat, title, keep_parent=keeps))
    back = "goes back" if keeps else "begins another one where you left"
    return plain_line(f"on a branch: {room.chat.title}; /resume {left} {back}")


def resume(room: ChatRoom, name: str) -> list[Line]:
    """Go on with another conversation, which is picked from a list where none is named."""
    store = room.chats.store
    rows = recent(store)
    if not name and rows:
        room.show(listed(rows, room.view.width, now_ms()))
        name = room.ask(_WHICH).strip()
    session = chosen(store, rows, name)
    if session is None:
        return plain_line("the conversation stays as it is")
    room.move(room.chats.open(session.id))
    now = room.chat.status()
    return plain_line(f"on with: {now.title or now.session} ({counted(now.messages, 'message')})")


def list_sessions(room: ChatRoom, _: str) -> list[Line]:
    """List the conversations used last."""
    return listed(recent(room.chats.store), room.view.width, now_ms())


def aside(room: ChatRoom, question: str) -> list[Line]:
    """Ask in a copy of the window that is not gone on with."""
    if not question:
        return plain_line("ask something: /aside QUESTION")
    play(room, room.chats.side_question(room.chat, question))
    return [(Styled("(beside the conversation, which goes on without it)", "dim"),)]


def model(room: ChatRoom, name: str) -> list[Line]:
    """Show the model, or switch to another; a window too large for it is folded first."""
    if not name:
        return plain_line(model_line(room.chats))
    name, *window = name.split()
    if len(window) > 1 or not all(each.isdecimal() for each in window):
        return plain_line("write /model NAME, or /model NAME TOKENS for the size of its window")
    report = room.chats.switch(room.chat, name, int(window[0]) if window else None)
    room.move(room.chat)
    folded = [(Styled(each),) for each in feedback(report)] if report is not None else []
    return [*folded, *plain_line(model_line(room.chats))]


def export(room: ChatRoom, file: str) -> list[Line]:
    """Write everything that was said as Markdown."""
    session = room.chat.session
    target = Path(file or f"{session.id}.md").expanduser()
    messages = everything_said(room.chats.store, session.id)
    write_output(str(target), as_markdown(session, messages).encode("utf-8", "replace"))
    return plain_line(f"wrote {counted(len(messages), 'message')} to {target}")


@dataclass(frozen=True, slots=True)
class ResumeChoice:
    """A conversation that may be gone on with."""

    session: Session
    size: int
    """How many messages its window has."""


def recent(store: Store, limit: int = _MOST_LISTED) -> tuple[ResumeChoice, ...]:
    """Return the conversations used last; those with nothing but a prompt are left out.

    Branches are conversations of their own here, unlike in `holdfast sessions list`: somebody who
    went another way may want either.
    """
    found: list[ResumeChoice] = []
    for session in store.sessions(Listing(limit=_LOOKED_AT)):
        if session.fork in _BESIDE or session.end_reason is EndReason.COMPRESSION:
            continue
        size = len(store.window(session.id).entries)
        if size > 1:
            found.append(ResumeChoice(session, size))
        if len(found) == limit:
            break
    return tuple(found)


def listed(rows: Sequence[ResumeChoice], width: int, now: int) -> list[Line]:
    """Return the conversations as numbered lines."""
    if not rows:
        return [(Styled("there are no conversations yet", "yellow"),)]
    cells = [["", "used", "window", "title"]]
    for number, row in enumerate(rows, 1):
        session = row.session
        used, size = ago(session.touched, now), counted(row.size, "message")
        cells.append([str(number), used, size, clean(session.title) or session.id])
    return table(cells, width, right=frozenset({0}))


def chosen(store: Store, rows: Sequence[ResumeChoice], answer: str) -> Session | None:
    """Return the conversation that an answer means, by number, title or id; None if it means none.

    Raises:
        Unusable: when the answer means no conversation, or several.
    """
    answer = answer.strip()
    if not answer:
        return None
    if answer.isdecimal() and 1 <= int(answer) <= len(rows):
        return rows[int(answer) - 1].session
    words = answer.casefold()
    titled = [row.session for row in rows if words in row.session.title.casefold()]
    if len(titled) == 1:
        return titled[0]
    if titled:
        raise Unusable(f"{len(titled)} conversations have {answer!r} in their title")
    return find_session(store, answer)


def plain_line(words: str) -> list[Line]:
    """Return words as a line without a style."""
    return [(Styled(words),)]


_Run: TypeAlias = Callable[[ChatRoom, str], "Sequence[Line]"]
_KEYS = (
    "Enter sends; Alt-Enter or a final backslash begins another line.",
    "Ctrl-C stops an answer and keeps what was said; Ctrl-D leaves.",
    "A message that begins with a slash is written with two: //etc/hosts",
)
_LABEL = 14
_SHOWN = 60
_MOST_FOUND = 5


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """Something that a user may tell the chat itself."""

    name: str
    about: str
    run: _Run
    argument: str = ""
    aliases: tuple[str, ...] = ()


def run(room: ChatRoom, line: str) -> bool:
    """Carry out a command line and show what it has to say; says whether there is such a one."""
    name, *rest = line.removeprefix("/").split(maxsplit=1) or [""]
    command = _KNOWN.get(name.lower())
    if command is not None:
        room.show(command.run(room, rest[0].strip() if rest else ""))
        return True
    near = difflib.get_close_matches(name.lower(), _KNOWN, 1, 0.6)
    hint = f"did you mean /{near[0]}?" if near else "/help lists them, // says it to the model"
    room.show([(Styled(f"there is no command /{name}; {hint}", "yellow"),)])
    return False


def names() -> list[str]:
    """Return every name with its slash, for completion."""
    return sorted(f"/{name}" for name in _KNOWN)


def list_commands(_: ChatRoom, __: str) -> list[Line]:
    """List the commands with what each does."""
    usages: list[str] = []
    for command in COMMANDS:
        also = "".join(f", /{alias}" for alias in command.aliases)
        usages.append(f"/{command.name}{also} {command.argument}".rstrip())
    width = max(map(len, usages))
    lines: list[Line] = [
        (Styled(f"{usage:<{width}}  ", "cyan"), Styled(command.about))
        for usage, command in zip(usages, COMMANDS, strict=True)
    ]
    return [*lines, (), *((Styled(words, "dim"),) for words in _KEYS)]


def retry(room: ChatRoom, _: str) -> list[Line]:
    """Let the model answer what the user said last."""
    if not room.chat.log or room.chat.log[-1].message.role is Role.ASSISTANT:
        return [(Styled("nothing waits for an answer"),)]
    play(room, room.agent.answer())
    return []


def leave(_: ChatRoom, __: str) -> list[Line]:
    """End the chat."""
    raise LeaveChat


def compress(room: ChatRoom, focus: str) -> list[Line]:
    """Fold the window now, and say what came of it."""
    price = room.chats.compaction_estimate(room.chat)
    if price is not None and (price.cost or price.saving):
        room.show([(Styled(str(price), "dim"),)])
    first, *rest = feedback(room.chat.compress(focus))
    return [(Styled(first, "bold green"),), *((Styled(each),) for each in rest)]


def undo(room: ChatRoom, _: str) -> list[Line]:
    """Take the newest compaction or rewind back."""
    if not room.chat.undo():
        return plain_line("there is nothing to undo")
    return plain_line(f"undone: {_size(room)}; /redo brings it back")


def redo(room: ChatRoom, _: str) -> list[Line]:
    """Bring back what an undo took away."""
    return plain_line(f"redone: {_size(room)}" if room.chat.redo() else "there is nothing to redo")


def rewind(room: ChatRoom, turns: str) -> list[Line]:
    """Take the last turns out of the window."""
    if turns and not turns.isdecimal():
        return plain_line(f"{turns!r} is no number of turns")
    removed = room.chat.rewind(int(turns or 1))
    if not removed:
        return plain_line("nothing was taken out of the window")
    gone = counted(len(removed), "message")
    return plain_line(f"{gone} taken out of the window; /undo brings them back")


def pin(room: ChatRoom, _: str) -> list[Line]:
    """Pin what the user said last."""
    window = room.chats.store.window(room.chat.id)
    for entry in reversed(window.entries):
        if is_user_word(entry.message):
            room.chat.pin(entry.stands_for or entry.id)
            return plain_line(f"pinned: {crop(entry.message.text, _SHOWN)}")
    return plain_line("you have not said anything yet")


def goal(room: ChatRoom, text: str) -> list[Line]:
    """Show, set or drop the goal."""
    if text:
        room.chat.goal = "" if text == "-" else text
    return plain_line(f"goal: {room.chat.goal}" if room.chat.goal else "there is no goal")


def title(room: ChatRoom, text: str) -> list[Line]:
    """Show or set the title."""
    if text:
        room.chat.title = text
    return plain_line(f"title: {room.chat.title or '(none yet)'}")


def status(room: ChatRoom, _: str) -> list[Line]:
    """Tell how the conversation stands."""
    now = room.chat.status()
    lines = [
        _labeled("session", now.session),
        _labeled("title", now.title or "(none yet)"),
        _labeled("goal", now.goal or "(none)"),
        _labeled("model", f"{now.model}, {now.context_length:,} tokens"),
        _labeled("window", f"{counted(now.messages, 'message')}, about {now.tokens:,} tokens"),
        _labeled("folds at", f"{now.threshold:,} tokens ({now.share:.0%} reached)"),
        _labeled("records", f"by {now.summarizer}" if now.summarizer else "without a model"),
        _labeled("stored", f"{now.stored:,} entries, {counted(now.compactions, 'compaction')}"),
    ]
    lines += [_labeled("memory", memory_line(room.chats).removeprefix("Memory: "))]
    return [*lines, *_warnings(now)]


def usage(room: ChatRoom, _: str) -> list[Line]:
    """Tell what was used, what the cache saved and what it cost."""
    used = room.chat.usage
    lines = [
        _labeled("calls", f"{used.calls:,}"),
        _labeled("read", f"{used.prompt_tokens:,} tokens"),
        _labeled("from cache", f"{used.cache_read_tokens:,} tokens"),
        _labeled("cache writes", f"{used.cache_write_tokens:,} tokens"),
        _labeled("answered", f"{used.output_tokens:,} tokens"),
    ]
    lines += [_labeled(label, words) for label, words in costs(room.chats, room.chat)]
    return [*lines, *_warnings(room.chat.status())]


def _warnings(status: Status) -> list[Line]:
    said = filter(None, (*status.troubles, status.pressure))
    return [_labeled("warning", each, "yellow") for each in said]


def _size(room: ChatRoom) -> str:
    now = room.chat.status()
    return f"the window has {counted(now.messages, 'message')}, about {now.tokens:,} tokens"


def _labeled(label: str, words: str, style: str = "") -> Line:
    return (Styled(f"{label:<{_LABEL}}", "dim"), Styled(words, style))


def search(room: ChatRoom, words: str) -> list[Line]:
    """Find what was ever said, in all conversations; after `here`, quote this one alone."""
    first, _, rest = words.partition(" ")
    is_within = first == "here" and bool(rest.strip())
    if not words:
        return plain_line("say what to look for: /search WORDS, or /search here WORDS")
    shape: Discovery | Inside = Discovery(query=words, scope=Scope(), limit=_MOST_FOUND)
    if is_within:
        shape = Inside(query=rest, session_id=room.chat.id, scope=Scope(), limit=_MOST_FOUND)
    found = search_in(room.chats.store).look(Asked(shape, include_current=True))
    if isinstance(found, Wrong) or not search_hits(found):
        return plain_line("nothing was found; try fewer or other words, or part* for a beginning")
    return hits_drawn(found, room.view, now_ms(), is_within=is_within)


def memory(room: ChatRoom, argument: str) -> list[Line]:
    """Show what is remembered, or add and remove an entry."""
    action, _, text = argument.partition(" ")
    if not action:
        return [(Styled(line),) for line in remembered(room.chats)]
    if action not in ("add", "remove") or not text.strip():
        return plain_line("write /memory, /memory add TEXT or /memory remove TEXT")
    try:
        edit = Add("memory", text.strip()) if action == "add" else Remove("memory", text.strip())
        return plain_line(room.chats.memory_files.edit(edit).words)
    except MemoryRefused as refused:
        return [(Styled(str(refused), "yellow"),)]


def tools(room: ChatRoom, _: str) -> list[Line]:
    """List what the model may use."""
    specs = room.agent.toolbox.specs
    if not specs:
        return plain_line("the model has no tools here")
    width = max(len(spec.name) for spec in specs) + 2
    room_left = room.view.width - width
    return [
        (
            Styled(f"{spec.name:<{width}}", "cyan"),
            Styled(crop(clean(spec.description).split(". ")[0], room_left)),
        )
        for spec in specs
    ]


def remembered(chats: Chats) -> Iterator[str]:
    """Yield what the memory files hold, line by line."""
    for notebook in NOTEBOOKS.values():
        entries = chats.memory_files.entries(notebook)
        yield f"{notebook.file}: {memory_usage(notebook, entries)}"
        yield from (f"- {entry}" for entry in entries)


def costs(chats: Chats, chat: Conversation) -> Iterator[tuple[str, str]]:
    """Yield what calls and compactions cost, label and words."""
    tally = chats.accounting.tally
    if chat.usage.cost:
        yield "cost", f"${chat.usage.cost:.4f}; the cache saved ${tally.saved:.4f} of it"
    if tally.last is not None:
        expected, reported = tally.last.expected, tally.last.reported
        yield "last call", f"{reported.cache_read_tokens:,} from cache, {expected.read:,} expected"
        yield "prefix", str(expected.link)
    for number, record in enumerate(chat.compactions(), 1):
        if record.cost or record.cache_cost:
            after = record.report.get("break_even")
            pays = f"pays for itself after {after} requests" if after else "never pays for itself"
            price = f"${record.cost:.4f} and ${record.cache_cost:.4f} in cache"
            yield f"compaction {number}", f"{price}; {pays}"


COMMANDS: tuple[SlashCommand, ...] = (
    SlashCommand("compress", "Fold the window now.", compress, "[focus]", ("compact",)),
    SlashCommand("undo", "Take the newest compaction or rewind back.", undo),
    SlashCommand("redo", "Bring back what an undo took away.", redo),
    SlashCommand("rewind", "Take the last turns out of the window.", rewind, "[turns]"),
    SlashCommand("retry", "Let the model answer what you said last.", retry),
    SlashCommand("pin", "Keep your last message as it is.", pin),
    SlashCommand("goal", "Show, set or drop the goal.", goal, "[text|-]"),
    SlashCommand("title", "Show or set the title.", title, "[text]"),
    SlashCommand("status", "How the conversation stands.", status),
    SlashCommand("usage", "Tokens, cache and cost so far.", usage),
    SlashCommand("new", "Begin anew; this one stays stored.", begin_anew),
    SlashCommand("branch", "Go another way from here.", branch, "[--keep] [title]"),
    SlashCommand("resume", "Go on with another conversation.", resume, "[id]"),
    SlashCommand("sessions", "List the conversations used last.", list_sessions),
    SlashCommand("aside", "Ask beside the conversation.", aside, "QUESTION"),
    SlashCommand("model", "Show the model, or switch to another.", model, "[name [tokens]]"),
    SlashCommand("export", "Write the conversation to a file.", export, "[FILE]"),
    SlashCommand("search", "Find what was ever said.", search, "[here] WORDS"),
    SlashCommand("memory", "Show or edit what is remembered.", memory, "[add|remove TEXT]"),
    SlashCommand("tools", "List what the model may use.", tools),
    SlashCommand("help", "List the commands.", list_commands),
    SlashCommand("quit", "Leave; the conversation can be resumed.", leave, aliases=("exit",)),
)
_KNOWN = {name: each for each in COMMANDS for name in (each.name, *each.aliases)}
