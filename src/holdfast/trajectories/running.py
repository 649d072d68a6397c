"""A run over files: batches to whoever processes them, summaries from a model, lines to the output.

The result depends on the inputs and the options alone, in this order, whoever does the work and
however often the run was interrupted. Summaries of a model are as repeatable as the model is.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast import __version__
from holdfast.agent_files.files import digest_of
from holdfast.errors import SummarizerError
from holdfast.summary import Declined, Failure, Written
from holdfast.trajectories.asking import event_loop
from holdfast.trajectories.items import batches
from holdfast.trajectories.metrics import Aggregate
from holdfast.trajectories.output import BatchLines
from holdfast.trajectories.work import Failed, FinishedTrajectory, Waiting, complete, rules_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from holdfast.trajectories.asking import BulkSummarizer
    from holdfast.trajectories.executors import Executor
    from holdfast.trajectories.items import InputFile, TrajectoryBatch
    from holdfast.trajectories.output import RunOutput
    from holdfast.trajectories.work import Outcome, Work

__all__ = ["RunProgress", "figures", "run", "run_identity"]

_STOPS = frozenset({Failure.AUTH, Failure.MISSING, Failure.UNCONFIGURED})
"""Failures of a model that all other trajectories would meet as well."""


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
        output.write(_lines(batch, found))
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


def _lines(batch: TrajectoryBatch, outcomes: Iterable[Outcome]) -> BatchLines:
    trajectories: list[bytes] = []
    metrics: list[str] = []
    failed: list[str] = []
    for outcome in outcomes:
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
    return BatchLines(b"".join(trajectories), _joined(metrics), _joined(failed))


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
    if isinstance(answer, Declined) and answer.failure in _STOPS:
        raise SummarizerError(f"{answer.reason}; mend that and run the same command again to go on")
    done = complete(outcome, answer if isinstance(answer, Written) else None, work)
    metrics = replace(
        done.metrics,
        summarization_api_calls=asked.calls,
        summarization_errors=asked.errors,
        cost=round(asked.cost, 6),
    )
    return replace(done, metrics=metrics)
