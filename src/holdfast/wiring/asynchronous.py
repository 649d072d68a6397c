"""The same conversation for event loops, under the same names.

What may wait for a model is awaited and holds no thread meanwhile. What reads and writes the store
runs on a few threads that all conversations of the process share, whatever compacts beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, Unpack, cast

from holdfast.conversation import activate
from holdfast.conversation.decode_input import former_name
from holdfast.conversation.waiting import await_, in_store, is_inside, settled
from holdfast.deadline import in_thread
from holdfast.errors import ConfigError
from holdfast.keywords import names_checked
from holdfast.session import EndReason
from holdfast.wiring.calling import ATTEMPTS, StreamRecorder, is_context_overflow, send_body
from holdfast.wiring.conversations import Conversation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.compaction import CompactionReport
    from holdfast.conversation.decode_input import Content
    from holdfast.session import Entry, Session, Usage
    from holdfast.wire import Body
    from holdfast.wire.tool_specs import ToolSpec
    from holdfast.wiring.conversations import ConversationOptions

_FOREIGN = "holdfast-engine-tool"
"""Names the threads on which a plug-in answers: it may take its time, and stores must not wait."""
_SETTERS = {"goal": "set_goal(...)", "title": "set_title(...)", "model": "switch_model(...)"}
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _stored(
    method: Callable[Concatenate[Conversation, Arguments], Result],
) -> Callable[Concatenate[AsyncConversation, Arguments], Coroutine[Any, Any, Result]]:
    """Return a method that only reads and writes the store, for an event loop."""

    @wraps(method)
    async def run(
        self: AsyncConversation, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        return await in_store(partial(method, self.sync, *args, **kwargs))

    return run


async def _awaited(answer: Awaitable[Result] | Result) -> Result:
    is_awaited = isinstance(answer, Awaitable)
    return await cast("Awaitable[Result]", answer) if is_awaited else cast("Result", answer)


@names_checked
class AsyncConversation:
    """A conversation whose methods are awaited.

    ```python
    async with await holdfast.AsyncConversation.open(model="gpt-5") as chat:
        await chat.add_user("Hello")
        messages = await chat.messages()
        await chat.add_response(await client.chat.completions.create(messages=messages, ...))
    ```
    """

    __slots__ = ("sync",)

    def __init__(self, conversation: Conversation) -> None:
        """Wrap a conversation; `sync` is the same one for blocking code."""
        self._hold(conversation)

    if not TYPE_CHECKING:

        def __init__(self, *parts: object, **options: object) -> None:
            """Wrap a conversation; `sync` is the same one for blocking code."""
            if options or len(parts) != 1 or not isinstance(parts[0], Conversation):
                raise ConfigError(
                    "a conversation is not made by its class; await AsyncConversation.open(...) "
                    "begins one or goes on with one, and everything it takes has a default"
                )
            self._hold(parts[0])

        def __setattr__(self, name: str, value: object) -> None:
            """Set what is an attribute; what a method sets is said."""
            if name not in self.__slots__:
                way = f"; await {_SETTERS[name]}" if name in _SETTERS else ""
                raise AttributeError(f"AsyncConversation.{name} cannot be set{way}")
            super().__setattr__(name, value)

    def _hold(self, conversation: Conversation) -> None:
        self.sync = conversation
        conversation.compactor.background.loop = asyncio.get_running_loop()

    @classmethod
    async def open(
        cls,
        id_: str | None = None,
        *,
        key: str | None = None,
        **options: Unpack[ConversationOptions],
    ) -> AsyncConversation:
        """Begin a conversation, or go on with one; see `Conversation.open`."""
        opened = await in_store(partial(Conversation.open, id_, key=key, **options))
        if opened.live.deps.options.active:
            # The worker thread had a copy of this context.
            activate(opened.id)
        return cls(opened)

    @property
    def id(self) -> str:
        """Return the id of the session; a rotation changes it."""
        return self.sync.id

    async def session(self) -> Session:
        """Return the session as the store has it now."""
        return await in_store(lambda: self.sync.session)

    async def title(self) -> str:
        """Return the title; without one, it is made from the first exchange."""
        return (await self.session()).title

    async def set_title(self, title: str) -> None:
        """Give the conversation a title."""
        await in_store(lambda: setattr(self.sync, "title", title))

    async def goal(self) -> str:
        """Return the goal, which survives every compaction and fork and is shown to the model."""
        return (await self.session()).goal

    async def set_goal(self, goal: str) -> None:
        """Set the goal."""
        await in_store(lambda: setattr(self.sync, "goal", goal))

    async def usage(self) -> Usage:
        """Return what providers reported for this session, added up."""
        return (await self.session()).usage

    async def log(self) -> tuple[Entry, ...]:
        """Return everything that was said in this session, whatever the window shows."""
        return await in_store(self.sync.log.entries)

    set_system = _stored(Conversation.set_system)
    add_user = _stored(Conversation.add_user)
    add_assistant = _stored(Conversation.add_assistant)
    add_tool_result = _stored(Conversation.add_tool_result)
    add = _stored(Conversation.add)
    add_response = _stored(Conversation.add_response)
    search = _stored(Conversation.search)
    status = _stored(Conversation.status)
    compactions = _stored(Conversation.compactions)
    diff = _stored(Conversation.diff)
    undo = _stored(Conversation.undo)
    undo_compaction = _stored(Conversation.undo_compaction)
    redo = _stored(Conversation.redo)
    rewind = _stored(Conversation.rewind)
    pin = _stored(Conversation.pin)
    unpin = _stored(Conversation.unpin)

    async def engine_tools(self, reserved: Iterable[str] = ()) -> tuple[ToolSpec, ...]:
        """Return the tools that the engine gives the model; our own engines have none."""
        return await in_thread(lambda: self.sync.engine_tools(reserved), name=_FOREIGN)

    async def call_engine_tool(self, name: str, arguments: Mapping[str, object]) -> str:
        """Answer a call of one of these tools with JSON; what goes wrong stands under `error`."""
        return await in_thread(lambda: self.sync.call_engine_tool(name, arguments), name=_FOREIGN)

    async def messages(
        self,
        format: str = "openai",  # noqa: A002 - its name
        *,
        merge_roles: bool | None = None,
    ) -> list[dict[str, object]]:
        """Return what to send now, as a list of messages; see `Conversation.messages`."""
        return (await self.body(format, merge_roles=merge_roles)).messages

    async def body(
        self,
        format: str = "openai",  # noqa: A002 - its name
        *,
        merge_roles: bool | None = None,
    ) -> Body:
        """Return what to send now in any dialect; what is due is compacted first."""
        return await await_(self.sync.requested(format, merge_roles=merge_roles))

    async def compact(self, focus: str | None = None) -> CompactionReport:
        """Compact now, whatever the size; `focus` names what deserves most of the record."""
        return await await_(self.sync.compactor.compact(focus))

    compress = compact

    async def recover(self, error: object, *, attempt: int = 1) -> CompactionReport:
        """Compact after a provider refused the request for its size, tighter with each attempt."""
        return await await_(self.sync.compactor.recover(error, attempt=attempt))

    async def switch_model(self, model: str, context_length: int) -> CompactionReport | None:
        """Go on with another model; what it could not take is compacted first."""
        return await await_(self.sync.compactor.switch_model(model, context_length))

    async def wait(self, timeout: float | None = None) -> bool:
        """Wait for a compaction in the background; says whether none is left running."""
        job = self.sync.compactor.background.job
        if job is not None and not is_inside(self.sync.live.deps.engine):
            await settled(job, timeout)
        return not self.sync.compactor.background.is_running

    async def branch(
        self,
        at: int | Entry | None = None,
        *,
        title: str = "",
        key: str | None = None,
        keep_parent: bool = False,
    ) -> AsyncConversation:
        """Go another way from here, or from an earlier message, in a session of its own."""
        branch = partial(self.sync.branch, at, title=title, key=key, keep_parent=keep_parent)
        return AsyncConversation(await in_store(branch))

    async def new(self, *, keep_goal: bool = True) -> AsyncConversation:
        """Begin anew with an empty window; this session ends and stays in the store."""
        return AsyncConversation(await in_store(lambda: self.sync.new(keep_goal=keep_goal)))

    async def delegate(self, task: Content, *, title: str = "") -> AsyncConversation:
        """Return a session for a sub-agent with its task; this one goes on."""
        return AsyncConversation(await in_store(lambda: self.sync.delegate(task, title=title)))

    async def review(self, *, title: str = "") -> AsyncConversation:
        """Return a session that sees a copy of this window; this one goes on."""
        return AsyncConversation(await in_store(lambda: self.sync.review(title=title)))

    async def end(self, reason: EndReason = EndReason.CLOSED) -> None:
        """End the session; opening it again takes that back."""
        await await_(self.sync.ending(reason))

    async def call(
        self,
        send: Callable[..., Awaitable[Result] | Result],
        *,
        format: str = "openai",  # noqa: A002 - its name
        attempts: int = ATTEMPTS,
    ) -> Result:
        """Send the window, record the answer and return it; see `Conversation.call`.

        `send` may be a plain function; the event loop waits while it runs.
        """
        for attempt in range(1, attempts):
            try:
                response = await _awaited(send_body(send, await self.body(format), format))
            except Exception as error:
                if not is_context_overflow(error):
                    raise
                await self.recover(error, attempt=attempt)
            else:
                break
        else:
            response = await _awaited(send_body(send, await self.body(format), format))
        await self.add_response(response)
        return response

    async def record_stream(self, stream: AsyncIterable[Result]) -> AsyncIterator[Result]:
        """Pass the chunks of a stream through, and record the answer when it has ended."""
        recorder = StreamRecorder()
        try:
            async for chunk in stream:
                recorder.take(chunk)
                yield chunk
        finally:
            if (answer := recorder.answer) is not None:
                await self.add_response(answer)

    async def close(self) -> None:
        """Close the store, if this conversation opened it; the conversation can be resumed."""
        await self.wait(self.sync.PATIENCE)
        await in_store(self.sync.release)

    async def __aenter__(self) -> AsyncConversation:
        """Use the conversation for a while."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the store."""
        await self.close()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Return a method by its former name, with a warning; say what a wrong one may mean."""
            return former_name(self, name)

    def __repr__(self) -> str:
        """Return what tells conversations apart."""
        return repr(self.sync).replace("Conversation", "AsyncConversation", 1)
