"""Stored sessions as the lines of a training file, one at a time."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from holdfast.errors import UnknownSession
from holdfast.formats.json_access import iso
from holdfast.session import places_of
from holdfast.tokens import Estimator, Scale
from holdfast.training.reading import SyntheticChoice, read_log, read_window
from holdfast.training.repeats import Repeats, Seen
from holdfast.training.secrets import SecretMask
from holdfast.training.selection import Selection, ancestry
from holdfast.training.shaping import joined, paired, paired_with_stubs, plain, trimmed
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
    from holdfast.training.selection import Split
    from holdfast.transcript import Message, Transcript

__all__ = ["Example", "LeftOut", "LeftOutReason", "TrainingExport", "examples"]


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
    """What a training file is to hold."""

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
    """The side of the split; empty without one."""
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
    repeats = Repeats({}, {})
    if len(ids) > 1:
        found = (_shaped(store, wanted, id_) for id_ in ids)
        repeats = Repeats.among(
            (each.session.id, each.messages) for each in found if isinstance(each, _Shaped)
        )
    seen = Seen()
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
        if not wanted.selection.has_place(store, session):
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
        messages = tuple(map(_masked, messages))
    if not any(_is_learned(each) for each in messages):
        return LeftOut(id_, LeftOutReason.NOTHING_SAID)
    turns = sum(each.role is Role.USER and each.synthetic is None for each in messages)
    if turns < wanted.selection.min_turns:
        return LeftOut(id_, LeftOutReason.TOO_SHORT)
    most = wanted.selection.max_tokens
    if most is not None and wanted.weight(messages) > most:
        return LeftOut(id_, LeftOutReason.TOO_LONG)
    return _Shaped(session, messages, conversing.dropped + whole.dropped)


def _masked(message: Message) -> Message:
    is_learned = message.role is Role.ASSISTANT and "synthetic" in label_of(message)
    return labelled(message, masked=True) if is_learned else message


def _written(store: Store, wanted: TrainingExport, shaped: _Shaped) -> Example:
    mask = SecretMask(wanted.redactor)
    turns = joined(shaped.messages, wanted.format)
    messages = tuple(mask.message(each) for each in turns)
    body = DIALECTS[wanted.format].encode(written_labels(messages, wanted.format))
    tokens = wanted.weight(messages)
    line: dict[str, object] = {"id": shaped.session.id}
    if body.system is not None:
        line["system"] = body.system
    line["conversations" if wanted.format == "sharegpt" else "messages"] = body.messages
    line |= _about(store, shaped, mask)
    line["tokens"] = tokens
    root = shaped.session.root
    return Example(
        id=shaped.session.id,
        side="" if wanted.split is None else wanted.split.side_of(root),
        line=_as_line(line),
        messages=len(body.messages),
        tokens=tokens,
        dropped=shaped.dropped,
        masked=sum(bool(label_of(each).get("masked")) for each in messages),
        redacted=mask.count,
    )


def _about(store: Store, shaped: _Shaped, mask: SecretMask) -> dict[str, object]:
    """Return what is known of a conversation; every line has the same fields."""
    session = shaped.session
    places = places_of(ancestry(store, session))
    names = {call.name for each in shaped.messages for call in each.calls}
    return {
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
    }


def _as_line(line: dict[str, object]) -> bytes:
    try:
        return f"{json.dumps(line, ensure_ascii=False)}\n".encode()
    except UnicodeEncodeError:
        # Half a surrogate pair, which no tokenizer takes.
        return f"{json.dumps(encodable(line), ensure_ascii=False)}\n".encode()
