"""Stored sessions as the lines of a training file, one at a time: which, and nothing twice.

Forks and rotations begin with messages of the session that they came from. A conversation that is
wholly the beginning of another one says nothing new; of the others, what stood in an earlier one
is context and not a lesson.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING

from holdfast.errors import UnknownSession
from holdfast.formats.json_access import iso
from holdfast.ports.store import Listing
from holdfast.session import places_of
from holdfast.session.lineage_reader import ancestry
from holdfast.tokens import Estimator, Scale
from holdfast.training.reading import SyntheticChoice, entry_of, read_log, read_window
from holdfast.training.shaping import SecretMask, joined, paired, paired_with_stubs, plain, trimmed
from holdfast.transcript import Role
from holdfast.wire import DIALECTS
from holdfast.wire.json_text import encodable
from holdfast.wire.provenance import label_of, labelled, written_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.ports import Store
    from holdfast.redaction import Redactor
    from holdfast.session import Session
    from holdfast.tokens import Counter
    from holdfast.transcript import Message, Transcript


def prefix_digests(messages: Iterable[Message]) -> tuple[bytes, ...]:
    """Return a digest of every prefix of a conversation, the whole of it last."""
    found: list[bytes] = []
    before = b""
    for message in messages:
        said = repr((message.role, message.parts)).encode("utf-8", "surrogatepass")
        before = blake2b(said, key=before, digest_size=16).digest()
        found.append(before)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class PrefixIndex:
    """The prefixes of all conversations of a lineage, to find those that others contain."""

    ends: dict[str, bytes]
    """The digest of each whole conversation, by the id of its session."""
    within: dict[bytes, str]
    """The digests of shorter prefixes, each with a session whose conversation has it."""

    @classmethod
    def among(cls, conversations: Iterable[tuple[str, Transcript]]) -> PrefixIndex:
        """Index the conversations of a lineage, read one at a time."""
        ends: dict[str, bytes] = {}
        within: dict[bytes, str] = {}
        for id_, messages in conversations:
            *before, last = prefix_digests(messages)
            for each in before:
                within.setdefault(each, id_)
            ends[id_] = last
        return cls(ends, within)

    def is_contained(self, id_: str) -> bool:
        """Say whether a conversation is a prefix of another, or the same as an earlier one."""
        end = self.ends[id_]
        twins = [other for other, its_end in self.ends.items() if its_end == end]
        return end in self.within or twins[0] != id_


class WrittenPrefixes:
    """The prefixes and entries of a lineage that were written already, to mask them later."""

    def __init__(self) -> None:
        """Begin with nothing written."""
        self._entries: set[int] = set()
        self._prefixes: set[bytes] = set()

    def masked(self, messages: Transcript) -> Transcript:
        """Return a conversation with the replies masked that were written before, and note it."""
        found = prefix_digests(messages)
        marked = tuple(
            labelled(message, repeated=True, masked=True)
            if message.role is Role.ASSISTANT
            and (entry_of(message) in self._entries or prefix in self._prefixes)
            else message
            for message, prefix in zip(messages, found, strict=True)
        )
        self._prefixes |= set(found)
        self._entries |= {entry for each in messages if (entry := entry_of(each)) is not None}
        return marked


_AT_ONCE = 500
_SIDES = {2: ("train", "test"), 3: ("train", "validation", "test")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which conversations are wanted; empty means all."""

    sources: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    folder: str = ""
    """Only sessions that took place in this folder or below it."""
    min_turns: int = 0
    max_tokens: int | None = None
    tool_errors: bool = True
    """Whether conversations in which a tool failed are wanted."""

    def is_in_folder(self, store: Store, session: Session) -> bool:
        """Say whether the session's working directory is `folder` or below it."""
        if not self.folder:
            return True
        place = PurePath(places_of(ancestry(store, session)).get("folder", ""))
        return PurePath(self.folder) in (place, *place.parents)


@dataclass(frozen=True, slots=True)
class Split:
    """Assigns whole lineages to a side: train, validation or test.

    The side follows from the seed and the first session of the lineage alone, so that no session
    that is added later moves another one.
    """

    shares: tuple[float, ...]
    seed: int = 0

    @property
    def sides(self) -> tuple[str, ...]:
        """Return the sides that there are: train and test, or all three."""
        return _SIDES[len(self.shares)]

    def side_of(self, root: str) -> str:
        """Return the side that a lineage is assigned to, by the id of its first session."""
        digest = blake2b(f"{self.seed}\n{root}".encode("utf-8", "replace"), digest_size=8).digest()
        at = int.from_bytes(digest) / 2**64 * sum(self.shares)
        for share, side in zip(self.shares, self.sides, strict=True):
            if at < share:
                return side
            at -= share
        return self.sides[-1]


def order_of(store: Store, wanted: Selection) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return the ids of the sessions to look at, by lineage, the oldest first.

    Lineages are in the order of their first session's id, which begins with a date. Of each
    session only its ids are held: a store may have very many.
    """
    found: list[tuple[str, int, str]] = []
    for session in _listed(store, wanted):
        if not wanted.models or session.model in wanted.models:
            # Most are the first of their lineage, and one text will do for both.
            root = session.id if session.root == session.id else session.root
            found.append((root, session.started, session.id))
    found.sort()
    for root, lineage in groupby(found, key=itemgetter(0)):
        yield root, tuple(dict.fromkeys(id_ for _, _, id_ in lineage))


def _listed(store: Store, wanted: Selection) -> Iterator[Session]:
    listing = Listing(sources=wanted.sources, since=wanted.since, until=wanted.until)
    newest = 0
    offset = 0
    while page := store.sessions(replace(listing, limit=_AT_ONCE, offset=offset)):
        newest = max(newest, page[0].touched)
        yield from page
        offset += _AT_ONCE
    # One that was used meanwhile has moved to the front, past the pages that were still to come.
    since = max(newest, wanted.since or 0)
    yield from store.sessions(replace(listing, since=since, limit=None))


class LeftOutReason(StrEnum):
    """Why a session is not in the file."""

    NOTHING_SAID = "without a reply"
    ELSEWHERE = "from another folder"
    TOO_SHORT = "with too few turns"
    TOO_LONG = "with too many tokens"
    TOOL_ERRORS = "with tool errors"
    REPEATED = "repeated by another one"
    GONE = "deleted meanwhile"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingExport:
    """What a training file holds, and in which format."""

    format: str
    synthetic: SyntheticChoice = SyntheticChoice.DROP
    original: bool = False
    """Whether everything that was said is wanted in place of the window."""
    unique: bool = False
    split: Split | None = None
    selection: Selection = field(default_factory=Selection)
    redactor: Redactor | None = None
    """None leaves secrets in the file."""
    counter: Counter = field(default_factory=Estimator)
    """Estimates tokens."""

    def weight(self, messages: Transcript) -> int:
        """Return what messages weigh."""
        # Not one scale for all: it keeps what it has weighed.
        return Scale(self.counter).total(messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """One conversation of a training file, with what was done to it."""

    id: str
    side: str
    """`train`, `validation` or `test`; "" where nothing is split."""
    line: bytes
    messages: int
    tokens: int
    dropped: int
    """Messages and parts that were left out: nobody said them, or their other half is missing."""
    masked: int
    redacted: int
    """Texts in which secrets were masked."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A session that is not in the file."""

    id: str
    why: LeftOutReason


@dataclass(frozen=True, slots=True)
class _Shaped:
    """A conversation in the shape of its format, before it is written."""

    session: Session
    messages: Transcript
    dropped: int


def examples(
    store: Store, wanted: TrainingExport, lineages: Iterable[tuple[str, tuple[str, ...]]]
) -> Iterator[Example | LeftOut]:
    """Yield what becomes of each session, in the order of `order_of`, holding one at a time."""
    for _, ids in lineages:
        if wanted.unique:
            yield from _unique(store, wanted, ids)
        else:
            for id_ in ids:
                shaped = _shaped(store, wanted, id_)
                yield shaped if isinstance(shaped, LeftOut) else _written(store, wanted, shaped)


def _unique(
    store: Store, wanted: TrainingExport, ids: tuple[str, ...]
) -> Iterator[Example | LeftOut]:
    """Yield what becomes of the sessions of a lineage, each of its messages learned once.

    With several, each is read twice: which one contains another shows when all have been seen.
    """
    repeats = PrefixIndex({}, {})
    if len(ids) > 1:
        found = (_shaped(store, wanted, id_) for id_ in ids)
        repeats = PrefixIndex.among(
            (each.session.id, each.messages) for each in found if isinstance(each, _Shaped)
        )
    seen = WrittenPrefixes()
    for id_ in ids:
        shaped = _shaped(store, wanted, id_)
        if isinstance(shaped, LeftOut):
            yield shaped
        elif id_ in repeats.ends and repeats.is_contained(id_):
            yield LeftOut(id_, LeftOutReason.REPEATED)
        else:
            shaped = replace(shaped, messages=seen.masked(shaped.messages))
            if any(_is_learned(each) for each in shaped.messages):
                yield _written(store, wanted, shaped)
            else:
                yield LeftOut(id_, LeftOutReason.REPEATED)


def _is_learned(message: Message) -> bool:
    return message.role is Role.ASSISTANT and not label_of(message).get("masked")


def _shaped(store: Store, wanted: TrainingExport, id_: str) -> _Shaped | LeftOut:
    try:
        session = store.session(id_)
        read = read_log if wanted.original else read_window
        if not wanted.selection.is_in_folder(store, session):
            return LeftOut(id_, LeftOutReason.ELSEWHERE)
        conversing = read(store, id_, wanted.synthetic)
    except UnknownSession:
        return LeftOut(id_, LeftOutReason.GONE)
    failed = any(result.is_error for each in conversing.messages for result in each.results)
    if failed and not wanted.selection.tool_errors:
        return LeftOut(id_, LeftOutReason.TOOL_ERRORS)
    pair = paired if wanted.synthetic is SyntheticChoice.DROP else paired_with_stubs
    whole = pair(plain(conversing.messages, wanted.format))
    messages = trimmed(whole.messages)
    if wanted.synthetic is SyntheticChoice.MASK:
        messages = tuple(
            labelled(each, masked=True)
            if each.role is Role.ASSISTANT and "synthetic" in label_of(each)
            else each
            for each in messages
        )
    if not any(_is_learned(each) for each in messages):
        return LeftOut(id_, LeftOutReason.NOTHING_SAID)
    turns = sum(each.role is Role.USER and each.synthetic is None for each in messages)
    if turns < wanted.selection.min_turns:
        return LeftOut(id_, LeftOutReason.TOO_SHORT)
    most = wanted.selection.max_tokens
    if most is not None and wanted.weight(messages) > most:
        return LeftOut(id_, LeftOutReason.TOO_LONG)
    return _Shaped(session, messages, conversing.dropped + whole.dropped)


def _written(store: Store, wanted: TrainingExport, shaped: _Shaped) -> Example:
    session = shaped.session
    mask = SecretMask(wanted.redactor)
    turns = joined(shaped.messages, wanted.format)
    messages = tuple(mask.message(each) for each in turns)
    body = DIALECTS[wanted.format].encode(written_labels(messages, wanted.format))
    tokens = wanted.weight(messages)
    line: dict[str, object] = {"id": session.id}
    if body.system is not None:
        line["system"] = body.system
    line["conversations" if wanted.format == "sharegpt" else "messages"] = body.messages
    # What is known of the conversation: every line has the same fields.
    places = places_of(ancestry(store, session))
    names = {call.name for each in shaped.messages for call in each.calls}
    line |= {
        "source": session.source,
        "model": session.model,
        "title": mask.text(session.title),
        "started_at": iso(session.started),
        "root": session.root,
        "parent": session.parent,
        "fork": session.fork and str(session.fork),
        "cwd": mask.text(places.get("folder", "")),
        "git_branch": mask.text(places.get("branch", "")),
        "tools_used": sorted(mask.text(name) for name in names),
        "tokens": tokens,
    }
    return Example(
        id=session.id,
        side="" if wanted.split is None else wanted.split.side_of(session.root),
        line=_as_line(line),
        messages=len(body.messages),
        tokens=tokens,
        dropped=shaped.dropped,
        masked=sum(bool(label_of(each).get("masked")) for each in messages),
        redacted=mask.count,
    )


def _as_line(line: dict[str, object]) -> bytes:
    try:
        return f"{json.dumps(line, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, which no tokenizer takes.
        return f"{json.dumps(encodable(line), ensure_ascii=False)}\n".encode()
