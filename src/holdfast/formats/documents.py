"""Providers' documents: a conversation in the container it came in, read and written back.

A container is a bare list of messages, a message a line, or an object that holds the messages under
a key beside whatever else its owner put there, which rides along untouched. A transcript can also
be told as the events of a session file, so that an agent's writer can write it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.errors import DecodeError
from holdfast.formats.content import answer_in, decoded, tokens_in
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    SourceMetadata,
    StrandStarted,
    native_of,
    with_native,
    without_native,
)
from holdfast.formats.hermes import exported, is_failure, settings_of
from holdfast.formats.json_access import (
    JsonObject,
    is_array,
    is_object,
    kind_of,
    mapping,
    milliseconds,
    sequence,
    string,
)
from holdfast.formats.mini_swe_agent import about_run, answers_known
from holdfast.formats.reader import Aside, Document, Envelope, Style
from holdfast.transcript import Message, Part, Role, Text, Thinking, ToolResult, Transcript
from holdfast.wire import DIALECTS, Body, with_originals
from holdfast.wire.provenance import written_labels
from holdfast.wire.recognition import Verdict, agreed, dialect_of, is_answer, is_message

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.events import Event


def items_of(answer: JsonObject) -> list[dict[str, object]]:
    """Return the items of an answer."""
    return [item for item in sequence(answer.get("output")) if is_object(item)]


def answer_metadata(answer: JsonObject) -> SourceMetadata:
    """Return what an answer says about itself, and what mini-swe-agent wrote beside it."""
    extra, usage = mapping(answer.get("extra")), mapping(answer.get("usage"))
    return SourceMetadata(
        reply=string(answer.get("id")),
        model=string(answer.get("model")),
        usage=tokens_in(usage, extra.get("cost") or usage.get("cost")),
        at=milliseconds(extra.get("timestamp")) or milliseconds(answer.get("created_at")),
    )


def with_answers(
    transcript: Transcript, natives: Mapping[int, SourceMetadata], first: int
) -> Transcript:
    """Return messages with what the answers that they came from say.

    Args:
        transcript: One message an item, below what stands beside the items.
        natives: What is known of an item, by its place.
        first: The place of the first item among the messages.
    """
    if not natives:
        return transcript
    return tuple(
        with_native(message, natives[place]) if place in natives else message
        for place, message in enumerate(transcript, -first)
    )


# The keys a conversation is found under, with the dialect that the key alone gives away.
_KEYS = {"messages": "", "input": "responses", "contents": "gemini", "conversations": ""}
_HISTORY = "history"
_LIKELY = 0.8

SYSTEM_KEYS: Mapping[str, tuple[str, ...]] = {
    "openai": (),
    "responses": ("instructions",),
    "anthropic": ("system",),
    "gemini": ("systemInstruction", "system_instruction"),
    "sharegpt": ("system",),
}
"""Where each dialect keeps its system prompt beside the messages; the first is written."""

_ROLES = frozenset(["system", "developer", "user", "assistant", "tool", "function"])
_LAST_WORDS = "exit"
"""The role under which mini-swe-agent notes how a run ended, which no model sees."""
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ConversationPlace:
    """Where in an object its conversation is, and in which dialect."""

    key: str
    dialect: str
    reason: str
    confidence: float
    """As that of a `Guess`."""
    mixed: Verdict | None = None
    """What was found where no dialect could have written all messages."""

    def agreed(self) -> str:
        """Return the dialect, if all messages can be of one.

        Raises:
            DecodeError: when they cannot; it names the message that does not fit.
        """
        return self.dialect if self.mixed is None else agreed(self.mixed, "--format")


@dataclass(frozen=True, slots=True)
class _Sorted:
    """The entries of a list, told apart."""

    messages: list[dict[str, object]]
    asides: tuple[Aside, ...]
    natives: Mapping[int, SourceMetadata]
    """What is known of messages that came from a whole answer, by their place."""


def key_of(entry: JsonObject) -> str:
    """Return under which key an object holds a conversation; "" when it holds none."""
    for key in _KEYS:
        messages = entry.get(key)
        if is_array(messages) and (
            not messages or any(is_message(message) for message in messages)
        ):
            return key
    past = sequence(entry.get(_HISTORY))
    return _HISTORY if past and all("parts" in mapping(each) for each in past) else ""


def find_conversation(entry: JsonObject) -> ConversationPlace | None:
    """Return where the conversation of an object is, or None when it holds none."""
    key = key_of(entry)
    if not key:
        return None
    if key == _HISTORY:
        reason = "an object with `history`: messages have `parts`"
        return ConversationPlace(_HISTORY, "gemini", reason, _LIKELY)
    messages, known = sequence(entry[key]), _KEYS[key]
    reason = f"an object with `{key}`"
    if known and messages:
        return ConversationPlace(key, known, reason, _LIKELY)
    # Only `messages` has a system prompt of Anthropic's kind beside it.
    prompt = key == "messages" and entry.get("system") is not None
    verdict = dialect_of(messages, has_system=prompt)
    if known:
        return ConversationPlace(key, known, reason, verdict.confidence)
    mixed = None if verdict.index is None else verdict
    told = f"{reason}: {verdict.told}"
    return ConversationPlace(key, verdict.dialect, told, verdict.confidence, mixed)


def read_object(
    entry: JsonObject, key: str, dialect: str, style: Style, *, name: str = ""
) -> Document:
    """Read an object with a conversation under a key, as the format `name` or as its dialect."""
    entries = _sort_out(sequence(entry[key]), key, dialect)
    messages, asides = entries.messages, entries.asides
    system_key = next((each for each in SYSTEM_KEYS[dialect] if each in entry), "")
    transcript = _decoded(entries, dialect, entry.get(system_key))
    rest = {**entry, key: None}
    envelope = Envelope(rest, key, system_key, asides=asides, style=style, messages=messages)
    return Document(name or dialect, dialect, transcript, envelope)


def read_list(entries: Sequence[object], dialect: str, style: Style, *, lines: bool) -> Document:
    """Read a bare list of messages, or messages that stood one a line."""
    found = _sort_out(entries, "", dialect)
    transcript, messages = _decoded(found, dialect, None), found.messages
    envelope = Envelope(None, lines=lines, asides=found.asides, style=style, messages=messages)
    return Document(dialect, dialect, transcript, envelope)


def _decoded(entries: _Sorted, dialect: str, system: object) -> Transcript:
    transcript = DIALECTS[dialect].decode(Body(entries.messages, system))
    first = len(transcript) - len(entries.messages)
    return with_answers(transcript, entries.natives, first) if entries.natives else transcript


def write_back(document: Document, envelope: Envelope, transcript: Transcript) -> str:
    """Write a transcript into the container that the document came in."""
    shown = written_labels(transcript, document.dialect)
    body = DIALECTS[document.dialect].encode(shown)
    originals = with_originals(body.messages, envelope.messages)
    messages: list[JsonObject] = [*originals]
    # What stood among messages that are gone now goes with them.
    for aside in reversed(envelope.asides):
        index = len(originals) - aside.following
        if index >= 0:
            messages.insert(index, aside.value)
    if envelope.rest is None and body.system is None:
        if not envelope.lines:
            return dump(messages, envelope.style)
        flat = Style(None, compact=envelope.style.compact)
        text = "\n".join(dump(message, flat) for message in messages)
        return f"{text}\n" if envelope.style.final_newline and text else text
    rest = {"messages": None} if envelope.rest is None else envelope.rest
    key = envelope.key or "messages"
    filled: dict[str, object] = {}
    for name, value in rest.items():
        if name == envelope.system_key:
            if body.system is not None or not value:
                filled[name] = value if body.system is None else body.system
        elif name == key:
            if body.system is not None and not envelope.system_key:
                filled[SYSTEM_KEYS[document.dialect][0]] = body.system
            filled[name] = messages
        else:
            filled[name] = value
    return dump(filled, envelope.style)


def dump(value: object, style: Style) -> str:
    """Return a value as JSON text in a style.

    Half a surrogate pair, which JSON can escape and UTF-8 cannot hold, is escaped again.
    """
    separators = (",", ":") if style.compact and style.indent is None else None
    text = json.dumps(value, ensure_ascii=False, indent=style.indent, separators=separators)
    text = _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    return f"{text}\n" if style.final_newline else text


def _sort_out(entries: Sequence[object], key: str, dialect: str) -> _Sorted:
    """Separate messages from entries that only their owner understands."""
    messages: list[dict[str, object]] = []
    passed: list[tuple[int, JsonObject]] = []
    natives: dict[int, SourceMetadata] = {}
    # Only Hermes puts notes of its own among messages, and it writes OpenAI's.
    roles = _ROLES if dialect == "openai" else None
    for index, each in enumerate(entries):
        if not is_object(each):
            where = f"{key}[{index}]"
            raise DecodeError(dialect, where, f"expected an object, found {kind_of(each)}")
        if dialect == "responses" and is_answer(each):
            known = answer_metadata(each)
            for item in items_of(each):
                natives[len(messages)] = known
                messages.append(item)
                known = replace(known, usage=None)
            continue
        role = string(each.get("role"))
        if role == _LAST_WORDS or (roles is not None and role and role not in roles):
            passed.append((len(messages), each))
        else:
            messages.append(each)
    asides = tuple(Aside(len(messages) - before, entry) for before, entry in passed)
    return _Sorted(messages, asides, natives)


_IDS = ("session_id", "conversation_id")
_TIMES = ("session_start", "created_at", "created", "started_at", "timestamp")
_UNIQUE = 12
"""How long an id is, at least, that no other file has by chance."""
_TOLD = frozenset(
    {*_IDS, *_TIMES, "title", "model", "cwd", "git_branch", "system_prompt", "system"}
    | {"last_updated", "message_count"}
)
_LONGEST = 200
"""The longest text beside the messages that is kept with the session."""
_NOTHING = SourceMetadata()


def window_events(
    messages: Iterable[Message], about: About, *, strand: str = MAIN
) -> Iterator[Event]:
    """Return the events that lead to a window.

    A summary in it is told as a compaction that left what stands before the summary.
    """
    return _tell((_apart(message) for message in messages), about, strand)


def document_events(
    document: Document, *, strand: str = MAIN, line: int | None = None
) -> Iterator[Event]:
    """Return the events of a provider's document.

    What stands beside the messages says when, where and by which model they were said. A system
    prompt that Hermes keeps there is told first, and an answer that a log of requests keeps there
    is told last. Lists and long texts such as the definitions of tools stay behind.

    Without a `line`, its messages are lines of their own.
    """
    rest = mapping(None if document.envelope is None else document.envelope.rest)
    if document.format == "mini-swe-agent":
        known = answers_known(document.transcript)
        yield from _tell(map(_apart, known), about_run(rest, known), strand, line)
        return
    said = [_dated(message, document.dialect) for message in document.transcript]
    prompt = string(rest.get("system_prompt"))
    if prompt and not (said and said[0][0].role is Role.SYSTEM):
        said.insert(0, (Message(Role.SYSTEM, (Text(prompt),)), _NOTHING))
    if not (said and said[-1][0].role is Role.ASSISTANT):
        response = mapping(rest.get("response"))
        answer = answer_in(response)
        found = decoded("openai", answer) if answer else ()
        if not isinstance(found, str):
            native = SourceMetadata(
                reply=string(response.get("id")),
                model=string(response.get("model")),
                usage=tokens_in(mapping(response.get("usage")), rest.get("cost")),
                at=milliseconds(response.get("created")),
            )
            said.extend((message, native) for message in found)
    about = document.about or exported(_about(rest), rest, document.transcript)
    yield from _tell(said, about, strand, line)
    yield from document.problems


def _tell(
    said: Iterable[tuple[Message, SourceMetadata]],
    about: About,
    strand: str,
    line: int | None = None,
) -> Iterator[Event]:
    """Return the events of messages, each with what its agent wrote about it."""
    yield StrandStarted(strand=strand, line=line or 1, about=about)
    shown: list[str] = []
    keys: set[str] = set()
    for place, (message, native) in enumerate(said, 1):
        at = line or place
        key = f"{strand}#{place}"
        if native.id:
            name = f"{strand}/{native.id}" if strand else native.id
            key = key if name in keys else name
        keys.add(key)
        shown.append(key)
        yield MessageEvent(strand=strand, line=at, key=key, message=message, native=native)
        if message.summary is not None:
            fold, seen = f"{key}/fold", tuple(shown)
            yield CompactionEvent(strand=strand, line=at, id=fold, shows=seen, at=native.at)


def _apart(message: Message) -> tuple[Message, SourceMetadata]:
    """Return a message, and what its agent wrote about it."""
    return (without_native(message), native_of(message)) if message.extras else (message, _NOTHING)


def _about(rest: JsonObject) -> About:
    settings = settings_of(rest)
    own_id = string(rest.get("id"))
    # A short one counts the samples of a collection and says nothing elsewhere.
    fallback = own_id if len(own_id) >= _UNIQUE else ""
    times = (milliseconds(rest.get(key)) for key in _TIMES)
    return About(
        id=next((found for key in _IDS if (found := string(rest.get(key)))), fallback),
        title=string(rest.get("title")),
        model=string(rest.get("model")),
        cwd=string(rest.get("cwd")) or string(settings.get("cwd")),
        git_branch=string(rest.get("git_branch")),
        started=next((found for found in times if found is not None), None),
        more={
            key: value
            for key, value in rest.items()
            if key not in _TOLD
            and (isinstance(value, bool | int | float) or 0 < len(string(value)) <= _LONGEST)
        },
    )


def _dated(message: Message, dialect: str) -> tuple[Message, SourceMetadata]:
    """Return a message, and what its own fields say of its id, its time and its result."""
    bare, native = _apart(message)
    fields = mapping(message.extras.get(dialect))
    if message.role is Role.TOOL:
        parts = tuple(_answered(part, fields) for part in bare.parts)
    elif message.role is Role.ASSISTANT and len(bare.parts) > 1:
        # Parts without a thought that stands under two names, as agents store it.
        without_echo: list[Part] = []
        thoughts: set[str] = set()
        for part in bare.parts:
            if isinstance(part, Thinking) and part.signature is None:
                if part.text in thoughts:
                    continue
                thoughts.add(part.text)
            without_echo.append(part)
        parts = tuple(without_echo)
    else:
        parts = bare.parts
    if parts != bare.parts:
        bare = replace(bare, parts=parts)
    if not fields:
        return bare, native
    times = (milliseconds(fields.get(key)) for key in _TIMES if key in fields)
    at = native.at or next((found for found in times if found is not None), None)
    return bare, replace(native, id=native.id or string(fields.get("id")), at=at)


def _answered(part: Part, fields: JsonObject) -> Part:
    """Return a result with its name, which Hermes writes beside it, and whether it failed."""
    if not isinstance(part, ToolResult):
        return part
    known = string(fields.get("tool_name"))
    name = part.name or known
    is_error = part.is_error or fields.get("finish_reason") == "error"
    if known and not is_error:
        is_error = is_failure(known, part.text, fields)
    if name == part.name and is_error == part.is_error:
        return part
    return replace(part, name=name, is_error=is_error)
