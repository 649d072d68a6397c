"""What a compaction did: outcomes that callers match, the figures beside them, and both in words.

An `Outcome` is how a pass ended; a `CompactionReport` the same as typed values and as plain JSON;
`feedback` what a person is told of it, in the same words on every surface.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias, assert_never

from holdfast.keywords import names_checked

if TYPE_CHECKING:
    from holdfast.summary import Audit
    from holdfast.transcript import Transcript


@dataclass(frozen=True, slots=True)
class PrunedCounts:
    """How often each way of pruning was used."""

    deduplicated: int = 0
    summarised: int = 0
    arguments: int = 0
    media: int = 0
    truncated: int = 0
    """Oversized results of the tail that were cut in the middle."""

    @property
    def any(self) -> bool:
        """Say whether anything was pruned."""
        return any(asdict(self).values())


@dataclass(frozen=True, slots=True)
class SummaryReport:
    """Where the record came from."""

    origin: str
    """`model`, `chunked`, `deterministic`, or `engine` where a plug-in wrote it."""
    model: str = ""
    tokens: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Cuts:
    """Where the cuts fell, as message indices of the input, and why there."""

    head: int = 0
    tail: int = 0
    kept: tuple[int, ...] = ()
    """Messages between the cuts that stay word for word: the task, pins, open calls."""
    why: str = ""
    opening: str = ""
    """Why a first fold does not keep the opening word for word, with what matters of it quoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of one pass."""

    tokens_before: int = 0
    tokens_after: int = 0
    messages_before: int = 0
    messages_after: int = 0
    head: int = 0
    folded: int = 0
    tail: int = 0
    cuts: Cuts = field(default_factory=Cuts)
    pruned: PrunedCounts = field(default_factory=PrunedCounts)
    summary: SummaryReport | None = None
    audit: Audit | None = None
    warnings: tuple[str, ...] = ()

    @property
    def saved(self) -> float:
        """Return the share of the weight that the pass took away."""
        return 1 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    @classmethod
    def unchanged(cls, messages: int, tokens: int) -> Report:
        """Return the figures of a pass that left so many messages and tokens as they were."""
        return cls(
            tokens_before=tokens,
            tokens_after=tokens,
            messages_before=messages,
            messages_after=messages,
        )


def excess(tokens: int, limit: int) -> tuple[str, ...]:
    """Return a warning where a window weighs more than its limit."""
    too_much = f"the window is still over its limit: {tokens:,} of {limit:,} tokens"
    return (too_much,) if tokens > limit else ()


def _sizes(self: Folded | Pruned) -> str:
    it = self.report
    messages = f"{it.messages_before:,} -> {_messages(it.messages_after)}"
    tokens = f"{it.tokens_before:,} -> {it.tokens_after:,} tokens"
    return f"<{type(self).__name__} {messages}, {tokens}>"


def _why(self: Unchanged | Abandoned) -> str:
    return f"<{type(self).__name__}: {self.reason}>"


# What is printed of an outcome leaves out the transcript, which may be long.
@names_checked
@dataclass(frozen=True, slots=True, repr=False)
class Folded:
    """A summary stands where the middle was."""

    transcript: Transcript
    report: Report
    __repr__ = _sizes


@names_checked
@dataclass(frozen=True, slots=True, repr=False)
class Pruned:
    """Shortening stale tool output was enough; no summary was written."""

    transcript: Transcript
    report: Report
    __repr__ = _sizes


@names_checked
@dataclass(frozen=True, slots=True, repr=False)
class Unchanged:
    """There was nothing to do, or doing it would have gained nothing."""

    transcript: Transcript
    report: Report
    reason: str
    __repr__ = _why


@names_checked
@dataclass(frozen=True, slots=True, repr=False)
class Abandoned:
    """It was worth doing and could not be done; the transcript is as it was."""

    transcript: Transcript
    report: Report
    reason: str
    is_unwritten: bool = False
    """Whether the reason is that nobody wrote a summary, which no pruning puts right."""
    __repr__ = _why


Outcome: TypeAlias = Folded | Pruned | Unchanged | Abandoned
_NAMES: Mapping[type[Outcome], str] = {
    Folded: "folded",
    Pruned: "pruned_only",
    Unchanged: "unchanged",
    Abandoned: "abandoned",
}


@names_checked
@dataclass(frozen=True, slots=True, repr=False)
class CompactionReport(Mapping[str, object]):
    """What happened, with the figures.

    It reads as a mapping of the stable JSON keys (`report["tokens_after"]`, `dict(report)`), and
    its `figures` and `outcome` are the typed values behind them.
    """

    result: Outcome
    duration_ms: float = 0.0
    notes: tuple[str, ...] = ()
    """What the user should know beyond this pass, such as a summary model that was given up."""

    @property
    def outcome(self) -> str:
        """Return `folded`, `pruned_only`, `unchanged` or `abandoned`."""
        return _NAMES[type(self.result)]

    @property
    def reason(self) -> str:
        """Return why nothing was done; empty when something was."""
        return "" if isinstance(self.result, Folded | Pruned) else self.result.reason

    @property
    def figures(self) -> Report:
        """Return the typed figures."""
        return self.result.report

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return what a user should be told."""
        return (*self.figures.warnings, *self.notes)

    @property
    def tokens_before(self) -> int:
        """Return what the transcript weighed."""
        return self.figures.tokens_before

    @property
    def tokens_after(self) -> int:
        """Return what the transcript weighs now."""
        return self.figures.tokens_after

    def as_json(self) -> dict[str, object]:
        """Return the report as plain JSON values, keys in their stable order."""
        figures, audit = self.figures, self.figures.audit
        return {
            "outcome": self.outcome,
            "reason": self.reason,
            **asdict(replace(figures, audit=None)),
            "cuts": {**asdict(figures.cuts), "kept": list(figures.cuts.kept)},
            "audit": audit.as_json() if audit else None,
            "warnings": list(self.warnings),
            "duration_ms": round(self.duration_ms, 2),
        }

    def __getitem__(self, key: str) -> object:
        return self.as_json()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.as_json())

    def __len__(self) -> int:
        return len(self.as_json())

    def __repr__(self) -> str:
        """Return what happened, in short; `dict(report)` has everything."""
        return f"<CompactionReport {self.result!r}>"

    def __str__(self) -> str:
        """Return what a person is told of it."""
        return " ".join(feedback(self))


def feedback(report: CompactionReport) -> tuple[str, ...]:
    """Return the sentences of one compression: what happened, the sizes, what to know.

    A pass that did nothing says so first. An estimate that rose although messages fell is
    explained, because it looks like a mistake and is none.
    """
    figures, result = report.figures, report.result
    before, after = figures.messages_before, figures.messages_after
    heavy, light = figures.tokens_before, figures.tokens_after
    as_it_was = f"The conversation is as it was: {_messages(before)}"
    match result:
        case Folded() | Pruned():
            same = f"{_messages(before)} as before, some of them shorter"
            told = [
                f"Compressed: {same if before == after else f'{before:,} -> {_messages(after)}'}.",
                f"Estimate: about {heavy:,} -> {light:,} tokens ({-figures.saved:+.0%}).",
            ]
            if after < before and light > heavy:
                told.append(
                    "The estimate rose although messages fell: the record weighs more than the few "
                    "short messages that it stands for."
                )
            if opening := figures.cuts.opening:
                told.append(f"{opening[:1].upper()}{opening[1:]}.")
        case Unchanged(reason=reason):
            told = [f"Nothing was compressed: {_bare(reason)}."]
            told.append(f"{as_it_was}, about {heavy:,} tokens.")
        case Abandoned(reason=reason):
            told = [f"The compression was given up: {_bare(reason)}.", f"{as_it_was}."]
        case _:
            assert_never(result)
    return (*told, *(f"Warning: {_bare(each)}." for each in report.warnings))


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count:,} messages"


def _bare(sentence: str) -> str:
    return sentence.strip().removesuffix(".")
