"""Trajectories from Python: one at a time, or many with several summaries asked for at once."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict, Unpack

from holdfast.redaction import Redactor
from holdfast.summary import Written
from holdfast.trajectories.asking import BulkSummarizer, SummaryLimits, event_loop
from holdfast.trajectories.compression import (
    AUTO,
    CompressedTrajectory,
    Pending,
    Rules,
    TrajectoryPolicy,
    counter_for,
    finish,
    prepare,
)
from holdfast.wiring.summarizers import summarizer_of

if TYPE_CHECKING:
    from holdfast.tokens import Counter
    from holdfast.trajectories.asking import SummaryAttempt
    from holdfast.trajectories.compression import Prepared
    from holdfast.trajectories.turns import RawTurn
    from holdfast.wiring.summarizers import Writer

__all__ = ["acompress", "acompress_many", "compress"]


class CompressOptions(TypedDict, total=False):
    """What a caller may choose; the defaults are those of `TrajectoryPolicy`."""

    target_tokens: int
    summary_tokens: int
    protect_last: int
    tokenizer: str | Counter
    """A vocabulary such as `o200k`, a model, a `tokenizer.json`, `estimate`, or a counter."""
    summarizer: Writer
    """A function from prompt to text, a model's name, an object with the `Summarizer` protocol, or
    None for the record that needs no model."""
    redactor: Redactor | None
    """What masks secrets; None keeps them."""
    attempts: int
    timeout: float


def compress(turns: Sequence[RawTurn], **options: Unpack[CompressOptions]) -> CompressedTrajectory:
    """Make a trajectory smaller, waiting for the summarizer.

    Args:
        turns: ShareGPT turns (`from`, `value`) or OpenAI messages; they stay as they are.
        options: See `Options`.

    Raises:
        DecodeError: a turn cannot be read; it says which.
        ConfigError: an option that cannot be met.
    """
    compressor = _Compressor(options, concurrency=1)
    prepared = compressor.prepare(turns)
    if not isinstance(prepared, Pending):
        return prepared
    # Not in the loop of the caller, who may be inside one.
    with event_loop() as loop:
        return asyncio.run_coroutine_threadsafe(compressor.finish(prepared), loop).result()


async def acompress(
    turns: Sequence[RawTurn], **options: Unpack[CompressOptions]
) -> CompressedTrajectory:
    """Make a trajectory smaller without blocking the event loop for the summarizer."""
    compressor = _Compressor(options, concurrency=1)
    return await compressor.compress(turns)


async def acompress_many(
    trajectories: Iterable[Sequence[RawTurn]],
    *,
    concurrency: int = 16,
    **options: Unpack[CompressOptions],
) -> AsyncIterator[CompressedTrajectory]:
    """Yield many trajectories in order, with up to `concurrency` summaries asked for at once.

    Only as many trajectories are taken from the iterable as are under way.
    """
    compressor = _Compressor(options, concurrency)
    waiting: deque[asyncio.Task[CompressedTrajectory]] = deque()
    try:
        for turns in trajectories:
            waiting.append(asyncio.create_task(compressor.compress(turns)))
            if len(waiting) >= concurrency:
                yield await waiting.popleft()
        while waiting:
            yield await waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()


class _Compressor:
    """The parts that the options describe."""

    def __init__(self, options: CompressOptions, concurrency: int) -> None:
        usual = TrajectoryPolicy()
        policy = TrajectoryPolicy(
            target_tokens=options.get("target_tokens", usual.target_tokens),
            summary_tokens=options.get("summary_tokens", usual.summary_tokens),
            protect_last=options.get("protect_last", usual.protect_last),
        )
        tokenizer = options.get("tokenizer", AUTO)
        counter = counter_for(tokenizer) if isinstance(tokenizer, str) else tokenizer
        redactor = options.get("redactor", Redactor())
        self._rules = Rules(policy, counter.count, None if redactor is None else redactor.redact)
        limits = SummaryLimits(
            concurrency=concurrency,
            attempts=options.get("attempts", 3),
            timeout=options.get("timeout", 120.0),
        )
        writer = summarizer_of(options.get("summarizer"))
        self._bulk = None if writer is None else BulkSummarizer(writer, limits, counter.count)

    def prepare(self, turns: Sequence[RawTurn]) -> Prepared:
        return prepare(turns, self._rules)

    async def compress(self, turns: Sequence[RawTurn]) -> CompressedTrajectory:
        prepared = self.prepare(turns)
        return await self.finish(prepared) if isinstance(prepared, Pending) else prepared

    async def finish(self, pending: Pending) -> CompressedTrajectory:
        if self._bulk is None:
            return finish(pending, None, self._rules)
        asked = await self._bulk.summarize(lambda window: pending.ask(self._rules, window))
        answer = asked.answer if isinstance(asked.answer, Written) else None
        return _with_asked(finish(pending, answer, self._rules), asked)


def _with_asked(done: CompressedTrajectory, asked: SummaryAttempt) -> CompressedTrajectory:
    metrics = replace(
        done.metrics, summarization_api_calls=asked.calls, summarization_errors=asked.errors
    )
    return replace(done, metrics=metrics)
