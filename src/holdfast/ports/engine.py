"""The engine as a port: what a conversation needs from whoever compacts its window, and time.

A pass is a generator that yields what it waits for: one algorithm, blocking or awaiting. It holds
no thread while it waits. `run` makes each wait on the calling thread; `arun` awaits it, and runs
what lies between two waits on an executor if it is given one, so that neither computing nor a
store holds up an event loop.

Time is a port too, so that nothing else asks the machine what time it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar, cast

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from holdfast.compaction import CompactionReport, LiveState, Policy, Request
    from holdfast.summary import Answer, Ask
    from holdfast.tokens import Load
    from holdfast.transcript import Message, Transcript
    from holdfast.wire.tool_specs import ToolSpec


class Clock(Protocol):
    """Tells how much time passed, which day it is and what time."""

    def now(self) -> float:
        """Return seconds from an arbitrary start; they never run backwards."""
        ...

    def today(self) -> str:
        """Return the calendar day as an ISO date, such as `2026-11-15`."""
        ...

    def moment(self) -> int:
        """Return the time of day: whole milliseconds since the epoch, UTC."""
        ...


Want = TypeVar("Want")
Result = TypeVar("Result")


def run(steps: Generator[Want, object, Result], perform: Callable[[Want], object]) -> Result:
    """Return what the generator returns; `perform` replies to what it yields.

    An error of `perform` is raised inside the generator, at the place that waits.
    """
    try:
        want = next(steps)
        while True:
            try:
                reply = perform(want)
            except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
                want = steps.throw(error)
            else:
                want = steps.send(reply)
    except StopIteration as ended:
        return ended.value


async def arun(
    steps: Generator[Want, object, Result],
    perform: Callable[[Want], Awaitable[object]],
    executor: Executor | None = None,
) -> Result:
    """Return what `run` returns, without blocking the event loop while the generator waits.

    Args:
        steps: The generator; a cancellation closes it.
        perform: Replies to what the generator yields.
        executor: Runs what lies between two waits; by default the event loop does.
    """
    import asyncio

    async def advance(step: Callable[[], Want]) -> Want | _Ended[Result]:
        def stepped() -> Want | _Ended[Result]:
            try:
                return step()
            except StopIteration as ended:
                # A future cannot carry it.
                return _Ended(ended.value)

        return stepped() if executor is None else await _seen_to_its_end(executor, stepped)

    try:
        at = await advance(lambda: next(steps))
        while not isinstance(at, _Ended):
            try:
                reply = await perform(at)
            except Exception as error:  # noqa: BLE001 - raised again where it is waited for
                at = await advance(partial(steps.throw, error))
            else:
                at = await advance(partial(steps.send, reply))
    except BaseException:
        if executor is None:
            steps.close()
        else:
            # Closing gives a lease back, which writes to the store.
            await asyncio.shield(asyncio.get_running_loop().run_in_executor(executor, steps.close))
        raise
    return cast("_Ended[Result]", at).value


async def _seen_to_its_end(executor: Executor, call: Callable[[], Result]) -> Result:
    """Return what a call on an executor returns; a cancellation waits until it has.

    A generator that is running cannot be closed, however often that is asked for.
    """
    import asyncio
    import contextvars

    context = contextvars.copy_context()
    made = asyncio.get_running_loop().run_in_executor(executor, lambda: context.run(call))
    try:
        return await asyncio.shield(made)
    except asyncio.CancelledError:
        while not made.done():
            with suppress(asyncio.CancelledError):
                await asyncio.wait({made})
        if not made.cancelled():
            # Reading an error keeps asyncio from logging that nobody did.
            made.exception()
        raise


@dataclass(frozen=True, slots=True)
class _Ended(Generic[Result]):
    """What a generator returned."""

    value: Result


@dataclass(frozen=True, slots=True)
class Blocking:
    """A call of foreign code that a pass needs made; the reply is what it returns."""

    call: Callable[[], object]


EnginePass: TypeAlias = "Generator[Ask | Blocking, object, CompactionReport]"
"""A pass over a transcript: yields what it has to wait for, is sent the replies, and returns the
report. Whoever drives it decides whether waiting blocks a thread."""


class WindowEngine(Protocol):
    """Says when a window is due for compaction, and compacts it; calls may come from any thread."""

    @property
    def policy(self) -> Policy:
        """Return the knobs, adapted when the model changes or an error states its true window."""
        ...

    @property
    def host(self) -> LiveState:
        """Return what the host knows of the live state, such as the goal."""
        ...

    @host.setter
    def host(self, state: LiveState, /) -> None: ...

    def compaction(self, transcript: Transcript, request: Request = ...) -> EnginePass:
        """Begin a pass; an `Ask` that it yields is replied to with what `answer` returns."""
        ...

    def answer(self, ask: Ask, *, manual: bool) -> Answer:
        """Return what the summarizer writes, or why it does not, waiting for it."""
        ...

    async def aanswer(self, ask: Ask, *, manual: bool) -> Answer:
        """Return what `answer` returns, without blocking the event loop."""
        ...

    def load(self, messages: Iterable[Message]) -> Load:
        """Return what the messages ask of a provider, by estimate."""
        ...

    def forget_weights(self) -> None:
        """Let go of messages that were weighed: others are shown from now on."""
        ...

    def carry(self, tokens: int) -> None:
        """Hear what goes out with every request beside its messages; each load has it in it."""
        ...

    def measure(self, load: Load, *, prompt_tokens: int | None = None) -> int:
        """Take note of the request that would be sent now, and return its expected size."""
        ...

    def is_due(self, load: Load, *, prompt_tokens: int | None = None) -> bool:
        """Say whether a request of this load is due for compaction."""
        ...

    def is_preflight_due(self, transcript: Callable[[], Transcript]) -> bool:
        """Say by a look at the messages whether a turn that begins is due for compaction."""
        ...

    def is_hygiene_due(
        self, load: Load, messages: int, *, prompt_tokens: int | None = None
    ) -> bool:
        """Say whether a session that grew between turns is compacted before an agent sees it."""
        ...

    def recovery(self, load: Load, error: str, attempt: int = 1) -> Policy:
        """Return what to aim for after a provider refused a request for its size."""
        ...

    def update_from_response(
        self, prompt_tokens: int, *, rough: int | None = None, completion_tokens: int = 0
    ) -> str | None:
        """Learn from reported usage, and return a warning when it is time for one.

        Args:
            prompt_tokens: What the provider says that the request weighed.
            rough: The estimate of that very request.
            completion_tokens: What the provider says that the answer weighed.
        """
        ...

    def update_model(self, context_length: int, *, model: str = "") -> None:
        """Recompute every budget for a model with another window."""
        ...

    @property
    def expected_tokens(self) -> int:
        """Return the size of the newest request that was measured."""
        ...

    @property
    def summarizer(self) -> str:
        """Return which models write records now, in words; empty where none does."""
        ...

    @property
    def trouble(self) -> str:
        """Return what the user should know of the engine itself for the rest of the session."""
        ...

    def begin(self, session_id: str, **details: object) -> None:
        """Hear that a conversation begins, or goes on under another id."""
        ...

    def end(self, session_id: str, messages: list[dict[str, object]]) -> None:
        """Hear that the conversation ends, with the window that it ends with."""
        ...

    def reset(self) -> None:
        """Forget what was learned from another conversation."""
        ...

    def tools(self, reserved: Iterable[str] = ()) -> tuple[ToolSpec, ...]:
        """Return the tools that the engine gives the model, none of them with a reserved name."""
        ...

    def call(
        self,
        name: str,
        arguments: Mapping[str, object],
        messages: list[dict[str, object]] | None = None,
    ) -> str:
        """Answer a call of one of these tools with JSON; what goes wrong stands under `error`."""
        ...
