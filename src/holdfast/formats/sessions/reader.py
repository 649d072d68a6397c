"""What every reader of session files offers, and the content that their formats share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.loose import mapping, sequence, string
from holdfast.transcript import Media, Message, Role, Summary, Synthetic, Text, Thinking, ToolCall
from holdfast.wire import DIALECTS, Body

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.document import Format
    from holdfast.formats.source import Record
    from holdfast.transcript import Part

__all__ = [
    "LIKELY",
    "SURE",
    "SessionReader",
    "Sign",
    "contents",
    "everywhere",
    "speaker_of",
    "summarized",
    "thought",
    "words",
]

SURE = 1.0
"""For a signature that no other format has."""
LIKELY = 0.8


@dataclass(frozen=True, slots=True)
class Sign:
    """Why records are taken for a format."""

    reason: str
    confidence: float = SURE


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReader:
    """What is known about one agent's session files."""

    format: Format
    recognize: Callable[[Sequence[Record]], Sign | None]
    """Says why the first records of a file are this format; None when they are not."""
    read: Callable[[Iterable[Record]], Iterator[Event]]
    """Tells a file record by record, holding no more of it than it must."""
    write: Callable[[Iterable[Event]], Iterator[str]] | None = None
    """Returns the lines of a file, without line ends; None where a format is only read."""
    spread: Callable[[str], str] | None = None
    """Where a session is spread over several files: returns what their paths have in common.

    Those files are read at once, and all of a folder where that is nothing.
    """


def everywhere(_: str) -> str:
    """Return what paths have in common where files of a session lie anywhere in a folder."""
    return ""


def contents(value: object) -> tuple[Text | Media, ...]:
    """Return the words and pictures of a content field: a string, or parts in any spelling."""
    if isinstance(value, str):
        return (Text(value),)
    return tuple(part for each in sequence(value) for part in _content(each))


def words(value: object) -> str:
    """Return the words of a content field, without its pictures."""
    return "\n".join(part.text for part in contents(value) if isinstance(part, Text))


def thought(text: str, signature: str) -> Thinking:
    """Return a thought; one with Anthropic's signature may go back to Anthropic."""
    if not signature:
        return Thinking(text)
    return Thinking(text, signature, {"anthropic": {}})


def speaker_of(parts: Iterable[Part], named: Role) -> Role:
    """Return who said the parts: only a model thinks and calls, whoever a damaged line names."""
    is_model = any(isinstance(part, Thinking | ToolCall) for part in parts)
    return Role.ASSISTANT if is_model else named


def summarized(text: str, origin: str) -> Message:
    """Return another agent's summary as the message that stands for what it folded.

    The sentences that its agent puts around a summary are taken off, as the codecs do. A file
    shows that it is a summary, and not that we wrote it.
    """
    (message,) = DIALECTS["openai"].decode(Body([{"role": "user", "content": text}]))
    found = message.summary
    return Message(
        Role.USER,
        (Summary(text if found is None else found.text, origin, claimed=origin == "holdfast"),),
        synthetic=Synthetic.SUMMARY,
    )


def _content(value: object) -> Iterator[Text | Media]:
    if isinstance(value, str):
        yield Text(value)
        return
    part = mapping(value)
    if text := string(part.get("text")):
        yield Text(text)
    yield from _pictures(part)


def _pictures(part: Mapping[str, object]) -> Iterator[Media]:
    inline = mapping(part.get("inlineData"))
    payload = string(part.get("data")) or string(inline.get("data"))
    kind = string(part.get("mimeType")) or string(inline.get("mimeType"))
    if payload:
        yield Media(media_type=kind, data=payload)
    addresses = [part.get("url"), mapping(part.get("image_url")).get("url"), part.get("image_url")]
    for address in (*addresses, *sequence(part.get("image_urls"))):
        if url := string(address):
            yield _media(url, kind)


def _media(url: str, media_type: str) -> Media:
    if not url.startswith("data:"):
        return Media(media_type=media_type, url=url)
    header, _, payload = url.removeprefix("data:").partition(",")
    return Media(media_type=header.partition(";")[0] or media_type, data=payload)
