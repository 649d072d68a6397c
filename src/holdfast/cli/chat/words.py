"""What the chat says of itself: who answers, how memory does, what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.memory import NOTEBOOKS, usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.session import CompactionRecord
    from holdfast.wiring.chats import Chats
    from holdfast.wiring.conversations import Conversation

__all__ = ["costs", "fold_line", "memory_line", "model_line", "remembered"]

_LOCAL = "local"


def fold_line(record: CompactionRecord) -> str:
    """Return what a compaction did, in one line."""
    figures = record.report
    where = " in the background" if record.trigger == "ahead_of_time" else ""
    return (
        f"{figures.get('messages_before')} -> {figures.get('messages_after')} messages, about "
        f"{figures.get('tokens_before'):,} -> {figures.get('tokens_after'):,} tokens{where}"
    )


def model_line(chats: Chats) -> str:
    """Return who answers, and how much fits."""
    model = chats.model
    where = " on this machine" if model.endpoint == _LOCAL else ""
    if model.endpoint and not where:
        where = f" at {model.endpoint}"
    return f"{model.name}{where}, {chats.window:,} tokens"


def memory_line(chats: Chats) -> str:
    """Return how memory is doing, in one line."""
    if chats.memory is None:
        return "Memory is off."
    status = chats.memory.status()
    who = f"Memory: files and {status.provider}." if status.provider else "Memory: files."
    return f"{who} {status.trouble}".rstrip()


def remembered(chats: Chats) -> Iterator[str]:
    """Yield what the memory files hold, line by line."""
    for notebook in NOTEBOOKS.values():
        entries = chats.files.entries(notebook)
        yield f"{notebook.file}: {usage(notebook, entries)}"
        yield from (f"- {entry}" for entry in entries)


def costs(chats: Chats, chat: Conversation) -> Iterator[tuple[str, str]]:
    """Yield what calls and compactions cost, label and words."""
    tally = chats.ledger.tally
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
