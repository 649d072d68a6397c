"""The error of the token estimate, by kind of text, against an exact tokenizer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING

from bench.report import Bar, Result, Table, alone, shared, stopwatch
from bench.texts import kinds
from bench.transcripts import transcript
from holdfast import Compressor
from holdfast.errors import HoldfastError
from holdfast.formats import read_all
from holdfast.providers.exact_counter import ExactCounter
from holdfast.tokens import Estimator, Scale
from holdfast.transcript import Text, ToolResult
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bench.report import Cell
    from holdfast.transcript import Transcript

LARGEST_FILE = 1_500_000
SHORTEST_DOCUMENT = 200
FILES_PER_AGENT = 6
AFTER_ONE_REPORT = 5.0
"""Percent: what the estimate may be off on average once usage was reported."""


@dataclass(frozen=True, slots=True)
class _Errors:
    """Percentages over documents; positive where the estimate is too high."""

    documents: int
    aggregate: float
    mean: float
    p95: float


def run() -> Result:
    """Measure the estimate and return its tables."""
    estimator, exact = Estimator(), ExactCounter("o200k")
    exact.count("load the vocabulary")
    texts = kinds()
    sessions = list(_sessions())
    if sessions:
        texts["real sessions"] = [text for session in sessions for text in _texts(session)]
    errors = {kind: _errors(found, estimator, exact) for kind, found in texts.items()}
    rows: list[tuple[Cell, ...]] = [
        (kind, each.documents, f"{each.aggregate:+.1f}", f"{each.mean:.1f}", f"{each.p95:.1f}")
        for kind, each in errors.items()
    ]
    columns = ("kind of text", "documents", "aggregate error %", "mean %", "p95 %")
    note = "Estimator against `o200k`. Mean and p95 are of the absolute error of each document."
    calibrated, bars = _calibrated(sessions, exact)
    return Result(
        "tokens", (Table("tokens", columns, tuple(rows), note), calibrated, _speeds(texts)), bars
    )


def _errors(texts: Sequence[str], estimator: Estimator, exact: ExactCounter) -> _Errors:
    pairs = [(estimator.count(text), exact.count(text)) for text in texts]
    off = sorted(abs(rough / real - 1) for rough, real in pairs if real)
    total = sum(rough for rough, _ in pairs) / sum(real for _, real in pairs) - 1
    worst = off[min(int(len(off) * 0.95), len(off) - 1)]
    return _Errors(len(pairs), 100 * total, 100 * fmean(off), 100 * worst)


def _calibrated(
    sessions: Sequence[Transcript], exact: ExactCounter
) -> tuple[Table, tuple[Bar, ...]]:
    """Report usage once, half way through a session, and look how far off its end is."""
    openai = DIALECTS["openai"]
    made = [openai.decode(Body(list(transcript(400, seed=seed)))) for seed in range(1, 9)]
    rows: list[tuple[Cell, ...]] = []
    bars: list[Bar] = []
    for kind, group in (("synthetic sessions", made), ("real sessions", sessions)):
        pairs = [_before_and_after(session, exact) for session in group if len(session) >= 8]
        if not pairs:
            continue
        before, after = (100 * fmean(column) for column in zip(*pairs, strict=True))
        rows.append((kind, len(pairs), f"{before:.1f}", f"{after:.1f}"))
        promise = f"token estimate after one report of usage, {kind}: mean error at most 5 %"
        bars.append(Bar(promise, f"{after:.1f} %", after <= AFTER_ONE_REPORT))
    columns = ("sessions", "number", "mean error %", "after one report %")
    return Table("calibration", columns, tuple(rows)), tuple(bars)


def _before_and_after(session: Transcript, exact: ExactCounter) -> tuple[float, float]:
    openai, real = DIALECTS["openai"], Scale(exact)
    messages = openai.encode(session).messages
    half = len(messages) // 2
    # What the dialect cannot say, such as another provider's thinking, is not estimated either.
    truth = real.total(openai.decode(Body(list(messages))))
    compressor = Compressor(context_length=100_000_000)
    compressor.should_compress(messages)
    fresh = compressor.expected_tokens
    compressor = Compressor(context_length=100_000_000)
    compressor.should_compress(messages[:half])
    reported = real.total(openai.decode(Body(list(messages[:half]))))
    compressor.update_from_response(reported)
    compressor.should_compress(messages)
    learned = compressor.expected_tokens
    return abs(fresh / truth - 1), abs(learned / truth - 1)


def _speeds(texts: dict[str, list[str]]) -> Table:
    estimator, exact = Estimator(), ExactCounter("o200k")
    every = [text for found in texts.values() for text in found]
    short = [text[:1_400] for text in every]
    rows: list[tuple[Cell, ...]] = []
    for name, counter in (("estimate", estimator), ("exact, o200k", exact)):
        for sample, documents in (("up to 1,400 characters", short), ("all documents", every)):
            size = sum(len(text.encode()) for text in documents) / 1e6
            seconds = stopwatch(lambda c=counter, d=documents: list(map(c.count, d)), rounds=3)
            each = 1e6 * seconds / len(documents)
            rows.append((name, sample, f"{size / seconds:,.0f}", f"{each:.1f}"))
    columns = ("counter", "documents", "MB/s", "µs a document")
    note = "Of a text over 2,048 characters the estimate reads eight slices, hence its speed there."
    return Table("tokens-speed", columns, tuple(rows), note)


def _sessions() -> Iterator[Transcript]:
    folder = shared()
    if folder is None:
        return
    for agent in sorted((folder / "data" / "sessions").iterdir()):
        paths = (path for path in sorted(agent.rglob("*")) if path.is_file())
        small = (path for path in paths if path.stat().st_size < LARGEST_FILE)
        for path in islice(small, FILES_PER_AGENT):
            try:
                documents = read_all(path.read_bytes())
            except HoldfastError:
                continue  # not every file beside the sessions is one
            yield from (document.transcript for document in documents[:3])


def _texts(session: Transcript) -> Iterator[str]:
    for message in session:
        for part in message.parts:
            match part:
                case Text(text=text) if len(text) >= SHORTEST_DOCUMENT:
                    yield text
                case ToolResult() if len(part.text) >= SHORTEST_DOCUMENT:
                    yield part.text
                case _:
                    pass


if __name__ == "__main__":
    alone(run)
