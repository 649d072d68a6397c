"""One compaction by a plug-in: written for it, made in time, read back, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.compaction import Folded, Pruned, Report, SummaryReport, Unchanged
from holdfast.deadline import Hung, Raised, Returned
from holdfast.engines.guest import Busy
from holdfast.engines.guest_tools import call_offered, plain_json
from holdfast.engines.provenance import labelled
from holdfast.engines.translation import faults, read_back, sheet_of
from holdfast.errors import HoldfastError
from holdfast.transcript import Message

if TYPE_CHECKING:
    from holdfast.compaction import Outcome, Request
    from holdfast.engines.contract import ContextEngine, Wire
    from holdfast.engines.guest import Guest
    from holdfast.engines.translation import Sheet
    from holdfast.transcript import Transcript

__all__ = ["Refused", "Weigh", "guest_pass"]

Weigh: TypeAlias = Callable[[Iterable[Message]], int]


@dataclass(frozen=True, slots=True)
class Refused:
    """What a plug-in did cannot be used."""

    reason: str


def guest_pass(
    guest: Guest, transcript: Transcript, request: Request, weigh: Weigh
) -> Outcome | Refused:
    """Return what a plug-in made of a transcript, as an outcome like any other."""
    sheet = sheet_of(transcript)
    details: dict[str, object] = {
        "current_tokens": request.current_tokens or weigh(transcript),
        "focus_topic": request.focus or None,
        "force": request.is_manual,
    }

    def compress(engine: ContextEngine) -> object:
        # Copies: what a plug-in does to its input is nobody else's business.
        if request.is_manual:
            copy = deepcopy(sheet.messages)
            if call_offered(engine, "has_content_to_compress", copy, details={}) is False:
                return sheet.messages
        if request.before_folding is not None:
            # Which messages a plug-in folds is known only afterwards: memory sees all of them.
            details["memory_context"] = request.before_folding(transcript)
        handed = call_offered(engine, "compress", deepcopy(sheet.messages), details=details)
        return plain_json(cast("object", handed)) if isinstance(handed, list) else handed

    ending = guest.ask(compress, patience=guest.deadline)
    match ending:
        case Raised(reason=reason) | Hung(reason=reason):
            return Refused(f"compress: {reason}")
        case Busy():
            return Refused("compress: an earlier call is still running")
        case Returned(handed):
            return _judged(guest.name, sheet, handed, weigh)


def _judged(name: str, sheet: Sheet, handed: object, weigh: Weigh) -> Outcome | Refused:
    try:
        after = read_back(sheet, handed)
    except HoldfastError as error:
        return Refused(f"what compress returned cannot be read: {error}")
    fault = next(faults(sheet, after, cast("Wire", handed), weigh), None)
    if fault is not None:
        return Refused(f"what compress returned cannot be used: {fault.message}")
    return _outcome(name, sheet.transcript, labelled(sheet.transcript, after, name), weigh)


def _outcome(name: str, before: Transcript, after: Transcript, weigh: Weigh) -> Outcome:
    heavy, light = weigh(before), weigh(after)
    size = len(before)
    if light >= heavy:
        report = Report(
            tokens_before=heavy, tokens_after=heavy, messages_before=size, messages_after=size
        )
        return Unchanged(before, report, f"the engine {name} left nothing out")
    ours = {id(message) for message in before}
    written = [message for message in after if id(message) not in ours]
    report = Report(
        tokens_before=heavy,
        tokens_after=light,
        messages_before=size,
        messages_after=len(after),
        folded=size - (len(after) - len(written)),
        summary=SummaryReport("engine", name, weigh(written)) if written else None,
    )
    return (Folded if len(after) < size and written else Pruned)(after, report)
