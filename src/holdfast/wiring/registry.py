"""Many conversations in one process: opened on demand by key, over one store."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Self, Unpack
from weakref import WeakValueDictionary

from holdfast.conversation.learned import learned_window
from holdfast.conversation.waiting import in_store
from holdfast.errors import ConfigError, UnknownSession
from holdfast.keywords import check_names, names_checked
from holdfast.session import EndReason
from holdfast.wiring.assembly import Assembly, check_key, check_values
from holdfast.wiring.conversations import (
    Conversation,
    ConversationOptions,
    dependencies,
    session_of,
    with_kept,
)
from holdfast.wiring.stores import open_store, store_of

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.wiring.asynchronous import AsyncConversation
    from holdfast.wiring.sessions import SessionCatalog
    from holdfast.wiring.stores import Place

_MOST_TOKENS = 2_000_000
"""Tokens of conversations that are kept although nobody holds them: some 30 MB."""
_FEW = 64
"""Conversations that are kept however long they are."""


@names_checked
class Conversations:
    """Opens conversations by the keys that callers give them, and shares what they can share.

    ```python
    conversations = holdfast.Conversations("server.db", model="gpt-5")
    chat = conversations.open("user-42")
    chat = await conversations.aopen("user-42")    # the same one, for an event loop
    ```

    Store, settings, secrets' patterns, tokenizers and connections are there once. Threads and
    descriptors do not grow with the number of conversations. One that was not asked for in a while
    is let go of, earlier where there are many long ones, and read from the store when it is asked
    for again. Tenants that are to have
    settings of their own have a registry each.
    """

    def __init__(
        self,
        place: Place = None,
        /,
        *,
        most: int = 1_000,
        idle_seconds: float = 900.0,
        **options: Unpack[ConversationOptions],
    ) -> None:
        """Open the store; no conversation is read yet.

        Args:
            place: A path, an address or an open store; by default the configured
                one. The option `store` is the same.
            most: How many conversations are kept in memory that nobody holds.
            idle_seconds: For how long one is kept that nobody asks for.
            options: What every conversation is opened with; see `ConversationOptions`.
        """
        check_names(options, ConversationOptions.__annotations__, "Conversations")
        check_values(options)
        if options.get("active"):
            raise ConfigError("active belongs to a process that holds one conversation, not many")
        self._assembly = Assembly(options.get("settings"))
        place = options.get("store", place)
        if place is None:
            self.store: Store = store_of(self._assembly.settings, os.environ)
        else:
            self.store = open_store(place, os.environ)
        self._owns_store = self.store is not place
        self._options = options
        self._most, self._idle_seconds = most, idle_seconds
        self._held: WeakValueDictionary[str, Conversation] = WeakValueDictionary()
        """Everything that is in use somewhere: two callers of one key share one object."""
        self._recent: OrderedDict[str, tuple[Conversation, float]] = OrderedDict()
        """What is kept although nobody may hold it, the one asked for last at the end."""
        self._tokens: dict[str, int] = {}
        """What is in memory of each of these, and in `_kept_tokens` of all."""
        self._kept_tokens = 0
        self._lock = threading.Lock()

    @property
    def sessions(self) -> SessionCatalog:
        """Return the stored sessions: to list, filter, export and delete them."""
        from holdfast.wiring.sessions import SessionCatalog

        return SessionCatalog(self.store)

    def window(self, model: str, context_length: int | None = None) -> int:
        """Return what a model takes, in tokens: as stated, as known by its name, or assumed.

        It is less where an error of the model taught so.
        """
        learned = learned_window(self.store, model, self._options.get("endpoint", ""))
        stated = context_length or self._options.get("context_length")
        return self._assembly.window(model, stated, learned=learned)

    def open(self, key: str, *, model: str = "", context_length: int | None = None) -> Conversation:
        """Return the conversation that the caller calls so; the first time, it is begun.

        Args:
            key: What the caller calls it.
            model: The model of a conversation that is begun; by default as the options say.
            context_length: What that model takes, in tokens.
        """
        check_key(key)
        with self._lock:
            held = self._held.get(key)
        if held is not None and self._goes_on(held):
            with self._lock:
                self._keep(key, held)
            return held
        kept: ConversationOptions = with_kept(self.store, self._options, None, key)
        if kept is self._options and model:
            begun: ConversationOptions = {**kept, "model": model}
            if context_length:
                begun["context_length"] = context_length
            kept = begun
        deps = dependencies(self._assembly, self.store, kept)
        # A title is that of one conversation.
        opened = Conversation(deps, session_of(deps, None, key, {**kept, "title": ""}))
        with self._lock:
            # Another thread may have opened it meanwhile; what counts is in the store.
            found = self._held.get(key)
            if found is None or found is held:
                found = self._held[key] = opened
            self._keep(key, found)
            return found

    async def aopen(self, key: str) -> AsyncConversation:
        """Return the same conversation for an event loop."""
        from holdfast.wiring.asynchronous import AsyncConversation

        return AsyncConversation(await in_store(partial(self.open, key)))

    def close(self) -> None:
        """Let go of every conversation, and close the store if it was opened here.

        Compactions in the background get one moment to end, all together.
        """
        with self._lock:
            held = list(self._held.values())
            self._held.clear()
            self._recent.clear()
            self._tokens.clear()
            self._kept_tokens = 0
        end = time.monotonic() + Conversation.PATIENCE
        for each in held:
            each.wait(max(end - time.monotonic(), 0.0))
            each.release()
        if self._owns_store:
            self.store.close()

    def __len__(self) -> int:
        """Return how many conversations are in memory."""
        return len(self._held)

    def __repr__(self) -> str:
        """Return how many conversations are in memory."""
        return f"<Conversations, {len(self)} in memory>"

    def __enter__(self) -> Self:
        """Use the conversations for a while."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of everything."""
        self.close()

    def _goes_on(self, conversation: Conversation) -> bool:
        """Say whether messages may be added; one that ended is opened again, or what follows it."""
        try:
            session = conversation.session
        except UnknownSession:
            return False
        return session.is_live or session.end_reason is EndReason.COMPRESSION

    def _keep(self, key: str, conversation: Conversation) -> None:
        now = time.monotonic()
        if self._recent:
            # It had nothing in memory yet when it was opened.
            self._weigh(next(reversed(self._recent)))
        self._recent[key] = (conversation, now)
        self._recent.move_to_end(key)
        self._weigh(key)
        while self._recent:
            oldest, (_, asked) = next(iter(self._recent.items()))
            fits = self._kept_tokens <= _MOST_TOKENS or len(self._recent) <= _FEW
            if fits and len(self._recent) <= self._most and now - asked <= self._idle_seconds:
                break
            del self._recent[oldest]
            self._kept_tokens -= self._tokens.pop(oldest)

    def _weigh(self, key: str) -> None:
        tokens = self._recent[key][0].live.kept_tokens
        self._kept_tokens += tokens - self._tokens.get(key, 0)
        self._tokens[key] = tokens
