"""What fills a context window, by kind and by message, and what a compaction did to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from heapq import nlargest
from itertools import islice
from typing import TYPE_CHECKING, assert_never

from msgspec import structs

from holdfast.compaction import Overhead
from holdfast.conversation import difference
from holdfast.errors import UnknownSession
from holdfast.tokens import IMAGE_TOKENS, MESSAGE_TOKENS, Calibration, load_of
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    one_line,
)
from holdfast.transfer import FOLD
from holdfast.views.messages import entry_fields, visibility_of
from holdfast.views.sessions import compaction_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from holdfast.conversation import Difference
    from holdfast.ports import Store
    from holdfast.session import Entry, Session
    from holdfast.summary import Stated
    from holdfast.tokens import Load, Scale
    from holdfast.transcript import Part, Transcript
    from holdfast.views.messages import Visibility

_AT_ONCE = 64
_HEAVIEST = 10
_SKETCH = 90


class ContentKind(StrEnum):
    """A kind of content, in the order in which the map stacks them."""

    SYSTEM = "system"
    SUMMARY = "summary"
    MEMORY = "recalled"
    USER = "user"
    ASSISTANT = "assistant"
    THINKING = "thinking"
    CALLS = "tool calls"
    RESULTS = "tool results"
    IMAGES = "images"


@dataclass(frozen=True, slots=True)
class ContextMap:
    """What is in a transcript."""

    weights: tuple[int, ...]
    """The tokens of each message."""
    pieces: tuple[tuple[tuple[ContentKind, int], ...], ...]
    """For each message, its content in order: the kind and its tokens."""
    roles: Mapping[str, int]
    load: Load

    @property
    def tokens(self) -> int:
        """Return the tokens of everything."""
        return self.load.tokens

    @property
    def kinds(self) -> dict[ContentKind, int]:
        """Return the tokens of each kind that is present, in the order of the map."""
        found = Counter[ContentKind]()
        for pieces in self.pieces:
            for kind, tokens in pieces:
                found[kind] += tokens
        return {kind: found[kind] for kind in ContentKind if found[kind]}

    def kinds_json(self) -> dict[str, int]:
        """Return the tokens of each kind by its name, as plain JSON values."""
        return {str(kind): tokens for kind, tokens in self.kinds.items()}


def ratio_of(session: Session) -> float:
    """Return what a token of our estimate weighs by what the session's provider reported last.

    It is what an engine learns when it opens the session, so that a window has one size wherever
    it is told.
    """
    reported, estimate = session.last_request
    beside = Overhead().after(real=reported, rough=estimate).tokens
    return Calibration().observe(real=reported - beside, rough=estimate).ratio


def weighed(entries: Iterable[Entry], ratio: float) -> tuple[Entry, ...]:
    """Return entries with the weight that such a ratio gives to their estimates."""
    if ratio == 1.0:
        return tuple(entries)
    return tuple(structs.replace(each, tokens=round(each.tokens * ratio)) for each in entries)


def context_map(transcript: Transcript, scale: Scale) -> ContextMap:
    """Return what the transcript is made of, as the scale weighs it."""
    rough = scale.at(1.0)
    return ContextMap(
        weights=tuple(map(scale.weigh, transcript)),
        pieces=tuple(
            tuple(_scaled(_pieces(message, rough), scale.ratio)) for message in transcript
        ),
        roles=Counter(str(message.role) for message in transcript),
        load=load_of(transcript, scale),
    )


def _scaled(
    pieces: Iterable[tuple[ContentKind, int]], ratio: float
) -> Iterator[tuple[ContentKind, int]]:
    """Yield pieces by a ratio; together they weigh what their message does."""
    before = 0
    for kind, tokens in pieces:
        after = before + tokens
        yield kind, round(after * ratio) - round(before * ratio)
        before = after


def _pieces(message: Message, scale: Scale) -> Iterator[tuple[ContentKind, int]]:
    left = scale.weigh(message)
    for part in message.parts:
        content = part.content if isinstance(part, ToolResult) else (part,)
        images = IMAGE_TOKENS * sum(isinstance(piece, Media) for piece in content)
        if images:
            yield ContentKind.IMAGES, images
        tokens = scale.weigh(Message(message.role, (part,))) - MESSAGE_TOKENS - images
        left -= images + tokens
        if tokens:
            yield _kind(part, message.role), tokens
    if left:
        # Role and separators around the parts.
        yield _SPEAKERS[message.role], left


def _kind(part: Part, role: Role) -> ContentKind:
    match part:
        case Text() | Opaque():
            return _SPEAKERS[role]
        case Thinking():
            return ContentKind.THINKING
        case ToolCall():
            return ContentKind.CALLS
        case ToolResult():
            return ContentKind.RESULTS
        case Media():
            return ContentKind.IMAGES
        case Summary():
            return ContentKind.SUMMARY
        case Recalled():
            return ContentKind.MEMORY
        case _:
            assert_never(part)


_SPEAKERS = {
    Role.SYSTEM: ContentKind.SYSTEM,
    Role.USER: ContentKind.USER,
    Role.ASSISTANT: ContentKind.ASSISTANT,
    Role.TOOL: ContentKind.RESULTS,
}


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """What the window is drawn against, in tokens."""

    window: int
    threshold: int


@dataclass(frozen=True, slots=True)
class WeighedMessage:
    """One message of the window: what it is made of, and where it can be read."""

    id: int
    stands_for: int | None
    pieces: tuple[tuple[ContentKind, int], ...]


@dataclass(frozen=True, slots=True)
class WeighedWindow:
    """The window, weighed."""

    weights: tuple[WeighedMessage, ...]
    heaviest: tuple[tuple[int, WeighedMessage, str], ...]
    """The tokens of the heaviest messages, heaviest first, and how they begin."""
    visibility: Mapping[int, Visibility]

    @property
    def tokens(self) -> int:
        """Return the tokens of everything."""
        return sum(tokens for weight in self.weights for _, tokens in weight.pieces)


def weigh_window(window: Iterable[Entry], scale: Scale) -> WeighedWindow:
    """Weigh what the model sees, holding little of it at a time."""
    weights: list[WeighedMessage] = []
    heaviest: list[tuple[int, WeighedMessage, str]] = []
    visibility: dict[int, Visibility] = {}
    waiting = iter(window)
    while some := tuple(islice(waiting, _AT_ONCE)):
        census = context_map(tuple(entry.message for entry in some), scale)
        # A scale remembers what it has weighed, which is all of it in the end.
        scale.keep_only(())
        for entry, pieces in zip(some, census.pieces, strict=True):
            weight = WeighedMessage(entry.id, entry.stands_for, pieces)
            weights.append(weight)
            tokens = sum(tokens for _, tokens in pieces)
            heaviest.append((tokens, weight, one_line(entry.message, _SKETCH)))
            visibility.update(visibility_of(entry))
        heaviest = nlargest(_HEAVIEST, heaviest, key=lambda each: (each[0], -each[1].id))
    return WeighedWindow(tuple(weights), tuple(heaviest), visibility)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionDiff:
    """A compaction of a session, and what it did."""

    session: Session
    number: int
    """Which compaction of the session, counted from 1."""
    total: int
    difference: Difference

    def as_json(self) -> dict[str, object]:
        """Return the windows before and after as plain JSON values."""
        found = self.difference
        return {
            "session": self.session.id,
            "number": self.number,
            "compactions": self.total,
            "compaction": compaction_fields(found.record),
            "folded": _listed(found.folded),
            "replaced": [
                {"before": entry_fields(old), "after": entry_fields(new)}
                for old, new in found.replaced
            ],
            "added": _listed(found.added),
            "kept": _listed(found.kept),
            "record": found.record.summary,
            "statements_in_window": _statements(found.retained),
            "statements_in_store_only": _statements(found.stored),
        }


def compaction_diff(
    store: Store, session: Session, number: int | None, redact: Callable[[str], str]
) -> CompactionDiff | None:
    """Return what a compaction did to the window; None when the session has had none.

    Args:
        number: Which compaction, counted from 1; None for the newest.
        redact: Masks secrets in what is compared.

    Raises:
        UnknownSession: when there is no compaction of that number.
    """
    passes = store.compactions(session.id)
    if not passes:
        return None
    if number is not None and number > len(passes):
        raise UnknownSession(
            f"session {session.id} has had {len(passes)} compactions, not {number}"
        )
    chosen = number or len(passes)
    return CompactionDiff(
        session=session,
        number=chosen,
        total=len(passes),
        difference=_as_reported(difference(store, passes[chosen - 1], redact)),
    )


def _as_reported(found: Difference) -> Difference:
    """Return the difference with messages that weigh what the pass took them for.

    What it had learned of its provider is in its figures alone. Those of another agent count what
    we do not see, and its messages keep our estimate.
    """
    said, rough = found.record.report.get("tokens_before"), sum(it.tokens for it in found.before)
    if found.record.trigger == FOLD or not isinstance(said, int) or not rough:
        return found
    scaled = partial(weighed, ratio=said / rough)
    return replace(
        found,
        before=scaled(found.before),
        after=scaled(found.after),
        folded=scaled(found.folded),
        replaced=tuple((*scaled((old,)), *scaled((new,))) for old, new in found.replaced),
        added=scaled(found.added),
        kept=scaled(found.kept),
    )


def _listed(entries: Iterable[Entry]) -> list[dict[str, object]]:
    return [entry_fields(each) for each in entries]


def _statements(found: Iterable[Stated]) -> list[dict[str, str]]:
    return [{"kind": each.kind, "text": each.text} for each in found]
