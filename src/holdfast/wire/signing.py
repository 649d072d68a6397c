"""The check by which a summary in a bare list is known to be ours: anybody can write its frame.

A check is a keyed hash over the text. Whoever copies a summary copies it with its check; whoever
changes a word, or writes one of their own, would need the key. The key comes from outside: this
module holds none.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from holdfast.transcript import Message, Role, Summary, Text
from holdfast.wire.markers import OURS, read, write
from holdfast.wire.message_text import divided, marked_texts

if TYPE_CHECKING:
    from holdfast.transcript import Part, Transcript

__all__ = ["DIGITS", "Sign", "check_of", "recognized", "signed", "unsigned"]

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
    return tuple(
        replace(message, parts=tuple(_signed(part, sign) for part in message.parts))
        if message.summary is not None
        else message
        for message in transcript
    )


def recognized(transcript: Transcript, sign: Sign) -> Transcript:
    """Return a transcript that came from outside, with the summaries that we wrote as ours.

    All others stay what they were read as: reference in a user's message, words in a reply.
    """
    return tuple([_recognized(message, sign) for message in transcript])


def _signed(part: Part, sign: Sign) -> Part:
    if isinstance(part, Summary) and part.is_ours:
        return replace(part, check=sign(part.text))
    return part


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
            if isinstance(part, Text) and part.text.startswith(OURS) and not part.extras:
                return _with_own_summary(message, index, part.text, sign)
    return message


def _with_own_summary(message: Message, index: int, text: str, sign: Sign) -> Message:
    marked = read(text)
    if marked is None or not _verifies(marked.summary, text, sign):
        return message
    return divided(message, index, replace(marked, summary=replace(marked.summary, claimed=False)))


def _verifies(summary: Summary, written: str, sign: Sign) -> bool:
    """Say whether a summary has our check, and stands in the very frame that we write."""
    if not summary.claimed or not summary.check:
        return False
    is_framed = written.startswith(write(summary, closed=False))
    return is_framed and hmac.compare_digest(sign(summary.text), summary.check)
