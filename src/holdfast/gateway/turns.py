"""A request of a client as a turn of a stored conversation: found, recorded, and made to fit.

What is new in a request is in the store before anything is forwarded. While nothing of a
conversation was folded, its requests go out as they came in. Afterwards the summary goes out in
place of what it stands for, and everything else in the client's own newest words.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
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
from holdfast.recognition.atoms import AtomKind, atoms_in, bare_call_id
from holdfast.recognition.matching import Continuity, recognize
from holdfast.recognition.request import MESSAGES
from holdfast.session import Cause, Change, Kind
from holdfast.system.system_clock import SystemClock
from holdfast.tokens import Estimator, Load, family_of
from holdfast.transcript import Message, Role, Text
from holdfast.wire import DIALECTS, Body
from holdfast.wiring.asynchronous import AsyncConversation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.gateway.tree_file import TreeFile
    from holdfast.recognition.matching import Recognition
    from holdfast.recognition.request import WireRequest
    from holdfast.session import Entry, Window
    from holdfast.wire import Dialect
    from holdfast.wiring.conversations import Conversation
    from holdfast.wiring.registry import Conversations

__all__ = ["ClientTurn", "TurnKeeper"]

_SIDE_SHARE = 0.8
"""How much of a window the history of a side call may take; prompt and answer have the rest."""
_MARKER = "cache_control"
_MOST_TOOLS = 256
"""Sets of tools whose weight is remembered."""
_PROMPT_AMONG_MESSAGES = frozenset({"openai", "responses"})
_GOES_ON = frozenset({Continuity.EXTENDS, Continuity.RETRY, Continuity.REVISION})


@dataclass(frozen=True, slots=True)
class ClientTurn:
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
    """What the model takes, in tokens; for a side call, what its tools leave of that."""
    recalled: bool = False
    """Whether memory was put into the request, which the answer may repeat."""

    async def outgoing(self) -> list[dict[str, object]] | None:
        """Return the messages to send, compacted if that is due; None for those that came in."""
        if self.chat is None:
            return await in_store(self._cut) if self.found.node is not None else None
        body = await self.chat.body(self.request.dialect)
        window = await in_store(self.chat.sync.live.refresh)
        if all(entry.kind is Kind.SAID for entry in window.entries):
            return None
        spliced = self._spliced(window)
        is_valid = spliced is not None and not self._dialect.validate(Body(spliced))
        return spliced if is_valid else body.messages

    @property
    def _dialect(self) -> Dialect:
        return DIALECTS[self.request.dialect]

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

    def _spliced(self, window: Window) -> list[dict[str, object]] | None:
        """Return what was written in place of old messages, and the client's words for the rest.

        What the client no longer tells is not told again, unless a compaction wrote it. Nothing is
        returned where one message of ours stands for several of the client.
        """
        entries = [entry for entry in window.entries if entry.message.role is not Role.SYSTEM]
        folded = max((at for at, each in enumerate(entries) if each.message.summary), default=-1)
        atoms = zip(self.request.atoms, self.request.places, strict=True)
        results = {atom.call: place for atom, place in atoms if atom.kind is AtomKind.RESULT}
        places = [self._places_of(entry, results) for entry in entries]
        tail = min((place for each in places[folded + 1 :] for place in each), default=None)
        tail = len(self.messages) if tail is None else tail
        leading = _leading(self.request.dialect, self.messages)
        shown = [*leading]
        for entry, found in zip(entries[: folded + 1], places, strict=False):
            if entry.kind is not Kind.SAID:
                shown += self._dialect.encode((entry.message,)).messages
            else:
                shown += [self.messages[place] for place in found if place < tail]
        shortened: dict[int, Message] = {}
        for entry, found in zip(entries[folded + 1 :], places[folded + 1 :], strict=True):
            if entry.kind is Kind.SAID:
                continue
            if len(found) != 1:
                return None
            shortened[found[0]] = entry.message
        for place in range(max(tail, len(leading)), len(self.messages)):
            if place in shortened:
                shown += self._dialect.encode((shortened[place],)).messages
            else:
                shown.append(self.messages[place])
        return shown

    def _places_of(self, entry: Entry, results: Mapping[str, int]) -> list[int]:
        """Return where the client has what an entry says; results are found by their calls."""
        calls = [bare_call_id(result.call_id) for result in entry.message.results]
        found = {results[call] for call in calls if call in results}
        if not found and (place := self.places.get(_source(entry))) is not None:
            found = {place}
        return sorted(found)


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


def _unmarked(message: dict[str, object]) -> dict[str, object]:
    """Return a message without cache markers: where they stand is the newest request's to say."""
    content = message.get("content")
    if not isinstance(content, list) or not any(
        isinstance(block, dict) and _MARKER in block for block in cast("list[object]", content)
    ):
        return message
    bare = [
        {name: value for name, value in cast("dict[str, object]", block).items() if name != _MARKER}
        if isinstance(block, dict)
        else block
        for block in cast("list[object]", content)
    ]
    return {**message, "content": bare}


def _beside(request: WireRequest, body: Mapping[str, object]) -> int:
    """Return what a request weighs without its messages: tools, and mostly the prompt."""
    rest = {name: value for name, value in body.items() if name != MESSAGES[request.dialect]}
    return Estimator(family_of(request.model)).count(json.dumps(rest))


def _source(entry: Entry) -> int:
    return entry.id if entry.stands_for is None else entry.stands_for


@dataclass(slots=True)
class TurnKeeper:
    """Finds and records the turns of one tenant's conversations."""

    conversations: Conversations
    tree: TreeFile
    context_length: int | None = None
    """What every model takes, in tokens; by default as configured, or what is known of each."""
    _weighed: dict[bytes, Load] = field(default_factory=dict[bytes, Load])
    """What each set of tools weighs; a client has few."""
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def take(self, request: WireRequest, body: Mapping[str, object]) -> ClientTurn:
        """Find the conversation of a request and record what is new in it."""
        messages = cast("list[dict[str, object]]", body.get(MESSAGES[request.dialect]) or [])
        window = self.context_length or self.conversations.window(request.model)
        while True:
            found = await in_store(partial(recognize, request, self.tree))
            if found.how is Continuity.SIDE:
                room = max(window - _beside(request, body), window // 4)
                return ClientTurn(request, found, messages, None, {}, room)
            place = found.node.session if found.node else found.prefixes[0].hex()
            async with self._locks.setdefault(place, asyncio.Lock()):
                # Another request may have gone on from there while this one waited.
                if await in_store(partial(recognize, request, self.tree)) == found:
                    return await self._taken(request, found, body, messages, window)

    async def _taken(
        self,
        request: WireRequest,
        found: Recognition,
        body: Mapping[str, object],
        messages: Sequence[dict[str, object]],
        window: int,
    ) -> ClientTurn:
        key = self._key(request, found)
        chat = await self._chat(key, found)
        held = await chat.session()
        if (held.model, held.context_length) != (request.model, window):
            # One that does not fit is recorded all the same; its provider says so.
            with suppress(ConfigError):
                await chat.switch_model(request.model, window)
        leading = _leading(request.dialect, messages)
        if prompt := _prompt(request.dialect, body, leading):
            await chat.set_system(prompt)
        chat.sync.live.beside = self._tools(chat.sync, body)
        new = await in_store(partial(self._recorded, chat.sync, request, found, messages))
        await in_store(partial(self.tree.record, request, found, key, new))
        places = await in_store(partial(self._places, request, found, new))
        return ClientTurn(request, found, messages, chat, places, window)

    def _tools(self, chat: Conversation, body: Mapping[str, object]) -> Load:
        """Return what the tools of a request weigh: as much as a long conversation in some."""
        if not body.get("tools"):
            return Load()
        written = json.dumps(body["tools"])
        digest = sha256(written.encode()).digest()
        if digest not in self._weighed:
            if len(self._weighed) >= _MOST_TOOLS:
                self._weighed.clear()
            read = Message(Role.SYSTEM, (Text(written),))
            self._weighed[digest] = chat.live.deps.engine.load((read,))
        return self._weighed[digest]

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
        gone: set[int] = set()
        for index, entry in enumerate(after):
            atoms = atoms_in(entry.message)
            if wanted[len(ids) : len(ids) + len(atoms)] == atoms:
                ids += [entry.id] * len(atoms)
            elif not ids and entry.message.role is Role.USER:
                # Words that the client moves to the end of every request.
                gone.add(entry.id)
            else:
                # An answer that the client has otherwise, or that it never received.
                gone.update(each.id for each in after[index:])
                break
        if gone:
            self._cut(chat, gone)
        fresh = found.known + len(ids)
        if fresh < len(request.atoms):
            ids += self._appended(chat, request, messages, fresh)
        return ids

    def _appended(
        self,
        chat: Conversation,
        request: WireRequest,
        messages: Sequence[dict[str, object]],
        fresh: int,
    ) -> list[int]:
        decode, first = DIALECTS[request.dialect].decode, request.places[fresh]
        new = [_unmarked(each) for each in messages[first:]]
        if request.dialect == "gemini":
            # Calls without an id are known by their place among all.
            said = decode(Body([*messages]))[len(decode(Body([*messages[:first]]))) :]
        else:
            said = decode(Body(new))
        entries = chat.log.append(said)
        ids = [entry.id for entry in entries for _ in atoms_in(entry.message)]
        missing = len(request.atoms) - fresh
        # Results that are told twice are one atom.
        return [*ids, *[entries[-1].id] * missing][:missing]

    def _cut(self, chat: Conversation, gone: set[int]) -> None:
        """Take messages out of the window that the client does not have; the log keeps them."""

        def cut(window: Window) -> None:
            kept = tuple(entry for entry in window.entries if entry.id not in gone)
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
        is_same_length = len(path) == found.known
        if found.how is not Continuity.REVISION or is_same_length:
            for (_, _, message), place in zip(path, request.places, strict=False):
                places.setdefault(message, place)
        else:
            # Told otherwise and in more or fewer pieces, but by the same calls.
            by_call = {(kind, call): message for kind, call, message in path if call}
            places[path[0][2]] = request.places[0]
            for atom, place in zip(request.atoms[: found.known], request.places, strict=False):
                if (message := by_call.get((atom.kind, atom.call))) is not None:
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
