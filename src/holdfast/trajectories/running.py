"""A run over files: who processes the batches, summaries from a model, lines in order.

A process that dies takes nothing with it: what it had is tried again alone, and a trajectory that
ends its process every time is set aside.

The result depends on the inputs and the options alone, in this order, whoever does the work and
however often the run was interrupted. Summaries of a model are as repeatable as the model is.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import islice
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypedDict, Unpack

from holdfast import __version__
from holdfast.agent_files.files import digest_of
from holdfast.errors import SummarizerError
from holdfast.redaction import Redactor
from holdfast.summary import Declined, Written
from holdfast.system.processes import can_fork, safe_path
from holdfast.trajectories.asking import HOPELESS, BulkSummarizer, SummaryLimits, event_loop
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
from holdfast.trajectories.items import batches
from holdfast.trajectories.metrics import Aggregate
from holdfast.trajectories.output import BatchLines
from holdfast.trajectories.work import (
    Failed,
    FinishedTrajectory,
    Outcome,
    Waiting,
    Work,
    complete,
    process,
    rules_of,
)
from holdfast.wiring.models import summarizer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.tokens import Counter
    from holdfast.trajectories.compression import Prepared
    from holdfast.trajectories.items import InputFile, TrajectoryBatch
    from holdfast.trajectories.output import RunOutput
    from holdfast.trajectories.turns import RawTurn
    from holdfast.wiring.models import Writer

_AHEAD = 2
"""Batches that wait for each process, so that none runs dry."""
DIED = "the process that took it ended; it may need more memory than there is"


class Executor(Protocol):
    """Processes batches somewhere."""

    def outcomes(
        self, batches: Iterable[TrajectoryBatch], work: Work
    ) -> Iterator[tuple[TrajectoryBatch, tuple[Outcome, ...]]]:
        """Yield what becomes of each batch, in order, taking from the input as room is made."""
        ...


class HereExecutor:
    """Processes batches in this process."""

    def outcomes(
        self, batches: Iterable[TrajectoryBatch], work: Work
    ) -> Iterator[tuple[TrajectoryBatch, tuple[Outcome, ...]]]:
        """Yield what becomes of each batch."""
        for batch in batches:
            yield batch, process(batch, work)


class PoolExecutor:
    """Processes batches in several processes at once; a context, because those have to be ended."""

    def __init__(self, jobs: int) -> None:
        """Take how many processes there are to be; they are started with the context."""
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None
        self._stack = ExitStack()

    def __enter__(self) -> PoolExecutor:
        """Start the processes: split off from this one where that is safe, which is quickest."""
        self._stack.enter_context(safe_path())
        self._pool = _pool(self._jobs, is_split=can_fork())
        # The first task starts them all; a thread that is started later is not in their way.
        self._pool.submit(os.getpid).result()
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes; what they have not begun is not begun."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
        self._stack.close()

    def outcomes(
        self, batches: Iterable[TrajectoryBatch], work: Work
    ) -> Iterator[tuple[TrajectoryBatch, tuple[Outcome, ...]]]:
        """Yield what becomes of each batch, in order."""
        incoming = iter(batches)
        waiting: deque[tuple[TrajectoryBatch, Future[tuple[Outcome, ...]]]] = deque()
        while True:
            while len(waiting) < self._jobs * _AHEAD and (batch := next(incoming, None)):
                waiting.append((batch, self._submit(batch, work)))
            if not waiting:
                return
            batch, future = waiting[0]
            try:
                done = future.result()
            except BrokenProcessPool:
                # Whose fault it was is not known: all that was under way is done one by one.
                self._pool = None
                apart = partial(_alone, work=work)
                for each, found in apart([each for each, _ in waiting]):
                    yield each, each_by_itself(each, apart) if found is None else found
                waiting.clear()
            else:
                waiting.popleft()
                yield batch, done

    def _submit(self, batch: TrajectoryBatch, work: Work) -> Future[tuple[Outcome, ...]]:
        if self._pool is None:
            self._pool = _pool(self._jobs)
        try:
            return self._pool.submit(process, batch, work)
        except BrokenProcessPool as error:
            # A process died while nobody waited; that is noticed when this one's turn comes.
            future: Future[tuple[Outcome, ...]] = Future()
            future.set_exception(error)
            return future


def jobs_for(jobs: int | None) -> int:
    """Return how many processes are used: as many as were asked for, or one for each core."""
    if jobs is not None:
        return jobs
    # A container may have been given fewer cores than the machine has; not every system says so.
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _pool(jobs: int, *, is_split: bool = False) -> ProcessPoolExecutor:
    context = get_context("fork" if is_split else "spawn")
    return ProcessPoolExecutor(jobs, context, initializer=_serve)


def _serve() -> None:
    """Leave Ctrl-C to the process that hands out the work, and do not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (parent := parent_process()) is not None:

        def end_with_it() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=end_with_it, daemon=True).start()


def _alone(
    batches: Iterable[TrajectoryBatch], work: Work
) -> Iterator[tuple[TrajectoryBatch, tuple[Outcome, ...] | None]]:
    """Process batches, each in a process of its own; None where that died."""
    for batch in batches:
        with _pool(1) as pool:
            try:
                found = pool.submit(process, batch, work).result()
            except BrokenProcessPool:
                found = None
        yield batch, found


def each_by_itself(
    batch: TrajectoryBatch,
    apart: Callable[
        [Sequence[TrajectoryBatch]],
        Iterable[tuple[TrajectoryBatch, tuple[Outcome, ...] | None]],
    ],
) -> tuple[Outcome, ...]:
    """Return what becomes of the trajectories of a batch whose process died.

    Args:
        apart: Processes batches so that none takes another with it; None where its process died.
    """
    if batch.session is not None:
        return (Failed(1, DIED, ""),)
    singles = [replace(batch, items=(item,)) for item in batch.items]
    return tuple(
        outcome
        for single, found in apart(singles)
        for outcome in ((Failed(single.items[0].number, DIED, ""),) if found is None else found)
    )


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Who is told how far a run is."""

    read: Callable[[int], None]
    """Hears how many more bytes of the input were read."""
    done: Callable[[int], None]
    """Hears how many more trajectories are written."""


def run_identity(
    inputs: Iterable[InputFile], work: Work, summarizer: str, output: Sequence[object]
) -> dict[str, object]:
    """Return everything that decides over the output, by the names that people know it by."""
    identity = asdict(replace(work, dry_run=False))
    identity["inputs"] = [
        [file.shown, file.size, file.modified] for each in inputs for file in each.found.files
    ]
    if work.tokenizer.endswith(".json"):
        identity["tokenizer"] = digest_of(Path(work.tokenizer))
    identity |= {"summarizer": summarizer, "output": list(output), "version": __version__}
    # As it comes back from a file, so that the two can be compared.
    return json.loads(json.dumps(identity))


def run(
    inputs: Sequence[InputFile],
    work: Work,
    executor: Executor,
    output: RunOutput,
    progress: RunProgress,
    summarizer: BulkSummarizer | None = None,
) -> None:
    """Process everything that an earlier part of the run has not, and write it.

    Raises:
        SummarizerError: the model cannot be used at all; the run can be gone on with.
        OutputError: something cannot be written; the run can be gone on with.
    """
    left = islice(batches(inputs, progress.read), output.resumed, None)
    outcomes = executor.outcomes(left, work)
    if summarizer is not None:
        outcomes = _summarized(outcomes, summarizer, work)
    for batch, found in outcomes:
        trajectories: list[bytes] = []
        metrics: list[str] = []
        failed: list[str] = []
        for outcome in found:
            metrics.append(json.dumps(_figures(batch.source, outcome), ensure_ascii=False))
            if isinstance(outcome, FinishedTrajectory):
                trajectories.append(outcome.line)
            elif isinstance(outcome, Failed):
                aside = {
                    "source": batch.source,
                    "number": outcome.number,
                    "error": outcome.error,
                    "content": outcome.content,
                }
                failed.append(json.dumps(aside, ensure_ascii=False))
        output.write(BatchLines(b"".join(trajectories), _joined(metrics), _joined(failed)))
        progress.done(len(found))


def figures(
    inputs: Sequence[InputFile], work: Work, executor: Executor, progress: RunProgress
) -> Aggregate:
    """Return the figures of a run that writes nothing and asks no model."""
    aggregate = Aggregate()
    rehearsed = replace(work, dry_run=True, asks=False)
    for batch, found in executor.outcomes(batches(inputs, progress.read), rehearsed):
        for outcome in found:
            aggregate.add(_figures(batch.source, outcome))
        progress.done(len(found))
    return aggregate


def _joined(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")


def _figures(source: str, outcome: Outcome) -> dict[str, object]:
    place: dict[str, object] = {"source": source, "number": outcome.number}
    match outcome:
        case FinishedTrajectory(metrics=metrics):
            return {**place, **metrics.as_json()}
        case Failed(error=error):
            return {**place, "error": error}
        case Waiting():
            raise TypeError("a trajectory that waits has no figures yet")


def _summarized(
    outcomes: Iterable[tuple[TrajectoryBatch, tuple[Outcome, ...]]],
    summarizer: BulkSummarizer,
    work: Work,
) -> Iterator[tuple[TrajectoryBatch, tuple[Outcome, ...]]]:
    """Yield the batches in order with the summaries of a model, many of which are asked at once."""
    waiting: deque[tuple[TrajectoryBatch, Future[tuple[Outcome, ...]], int]] = deque()
    asked = 0
    with event_loop() as loop:
        for batch, found in outcomes:
            count = sum(isinstance(each, Waiting) for each in found)
            answers = asyncio.run_coroutine_threadsafe(_answered(found, summarizer, work), loop)
            waiting.append((batch, answers, count))
            asked += count
            # Enough is under way that the model never waits for work, and no more is held.
            while waiting and (waiting[0][1].done() or asked > 2 * summarizer.concurrency):
                first, done, fewer = waiting.popleft()
                yield first, done.result()
                asked -= fewer
        for batch, answers, _ in waiting:
            yield batch, answers.result()


async def _answered(
    outcomes: Iterable[Outcome], summarizer: BulkSummarizer, work: Work
) -> tuple[Outcome, ...]:
    return tuple(await asyncio.gather(*(_summary(each, summarizer, work) for each in outcomes)))


async def _summary(outcome: Outcome, summarizer: BulkSummarizer, work: Work) -> Outcome:
    if not isinstance(outcome, Waiting):
        return outcome
    rules = rules_of(work)
    asked = await summarizer.summarize(lambda window: outcome.pending.ask(rules, window))
    answer = asked.answer
    if isinstance(answer, Declined) and answer.failure in HOPELESS:
        raise SummarizerError(f"{answer.reason}; mend that and run the same command again to go on")
    done = complete(outcome, answer if isinstance(answer, Written) else None, work)
    metrics = replace(
        done.metrics,
        summarization_api_calls=asked.calls,
        summarization_errors=asked.errors,
        cost=round(asked.cost, 6),
    )
    return replace(done, metrics=metrics)


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
        done = finish(pending, answer, self._rules)
        metrics = replace(
            done.metrics, summarization_api_calls=asked.calls, summarization_errors=asked.errors
        )
        return replace(done, metrics=metrics)
