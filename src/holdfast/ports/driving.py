"""Drives a generator that yields what it waits for: one algorithm, blocking or awaiting.

The generator holds no thread while it waits. `run` makes each wait on the calling thread; `arun`
awaits it, and runs what lies between two waits on an executor if it is given one, so that neither
computing nor a store holds up an event loop.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator
    from concurrent.futures import Executor

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
