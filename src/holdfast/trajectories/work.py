"""What is done with a batch of trajectories: the one function that every process and node runs.

It is given values and returns values, whatever is in a trajectory: one that cannot be read, or that
anything goes wrong with, is set aside with its error, and the others are done.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from operator import is_
from typing import Any, TypeAlias

import msgspec

from holdfast.agent_files.detection import FoundFile
from holdfast.compaction.plan import without_summaries
from holdfast.errors import DecodeError, HoldfastError
from holdfast.formats import FORMATS
from holdfast.formats.documents import (
    SYSTEM_KEYS,
    ConversationPlace,
    dump,
    find_conversation,
    read_list,
    read_object,
)
from holdfast.formats.json_access import is_object, kind_of, mapping
from holdfast.formats.reader import Style
from holdfast.formats.reading import documents_from_events
from holdfast.redaction import Redactor
from holdfast.summary import Written
from holdfast.trajectories.compression import (
    CompressedTrajectory,
    Pending,
    Prepared,
    Rules,
    TrajectoryPolicy,
    counter_for,
    estimated,
    finish,
    prepare,
)
from holdfast.trajectories.items import TrajectoryBatch
from holdfast.trajectories.metrics import TrajectoryMetrics
from holdfast.trajectories.turns import has_notes, redact_json
from holdfast.transcript import Transcript
from holdfast.wire import DIALECTS
from holdfast.wire.recognition import agreed, dialect_of

NATIVE = ("sharegpt", "openai")
"""What trajectories are written as."""
_KEYS = {"sharegpt": "conversations", "openai": "messages"}
_PLACES = frozenset({"conversations", "messages", "input", "contents", "history"})
"""Where an object may hold a conversation."""
_SHOWN = 20_000
"""Characters of a trajectory that are set aside with its error."""
_SLACK = 16
"""Bytes that blanks between values may take: a secret is longer."""
_COMPACT = Style(None, compact=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """How trajectories are treated; can be sent to any process."""

    policy: TrajectoryPolicy
    tokenizer: str
    redact: bool = True
    patterns: tuple[str, ...] = ()
    """Secrets of the user's own."""
    to: str = ""
    """The format to write; empty for that of the input, where trajectories are written in it."""
    sample: float = 1.0
    """The share of trajectories that is taken."""
    seed: int = 42
    asks: bool = False
    """Whether a model writes the summaries; it is asked by whoever hands out the batches."""
    dry_run: bool = False
    """Whether only figures are wanted."""


@dataclass(frozen=True, slots=True)
class TrajectoryEntry:
    """A trajectory between its turns and the object that holds them."""

    turns: Sequence[object]
    fields: tuple[tuple[str, bytes], ...]
    """The keys of the object with their JSON, in order; that of the turns is empty."""
    key: str
    raws: tuple[bytes, ...] = ()
    """The JSON that each turn was read from; empty where it was converted."""
    whole: bytes = b""
    """The JSON of everything as it was read; empty where something of it changed."""
    has_prompt: bool = False
    """Whether the first turn is a system prompt that stands beside the turns in the object."""


@dataclass(frozen=True, slots=True)
class FinishedTrajectory:
    """A trajectory that is done: its line, and its figures."""

    number: int
    line: bytes
    metrics: TrajectoryMetrics


@dataclass(frozen=True, slots=True)
class Waiting:
    """A trajectory that waits for the summary of a model."""

    number: int
    entry: TrajectoryEntry
    pending: Pending
    seconds: float


@dataclass(frozen=True, slots=True)
class Failed:
    """A trajectory that is set aside."""

    number: int
    error: str
    content: str
    """What it was, redacted and as far as a person would look at it."""


Outcome: TypeAlias = FinishedTrajectory | Waiting | Failed


def process(batch: TrajectoryBatch, work: Work) -> tuple[Outcome, ...]:
    """Return what becomes of each trajectory of a batch that is in the sample, in order."""
    if batch.session is not None:
        return tuple(_of_session(batch, batch.session, work))
    return tuple(
        Failed(item.number, item.problem, "")
        if item.problem
        else _tried(item.number, partial(_read, item.content, work), work, item.content)
        for item in batch.items
        if _is_sampled(batch, item.number, work)
    )


def complete(waiting: Waiting, answer: Written | None, work: Work) -> FinishedTrajectory:
    """Return a trajectory that waited, with its summary in place."""
    started = time.perf_counter()
    rules = rules_of(work)
    done = finish(waiting.pending, answer, rules)
    seconds = waiting.seconds + time.perf_counter() - started
    metrics = replace(done.metrics, seconds=round(seconds, 6))
    return FinishedTrajectory(waiting.number, _line(waiting.entry, done.turns), metrics)


def prepare_process(work: Work) -> None:
    """Load what this process needs for the work.

    Raises:
        ConfigError: the tokenizer or a pattern cannot be used.
        MissingExtra: exact counting is not installed.
    """
    rules = rules_of(work)
    # A text that has to be merged: some of a vocabulary is made when it is first needed.
    rules.count("xqzvkjwq")


@lru_cache(maxsize=4)
def rules_of(work: Work) -> Rules:
    """Return what trajectories are treated by, loaded once in a process."""
    redact = Redactor(work.patterns).redact if work.redact else None
    return Rules(work.policy, counter_for(work.tokenizer).count, redact)


def _is_sampled(batch: TrajectoryBatch, number: int, work: Work) -> bool:
    """Say whether a trajectory is in the sample: by its file, its place and the seed."""
    if work.sample >= 1.0:
        return True
    name = batch.source.replace("\\", "/").rpartition("/")[2]
    digest = hashlib.sha256(
        f"{work.seed}\0{name}\0{number}".encode("utf-8", "surrogatepass")
    ).digest()
    return int.from_bytes(digest[:8]) < work.sample * 2**64


def _tried(
    number: int, read: Callable[[], TrajectoryEntry], work: Work, content: bytes = b""
) -> Outcome:
    """Return what becomes of a trajectory; whatever goes wrong with it, it is set aside."""
    try:
        entry = read()
        started = time.perf_counter()
        rules = rules_of(work)
        if rules.redact is not None:
            entry = _masked(entry, rules.redact)
        prepared: Prepared = prepare(entry.turns, rules)
        seconds = time.perf_counter() - started
        match prepared:
            case CompressedTrajectory(turns, metrics):
                line = b"" if work.dry_run else _line(entry, turns)
                return FinishedTrajectory(number, line, replace(metrics, seconds=round(seconds, 6)))
            case Pending():
                if work.dry_run:
                    metrics = replace(estimated(prepared, work.policy), seconds=round(seconds, 6))
                    return FinishedTrajectory(number, b"", metrics)
                # What it was as a whole is not wanted any more, and would be sent along.
                waiting = Waiting(number, replace(entry, whole=b""), prepared, seconds)
                return waiting if work.asks else complete(waiting, None, work)
    except (HoldfastError, RecursionError) as error:
        reason = str(error) or type(error).__name__
    except Exception as error:  # noqa: BLE001 - one trajectory never ends a run of millions
        reason = f"an unexpected {type(error).__name__}: {error}"
    return Failed(number, _shown(reason, work), _shown(content.decode("utf-8", "replace"), work))


def _of_session(batch: TrajectoryBatch, found: FoundFile, work: Work) -> Iterator[Outcome]:
    """Yield the conversations of an agent's log: all that was said, without its own summaries."""
    try:
        documents = documents_from_events(FORMATS[found.guess.format], found.tell())
    except HoldfastError as error:
        yield Failed(1, str(error), "")
        return
    for number, document in enumerate(documents, 1):
        if not _is_sampled(batch, number, work):
            continue
        about = document.about
        known = {"id": about.id, "model": about.model, "title": about.title} if about else {}
        fields = {"source": document.format, **{key: text for key, text in known.items() if text}}
        if document.transcript:
            to = work.to or NATIVE[0]
            yield _tried(number, partial(_told, document.transcript, fields, to), work)


def _told(transcript: Transcript, fields: Mapping[str, object], to: str) -> TrajectoryEntry:
    return _converted(without_summaries(transcript).transcript, fields, to)


def _read(content: bytes, work: Work) -> TrajectoryEntry:
    """Return the turns of a trajectory, and what holds them.

    Raises:
        DecodeError: it is no JSON, or holds no conversation.
    """
    if b"\n" in content:
        try:
            content = msgspec.json.encode(msgspec.json.decode(content))
        except (msgspec.DecodeError, UnicodeDecodeError):
            content = content.replace(b"\r", b" ").replace(b"\n", b" ")
    if content.startswith(b"["):
        return _bare(content, work)
    try:
        fields = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError):
        fields = _loosely(content)
    raws = {
        name: _elements(raw)
        for name, raw in fields.items()
        if name in _PLACES and bytes(memoryview(raw)[:1]) == b"["
    }
    # A place where nothing stands counts only where there is no other.
    raws = {name: found for name, found in raws.items() if found} or raws
    held = {name: [_value(each) for each in found] for name, found in raws.items()}
    prompts = {"system": _value(fields["system"])} if "system" in fields else {}
    turns = held.get("conversations", ())
    if turns and all(is_object(turn) and "from" in turn for turn in turns):
        # Most trajectories are such, and one look tells.
        place = ConversationPlace("conversations", "sharegpt", "", 1.0)
    else:
        place = find_conversation({**held, **prompts})
    if place is None:
        # Where turns seem to be that nobody knows, reading them says what is wrong.
        likely = (("conversations", "sharegpt"), ("messages", "openai"))
        places = (ConversationPlace(key, dialect, "", 0.0) for key, dialect in likely)
        place = next((each for each in places if held.get(each.key)), None)
    if place is None:
        keys = ", ".join(sorted(fields)[:6])
        raise DecodeError("trajectory", "the object", f"it holds no conversation; keys: {keys}")
    key, dialect = place.key, place.dialect
    if dialect in NATIVE and work.to in ("", dialect) and not has_notes(held[key]):
        kept = tuple((name, b"" if name == key else bytes(raw)) for name, raw in fields.items())
        entry = TrajectoryEntry(held[key], kept, key, tuple(map(bytes, raws[key])), content)
        prompt = prompts.get("system")
        return _with_prompt(entry, prompt) if isinstance(prompt, str) and prompt else entry
    value = {name: _value(raw) for name, raw in fields.items()}
    document = read_object(value, key, dialect, _COMPACT)
    to = work.to or (dialect if dialect in NATIVE else NATIVE[0])
    told = {key, _KEYS[to], "system", *SYSTEM_KEYS[dialect]}
    rest = {name: each for name, each in value.items() if name not in told}
    return _converted(document.transcript, rest, to)


def _with_prompt(entry: TrajectoryEntry, prompt: str) -> TrajectoryEntry:
    """Return the entry with a system prompt that stands beside its turns as the first of them.

    It is trained on like any other turn, so it has to be weighed, and may have to be noted in.
    """
    name = "from" if entry.key == "conversations" else "role"
    turn = {name: "system", "value" if name == "from" else "content": prompt}
    raws = (_encoded(turn), *entry.raws)
    return replace(entry, turns=[turn, *entry.turns], raws=raws, has_prompt=True)


def _elements(raw: bytes | msgspec.Raw) -> list[msgspec.Raw]:
    try:
        return msgspec.json.decode(raw, type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return [msgspec.Raw(json.dumps(each).encode()) for each in _loose(bytes(raw))]


def _value(raw: bytes | msgspec.Raw) -> object:
    """Return a value, also where only Python reads it: NaN, figures without end, half a pair."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _loose(bytes(raw))


def _bare(content: bytes, work: Work) -> TrajectoryEntry:
    """Return the turns of a trajectory that is a list of them."""
    raws = _elements(content)
    turns: list[object] = [_value(raw) for raw in raws]
    dialect = agreed(dialect_of(turns), "")
    if dialect in NATIVE and work.to in ("", dialect):
        return TrajectoryEntry(turns, (), "", tuple(map(bytes, raws)), content)
    document = read_list(turns, dialect, _COMPACT, lines=False)
    return _converted(document.transcript, {}, work.to or NATIVE[0])


def _loosely(content: bytes) -> dict[str, msgspec.Raw]:
    """Return the fields of an object in JSON that only Python reads: NaN, halves of pairs."""
    value = _loose(content)
    if not is_object(value):
        raise DecodeError("json", "the line", f"expected an object, found {kind_of(value)}")
    return {name: msgspec.Raw(json.dumps(each).encode()) for name, each in value.items()}


def _loose(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DecodeError("json", "the line", f"it is no JSON: {error}") from error


def _converted(transcript: Transcript, rest: Mapping[str, object], to: str) -> TrajectoryEntry:
    body = DIALECTS[to].encode(transcript)
    turns: list[object] = list(body.messages)
    if isinstance(body.system, str):
        prompt = {"from": "system", "value": body.system}
        turns = [prompt, *turns]
    fields = tuple((name, _encoded(value)) for name, value in rest.items())
    return TrajectoryEntry(turns, (*fields, (_KEYS[to], b"")), _KEYS[to])


def _masked(entry: TrajectoryEntry, redact: Callable[[str], str]) -> TrajectoryEntry:
    """Return the entry with what stands beside the turns redacted; turns are when they are read."""
    # A key that is written twice is read once, so the kept bytes may hold a secret which the values
    # do not show. Bytes that are no longer than their value written anew hide nothing, which is
    # true of nearly all.
    raws = tuple(
        b"" if _hides(raw, len(_encoded(turn)), redact) else raw
        for turn, raw in zip(entry.turns, entry.raws, strict=bool(entry.raws))
    )
    is_kept = all(raws) and not _hides(entry.whole, _size(entry), redact)
    entry = replace(entry, raws=raws, whole=entry.whole if is_kept else b"")
    values: list[object] = [{name: _value(raw)} for name, raw in entry.fields if name != entry.key]
    masked = redact_json(values, redact)
    if all(map(is_, values, masked)):
        return entry
    shown = iter(zip(values, masked, strict=True))
    fields: list[tuple[str, bytes]] = []
    for name, raw in entry.fields:
        one, other = (None, None) if name == entry.key else next(shown)
        # A name may be a secret as well as what it names.
        changed = mapping(other).items() if one is not other else ()
        fields += [(each, _encoded(value)) for each, value in changed] or [(name, raw)]
    return replace(entry, fields=tuple(fields), whole=b"")


def _size(entry: TrajectoryEntry) -> int:
    """Return the bytes of an entry whose blanks are all like the first of them."""
    blank = b'": ' in entry.whole[: entry.whole.find(b":") + 2]
    fields = sum(len(_encoded(name)) + len(raw) + 2 + 2 * blank for name, raw in entry.fields)
    return fields + sum(len(raw) + 1 + blank for raw in entry.raws[entry.has_prompt :])


def _hides(raw: bytes, size: int, redact: Callable[[str], str]) -> bool:
    if len(raw) <= size + _SLACK:
        return False
    text = raw.decode("utf-8", "replace")
    return redact(text) != text


def _line(entry: TrajectoryEntry, turns: Sequence[object]) -> bytes:
    """Return a trajectory as a line; what was kept of it is the bytes that it was."""
    if entry.whole and len(turns) == len(entry.turns) and all(map(is_, turns, entry.turns)):
        return entry.whole + b"\n"
    kept = {id(turn): raw for turn, raw in zip(entry.turns, entry.raws, strict=bool(entry.raws))}
    fields = dict(entry.fields)
    if entry.has_prompt:
        prompt, *turns = turns
        if prompt is not entry.turns[0]:
            said = mapping(prompt)
            fields["system"] = _encoded(said.get("value", said.get("content")))
    written = [kept.get(id(turn)) or _encoded(turn) for turn in turns]
    listed = b"[" + b",".join(written) + b"]"
    if not entry.key:
        return listed + b"\n"
    fields[entry.key] = listed
    parts = (_encoded(name) + b":" + raw for name, raw in fields.items())
    return b"{" + b",".join(parts) + b"}\n"


def _encoded(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except (TypeError, UnicodeEncodeError, ValueError):
        return dump(value, _COMPACT).encode("utf-8", "replace")


def _shown(text: str, work: Work) -> str:
    redact = rules_of(work).redact
    return (text if redact is None else redact(text))[:_SHOWN]
