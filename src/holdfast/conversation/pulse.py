"""What the newest passes and answers taught a conversation, and what they left to be told."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never, cast

from holdfast.compaction import Abandoned, Folded, Pruned, Unchanged

if TYPE_CHECKING:
    from holdfast.compaction import CompactionReport
    from holdfast.ports import Store
    from holdfast.session import CompactionRecord

__all__ = ["GIVEN_UP", "Flaws", "Pulse", "flaws_of", "warnings_of"]

GIVEN_UP = "not compacted: "
"""Begins the sentence about a pass that left the window as it was although it was wanted."""


@dataclass(frozen=True, slots=True)
class Flaws:
    """What is to be said of the compaction whose result a window shows."""

    session: str = ""
    view: int | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pulse:
    """What was asked last, and what the newest passes and answers taught."""

    prompt_tokens: int = 0
    sent: int = 0
    """The estimate of the window that was handed out last, which an answer belongs to."""
    pressure: str = ""
    """The warning on the way to the threshold, until usage falls or a pass was made."""
    trouble: tuple[str, ...] = ()
    """Why the newest pass was given up, or what failed beside the turn, until one goes well."""
    flaws: Flaws = field(default_factory=Flaws)

    def after(self, report: CompactionReport, *, by_hand: bool) -> Pulse:
        """Return the pulse after a pass.

        A pass that changed the window has put right what went wrong before it; what is to be said
        of its own result is stored with it. One that found nothing to do has put nothing right,
        but for whoever asked for it and was told so.
        """
        match report.result:
            case Folded() | Pruned():
                trouble = ()
            case Unchanged():
                trouble = report.warnings or (() if by_hand else self.trouble)
            case Abandoned(reason=reason):
                trouble = (f"{GIVEN_UP}{reason}", *report.warnings)
            case _:
                assert_never(report.result)
        return replace(self, pressure="", trouble=trouble)


def flaws_of(store: Store, session: str, view: int | None) -> Flaws:
    """Return what is to be said of the compaction that a view of a session shows, if it is one.

    It is read from the store, so that it is known whoever made the pass, after a restart, and for
    as long as the window shows its result: an undo takes it away, a better pass too.
    """
    parents = {each.id: each.parent for each in store.views(session)} if view else {}
    passes = {each.after: each for each in store.compactions(session)} if view else {}
    at = view
    # A rewind stands on the compaction before it.
    while at is not None and at not in passes:
        at = parents.get(at)
    return Flaws(session, view, () if at is None else warnings_of(passes[at]))


def warnings_of(record: CompactionRecord) -> tuple[str, ...]:
    """Return what is to be said of a stored pass."""
    found = record.report.get("warnings")
    # A pass that was imported has the report of another agent.
    told = cast("list[object]", found) if isinstance(found, list) else []
    return tuple(each for each in told if isinstance(each, str))
