"""The same conversation for event loops: the same methods, run on a worker thread.

The store blocks for fractions of a millisecond, and for longer only when many processes write; a
compaction may wait for a model. Neither may hold up an event loop, and neither is worth a second
implementation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, Unpack

from holdfast.conversation import activate
from holdfast.wiring.conversations import Conversation

if TYPE_CHECKING:
    from types import TracebackType

    from holdfast.conversation.incoming import Content
    from holdfast.wiring.conversations import Opening

__all__ = ["AsyncConversation"]

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def _awaited(
    method: Callable[Concatenate[Conversation, Arguments], Result],
) -> Callable[Concatenate[AsyncConversation, Arguments], Coroutine[Any, Any, Result]]:
    """Return the method for an event loop."""

    @wraps(method)
    async def run(
        self: AsyncConversation, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        return await asyncio.to_thread(method, self.sync, *args, **kwargs)

    return run


class AsyncConversation:
    """A conversation whose methods are awaited.

    ```python
    async with await holdfast.AsyncConversation.open(model="gpt-5") as chat:
        await chat.user("Hello")
        await chat.record(await client.chat.completions.create(messages=await chat.window(), ...))
    ```
    """

    def __init__(self, conversation: Conversation) -> None:
        """Wrap a conversation; `sync` is the same one for blocking code."""
        self.sync = conversation

    @classmethod
    async def open(cls, id_: str | None = None, **opening: Unpack[Opening]) -> AsyncConversation:
        """Begin a conversation, or go on with one; see `Conversation.open`."""
        opened = await asyncio.to_thread(Conversation.open, id_, **opening)
        if opening.get("active", True):
            # The worker thread had a copy of this context.
            activate(opened.id)
        return cls(opened)

    @property
    def id(self) -> str:
        """Return the id of the session; a rotation changes it."""
        return self.sync.id

    system = _awaited(Conversation.system)
    user = _awaited(Conversation.user)
    assistant = _awaited(Conversation.assistant)
    tool = _awaited(Conversation.tool)
    record = _awaited(Conversation.record)
    window = _awaited(Conversation.window)
    body = _awaited(Conversation.body)
    compress = _awaited(Conversation.compress)
    extend = _awaited(Conversation.extend)
    search = _awaited(Conversation.search)
    recover = _awaited(Conversation.recover)
    switch_model = _awaited(Conversation.switch_model)
    status = _awaited(Conversation.status)
    undo = _awaited(Conversation.undo)
    redo = _awaited(Conversation.redo)
    rewind = _awaited(Conversation.rewind)
    diff = _awaited(Conversation.diff)
    pin = _awaited(Conversation.pin)
    unpin = _awaited(Conversation.unpin)
    wait = _awaited(Conversation.wait)
    end = _awaited(Conversation.end)
    close = _awaited(Conversation.close)

    async def branch(
        self, at: int | None = None, *, title: str = "", keep_parent: bool = False
    ) -> AsyncConversation:
        """Go another way from here, or from an earlier message, in a session of its own."""
        return AsyncConversation(
            await asyncio.to_thread(self.sync.branch, at, title=title, keep_parent=keep_parent)
        )

    async def new(self, *, keep_goal: bool = True) -> AsyncConversation:
        """Begin anew with an empty window; this session ends and stays in the store."""
        return AsyncConversation(await asyncio.to_thread(self.sync.new, keep_goal=keep_goal))

    async def delegate(self, task: Content, *, title: str = "") -> AsyncConversation:
        """Return a session for a sub-agent with its task; this one goes on."""
        return AsyncConversation(await asyncio.to_thread(self.sync.delegate, task, title=title))

    async def review(self, *, title: str = "") -> AsyncConversation:
        """Return a session that sees a copy of this window; this one goes on."""
        return AsyncConversation(await asyncio.to_thread(self.sync.review, title=title))

    async def __aenter__(self) -> AsyncConversation:
        """Use the conversation for a while."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the store."""
        await self.close()
