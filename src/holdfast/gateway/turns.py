"""A request of a client as a turn of a stored conversation: found, recorded, and made to fit.

What is new in a request is in the store before anything is forwarded. While nothing of a
conversation was folded, its requests go out as they came in. Afterwards the summary goes out in
place of what it stands for, and everything else in the client's own newest words.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, cast
from uuid import uuid4
from weakref import WeakValueDictionary

from holdfast.compaction import Policy
from holdfast.conversation.effects import in_store
from holdfast.conversation.passes import pieces_of
from holdfast.engines import EngineDeps
from holdfast.engines.contract_adapter import truncating_engine
from holdfast.errors import ConfigError
from holdfast.formats.documents.container import SYSTEM_KEYS
from holdfast.recognition.atoms import atoms_in
from holdfast.recognition.matching import Continuity, recognize
from holdfast.recognition.request import MESSAGES
from holdfast.session import Cause, Change, Kind
from holdfast.system.system_clock import SystemClock
from holdfast.transcript import Role
from holdfast.wire import DIALECTS, Body
from holdfast.wiring.assembly import WINDOW
from holdfast.wiring.asynchronous import AsyncConversation
from holdfast.wiring.models import known_window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.gateway.tree_file import TreeFile
    from holdfast.recognition.matching import Recognition
    from holdfast.recognition.request import WireRequest
    from holdfast.session import Entry, Window
    from holdfast.wiring.conversations import Conversation
    from holdfast.wiring.registry import Conversations

__all__ = ["Turn", "TurnKeeper"]

_SIDE_SHARE = 0.8
"""How much of a window the history of a side call may take; prompt and answer have the rest."""
_PROMPT_AMONG_MESSAGES = frozenset({"openai", "responses"})
_GOES_ON = frozenset({Continuity.EXTENDS, Continuity.RETRY, Continuity.REVISION})


@dataclass(frozen=True, slots=True)
class Turn:
    """A request that was recognized, with the conversation it belongs to."""

    request: WireRequest
    found: Recognition
    messages: Sequence[dict[str, object]]
    """The client's own messages."""
    chat: AsyncConversation | None
    """The conversation; None for a side call, which goes out as it came in."""
    places: Mapping[int, int]
    """Where the client has what was said, as an index of its messages by the ids in the store."""
    window: int
    """What the model takes, in tokens."""
    recalled: bool = False
    """Whether memory was put into the request, which the answer may repeat."""

    async def outgoing(self) -> list[dict[str, object]] | None:
        """Return the messages to send, compacted if that is due; None for those that came in."""
        if self.chat is None:
            return await in_store(self._cut) if self.found.node is not None else None
        await self.chat.body(self.request.dialect)
        window = await in_store(self.chat.sync.live.refresh)
        if all(entry.kind is Kind.SAID for entry in window.entries):
            return None
        return self._spliced(window)

    def _cut(self) -> list[dict[str, object]] | None:
        """Return the history of a side call without its oldest part, where it does not fit.

        Whoever asks for a summary of it all gets what was said, and not what we made of it.
        """
        room = int(self.window * _SIDE_SHARE)
        engine = truncating_engine(
            Policy(context_length=self.window, fit=room), EngineDeps(clock=SystemClock())
        )
        cut = engine.compress(self.messages, format=self.request.dialect)
        return cut.messages if cut.report.tokens_before > room else None

    def _spliced(self, window: Window) -> list[dict[str, object]]:
        """Return what was written in place of old messages, and the client's words for the rest.

        What the client no longer tells is not told again, unless a compaction wrote it.
        """
        dialect = DIALECTS[self.request.dialect]
        entries = [entry for entry in window.entries if entry.message.role is not Role.SYSTEM]
        folded = max((at for at, each in enumerate(entries) if each.message.summary), default=-1)
        behind = [self.places.get(_source(each)) for each in entries[folded + 1 :]]
        tail = min((place for place in behind if place is not None), default=len(self.messages))
        shown = leading = _leading(self.request.dialect, self.messages)
        first = len(leading)
        for entry in entries[: folded + 1]:
            place = self.places.get(_source(entry))
            if entry.kind is not Kind.SAID:
                shown += dialect.encode((entry.message,)).messages
            elif place is not None and place < tail:
                shown.append(self.messages[place])
        shortened = {
            place: entry.message
            for place, entry in zip(behind, entries[folded + 1 :], strict=True)
            if place is not None and entry.kind is not Kind.SAID
        }
        for place in range(max(tail, first), len(self.messages)):
            if place in shortened:
                shown += dialect.encode((shortened[place],)).messages
            else:
                shown.append(self.messages[place])
        if dialect.validate(Body(shown)):
            return dialect.encode(window.transcript).messages
        return shown


def _prompt(dialect: str, body: Mapping[str, object], leading: Sequence[object]) -> str:
    """Return the system prompt, wherever a dialect keeps it."""
    beside = next((body[name] for name in SYSTEM_KEYS[dialect] if body.get(name)), None)
    read = DIALECTS[dialect].decode(Body(cast("list[dict[str, object]]", [*leading]), beside))
    return "\n\n".join(message.text for message in read)


def _leading(dialect: str, messages: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Return the messages at the beginning that are system prompts, where a dialect has such."""
    if dialect not in _PROMPT_AMONG_MESSAGES:
        return []
    return list(takewhile(lambda each: each.get("role") in ("system", "developer"), messages))


def _source(entry: Entry) -> int:
    return entry.id if entry.stands_for is None else entry.stands_for


@dataclass(slots=True)
class TurnKeeper:
    """Finds and records the turns of one tenant's conversations."""

    conversations: Conversations
    tree: TreeFile
    context_length: int | None = None
    """What every model takes, in tokens; by default what is known of each."""
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def take(self, request: WireRequest, body: Mapping[str, object]) -> Turn:
        """Find the conversation of a request and record what is new in it."""
        found = await in_store(partial(recognize, request, self.tree))
        messages = cast("list[dict[str, object]]", body.get(MESSAGES[request.dialect]) or [])
        window = self.context_length or known_window(request.model) or WINDOW
        if found.how is Continuity.SIDE:
            return Turn(request, found, messages, None, {}, window)
        key = self._key(request, found)
        lock = self._locks.setdefault(key, asyncio.Lock())
        async with lock:
            chat = await self._chat(key, found)
            held = await chat.session()
            if (held.model, held.context_length) != (request.model, window):
                # One that does not fit is recorded all the same; its provider says so.
                with suppress(ConfigError):
                    await chat.switch_model(request.model, window)
            leading = _leading(request.dialect, messages)
            if prompt := _prompt(request.dialect, body, leading):
                await chat.set_system(prompt)
            new = await in_store(partial(self._recorded, chat.sync, request, found, messages))
            await in_store(partial(self.tree.record, request, found, key, new))
            places = await in_store(partial(self._places, request, found, new))
        return Turn(request, found, messages, chat, places, window)

    def _key(self, request: WireRequest, found: Recognition) -> str:
        if found.how in _GOES_ON and found.node is not None:
            identity = request.identity.key
            own = self.tree.session_of(identity) if identity else ""
            is_own = not identity or self.tree.identity_of(found.node.session) == identity
            return found.node.session if is_own or not own else own
        return f"gateway:{uuid4().hex}"

    async def _chat(self, key: str, found: Recognition) -> AsyncConversation:
        if found.how is Continuity.BRANCH and found.node is not None:
            parent = await self.conversations.aopen(found.node.session)
            child = await parent.branch(found.node.message, keep_parent=True)
            await in_store(partial(self.conversations.adopt, key, child.sync))
            return child
        return await self.conversations.aopen(key)

    def _recorded(
        self,
        chat: Conversation,
        request: WireRequest,
        found: Recognition,
        messages: Sequence[dict[str, object]],
    ) -> list[int]:
        """Write what is new to the log; return the id of its message for each new atom."""
        wanted = request.atoms[found.known :]
        ids: list[int] = []
        after = _after(chat.live.refresh(), found.node.message if found.node else 0)
        for index, entry in enumerate(after):
            atoms = atoms_in(entry.message)
            if wanted[len(ids) : len(ids) + len(atoms)] != atoms:
                # An answer that the client has otherwise, or that it never received.
                self._cut(chat, after[index].id)
                break
            ids += [entry.id] * len(atoms)
        fresh = found.known + len(ids)
        if fresh < len(request.atoms):
            ids += self._appended(chat, request, messages[request.places[fresh] :], fresh)
        return ids

    def _appended(
        self,
        chat: Conversation,
        request: WireRequest,
        messages: Sequence[dict[str, object]],
        fresh: int,
    ) -> list[int]:
        said = DIALECTS[request.dialect].decode(Body([*messages]))
        entries = chat.log.append(said)
        ids = [entry.id for entry in entries for _ in atoms_in(entry.message)]
        missing = len(request.atoms) - fresh
        # Results that are told twice are one atom.
        return [*ids, *[entries[-1].id] * missing][:missing]

    def _cut(self, chat: Conversation, first: int) -> None:
        """Take an answer out of the window that is not part of the conversation."""

        def cut(window: Window) -> None:
            kept = tuple(entry for entry in window.entries if entry.id < first)
            change = Change(
                cause=Cause.REWIND,
                pieces=pieces_of(kept, tuple(each.message for each in kept), at=0),
                generation=window.head.generation,
                seen=window.head.size,
                at=chat.live.deps.clock.moment(),
            )
            chat.store.change(chat.id, change)

        chat.live.retry(cut)

    def _places(
        self, request: WireRequest, found: Recognition, new: Sequence[int]
    ) -> dict[int, int]:
        """Return where each stored message stands in the request."""
        path = self.tree.path_to(found.node) if found.node else []
        places: dict[int, int] = {}
        if found.how is Continuity.REVISION:
            # Told otherwise, but by the same calls.
            by_call = {call: message for call, message in path if call}
            for atom, place in zip(request.atoms[: found.known], request.places, strict=False):
                if atom.call in by_call:
                    places.setdefault(by_call[atom.call], place)
        else:
            for (_, message), place in zip(path, request.places, strict=False):
                places.setdefault(message, place)
        for message, place in zip(new, request.places[found.known :], strict=True):
            places.setdefault(message, place)
        return places


def _after(window: Window, message: int) -> list[Entry]:
    return [
        entry
        for entry in window.entries
        if entry.kind is Kind.SAID and entry.id > message and entry.message.role is not Role.SYSTEM
    ]
