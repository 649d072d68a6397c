"""The conversation that users hold: a live session with the usual parts in place."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Self, TypedDict, Unpack

from holdfast.config import load
from holdfast.conversation import Options, Parts, Strategy, activate
from holdfast.errors import ConfigError, SessionEnded
from holdfast.ports import Amendment
from holdfast.redaction import Redactor
from holdfast.session import CLOSABLE, WINDOW_KEY, Session, children_of, latest_leaf
from holdfast.system.system_clock import SystemClock
from holdfast.wiring.compressor import Compressor
from holdfast.wiring.engines import Hosting, engines_for, truncating
from holdfast.wiring.hosted_sessions import HostedSession
from holdfast.wiring.names import check_names
from holdfast.wiring.stores import open_store, store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from holdfast.compaction import CompactionReport
    from holdfast.config import Settings
    from holdfast.conversation.parts import Bill, Listener
    from holdfast.engines.contract import ContextEngine
    from holdfast.ports import Store
    from holdfast.tokens import Counter
    from holdfast.transcript import Transcript
    from holdfast.wiring.compressor import Knobs
    from holdfast.wiring.engines import EngineKnobs
    from holdfast.wiring.stores import Place
    from holdfast.wiring.summarizers import Writer

__all__ = ["Conversation", "Opening"]

_PATIENCE = 10.0
"""Seconds that closing waits for a compaction in the background."""


class Opening(TypedDict, total=False):
    """What a conversation may be opened with; everything has a default."""

    model: str
    """The conversation's model, whose tokenizer family the estimate follows; a stored one keeps
    its own by default."""
    context_length: int
    """What the model accepts, in tokens; what a stored one was opened with by default, or
    200,000."""
    store: Place
    """A path, `sqlite:///PATH` or an open store; by default the one that is configured."""
    title: str
    """The title of a new conversation; without one, it is made from what is said."""
    active: bool
    """Whether this becomes the current session for this context, child processes and logs."""
    summarizer: Writer
    """A function from prompt to text, a model's name, a `Summarizer`, or None for no model."""
    strategy: Literal["in_place", "rotation"]
    """Whether a compaction keeps the session, or ends it and goes on in a child."""
    automatic: bool
    """Whether the window is compacted when it is due, and not only when asked."""
    ahead_of_time: bool
    """Whether that happens in the background, between turns."""
    tool_limits: Mapping[str, int]
    """Tokens that a tool's output may take in the window, by name; `*` for all others."""
    source: str
    """Where the session comes from, for lists and filters; `api` by default."""
    endpoint: str
    """Where the model is reached: its true window is remembered for model and endpoint."""
    agent: str
    """Who holds leases, for people who read them."""
    lease_seconds: float
    redactor: Redactor
    counter: Counter | Literal["estimate", "exact"]
    knobs: Knobs
    """Thresholds and budgets of the compaction."""
    engine: str | ContextEngine
    """Who compacts: an engine's name, or an engine; by default the one that is configured."""
    listeners: tuple[Listener, ...]
    """Told when the conversation goes on under another id."""
    before_folding: Callable[[Transcript], str]
    """Sees the window before a compaction; what it returns joins the record. It must not raise."""
    bill: Callable[[CompactionReport], Bill | None]
    """Prices a compaction, where prices are known. It must not raise."""
    recall: tuple[str, ...]
    """Names of the tools, such as `session_search`, by which the model finds what was folded."""


class Conversation(HostedSession):
    """An endless conversation.

    ```python
    with holdfast.Conversation.open(model="gpt-5", context_length=400_000) as chat:
        chat.user("Set up the billing service")
        chat.record(client.chat.completions.create(model="gpt-5", messages=chat.window()))
    ```
    """

    @classmethod
    def open(cls, id_: str | None = None, **opening: Unpack[Opening]) -> Self:
        """Begin a conversation, or go on with one.

        Args:
            id_: A session's id; the conversation goes on in the latest session that followed from
                it. None begins a new one.
            opening: Model, store and habits; see `Opening`.

        Raises:
            UnknownSession: when there is no session of that id.
        """
        check_names(opening, Opening.__annotations__, "Conversation.open")
        place = opening.get("store")
        settings = load(os.environ).settings
        store = store_of(settings, os.environ) if place is None else open_store(place, os.environ)
        try:
            known = opening if id_ is None else _with_kept(store, id_, opening)
            parts = replace(_parts(store, known, settings), owns_store=store is not place)
            begun = _begun(parts, opening) if id_ is None else None
            session = begun or _resumed(parts, id_ or "", opening)
        except BaseException:
            if store is not place:
                store.close()
            raise
        if opening.get("active", True):
            activate(session.id)
        return cls(parts, session)

    def close(self) -> None:
        """Close the store, if this conversation opened it; the conversation can be resumed.

        A compaction in the background gets a moment to end. Nothing is lost if it does not: it
        is stored in one step at its end.
        """
        self.wait(_PATIENCE)
        self._let_go()
        if self.parts.owns_store:
            self.parts.store.close()

    def __enter__(self) -> Self:
        """Use the conversation for a while."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        self.close()


def _parts(store: Store, opening: Opening, settings: Settings) -> Parts:
    configured = settings.compression
    # A secret that somebody described in the settings must reach no summarizer.
    redactor = opening.get("redactor") or Redactor(settings.redaction.extra_patterns)
    options = Options(
        source=opening.get("source", "api"),
        model=opening.get("model", ""),
        endpoint=opening.get("endpoint", ""),
        agent=opening.get("agent", "holdfast"),
        strategy=_strategy(opening.get("strategy", configured.strategy)),
        automatic=opening.get("automatic", configured.enabled),
        ahead_of_time=opening.get("ahead_of_time", configured.ahead_of_time),
        tool_limits=opening.get("tool_limits", {}),
        lease_seconds=opening.get("lease_seconds", 60.0),
        recall=tuple(opening.get("recall", ())),
    )
    another_engine = engines_for(
        opening.get("engine", settings.context.engine),
        _hosting(
            store,
            {**opening, "redactor": redactor},
            options,
            settings.auxiliary.compression.timeout,
        ),
        must_exist="engine" in opening,
    )
    return Parts(
        store=store,
        engine=another_engine(),
        another_engine=another_engine,
        clock=SystemClock(),
        nonce=lambda: secrets.randbits(48),
        redact=redactor.redact,
        options=options,
        listeners=opening.get("listeners", ()),
        before_folding=opening.get("before_folding"),
        bill=opening.get("bill"),
    )


def _hosting(store: Store, opening: Opening, options: Options, deadline: float) -> Hosting:
    knobs: EngineKnobs = {
        **opening.get("knobs", {}),
        "redactor": opening.get("redactor") or Redactor(),
        "counter": opening.get("counter", "estimate"),
        "summarizer": opening.get("summarizer"),
    }

    def window() -> int:
        return _true_window(store, options, opening.get("context_length", 200_000))

    def default() -> Compressor:
        return Compressor(context_length=window(), model=options.model, **knobs)

    return Hosting(
        default=default,
        truncating=lambda: truncating(window(), options.model, knobs),
        model=options.model,
        deadline=deadline,
        redact=knobs["redactor"].redact,
    )


def _strategy(name: str) -> Strategy:
    try:
        return Strategy(name)
    except ValueError:
        allowed = " or ".join(repr(str(each)) for each in Strategy)
        raise ConfigError(f"strategy is {name!r}; allowed: {allowed}") from None


def _true_window(store: Store, options: Options, context_length: int) -> int:
    """Return the window that an error of this model at this endpoint has taught, if smaller."""
    taught = store.remembered(f"window:{options.endpoint}:{options.model}")
    return min(int(taught), context_length) if taught else context_length


def _with_kept(store: Store, id_: str, opening: Opening) -> Opening:
    """Return how a stored conversation is opened: with the model and the window that it had."""
    session = latest_leaf(store.lineage(id_), id_)
    kept: Opening = {"model": session.model} if session.model else {}
    # The window of another model says nothing of this one.
    same_model = opening.get("model", session.model) == session.model
    if session.context_length is not None and same_model:
        kept["context_length"] = session.context_length
    return {**kept, **opening}


def _begun(parts: Parts, opening: Opening) -> Session:
    session = Session(
        id=parts.unused_id(),
        source=parts.options.source,
        started=parts.clock.moment(),
        title=opening.get("title", ""),
        model=parts.options.model,
        metadata={WINDOW_KEY: opening["context_length"]} if "context_length" in opening else {},
    )
    return parts.store.create(session)


def _resumed(parts: Parts, id_: str, opening: Opening) -> Session:
    """Return the session in which a conversation goes on; one that was closed is opened again.

    It keeps the model and the window that it is opened with.
    """
    store = parts.store
    leaf = latest_leaf(store.lineage(id_), id_)
    if leaf.trashed is not None:
        raise SessionEnded(
            f"session {leaf.id} is in the trash; "
            f"`holdfast sessions restore {leaf.id}` brings it back"
        )
    if leaf.ended is not None and leaf.end_reason not in CLOSABLE:
        gone = [each.id for each in children_of(store.lineage(id_), leaf.id) if each.trashed]
        hint = f"restore {gone[-1]}" if gone else f"fork {leaf.id}"
        raise SessionEnded(
            f"session {leaf.id} has ended ({leaf.end_reason}) and goes on nowhere; "
            f"`holdfast sessions {hint}` is a way on"
        )
    if not leaf.is_live:
        leaf = store.end(leaf.id, None, parts.clock.moment())
    model, window = opening.get("model") or leaf.model, opening.get("context_length")
    if model == leaf.model and window in (None, leaf.context_length):
        return leaf
    return store.amend(leaf.id, Amendment(model=model, metadata={WINDOW_KEY: window}))
