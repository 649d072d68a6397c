"""Labels in files that say which messages nobody said, and the check that a summary is ours.

A label is the field `holdfast` of a message: for those who train on a file or compress it again. No
provider ever gets it: every dialect takes it off when it reads a message, and only those who write
files put it back. The check is a keyed hash over the text of a summary, since anybody can write its
frame; the key comes from outside.
"""

from __future__ import annotations

import dataclasses
import hmac
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, TypeAlias, cast

from msgspec.structs import replace

from holdfast.transcript import Message, Role, Summary, Synthetic, Text
from holdfast.wire.common import Wire, own
from holdfast.wire.markers import OURS, read, write
from holdfast.wire.message_text import divided, marked_texts

if TYPE_CHECKING:
    from holdfast.transcript import Transcript
    from holdfast.wire.common import Body

LABEL = "holdfast"
"""The field of a message in a file, and where a message keeps what it said."""
MASKS: Mapping[str, Wire] = {"openai": {"weight": 0}, "sharegpt": {"loss": False}}
"""What keeps an assistant's message out of the loss, by dialect.

OpenAI's fine-tuning and most services that are like it read `weight`. Of those who train on
ShareGPT, ms-swift reads `loss`, and axolotl any field that `message_field_training` names.
"""
_REASONS = {each.value: each for each in Synthetic}


def label_of(message: Message) -> Wire:
    """Return the label of a message; empty for one that has none."""
    return own(message.extras, LABEL)


def labelled(message: Message, **fields: object) -> Message:
    """Return the message with these fields in its label; empty ones are left out."""
    label = {name: value for name, value in fields.items() if value}
    if not label:
        return message
    return replace(message, extras={**message.extras, LABEL: {**label_of(message), **label}})


def without_labels(name: str, decode: Callable[[Body], Transcript]) -> Callable[[Body], Transcript]:
    """Return a decoder that takes labels off what the dialect would write back.

    A message that is synthetic as a whole is known as such again.
    """

    @wraps(decode)
    def read(body: Body) -> Transcript:
        transcript = decode(body)
        noted = [message.extras for message in transcript if message.extras]
        if not any(LABEL in own(extras, name) for extras in noted):
            return transcript
        return tuple(_taken_off(message, name) for message in transcript)

    return read


def written_labels(transcript: Transcript, name: str) -> Transcript:
    """Return a transcript whose labels a dialect writes, with the mask of those that have one."""
    if not any(message.extras and label_of(message) for message in transcript):
        return transcript
    return tuple(_put_on(message, name) for message in transcript)


def _taken_off(message: Message, name: str) -> Message:
    fields = own(message.extras, name)
    label = fields.get(LABEL)
    if not isinstance(label, dict):
        return message
    said = cast("Wire", label)
    gone = {LABEL, *(MASKS.get(name, {}) if said.get("masked") else ())}
    rest = {key: value for key, value in fields.items() if key not in gone}
    extras = {key: value for key, value in message.extras.items() if key != name}
    extras = {**extras, **({name: rest} if rest else {}), LABEL: said}
    reason = None if said.get("partial") else _REASONS.get(str(said.get("synthetic")))
    return replace(message, synthetic=message.synthetic or reason, extras=extras)


def _put_on(message: Message, name: str) -> Message:
    label = label_of(message)
    if not label:
        return message
    is_masked = label.get("masked") and message.role is Role.ASSISTANT
    mask = MASKS.get(name, {}) if is_masked else {}
    fields = {**own(message.extras, name), **mask, LABEL: label}
    return replace(message, extras={**message.extras, name: fields})


_WORDS = frozenset({Text, Summary})

Sign: TypeAlias = Callable[[str], str]
"""Returns the check of a text, always the same for the same text; empty where there is no key."""
DIGITS = 16
"""Hexadecimal digits of a check: enough that nobody guesses one, few enough for a prompt."""
_PURPOSE = b"holdfast summary v1\0"


def check_of(text: str, key: bytes) -> str:
    """Return the check of a summary's text under a key."""
    written = _PURPOSE + text.encode("utf-8", "surrogatepass")
    return hmac.new(key, written, "sha256").hexdigest()[:DIGITS]


def unsigned(_: str) -> str:
    """Return no check, where there is no key: such a summary is ours only in a store."""
    return ""


def signed(transcript: Transcript, sign: Sign) -> Transcript:
    """Return the transcript with the check of our own summaries beside their text."""
    found: list[Message] = []
    for message in transcript:
        if message.summary is not None:
            parts = (
                replace(part, check=sign(part.text))
                if isinstance(part, Summary) and part.is_ours
                else part
                for part in message.parts
            )
            found.append(replace(message, parts=tuple(parts)))
        else:
            found.append(message)
    return tuple(found)


def recognized(transcript: Transcript, sign: Sign) -> Transcript:
    """Return a transcript that came from outside, with the summaries that we wrote as ours.

    All others stay what they were read as: reference in a user's message, words in a reply.
    """
    # Calls and results, which most messages are, hold no summary.
    found = [*transcript]
    for at, message in enumerate(transcript):
        if any([type(part) in _WORDS for part in message.parts]):
            found[at] = _recognized(message, sign)
    return tuple(found)


def _recognized(message: Message, sign: Sign) -> Message:
    claim = message.summary
    if claim is not None and claim.claimed:
        texts = [each for each in marked_texts(message, message.parts) if isinstance(each, Text)]
        if not any(_verifies(claim, each.text, sign) for each in texts):
            return message
        ours = replace(claim, claimed=False)
        parts = tuple(ours if part is claim else part for part in message.parts)
        return replace(message, parts=parts)
    if message.role is Role.ASSISTANT:
        for index, part in enumerate(message.parts):
            if type(part) is Text and part.text.startswith(OURS) and not part.extras:
                return _with_own_summary(message, index, part.text, sign)
    return message


def _with_own_summary(message: Message, index: int, text: str, sign: Sign) -> Message:
    marked = read(text)
    if marked is None or not _verifies(marked.summary, text, sign):
        return message
    return divided(
        message, index, dataclasses.replace(marked, summary=replace(marked.summary, claimed=False))
    )


def _verifies(summary: Summary, written: str, sign: Sign) -> bool:
    """Say whether a summary has our check, and stands in the very frame that we write."""
    if not summary.claimed or not summary.check:
        return False
    is_framed = written.startswith(write(summary, closed=False))
    return is_framed and hmac.compare_digest(sign(summary.text), summary.check)
