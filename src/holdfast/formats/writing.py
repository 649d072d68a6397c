"""Writes a transcript back into the container its document came in, or as another dialect."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import InvalidTranscript
from holdfast.formats.catalog import SESSIONS, choose
from holdfast.formats.document import ReadOnlyFormat, Style
from holdfast.formats.documents.container import SYSTEM_KEYS, dump, write_back
from holdfast.formats.documents.events import window_events
from holdfast.formats.events import About, native_of, with_native, without_native
from holdfast.formats.json_access import as_json, mapping
from holdfast.formats.writer import derived_uuid
from holdfast.wire import DIALECTS

if TYPE_CHECKING:
    from holdfast.formats.document import Document
    from holdfast.transcript import Message, Transcript

__all__ = ["WRITABLE", "write"]

_KEYS = {
    "openai": "messages",
    "responses": "input",
    "anthropic": "messages",
    "gemini": "contents",
    "sharegpt": "conversations",
}
_WRITERS = {each.format.name: each.write for each in SESSIONS if each.write is not None}
WRITABLE: tuple[str, ...] = (*_KEYS, *_WRITERS)
"""What any transcript can be written as."""
_PRETTY = Style("  ", final_newline=True)


def write(document: Document, transcript: Transcript, *, to: str | None = None) -> str:
    """Return a transcript as text, in the document's own container or as the format `to`.

    The own container keeps every key, its order and its indentation. Another dialect gives the
    natural request of that dialect; the format of an agent a session file that it can go on with.

    Raises:
        ReadOnlyFormat: when no format is named and the document's own cannot be written.
    """
    try:
        wanted = to or document.format
        if wanted in _WRITERS:
            is_whole = transcript == document.live
            window = transcript if is_whole else map(_uncounted, transcript)
            # What is known of a conversation, with an id that follows from what was
            # said.
            about = document.about or About()
            if about.id:
                known = about
            else:
                said = DIALECTS["openai"].encode(document.live).messages
                known = replace(about, id=derived_uuid(as_json(said)))
            events = window_events(window, known)
            return "".join(f"{line}\n" for line in _WRITERS[wanted](events))
        if wanted == document.format:
            if document.envelope is None:
                raise ReadOnlyFormat(document.format, WRITABLE)
            return write_back(document, document.envelope, transcript)
        to = choose(wanted, WRITABLE)
        envelope = document.envelope
        style = _PRETTY if envelope is None else envelope.style
        body = DIALECTS[to].encode(transcript)
        if to == "openai" and envelope is not None and envelope.rest is None:
            return dump(body.messages, style)
        request: dict[str, object] = {}
        rest = mapping(None if envelope is None else envelope.rest)
        # Gemini names its model in the address of a request, not in the request.
        if to != "gemini" and isinstance(rest.get("model"), str):
            request["model"] = rest["model"]
        if body.system is not None:
            request[SYSTEM_KEYS[to][0]] = body.system
        request[_KEYS[to]] = body.messages
        return dump(request, style)
    except RecursionError:
        raise InvalidTranscript("the values of the transcript are nested too deeply") from None


def _uncounted(message: Message) -> Message:
    """Return a message without what its answer cost.

    Agents take that of the newest answer for the size of the window, and would compact at once
    what was made smaller after it.
    """
    native = native_of(message)
    if native.usage is None:
        return message
    return with_native(without_native(message), replace(native, usage=None))
