"""A request that was recognized, and what is sent for it: as it came in, or made to fit.

Summaries stand in place of what they stand for; everything else is in the client's own newest
words, with its cache markers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from holdfast.agent.turn import CUT_OFF
from holdfast.compaction import Policy
from holdfast.conversation.waiting import StoreVisits, in_store
from holdfast.engines import EngineDeps
from holdfast.engines.contract import truncating_engine
from holdfast.recognition.atoms import AtomKind, atoms_in, bare_call_id
from holdfast.recognition.slices import MessageSlices
from holdfast.session import Kind
from holdfast.system import SystemClock
from holdfast.transcript import Recalled, Role
from holdfast.wire import DIALECTS, Body
from holdfast.wiring.asynchronous import AsyncConversation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.memory_runtime import MemoryHub
    from holdfast.recognition.atoms import Atom
    from holdfast.recognition.matching import Recognition
    from holdfast.recognition.request import WireRequest
    from holdfast.session import Entry, Window
    from holdfast.transcript import Message
    from holdfast.wire import Dialect
    from holdfast.wiring.conversations import Conversation

_SIDE_SHARE = 0.8
"""How much of a window the history of a side call may take; prompt and answer have the rest."""
_MARKER = "cache_control"
_PROMPT_AMONG_MESSAGES = frozenset({"openai", "responses"})


@dataclass(frozen=True, slots=True)
class ClientTurn:
    """A request that was recognized, with the conversation it belongs to."""

    request: WireRequest
    found: Recognition
    messages: Sequence[dict[str, object]]
    """The client's own messages."""
    window: int
    """What the model takes, in tokens; for a side call, what its tools leave of that."""
    visits: StoreVisits
    """Where its answer is recorded."""
    conversation: Conversation | None = None
    """None for a side call, which goes out as it came in."""
    places: Callable[[], Mapping[int, int]] = dict
    """Says where the client has what was said: an index of its messages by the ids in the store."""
    plain: tuple[str, int] | None = None
    """Session and generation of the window, if nothing of it is folded or due to be."""
    counted: Conversation | None = None
    """The conversation whose tokens a side call asks for."""
    memory: MemoryHub | None = None
    """What is told of the turn when it ends, where memory is configured."""
    issue: Callable[[Sequence[Atom]], None] | None = None
    """Takes in the calls of the answer, to know them again."""

    @property
    def how(self) -> str:
        """Return how it was recognized."""
        return str(self.found.how)

    @property
    def chat(self) -> AsyncConversation | None:
        """Return the conversation for an event loop."""
        return None if self.conversation is None else AsyncConversation(self.conversation)

    async def answered(self, answer: Mapping[str, object], *, is_partial: bool) -> None:
        """Record the answer that the client was given."""
        if self.conversation is not None:
            record = partial(self._recorded, self.conversation, answer, is_partial=is_partial)
            told = await self.visits.make(record)
            if self.memory is not None and told is not None:
                self.memory.after_turn(*told)

    def _recorded(
        self, chat: Conversation, answer: Mapping[str, object], *, is_partial: bool
    ) -> tuple[str, str] | None:
        """Record an answer; return what memory is told of the turn, if it is told anything."""
        reply = chat.add_response(answer)
        if is_partial:
            # A message of its own, so that a client that sends the part back is understood.
            chat.add_assistant(CUT_OFF)
            return None
        if self.issue is not None:
            self.issue([atom for each in reply.messages for atom in atoms_in(each)])
        if self.memory is None or any(each.calls for each in reply.messages):
            return None
        words = "\n\n".join(filter(None, (each.text for each in reply.messages)))
        window = chat.live.refresh()
        asked = [each.message for each in window.entries if each.message.role is Role.USER]
        return (asked[-1].text, words) if asked and words else None

    @property
    def recalled(self) -> bool:
        """Say whether memory may be in the request, which the answer may repeat."""
        return self.memory is not None

    @property
    def is_as_it_came(self) -> bool:
        """Say whether nothing is done to the messages: nothing of them is folded or due to be."""
        if self.conversation is None or self.memory is not None:
            return False
        live = self.conversation.live
        return self.plain == (live.id, live.window.head.generation)

    async def outgoing(self) -> list[dict[str, object]] | None:
        """Return the messages to send, compacted if that is due; None for those that came in."""
        if self.counted is not None:
            window = await in_store(self.counted.live.refresh)
            spliced = partial(self._spliced, window, self.messages)
            return None if is_plain(window) else await in_store(spliced)
        chat = self.chat
        if chat is None:
            is_known = self.found.node is not None or self.request.side == "compaction"
            return await in_store(self._cut) if is_known else None
        live = chat.sync.live
        if self.plain == (live.id, live.window.head.generation):
            return await in_store(partial(self._remembered, live.window)) if self.memory else None
        body = await chat.body(self.request.dialect)
        window = live.window
        told = await in_store(partial(self._remembered, window))
        if is_plain(window):
            return told
        spliced = partial(self._spliced, window, told or self.messages)
        return await in_store(spliced) or _remarked(body.messages, self.messages, None)

    def _remembered(self, window: Window) -> list[dict[str, object]] | None:
        """Return the client's messages with the memory that was recalled for each, if any was."""
        recalled = {
            _source(entry): [part for part in entry.message.parts if isinstance(part, Recalled)]
            for entry in (window.entries if self.memory is not None else ())
        }
        if not any(recalled.values()):
            return None
        told, places = [*self.messages], self.places()
        for source, parts in recalled.items():
            place = places.get(source)
            if place is None or not parts:
                continue
            said = self._dialect.decode(Body([told[place]]))
            last = replace(said[-1], parts=(*parts, *said[-1].parts))
            written = self._dialect.encode((*said[:-1], last)).messages
            told[place : place + 1] = written if len(written) == 1 else [told[place]]
        return told

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

    def _spliced(
        self, window: Window, told: Sequence[dict[str, object]]
    ) -> list[dict[str, object]] | None:
        """Return what was written in place of old messages, and the client's words for the rest.

        What the client no longer tells is not told again, unless a compaction wrote it. Nothing is
        returned where one message of ours stands for several of the client, or no provider would
        take it so.
        """
        places_by_id = self.places()
        entries = [entry for entry in window.entries if entry.message.role is not Role.SYSTEM]
        folded = max((at for at, each in enumerate(entries) if each.message.summary), default=-1)
        atoms = zip(self.request.atoms, self.request.places, strict=True)
        results = {
            atom.call: place for atom, place in atoms if atom.kind is AtomKind.RESULT and atom.call
        }
        places = [_places_of(entry, results, places_by_id) for entry in entries]
        tail = min((place for each in places[folded + 1 :] for place in each), default=None)
        tail = len(self.messages) if tail is None else tail
        leading = leading_prompts(self.request.dialect, self.messages)
        shown = [*leading]
        for entry, found in zip(entries[: folded + 1], places, strict=False):
            if entry.kind is not Kind.SAID:
                shown += self._dialect.encode((entry.message,)).messages
            else:
                shown += [told[place] for place in found if place < tail]
        head = len(shown)
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
                shown.append(told[place])
        if self._dialect.validate(Body(shown)):
            return None
        return _remarked(shown, self.messages, head)


def _places_of(entry: Entry, results: Mapping[str, int], places: Mapping[int, int]) -> list[int]:
    """Return where the client has what an entry says; results are found by their calls."""
    calls = [bare_call_id(result.call_id) for result in entry.message.results]
    found = {results[call] for call in calls if call in results}
    if not found and (place := places.get(_source(entry))) is not None:
        found = {place}
    return sorted(found)


def is_plain(window: Window) -> bool:
    """Say whether a window shows what was said and nothing else."""
    return window.head.view is None or all(each.kind is Kind.SAID for each in window.entries)


def leading_prompts(dialect: str, messages: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """Return the messages at the beginning that are system prompts, where a dialect has such."""
    if dialect not in _PROMPT_AMONG_MESSAGES:
        return []
    return list(takewhile(lambda each: each.get("role") in ("system", "developer"), messages))


def _remarked(
    shown: Sequence[dict[str, object]], told: Sequence[dict[str, object]], head: int | None
) -> list[dict[str, object]]:
    """Return messages with a cache marker at the end of their head where the client's went.

    It had one on a message that was folded. Never more stand there than the client had set: a
    provider refuses a fifth, and one on thoughts or on nothing.
    """
    had, kept = _markers(told), _markers(shown)
    if len(kept) >= len(had):
        return [*shown]
    marked = [*shown]
    for at in reversed(range(len(marked) if head is None else head)):
        content = marked[at].get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        last = cast("list[dict[str, object]]", blocks)[-1] if isinstance(blocks, list) else {}
        if last.get("text") and last.get("type") == "text":
            if _MARKER not in last:
                new = {**last, _MARKER: had[len(had) - len(kept) - 1]}
                marked[at] = {**marked[at], "content": [*cast("list[object]", blocks)[:-1], new]}
            break
    return marked


def _markers(messages: Sequence[dict[str, object]]) -> list[object]:
    """Return the cache markers of messages, in their order."""
    if isinstance(messages, MessageSlices):
        raw = enumerate(messages.slices)
        messages = [messages[at] for at, each in raw if _MARKER.encode() in bytes(each)]
    return [
        cast("dict[str, object]", block)[_MARKER]
        for message in messages
        if isinstance(content := message.get("content"), list)
        for block in cast("list[object]", content)
        if isinstance(block, dict) and _MARKER in block
    ]


def _source(entry: Entry) -> int:
    return entry.id if entry.stands_for is None else entry.stands_for
