"""Reads answers of upstreams beside their relay, for the store; what is relayed is not touched.

Pieces are kept as they come and read in batches: reading each by itself would cost more than
passing it on.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import msgspec

from holdfast.errors import DecodeError
from holdfast.gateway.bodies import HttpRefusal, unpacked
from holdfast.gateway.deltas import joined_events
from holdfast.wiring.calling import StreamRecorder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ENDS: Mapping[str, tuple[bytes, ...]] = {
    "openai": (b"[DONE]",),
    "responses": (b"response.completed", b"response.incomplete"),
    "anthropic": (b"message_stop",),
    "gemini": (),
}
"""What the last event of a stream has, and few others; Gemini's clients wait for the very end."""
_GAPS = (b"\n\n", b"\r\n\r\n")
"""What stands between two events."""
_BATCH = 64 << 10
_PREAMBLE = frozenset(
    {"ping", "message_start", "response.created", "response.queued", "response.in_progress"}
)
"""Events that come before anything was looked at, and before a refusal."""


class AnswerReader:
    """Takes in the bytes of an answer to a request of some dialect.

    Whatever cannot be read is passed over: the client has it all the same.
    """

    def __init__(self, dialect: str, encoding: str, limit: int) -> None:
        """Begin with nothing.

        Args:
            dialect: Whose answer it is.
            encoding: How it is packed, as its header says; a packed answer is read at its end.
            limit: How many bytes are read; an answer that goes on is then a partial one.
        """
        self._recorder = StreamRecorder()
        self._dialect = dialect
        self._ends = _ENDS[dialect]
        self._encoding = encoding if encoding != "identity" else ""
        self._left = limit
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0
        self._may_have_ended = False
        self._is_stream: bool | None = None
        self._whole: dict[str, object] | None = None

    def feed(self, piece: bytes) -> int:
        """Take the next bytes in; return how many of them stand before what may be the end."""
        if self._left <= 0:
            return len(piece)
        self._left -= len(piece)
        self._pieces.append(piece)
        self._size += len(piece)
        ends = [at for end in self._ends if (at := piece.find(end)) >= 0]
        if not ends or self._encoding:
            return len(piece)
        self._may_have_ended = True
        gaps = [at + len(gap) for gap in _GAPS if (at := piece.rfind(gap, 0, min(ends))) >= 0]
        return max(gaps, default=0)

    def has_ended(self) -> bool:
        """Say whether a stream has ended with what was taken in."""
        may_have_ended, self._may_have_ended = self._may_have_ended, False
        if self._encoding or not (may_have_ended or self._size > _BATCH):
            return False
        if self._is_stream is None:
            self._is_stream = _is_stream(b"".join(self._pieces))
        if not self._is_stream:
            return False
        self._read()
        return may_have_ended and self._recorder.is_whole

    def finish(self) -> tuple[dict[str, object] | None, bool]:
        """End the answer; return what is to be recorded of it, and whether that is a part."""
        if self._encoding:
            with suppress(HttpRefusal):
                self._pieces = [unpacked(b"".join(self._pieces), self._encoding, self._limit)]
        if self._is_stream is None:
            self._is_stream = _is_stream(b"".join(self._pieces))
        if self._is_stream:
            self._pieces.append(b"\n\n")
            self._read()
        elif self._left > 0:
            self._read_json()
        if self._whole is not None:
            return self._whole, False
        if self._recorder.is_whole:
            return cast("dict[str, object]", self._recorder.answer), False
        partial = self._recorder.partial
        return partial, partial is not None

    def _read(self) -> None:
        """Read the events that are whole; what is left of the last one waits."""
        data = b"".join(self._pieces)
        cut = max(data.rfind(b"\n\n"), data.rfind(b"\r\n\r\n"))
        rest = data[cut + 1 :] if cut >= 0 else data
        self._pieces, self._size = [rest], 0
        texts = _texts(data[: cut + 1] if cut >= 0 else b"")
        for event in joined_events(self._dialect, texts):
            if not _is_error(event):
                self._take(event)

    def _take(self, event: object) -> None:
        # An upstream may send anything; what is no event of its dialect says nothing.
        with suppress(DecodeError, AttributeError, IndexError, KeyError, TypeError, ValueError):
            self._recorder.take(event)

    def _read_json(self) -> None:
        try:
            found: object = msgspec.json.decode(b"".join(self._pieces))
        except (ValueError, RecursionError):
            return
        if isinstance(found, dict):
            fields = cast("dict[str, object]", found)
            self._whole = None if fields.get("error") else fields
        elif isinstance(found, list):
            # Gemini streams an array where no events are asked for.
            for piece in cast("list[object]", found):
                self._take(piece)


def _texts(data: bytes) -> Iterator[bytes]:
    """Yield the data of server-sent events."""
    for block in data.replace(b"\r\n", b"\n").split(b"\n\n"):
        at = 0 if block.startswith(b"data:") else block.find(b"\ndata:") + 1
        if at == 0 and not block.startswith(b"data:"):
            continue
        text = block[at + 5 :]
        if b"\n" in text:
            # Rare: data in several lines, or fields after it.
            lines = block.split(b"\n")
            text = b"\n".join(line[5:] for line in lines if line.startswith(b"data:"))
        yield text


def _is_error(event: Mapping[str, object]) -> bool:
    return event.get("type") in ("error", "response.failed") or bool(event.get("error"))


def stream_error(data: bytes) -> str:
    """Return the error that a stream begins with, as JSON; nothing where it begins well."""
    if b"error" not in data:
        return ""
    errors = (event for event in joined_events("", _texts(data)) if _is_error(event))
    return next((json.dumps(each) for each in errors), "")


def is_preamble(data: bytes) -> bool:
    """Say whether a stream has told nothing so far of what the model says."""
    if len(data) > _BATCH or not data.startswith((b"event:", b"data:", b":")):
        return False
    return all(event.get("type") in _PREAMBLE for event in joined_events("", _texts(data)))


def _is_stream(data: bytes) -> bool:
    """Say whether an answer is a stream of events, by how it begins."""
    return data.lstrip()[:1] not in (b"{", b"[", b"")
