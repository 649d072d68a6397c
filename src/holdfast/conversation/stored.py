"""A conversation over a store and an engine that somebody put together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self, TypeVar, get_args

from holdfast.conversation.compactor import AutoCompactor
from holdfast.conversation.decode_input import check_dialect, former_name
from holdfast.conversation.difference import difference
from holdfast.conversation.finding import found_messages
from holdfast.conversation.lineage import Lineage
from holdfast.conversation.live import LiveSession
from holdfast.conversation.log import MessageLog
from holdfast.conversation.status import Status
from holdfast.conversation.waiting import Join, is_inside, wait
from holdfast.errors import ConfigError, HoldfastError, UnknownSession
from holdfast.keywords import check_count, check_text, names_checked
from holdfast.memory.shareable import own_words
from holdfast.ports import Amendment
from holdfast.recall.values import Inside, Scope, Sort
from holdfast.session import Cause, EndReason, Entry, title_from
from holdfast.wire.openai_chat import merged_roles

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.compaction import CompactionReport
    from holdfast.conversation.decode_input import Content
    from holdfast.conversation.dependencies import Dependencies
    from holdfast.conversation.difference import Difference
    from holdfast.conversation.finding import Found
    from holdfast.conversation.waiting import Steps
    from holdfast.ports import Store
    from holdfast.session import CompactionRecord, Session, Usage
    from holdfast.transcript import Message, Transcript
    from holdfast.wire import Body
    from holdfast.wire.reply import Reply
    from holdfast.wire.tool_specs import ToolSpec

Result = TypeVar("Result")


@names_checked
class StoredConversation:
    """A conversation that outlives the process, the window and every compaction.

    Everyday verbs are here; the parts they come from can be used alone: `log` adds messages,
    `compactor` keeps the window within its limits, `lineage` goes back and branches, and `live`
    is the session in memory that they share. Methods may be called from several threads.
    """

    def __init__(self, deps: Dependencies, session: Session) -> None:
        """Put the parts together; nothing is read before it is asked for."""
        self.live = LiveSession(deps, session)
        self.log = MessageLog(self.live)
        self.compactor = AutoCompactor(self.live)
        self.lineage = Lineage(self.live)

    @property
    def id(self) -> str:
        """Return the id of the session; a rotation changes it."""
        return self.live.id

    @property
    def store(self) -> Store:
        """Return where everything is kept."""
        return self.live.deps.store

    @property
    def session(self) -> Session:
        """Return the session as the store has it now."""
        with self.live.lock:
            self.live.refresh()
            return self.live.session

    @property
    def title(self) -> str:
        """Return the title; without one, it is made from the first exchange."""
        return self.session.title

    @title.setter
    def title(self, title: str) -> None:
        check_text("title", title)
        self.live.amend(Amendment(title=title))

    @property
    def goal(self) -> str:
        """Return the goal, which survives every compaction and fork and is shown to the model."""
        return self.session.goal

    @goal.setter
    def goal(self, goal: str) -> None:
        check_text("goal", goal, "a text; an empty one takes it away")
        self.live.amend(Amendment(goal=goal))

    @property
    def usage(self) -> Usage:
        """Return what providers reported for this session, added up."""
        return self.session.usage

    @property
    def recall(self) -> tuple[str, ...]:
        """Return the names of the tools by which the model can find again what is folded."""
        return self.live.deps.options.recall

    @recall.setter
    def recall(self, names: tuple[str, ...]) -> None:
        deps = self.live.deps
        self.live.deps = replace(deps, options=replace(deps.options, recall=names))

    def set_system(self, prompt: Content | Message) -> None:
        """Set the system prompt; the same prompt again changes nothing."""
        self.log.set_system(prompt)

    def add_user(self, content: Content | Message, *, recalled: str = "") -> Entry:
        """Add what the user said, and return the stored message.

        Args:
            content: The user's words, or content parts.
            recalled: What memory says that bears on them. The model sees it before the words, in
                a block that says what it is; it is not stored, quoted or found as the user's.
        """
        return self.log.add_user(content, recalled=recalled)

    def add_assistant(self, content: Content | Message) -> Entry:
        """Add what the model said, and return the stored message."""
        added = self.log.add_assistant(content)
        self._after_reply()
        return added

    def add_tool_result(
        self, call_id: object, content: Content | Message, *, name: str = "", is_error: bool = False
    ) -> Entry:
        """Add what a tool answered, and return the stored message.

        An output over the tool's limit is shown in part; the store keeps it whole.

        Args:
            call_id: The id of the call that it answers, or the call as an SDK has it.
            content: The output as words, or content parts.
            name: The tool; by default as the call names it.
            is_error: Whether the tool failed.

        Raises:
            DecodeError: when no call of that id waits for a result; it names those that do.
        """
        return self.log.add_tool_result(call_id, content, name=name, is_error=is_error)

    def add(self, messages: object, format: str = "") -> tuple[Entry, ...]:  # noqa: A002 - its name
        """Add a message or a list of them as a provider writes them, all or none.

        Args:
            messages: What goes into a request, in the dialect of any provider.
            format: The dialect, where the messages themselves leave it open.
        """
        added = self.log.add(messages, format)
        self._after_reply()
        return added

    def add_response(self, response: object, *, usage: Usage | None = None) -> Reply:
        """Add a model's answer with its usage, and return what was read from it.

        Args:
            response: What an SDK returned (OpenAI chat or Responses, Anthropic, Gemini), its
                JSON, a message, or the words of a stream that has ended.
            usage: What the provider reported, where the answer does not say.
        """
        reply, reported = self.log.add_response(response, usage)
        self.compactor.answered(reported)
        self._after_reply()
        return reply

    def messages(
        self,
        format: str = "openai",  # noqa: A002 - its name
        *,
        merge_roles: bool | None = None,
    ) -> list[dict[str, object]]:
        """Return what to send now, as a list of messages.

        The list is the caller's; it begins with the same bytes from call to call, until a
        compaction. Where a provider keeps the system prompt beside the messages, `body` has both.

        Args:
            format: The dialect.
            merge_roles: Whether OpenAI messages of one role that follow each other are joined to
                one; by default as the conversation was opened.
        """
        return self.body(format, merge_roles=merge_roles).messages

    def body(
        self,
        format: str = "openai",  # noqa: A002 - its name
        *,
        merge_roles: bool | None = None,
    ) -> Body:
        """Return what to send now in any dialect: `openai`, `responses`, `anthropic`, `gemini`.

        Where the window is due, it is compacted first, or in the background if it still fits.
        """
        return wait(self.requested(format, merge_roles=merge_roles))

    def requested(
        self,
        format: str,  # noqa: A002 - its name
        *,
        merge_roles: bool | None = None,
        shared: bool = False,
    ) -> Steps[Body]:
        """Return what `body` returns, as steps that a thread or an event loop may wait for.

        Where it is `shared`, the messages are the window's own, for who changes none of them.
        """
        check_dialect(format)
        yield from self.compactor.before_request()
        with self.live.lock:
            self.compactor.handed_out()
            shown = (self.live.shared_body if shared else self.live.body)(format)
        merges = self.live.deps.options.merge_roles if merge_roles is None else merge_roles
        # Other dialects have their own rules, and their codecs keep them.
        if not merges or format != "openai":
            return shown
        return replace(shown, messages=merged_roles(shown.messages), prefix=None)

    def compact(self, focus: str | None = None) -> CompactionReport:
        """Compact now, whatever the size; `focus` names what deserves most of the record."""
        return wait(self.compactor.compact(focus))

    compress = compact

    def recover(self, error: object, *, attempt: int = 1) -> CompactionReport:
        """Compact after a provider refused the request for its size, tighter with each attempt.

        A true window that the error states is remembered for the model and its endpoint.
        """
        return wait(self.compactor.recover(error, attempt=attempt))

    def switch_model(self, model: str, context_length: int) -> CompactionReport | None:
        """Go on with another model; what it could not take is compacted first.

        Raises:
            ConfigError: when even then it does not fit; the old model stays.
        """
        return wait(self.compactor.switch_model(model, context_length))

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for a compaction in the background; says whether none is left running."""
        if is_inside(self.live.deps.engine):
            return not self.compactor.background.is_running
        return self.compactor.background.wait(timeout)

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        sort: Sort = "relevance",
        everywhere: bool = False,
    ) -> tuple[Found, ...]:
        """Search everything that was ever said in this conversation, compacted away or not.

        A question in plain words works, as do `"phrases"`, `prefix*`, `AND`, `OR` and `NOT`; any
        text is safe. Each message comes with the passages of it that answer best.

        Args:
            query: What to look for.
            limit: How many messages are wanted at most.
            offset: How many to skip, for the next page.
            sort: What comes first: `relevance`, `newest` or `oldest`.
            everywhere: Whether to look into every conversation of the store.
        """
        check_text("query", query)
        check_count("limit", limit, 1)
        check_count("offset", offset)
        if sort not in get_args(Sort):
            raise ConfigError(f"sort is {sort!r}; allowed: {', '.join(get_args(Sort))}")
        wanted = Inside(
            query=query,
            session_id="" if everywhere else self.id,
            scope=Scope(),
            limit=limit,
            sort=sort,
            offset=offset,
        )
        return found_messages(self.store, wanted, self.live.deps.clock.moment())

    def status(self) -> Status:
        """Return how the conversation stands."""
        live, engine = self.live, self.live.deps.engine
        with live.lock:
            window = live.refresh()
            session, state = live.session, live.state
            return Status(
                session=session.id,
                title=session.title,
                goal=session.goal,
                model=session.model,
                messages=len(window.entries),
                tokens=engine.measure(live.load),
                threshold=engine.policy.threshold_tokens,
                context_length=engine.policy.context_length,
                stored=session.size,
                compactions=state.compactions if state else 0,
                undone=self.compactor.is_undone(),
                compacting=self.compactor.background.is_running,
                usage=session.usage,
                summarizer=engine.summarizer,
                troubles=self.compactor.troubles(window.head.view),
                pressure=self.compactor.last.pressure,
            )

    def compactions(self) -> tuple[CompactionRecord, ...]:
        """Return every pass over this session, oldest first."""
        return self.store.compactions(self.id)

    def diff(self, number: int = -1) -> Difference:
        """Return what a compaction did; the newest unless another number is given.

        Raises:
            UnknownSession: when there was no such compaction.
        """
        passes = self.compactions()
        if not passes:
            raise UnknownSession(
                f"session {self.id} was never compacted, so there is nothing to compare; "
                "compact() compacts it now"
            )
        try:
            record = passes[number]
        except IndexError:
            raise UnknownSession(
                f"session {self.id} has no compaction {number}; it has {len(passes)}, from 0 to "
                f"{len(passes) - 1}, and -1 is the newest"
            ) from None
        return difference(self.store, record, self.live.deps.redact)

    def undo(self) -> bool:
        """Take the newest compaction or rewind back; says whether there was one."""
        return self.lineage.undo()

    def undo_compaction(self) -> bool:
        """Take the newest compaction back; says whether there was one.

        Raises:
            ConfigError: when turns were rewound since; `undo` takes that back first.
        """
        return self.lineage.undo(Cause.COMPACTION)

    def redo(self) -> bool:
        """Bring back what an undo took away; says whether there was anything."""
        return self.lineage.redo()

    def rewind(self, turns: int = 1) -> Transcript:
        """Take the last turns out of the window, and return them; `undo` brings them back."""
        check_count("turns", turns)
        return self.lineage.rewind(turns)

    def pin(self, message: int | Entry) -> None:
        """Let compactions keep a message word for word, within their budget for pins.

        Raises:
            UnknownSession: when the message is not part of this conversation.
        """
        id_ = message.id if isinstance(message, Entry) else message
        try:
            home = self.store.entry(id_).session
        except UnknownSession:
            home = ""
        if all(each.id != home for each in self.lineage.sessions()):
            raise UnknownSession(
                f"message {id_!r} is not part of this conversation and cannot be pinned; add_user "
                "and others return the message that they add, and `log` has them all, each with "
                "its `id`"
            )
        self.store.pin(self.id, id_, pinned=True)

    def unpin(self, message: int | Entry) -> None:
        """Let compactions fold a message again."""
        self.store.pin(self.id, message.id if isinstance(message, Entry) else message, pinned=False)

    def branch(
        self,
        at: int | Entry | None = None,
        *,
        title: str = "",
        key: str | None = None,
        keep_parent: bool = False,
    ) -> Self:
        """Go another way from here, or from an earlier message, in a session of its own.

        The branch shares what was said by reference. This session ends, unless it is kept.

        Args:
            at: The last message that the branch shares, or its id; all by default.
            title: The branch's title; by default the next in the lineage.
            key: What the caller calls the branch, to open it by.
            keep_parent: Whether this session may go on too.
        """
        message_id = at.id if isinstance(at, Entry) else at
        return self._going_on(
            self.lineage.branch(message_id, title=title, key=key, keep_parent=keep_parent)
        )

    def new(self, *, keep_goal: bool = True) -> Self:
        """Begin anew with an empty window; this session ends and stays in the store."""
        return self._going_on(self.lineage.new(keep_goal=keep_goal))

    def delegate(self, task: Content, *, title: str = "") -> Self:
        """Return a session for a sub-agent with its task; this one goes on."""
        child = self._going_on(self.lineage.delegate(title=title))
        child.add_user(task)
        return child

    def review(self, *, title: str = "") -> Self:
        """Return a session that sees a copy of this window; this one goes on.

        It is for a look at the conversation in the background: a thread or task of its own may ask
        a model in it while this one goes on. Memory, listeners and the current session of the
        process hear nothing of it, and lists of conversations leave it out.

        Args:
            title: What the review is for; by default the next title in the lineage.
        """
        deps = self.live.deps.for_fork()
        apart = replace(
            deps,
            options=replace(deps.options, active=False),
            listeners=(),
            before_folding=None,
        )
        return type(self)(apart, self.lineage.review(title=title))

    def engine_tools(self, reserved: Iterable[str] = ()) -> tuple[ToolSpec, ...]:
        """Return the tools that the engine gives the model; our own engines have none.

        Args:
            reserved: Names of the host's own tools: a tool of the engine that has one of them is
                left out, with a warning.
        """
        return self.live.deps.engine.tools(reserved)

    def call_engine_tool(self, name: str, arguments: Mapping[str, object]) -> str:
        """Answer a call of one of these tools with JSON; what goes wrong stands under `error`."""
        with self.live.lock:
            try:
                self.live.refresh()
                messages = self.live.body("openai").messages
            except HoldfastError:
                messages = []
        return self.live.deps.engine.call(name, arguments, messages)

    def end(self, reason: EndReason = EndReason.CLOSED) -> None:
        """End the session; opening it again takes that back."""
        wait(self.ending(reason))

    def ending(self, reason: EndReason) -> Steps[None]:
        """Do what `end` does, as steps that a thread or an event loop may wait for."""
        self.live.end_engine()
        if (job := self.compactor.background.job) and not is_inside(self.live.deps.engine):
            yield Join(job)
        with self.live.lock:
            moment = self.live.deps.clock.moment()
            self.live.session = self.store.end(self.id, reason, moment)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Return a method by its former name, with a warning; say what a wrong one may mean."""
            return former_name(self, name)

    def __repr__(self) -> str:
        """Return what tells conversations apart."""
        title = f" {self.live.session.title!r}" if self.live.session.title else ""
        return f"<{type(self).__name__} {self.id}{title}>"

    def _going_on(self, session: Session) -> Self:
        return type(self)(self.live.deps.for_fork(), session)

    def _after_reply(self) -> None:
        """Do what belongs between turns: a title for the conversation, a compaction ahead.

        What was said is stored by now, so nothing here may make the caller say it again.
        """
        live, options = self.live, self.live.deps.options
        if live.session.title and not (options.ahead_of_time and options.automatic):
            return
        try:
            with live.lock:
                if not live.session.title:
                    title = live.deps.redact(title_from(live.refresh().transcript, own_words))
                    if title:
                        live.amend(Amendment(title=title))
                self.compactor.after_reply(live.window)
        except HoldfastError as error:
            self.compactor.warn(error)
