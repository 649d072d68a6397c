"""One call to a summarizer that ends in time and never raises: the edge to foreign code.

A summarizer is anybody's code over anybody's network. Here its exceptions become values and its
silence becomes a timeout, for threads and for coroutines alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.deadline import (
    Hung,
    Raised,
    Returned,
    SelfCancelled,
    await_within,
    call_within,
    sentence_of,
)
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
    from holdfast.deadline import Ending
    from holdfast.ports import Summarizer
    from holdfast.summary import Answer, Ask

__all__ = ["acall", "call", "diagnose"]

_REASON_LENGTH = 300


def call(summarizer: Summarizer, ask: Ask, timeout: float) -> Answer:
    """Return what the summarizer wrote, or why there is nothing, within `timeout` seconds."""
    ending = call_within(timeout, lambda: summarizer.write(ask), name=f"holdfast-{summarizer.name}")
    return _judge(summarizer, ending)


async def acall(summarizer: Summarizer, ask: Ask, timeout: float) -> Answer:
    """Return what `call` returns, without blocking the event loop."""
    return _judge(summarizer, await await_within(timeout, lambda: summarizer.awrite(ask)))


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


def _judge(summarizer: Summarizer, ending: Ending) -> Answer:
    match ending:
        case Hung(reason):
            return Declined(Failure.TRANSIENT, f"{summarizer.name} is unavailable: {reason}")
        case Raised(SelfCancelled()):
            return Declined(Failure.TRANSIENT, f"{summarizer.name} cancelled its own call")
        case Raised(Exception() as error):
            return diagnose(summarizer, error)
        case Raised(error):
            # A wish to end the program is not a failure of the summarizer.
            raise error
        case Returned(str() as text) if text.strip():
            return Written(text, summarizer.name)
        case Returned(None | str()):
            return Declined(Failure.EMPTY, f"{summarizer.name} returned an empty answer")
        case Returned(value):
            # The protocol promises text; a caller's own function may not keep the promise.
            kind = type(value).__name__
            return Declined(Failure.MISREAD, f"{summarizer.name} returned {kind} instead of text")


def _one_line(error: Exception) -> str:
    # A provider may quote the request in its error; a report needs its beginning only.
    line = sentence_of(error) or type(error).__name__
    return line if len(line) <= _REASON_LENGTH else line[: _REASON_LENGTH - 1] + "…"
