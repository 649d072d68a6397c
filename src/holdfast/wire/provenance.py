"""Labels in files that say which messages nobody said: summaries, stubs and notes of holdfast.

A label is the field `holdfast` of a message. It is for those who train on a file or compress it
again, and no provider ever gets it: every dialect takes it off when it reads a message, and only
those who write files put it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, cast

from holdfast.transcript import Role, Synthetic
from holdfast.wire.fields import Wire, own

if TYPE_CHECKING:
    from holdfast.transcript import Message, Transcript
    from holdfast.wire.body import Body

__all__ = ["LABEL", "MASKS", "label_of", "labelled", "without_labels", "written_labels"]

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
        if not any(LABEL in own(message.extras, name) for message in transcript):
            return transcript
        return tuple(_taken_off(message, name) for message in transcript)

    return read


def written_labels(transcript: Transcript, name: str) -> Transcript:
    """Return a transcript whose labels a dialect writes, with the mask of those that have one."""
    if not any(label_of(message) for message in transcript):
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
