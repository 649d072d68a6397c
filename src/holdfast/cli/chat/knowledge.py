"""Commands about what is known: what was said, what is remembered, what may be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.chat.words import remembered
from holdfast.cli.flags import now_ms
from holdfast.cli.lines import Line, Span
from holdfast.cli.search import hits_drawn
from holdfast.errors import MemoryRefused
from holdfast.memory import Add, Remove
from holdfast.recall.asked import Asked, Discovery, Scope
from holdfast.recall.shapes import Excerpts
from holdfast.views.words import clean, crop
from holdfast.wiring.searching import search_in

if TYPE_CHECKING:
    from holdfast.cli.chat.room import Room

__all__ = ["memory", "search", "tools"]

_MOST = 5


def search(room: Room, words: str) -> list[Line]:
    """Find what was ever said, in this conversation and in all others."""
    if not words:
        return _plain("say what to look for: /search WORDS")
    asked = Asked(Discovery(query=words, scope=Scope(), limit=_MOST), include_current=True)
    found = search_in(room.chats.store).look(asked)
    if not isinstance(found, Excerpts) or not found.excerpts:
        return _plain("nothing was found; try fewer or other words, or part* for a beginning")
    return hits_drawn(found, room.view, now_ms(), is_within=False)


def memory(room: Room, argument: str) -> list[Line]:
    """Show what is remembered, or add and remove an entry."""
    action, _, text = argument.partition(" ")
    if not action:
        return [(Span(line),) for line in remembered(room.chats)]
    if action not in ("add", "remove") or not text.strip():
        return _plain("write /memory, /memory add TEXT or /memory remove TEXT")
    try:
        edit = Add("memory", text.strip()) if action == "add" else Remove("memory", text.strip())
        return _plain(room.chats.files.edit(edit).words)
    except MemoryRefused as refused:
        return [(Span(str(refused), "yellow"),)]


def tools(room: Room, _: str) -> list[Line]:
    """List what the model may use."""
    specs = room.agent.toolbox.specs
    if not specs:
        return _plain("the model has no tools here")
    width = max(len(spec.name) for spec in specs) + 2
    room_left = room.view.width - width
    return [
        (
            Span(f"{spec.name:<{width}}", "cyan"),
            Span(crop(clean(spec.description).split(". ")[0], room_left)),
        )
        for spec in specs
    ]


def _plain(words: str) -> list[Line]:
    return [(Span(words),)]
