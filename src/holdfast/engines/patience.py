"""One call to a summarizer that ends in time and never raises: the edge to foreign code.

A summarizer is anybody's code over anybody's network. Here its exceptions become values and its
silence becomes a timeout, for threads and for coroutines alike.
"""

from __future__ import annotations

import contextvars
import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from holdfast.errors import (
    ConfigError,
    MissingExtra,
    SummarizerDenied,
    SummarizerMisread,
    SummarizerMissing,
    SummarizerUnavailable,
)
from holdfast.summary import Declined, Failure, Written

if TYPE_CHECKING:
    import asyncio

    from holdfast.ports import Summarizer
    from holdfast.summary import Answer, Ask

__all__ = ["acall", "call", "diagnose"]

_REASON_LENGTH = 300


def call(summarizer: Summarizer, ask: Ask, timeout: float) -> Answer:
    """Return what the summarizer wrote, or why there is nothing, within `timeout` seconds.

    The call runs in a daemon thread. One that hangs is abandoned: Python cannot stop it, and
    nothing waits for it, not even the end of the program.
    """
    answers: SimpleQueue[Answer | BaseException] = SimpleQueue()

    def run() -> None:
        try:
            answers.put(_read(summarizer, summarizer.write(ask)))
        except BaseException as error:  # noqa: BLE001 - judged where it is awaited
            answers.put(error)

    context = contextvars.copy_context()
    threading.Thread(
        target=context.run, args=(run,), name=f"holdfast-{summarizer.name}", daemon=True
    ).start()
    try:
        answer = answers.get(timeout=timeout)
    except Empty:
        return _silence(summarizer, timeout)
    return _judge(summarizer, answer)


async def acall(summarizer: Summarizer, ask: Ask, timeout: float) -> Answer:
    """Return what `call` returns, without blocking the event loop.

    A coroutine that ignores its cancellation is abandoned like a thread that hangs, which is
    why this waits beside the task instead of inside `asyncio.wait_for`.
    """
    import asyncio

    async def run() -> str:
        return await summarizer.awrite(ask)

    task = asyncio.create_task(run())
    try:
        await asyncio.wait({task}, timeout=timeout)
        if not task.done():
            return _silence(summarizer, timeout)
        return _judge(summarizer, _ending(summarizer, task))
    finally:
        task.cancel()
        task.add_done_callback(_forget)


def diagnose(summarizer: Summarizer, error: Exception) -> Declined:
    """Return the failure that an exception stands for.

    What no adapter translated is taken for a passing fault: another try may work, and a pause
    follows if it does not.
    """
    said = _one_line(error)
    match error:
        case SummarizerDenied():
            reason = (
                f"{summarizer.name} refused the credential: {said}; check the API key or the "
                "login of this provider, then compress again"
            )
            return Declined(Failure.AUTH, reason)
        case SummarizerMissing():
            return Declined(Failure.MISSING, f"{summarizer.name} was not found: {said}")
        case SummarizerMisread():
            return Declined(Failure.MISREAD, f"{summarizer.name} could not be read: {said}")
        case SummarizerUnavailable(retry_after=retry_after):
            return Declined(
                Failure.TRANSIENT, f"{summarizer.name} is unavailable: {said}", retry_after
            )
        case ConfigError() | MissingExtra():
            return Declined(Failure.UNCONFIGURED, f"{summarizer.name} cannot be used: {said}")
        case _:
            reason = f"{summarizer.name} failed: {type(error).__name__}: {said}"
            return Declined(Failure.TRANSIENT, reason)


def _read(summarizer: Summarizer, text: object) -> Answer:
    # The protocol promises text; a caller's own function may not keep the promise.
    if isinstance(text, str) and text.strip():
        return Written(text, summarizer.name)
    if text is None or isinstance(text, str):
        return Declined(Failure.EMPTY, f"{summarizer.name} returned an empty answer")
    kind = type(text).__name__
    return Declined(Failure.MISREAD, f"{summarizer.name} returned {kind} instead of text")


def _ending(summarizer: Summarizer, task: asyncio.Task[str]) -> Answer | BaseException:
    if task.cancelled():
        return Declined(Failure.TRANSIENT, f"{summarizer.name} cancelled its own call")
    error = task.exception()
    return _read(summarizer, task.result()) if error is None else error


def _judge(summarizer: Summarizer, answer: Answer | BaseException) -> Answer:
    if isinstance(answer, Exception):
        return diagnose(summarizer, answer)
    if isinstance(answer, BaseException):
        # A wish to end the program is not a failure of the summarizer.
        raise answer
    return answer


def _silence(summarizer: Summarizer, timeout: float) -> Declined:
    reason = f"{summarizer.name} is unavailable: no answer within {timeout:g} s"
    return Declined(Failure.TRANSIENT, reason)


def _forget(task: asyncio.Task[str]) -> None:
    # Reading the ending keeps asyncio from logging that nobody did.
    if not task.cancelled():
        task.exception()


def _one_line(error: Exception) -> str:
    # A provider may quote the request in its error; a report needs its beginning only.
    line = " ".join(str(error).split()) or type(error).__name__
    return line if len(line) <= _REASON_LENGTH else line[: _REASON_LENGTH - 1] + "…"
