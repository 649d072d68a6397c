"""A request of a client as a turn of a stored conversation: found, recorded, and made to fit.

What is new in a request is in the store before anything is forwarded. While nothing of a
conversation was folded, its requests go out as they came in. Afterwards the summary goes out in
place of what it stands for, and everything else in the client's own newest words.
"""

from __future__ import annotations

import asyncio
import dataclasses
import itertools
import json
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace

from holdfast.conversation.waiting import Checkpoints, StoreVisits, start_in_store
from holdfast.errors import ConfigError, Conflict, InvalidTranscript, StoreError
from holdfast.formats.documents import SYSTEM_KEYS
from holdfast.gateway.client_turn import ClientTurn, is_plain, leading_prompts
from holdfast.gateway.tree_file import PlaceTaken
from holdfast.ports import Amendment
from holdfast.recognition.atoms import ANSWERS, PrefixMemory, atoms_in, bare_call_id, count_atoms
from holdfast.recognition.matching import Continuity, recognize
from holdfast.recognition.request import MESSAGES
from holdfast.session import Cause, Change, Fork, Kind
from holdfast.tokens import Estimator, Load, family_of
from holdfast.transcript import Message, Recalled, Role, Text, ToolResult
from holdfast.wire import DIALECTS, Body
from holdfast.wiring.asynchronous import AsyncConversation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.gateway.tree_file import TreeFile
    from holdfast.memory_runtime import MemoryHub
    from holdfast.recognition.matching import Recognition
    from holdfast.recognition.request import WireRequest
    from holdfast.session import Entry, Window
    from holdfast.wiring.conversations import Conversation
    from holdfast.wiring.registry import Conversations

_MARKER = "cache_control"
_MOST_TOOLS = 256
"""Sets of tools whose weight is remembered."""
_PATIENCE_S, _PAUSE_S = 5.0, 0.003
"""How long a request waits where another process goes on, and between two looks."""
_FULL, _EACH = 1_000, 8
"""New messages after which what waits beside the files is moved, and as how many a request counts:
half as much waits then as the files allow."""


def _prompt(dialect: str, body: Mapping[str, object], leading: Sequence[object]) -> str:
    """Return the system prompt, wherever a dialect keeps it."""
    beside = next((body[name] for name in SYSTEM_KEYS[dialect] if body.get(name)), None)
    read = DIALECTS[dialect].decode(Body(cast("list[dict[str, object]]", [*leading]), beside))
    return "\n\n".join(message.text for message in read)


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
    return Estimator(family_of(request.model)).count(_packed(rest).decode())


def _packed(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeError:
        return json.dumps(value).encode()


def _renamed(said: Sequence[Message], window: Sequence[Message]) -> Sequence[Message]:
    """Return results under the ids that their calls were given: OpenClaw takes marks out of them.

    A result without its call would not be shown once the conversation is folded.
    """
    calls = {call.id for message in said for call in message.calls}
    loose = {result.call_id for message in said for result in message.results} - calls
    asked = next((each for each in reversed(window) if each.calls), None) if loose else None
    if asked is None or loose <= {call.id for call in asked.calls}:
        return said
    given = {bare_call_id(call.id): call for call in asked.calls}
    known = {id_: call for id_ in loose if (call := given.get(bare_call_id(id_)))}
    theirs = Message(Role.ASSISTANT, tuple(replace(call, id=id_) for id_, call in known.items()))
    return _answering(said, [theirs], [Message(Role.ASSISTANT, (*known.values(),))])


def _answering(
    said: Sequence[Message], asked: Sequence[Message], stored: Sequence[Message]
) -> list[Message]:
    """Return results under the ids that their calls have in the store."""
    ids = {
        told.id: kept.id
        for theirs, ours in zip(asked, stored, strict=False)
        for told, kept in zip(theirs.calls, ours.calls, strict=False)
    }
    return [
        replace(
            message,
            parts=tuple(
                replace(part, call_id=ids.get(part.call_id, part.call_id))
                if isinstance(part, ToolResult)
                else part
                for part in message.parts
            ),
        )
        for message in said
    ]


@dataclass(frozen=True, slots=True)
class _Opened:
    """The conversation that a request belongs to, before anything of it is recorded."""

    found: Recognition
    key: str
    chat: Conversation


@dataclass(slots=True)
class TurnKeeper:
    """Finds and records the turns of one tenant's conversations."""

    conversations: Conversations
    tree: TreeFile
    context_length: int | None = None
    """What every model takes, in tokens; by default as configured, or what is known of each."""
    memory: MemoryHub | None = None
    """What is recalled for each turn, where a provider is configured."""
    _weighed: dict[bytes, Load] = field(default_factory=dict[bytes, Load])
    """What each set of tools weighs; a client has few."""
    _visits: StoreVisits = field(default_factory=StoreVisits)
    """Where requests are taken, one after the other: each sees what those before it said."""
    _answers: StoreVisits = field(init=False)
    """Where answers are recorded: in turn with requests, unless these wait for memory."""
    _prefixes: PrefixMemory = field(default_factory=PrefixMemory)
    _unmoved: int = 0
    """How much was written since the last checkpoint."""

    def __post_init__(self) -> None:
        """Let one thread do what can be done at once: two would wait for each other."""
        self._answers = self._visits if self.memory is None else StoreVisits()

    async def take(self, request: WireRequest, body: Mapping[str, object]) -> ClientTurn:
        """Find the conversation of a request and record what is new in it."""
        opened: _Opened | None = None
        end = time.monotonic() + _PATIENCE_S
        while True:
            try:
                taken = await self._visits.make(partial(self._take, request, body, opened))
            except PlaceTaken:
                if time.monotonic() >= end:
                    raise
                # What other clients say does not wait for this.
                await asyncio.sleep(_PAUSE_S)
                continue
            if isinstance(taken, ClientTurn):
                return taken
            opened = taken
            # What does not fit another model is compacted first, which may wait for a model. If
            # it does not fit even then, it is recorded all the same; its provider says so.
            with suppress(ConfigError):
                chat = AsyncConversation(opened.chat)
                await chat.switch_model(request.model, self._window(request))

    def _window(self, request: WireRequest) -> int:
        return self.conversations.window(request.model, self.context_length)

    def _take(
        self, request: WireRequest, body: Mapping[str, object], opened: _Opened | None
    ) -> ClientTurn | _Opened:
        """Record a request while no other process adds to a conversation that begins like it."""
        with self.tree.claimed(request.atoms[0].digest if request.atoms else b""):
            return self._taken(request, body, opened)

    def _taken(
        self, request: WireRequest, body: Mapping[str, object], opened: _Opened | None
    ) -> ClientTurn | _Opened:
        """Record a request, unless its conversation has another model: then it is returned.

        Args:
            request: The request.
            body: All that it says.
            opened: What was returned before the model was switched.
        """
        if request.trouble and not request.side:
            raise InvalidTranscript(request.trouble)
        said = body.get(MESSAGES[request.dialect])
        spoken = [{"role": "user", "content": said}] if isinstance(said, str) else said
        messages = cast("Sequence[dict[str, object]]", spoken or ())
        found, window = recognize(request, self.tree, self._prefixes.hashes), self._window(request)
        turn = ClientTurn(request, found, messages, window, self._answers)
        if found.how is Continuity.SIDE:
            if request.side != "count" or found.node is None or not found.known:
                return dataclasses.replace(
                    turn, window=max(window - _beside(request, body), window // 4)
                )
            counted = self.conversations.open(found.node.session)
            places = partial(self._places, request, found, ())
            return dataclasses.replace(turn, counted=counted, places=places)
        is_switched = opened is not None and opened.found == found
        if opened is None or not is_switched:
            key = self._key(request, found)
            opened = _Opened(found, key, self._chat(key, request, found, window))
        chat, live = opened.chat, opened.chat.live
        with live.lock:
            if live.state is None or is_switched:
                # One that was open was looked at when it was asked for.
                live.refresh()
            held = live.session
            if (held.model, held.context_length) != (request.model, window) and not is_switched:
                return opened
            live.beside = self._tools(chat, body)
            prompt = _prompt(request.dialect, body, leading_prompts(request.dialect, messages))
            if prompt and prompt.rstrip() != chat.log.system:
                chat.set_system(prompt)
            new = self._recorded(chat, request, found, messages)
            self.tree.record(request, found, opened.key, new)
            self._count(len(new))
            is_unfolded = is_plain(live.window) and not chat.compactor.is_due()
            if is_unfolded:
                chat.compactor.handed_out()
            return dataclasses.replace(
                turn,
                conversation=chat,
                places=partial(self._places, request, found, new),
                plain=(live.id, live.window.head.generation) if is_unfolded else None,
                memory=self.memory,
                issue=partial(self.tree.issue, opened.key),
            )

    def _count(self, messages: int) -> None:
        """Let a thread move what waits beside the files, before a request has to do it."""
        self._unmoved += _EACH + messages
        if self._unmoved >= _FULL:
            self._unmoved = 0
            # A process that ends takes no more work.
            with suppress(RuntimeError):
                start_in_store(self._checkpoint)

    def _checkpoint(self) -> None:
        store = self.conversations.store
        # Where it cannot be done now, whoever writes does it.
        with suppress(StoreError, sqlite3.Error, OSError):
            if isinstance(store, Checkpoints):
                store.checkpoint()
            self.tree.checkpoint()

    def _tools(self, chat: Conversation, body: Mapping[str, object]) -> Load:
        """Return what the tools of a request weigh: as much as a long conversation in some."""
        if not body.get("tools"):
            return Load()
        digest = sha256(_packed(body["tools"])).digest()
        if digest not in self._weighed:
            if len(self._weighed) >= _MOST_TOOLS:
                self._weighed.clear()
            read = Message(Role.SYSTEM, (Text(json.dumps(body["tools"])),))
            self._weighed[digest] = chat.live.deps.engine.load((read,))
        return self._weighed[digest]

    def _key(self, request: WireRequest, found: Recognition) -> str:
        if found.session:
            return found.session
        # Of what is said alone, so that one that was cut off before the tree had it is found again.
        said = f"{self.tree.id}\0{request.identity.key}\0{found.prefixes[-1].hex()}"
        for count in itertools.count():
            key = f"gateway:{sha256(f'{said}{count or str()}'.encode()).hexdigest()[:32]}"
            if self.tree.tip_of(key) is None:
                return key
        raise AssertionError

    def _chat(
        self, key: str, request: WireRequest, found: Recognition, window: int
    ) -> Conversation:
        conversations = self.conversations
        if found.how is Continuity.BRANCH and found.node and not conversations.store.keyed(key):
            parent = conversations.open(found.node.session)
            parent.branch(found.node.message, key=key, keep_parent=True)
        chat = conversations.open(key, model=request.model, context_length=window)
        if found.follows:
            # One that comes from another already stays where it is.
            with suppress(Conflict):
                before = conversations.open(found.follows).id
                chat.live.amend(Amendment(parent=before, fork=Fork.RESET))
        return chat

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

        def is_next(entry: Entry) -> bool:
            atoms = atoms_in(chat.store.whole(entry.id) if entry.shortened else entry.message)
            if wanted[len(ids) : len(ids) + len(atoms)] != atoms:
                return False
            ids.extend([entry.id] * len(atoms))
            return True

        window, node = chat.live.window, found.node
        after = _after(window, node.message if node else 0)
        # An answer that the client has otherwise, or that it never received, or words that it moves
        # to the end of every request.
        gone = {entry.id for entry in after if not is_next(entry)}
        back: list[Entry] = []
        is_answer = len(ids) < len(wanted) and wanted[len(ids)].kind in ANSWERS
        if node and is_answer and found.how is not Continuity.ROOT:
            # Of two requests that are the same, the later one takes the other's answer out.
            said, shown = chat.store.entry(node.message), {entry.id for entry in window.entries}
            since = chat.store.since(said.session, said.position)
            back = [entry for entry in since if entry.id not in shown and is_next(entry)]
        if gone or back:
            self._change(chat, gone, back)
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
        decode, first = DIALECTS[request.dialect].decode, min(request.places[fresh:])
        new = [_unmarked(each) for each in messages[first:]]
        if request.dialect == "gemini":
            # Calls without an id are known by their place among all, or in the answer.
            before = decode(Body([*messages[:first]]))
            said = decode(Body([*messages]))[len(before) :]
            said = _answering(said, before[-1:], chat.live.window.transcript[-1:])
        else:
            said = _renamed(decode(Body(new)), chat.live.window.transcript)
        # Words may be added to a message that was sent before, behind the results in it.
        known = request.places[:fresh].count(first)
        while known and known >= (count := count_atoms(said[0])):
            said, known = said[1:], known - count
        begun = chat.live.window.entries[-1] if known else None
        if begun and atoms_in(begun.message) == request.atoms[fresh - known : fresh]:
            self._change(chat, {begun.id}, ())
        if self.memory is not None and said and said[-1].role is Role.USER and said[-1].text:
            recalled = self.memory.recall(said[-1].text)
            parts = (Recalled(recalled), *said[-1].parts) if recalled else said[-1].parts
            said = [*said[:-1], replace(said[-1], parts=parts)]
        entries = chat.log.append(said)
        ids = [entry.id for entry in entries for _ in range(count_atoms(entry.message))]
        missing = len(request.atoms) - fresh
        # Results that are told twice are one atom.
        return [*ids, *[entries[-1].id] * missing][:missing]

    def _change(self, chat: Conversation, gone: set[int], back: Sequence[Entry]) -> None:
        """Let the window show what the client has; the log keeps the rest."""

        def change(window: Window) -> None:
            change = Change(
                cause=Cause.REWIND,
                pieces=(*(each for each in window.entries if each.id not in gone), *back),
                generation=window.head.generation,
                seen=window.head.size,
                at=chat.live.deps.clock.moment(),
            )
            chat.store.change(chat.id, change)

        chat.live.retry(change)

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
        for message, place in zip(new, request.places[found.known :], strict=False):
            places.setdefault(message, place)
        return places


def _after(window: Window, message: int) -> list[Entry]:
    """Return what was said after a message; nothing before it is looked at."""
    found: list[Entry] = []
    for entry in reversed(window.entries):
        if entry.kind is not Kind.SAID:
            continue
        if entry.id <= message:
            break
        if entry.message.role is not Role.SYSTEM:
            found.append(entry)
    return found[::-1]
