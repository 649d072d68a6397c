"""The conversation that users hold: opened by id or key, with the configured parts in place."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Self, TypedDict, TypeVar, Unpack

from holdfast.conversation import (
    Dependencies,
    SessionOptions,
    StoredConversation,
    Strategy,
    activate,
)
from holdfast.conversation.learned import learned_window
from holdfast.errors import ConfigError, Conflict, SessionEnded, UnknownSession
from holdfast.keywords import check_names, names_checked
from holdfast.ports import Amendment
from holdfast.session import CLOSABLE, WINDOW_KEY, Session, children_of, latest_leaf
from holdfast.wiring.assembly import Assembly, Configured, EngineOptions, check_key, check_values
from holdfast.wiring.calling import ATTEMPTS, StreamRecorder, is_context_overflow, send_body
from holdfast.wiring.engines import EngineFactory, engines_for
from holdfast.wiring.stores import open_store, store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from holdfast.compaction import CompactionReport
    from holdfast.config import Settings
    from holdfast.conversation.dependencies import Bill, Listener
    from holdfast.engines.contract import ContextEngine
    from holdfast.ports import Store
    from holdfast.redaction import Redactor
    from holdfast.tokens import Counter
    from holdfast.transcript import Transcript
    from holdfast.wiring.assembly import Knobs
    from holdfast.wiring.models import Writer
    from holdfast.wiring.stores import Place

Response = TypeVar("Response")
Chunk = TypeVar("Chunk")


class ConversationOptions(TypedDict, total=False):
    """What a conversation may be opened with; everything has a default."""

    model: str
    """The conversation's model, whose tokenizer family the estimate follows; a stored one keeps
    its own by default."""
    context_length: int
    """What the model accepts, in tokens; by default what a stored one was opened with or has
    learned from an error, as configured, or as known by the model's name."""
    context_window: int
    """The same by the name that some know it by."""
    settings: Settings
    """What is configured; by default read from the file and the environment."""
    store: Place
    """A path, an address such as `sqlite:///PATH` or `memory:`, or an open store; by default the
    one that is configured."""
    title: str
    """The title of a new conversation; without one, it is made from what is said."""
    active: bool
    """Whether this becomes the current session for this context, child processes and logs; not by
    default, since a process may hold many."""
    summarizer: Writer
    """A function from prompt to text, a model's name, a `Summarizer`, or None for no model; by
    default whoever `auxiliary.compression` says."""
    client: object
    """What you ask the model with: a client of the OpenAI or the Anthropic SDK, or a function from
    a model's name to a `Summarizer`. With it, the model writes the records of its conversation; a
    name alone sends nothing anywhere."""
    strategy: Literal["in_place", "rotation"]
    """Whether a compaction keeps the session, or ends it and goes on in a child."""
    automatic: bool
    """Whether the window is compacted when it is due, and not only when asked."""
    ahead_of_time: bool
    """Whether that happens in the background, between turns."""
    background: bool
    """The same by the name that some know it by."""
    tool_limits: Mapping[str, int]
    """Tokens that a tool's output may take in the window, by name, `*` for all others; over
    what is configured."""
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
    """Told when the conversation goes on under another id, or its window is turned back."""
    before_folding: Callable[[Transcript], str]
    """Sees the window before a compaction; what it returns joins the record. It must not raise."""
    bill: Callable[[CompactionReport], Bill | None]
    """Prices a compaction, where prices are known. It must not raise."""
    recall: str | tuple[str, ...]
    """Names of the tools, such as `session_search`, by which the model finds what was folded."""
    merge_roles: bool
    """Whether OpenAI messages of one role that follow each other are joined to one, by a blank
    line: some compatible servers refuse them otherwise. By default as configured."""


@names_checked
class Conversation(StoredConversation):
    """An endless conversation.

    ```python
    with holdfast.Conversation.open(model="gpt-5", context_length=400_000) as chat:
        chat.add_user("Set up the billing service")
        chat.add_response(client.chat.completions.create(model="gpt-5", messages=chat.messages()))
    ```
    """

    PATIENCE = 10.0
    """Seconds that closing waits for a compaction in the background."""

    if not TYPE_CHECKING:

        def __init__(self, *parts: object, **options: object) -> None:
            """Take the parts that `open` has put together."""
            if options or not parts or not isinstance(parts[0], Dependencies):
                raise ConfigError(
                    "a conversation is not made by its class; Conversation.open(...) begins one "
                    "or goes on with one, and everything it takes has a default"
                )
            super().__init__(*parts)

    @classmethod
    def open(
        cls,
        id_: str | None = None,
        *,
        key: str | None = None,
        **options: Unpack[ConversationOptions],
    ) -> Self:
        """Begin a conversation, or go on with one.

        Args:
            id_: A session's id; the conversation goes on in the latest session that followed from
                it. None begins a new one, unless there is a key.
            key: What the caller calls the conversation, such as a user's name: it is found by
                that, or begun. A key is unique in its store.
            options: Model, store and habits; see `ConversationOptions`.

        Raises:
            UnknownSession: when there is no session of that id.
        """
        check_names(options, ConversationOptions.__annotations__, "Conversation.open")
        check_values(options)
        if key is not None:
            check_key(key)
        assembly = Assembly(options.get("settings"))
        place = options.get("store")
        if place is None:
            store = store_of(assembly.settings, os.environ)
        else:
            store = open_store(place, os.environ)
        try:
            kept = with_kept(store, options, id_, key)
            deps = dependencies(assembly, store, kept, owns_store=store is not place)
            session = session_of(deps, id_, key, options)
            chat = cls(deps, session)
        except BaseException:
            if store is not place:
                store.close()
            raise
        if deps.options.active:
            activate(session.id)
        return chat

    def call(
        self,
        send: Callable[..., Response],
        *,
        format: str = "openai",  # noqa: A002 - its name
        attempts: int = ATTEMPTS,
    ) -> Response:
        """Send the window, record the answer and return it.

        A request that is refused for its size is compacted and sent again, tighter each time.

        Args:
            send: Sends messages and returns what the SDK returned. Where a provider has the system
                prompt beside the messages, `send` takes it as `system`:
                `lambda messages, system: client.messages.create(messages=messages, system=system)`.
            format: The dialect of the messages.
            attempts: How often the request is sent at most.

        Raises:
            ConfigError: when there is a system prompt beside the messages and `send` takes none.
        """
        for attempt in range(1, attempts):
            try:
                response = send_body(send, self.body(format), format)
            except Exception as error:
                if not is_context_overflow(error):
                    raise
                self.recover(error, attempt=attempt)
            else:
                break
        else:
            response = send_body(send, self.body(format), format)
        self.add_response(response)
        return response

    def record_stream(self, stream: Iterable[Chunk]) -> Iterator[Chunk]:
        """Pass the chunks of a stream through, and record the answer when it has ended.

        Of a stream that is cut off, by an error or because nobody listens any more, the words are
        recorded that came.
        """
        recorder = StreamRecorder()
        try:
            for chunk in stream:
                recorder.take(chunk)
                yield chunk
        finally:
            if (answer := recorder.answer) is not None:
                self.add_response(answer)

    def close(self) -> None:
        """Close the store, if this conversation opened it; the conversation can be resumed.

        A compaction in the background gets a moment to end. Nothing is lost if it does not: it
        is stored in one step at its end.
        """
        self.wait(self.PATIENCE)
        self.release()

    def release(self) -> None:
        """Let go of what the conversation holds open, without waiting for the background."""
        self.live.end_engine()
        if self.live.deps.owns_store:
            self.store.close()

    def __enter__(self) -> Self:
        """Use the conversation for a while."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()


def dependencies(
    assembly: Assembly, store: Store, wanted: ConversationOptions, *, owns_store: bool = False
) -> Dependencies:
    """Return what a conversation works with: what the caller wants over what is configured."""
    settings, redactor = assembly.settings, assembly.redactor_with(wanted.get("redactor"))
    options = _session_options(settings, wanted)
    stated = assembly.stated_window(options.model, _length(wanted))
    if learned := learned_window(store, options.model, options.endpoint):
        stated = min(stated or learned, learned)
    options = replace(options, context_length=stated)

    def engine_options() -> EngineOptions:
        # An error of this model at this endpoint may have taught a smaller one meanwhile.
        learned = learned_window(store, options.model, options.endpoint)
        return EngineOptions(
            model=options.model,
            context_length=assembly.window(options.model, _length(wanted), learned=learned),
            summarizer=wanted.get("summarizer", Configured.YES),
            client=wanted.get("client"),
            has_server=True,
            counter=wanted.get("counter", "estimate"),
            redactor=redactor,
            knobs=wanted.get("knobs", {}),
        )

    another_engine = engines_for(
        wanted.get("engine", settings.context.engine),
        EngineFactory(
            default=lambda: assembly.engine(engine_options()),
            truncating=lambda: assembly.truncating(engine_options()),
            model=options.model,
            deadline=settings.auxiliary.compression.timeout,
            redact=redactor.redact,
        ),
        must_exist="engine" in wanted,
    )
    return Dependencies(
        store=store,
        engine=another_engine(),
        another_engine=another_engine,
        clock=assembly.clock,
        nonce=lambda: secrets.randbits(48),
        redact=redactor.redact,
        owns_store=owns_store,
        options=options,
        listeners=wanted.get("listeners", ()),
        before_folding=wanted.get("before_folding"),
        bill=wanted.get("bill"),
    )


def _session_options(settings: Settings, wanted: ConversationOptions) -> SessionOptions:
    configured, recall = settings.compression, wanted.get("recall", ())
    return SessionOptions(
        source=wanted.get("source", "api"),
        model=wanted.get("model") or settings.model.name or "",
        endpoint=wanted.get("endpoint", ""),
        agent=wanted.get("agent", "holdfast"),
        strategy=_strategy(wanted.get("strategy", configured.strategy)),
        automatic=wanted.get("automatic", configured.enabled),
        ahead_of_time=wanted.get(
            "ahead_of_time", wanted.get("background", configured.ahead_of_time)
        ),
        tool_limits={**settings.context.tool_limits, **wanted.get("tool_limits", {})},
        lease_seconds=wanted.get("lease_seconds", 60.0),
        recall=(recall,) if isinstance(recall, str) else tuple(recall),
        active=wanted.get("active", False),
        merge_roles=wanted.get("merge_roles", settings.model.merge_roles),
    )


def with_kept(
    store: Store, options: ConversationOptions, id_: str | None, key: str | None
) -> ConversationOptions:
    """Return how a conversation is opened: a stored one with the model and the window it had.

    What the caller names comes first, and what is configured is for new ones.
    """
    found = store.keyed(key) if id_ is None and key else None
    name = found.id if found is not None else id_
    if name is None or (id_ is not None and key is not None):
        return options
    try:
        session = latest_leaf(store.lineage(name), name)
    except UnknownSession as error:
        raise UnknownSession(
            f"{error}; a name of your own is a key: key={name!r} finds the conversation or begins "
            "it"
        ) from None
    kept: ConversationOptions = {"model": session.model} if session.model else {}
    # The window of another model says nothing of this one.
    is_same = options.get("model", session.model) == session.model
    if is_same and session.context_length and not _length(options):
        kept["context_length"] = session.context_length
    return {**kept, **options}


def _length(options: ConversationOptions) -> int | None:
    return options.get("context_length") or options.get("context_window")


def session_of(
    deps: Dependencies, id_: str | None, key: str | None, options: ConversationOptions
) -> Session:
    """Return the session that is meant: by id, by key, or a new one.

    It keeps the model and the window that it is opened with.

    Raises:
        UnknownSession: when there is no session of that id.
        SessionEnded: when it goes on nowhere.
    """
    if id_ is not None and key is not None:
        raise ConfigError("a conversation is opened by its id or by its key, not by both")
    if id_ is not None:
        return _resumed(deps, id_, options)
    if key is None:
        return _begun(deps, options)
    found = deps.store.keyed(key)
    if found is None:
        try:
            return _begun(deps, options, key)
        except Conflict:
            # Another process has begun it in between.
            found = deps.store.keyed(key)
            if found is None:
                raise
    return _resumed(deps, found.id, options)


def _begun(deps: Dependencies, options: ConversationOptions, key: str | None = None) -> Session:
    """Create a session for a new conversation."""
    session = Session(
        id=deps.unused_id(),
        source=deps.options.source,
        started=deps.clock.moment(),
        title=options.get("title", ""),
        model=deps.options.model,
        key=key,
        metadata={WINDOW_KEY: length} if (length := deps.options.context_length) else {},
    )
    return deps.store.create(session)


def _resumed(deps: Dependencies, id_: str, options: ConversationOptions) -> Session:
    """Return the session in which a conversation goes on; one that was closed is opened again."""
    store = deps.store
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
        leaf = store.end(leaf.id, None, deps.clock.moment())
    model, window = options.get("model") or leaf.model, _length(options)
    if model != leaf.model or learned_window(store, model, deps.options.endpoint):
        window = deps.options.context_length
    if model == leaf.model and window in (None, leaf.context_length):
        return leaf
    return store.amend(leaf.id, Amendment(model=model, metadata={WINDOW_KEY: window}))


def stored_conversation(settings: Settings, store: Store, session: Session) -> StoredConversation:
    """Return a stored session to work on; nothing is read or written before it is asked to.

    One that ended stays ended.
    """
    options: ConversationOptions = {
        "source": session.source,
        "model": settings.model.name or session.model,
        "agent": "cli",
        "ahead_of_time": False,
    }
    return StoredConversation(dependencies(Assembly(settings), store, options), session)


def _strategy(name: str) -> Strategy:
    try:
        return Strategy(name)
    except ValueError:
        allowed = " or ".join(repr(str(each)) for each in Strategy)
        raise ConfigError(f"strategy is {name!r}; allowed: {allowed}") from None
