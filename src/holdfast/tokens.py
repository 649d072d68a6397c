"""What a message weighs, the limits it counts against, and what real usage and errors teach.

A weight depends on the message alone, so it is computed once per message and kept; the cost of a
turn is then proportional to what is new.

Providers refuse a request for its tokens, for its bytes, or for its images, whichever runs out
first; a long session full of screenshots meets the byte limit at a fraction of the window.

Local servers and proxies often serve a smaller window than the model's card promises; the error
that refuses a request is the only place that states the true one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, Protocol, TypeAlias, assert_never, cast

from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Recalled,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from holdfast.transcript import Part

    _Rare: TypeAlias = Recalled | Summary | Thinking | Media | Opaque

_WHOLE = 2_048
"""Characters up to which every one of a text is looked at."""
_SAMPLE = 1_024
"""Characters in all of the slices from which longer texts are estimated."""
_SLICES = 8
_COPIED = 65_536
"""Characters of a text that is copied to take slices of it, which is twice as fast."""


class Counter(Protocol):
    """Counts the tokens of a text."""

    @property
    def name(self) -> str:
        """Return what the report calls this way of counting."""
        ...

    def count(self, text: str) -> int:
        """Return the number of tokens; zero for no text."""
        ...


@dataclass(frozen=True, slots=True)
class _Coefficients:
    """Tokens per character of each class."""

    lower: float
    upper: float
    digit: float
    space: float
    newline: float
    punctuation: float
    two_byte: float
    three_byte: float
    four_byte: float
    double_space: float
    """Indentation: runs of spaces are one token, so pairs are given back."""
    blob: float
    """Letters and digits far from any separator: base64, hex, minified code."""


FAMILIES = {
    "o200k": _Coefficients(
        0.138, 0.962, 0.585, 0.321, 0.310, 0.599, 0.213, 0.713, 1.5, -0.372, 0.160
    ),
    "gemma": _Coefficients(
        0.157, 0.866, 1.081, 0.265, 0.641, 0.652, 0.210, 0.497, 1.5, -0.098, 0.160
    ),
    "llama3": _Coefficients(
        0.159, 1.098, 0.618, 0.249, 0.255, 0.513, 0.277, 0.694, 1.5, -0.213, 0.128
    ),
    "claude": _Coefficients(
        0.197, 1.042, 0.580, 0.101, 0.561, 0.579, 0.546, 0.958, 1.5, -0.007, 0.152
    ),
}
"""Coefficients by tokenizer family; `claude` was fitted on the last public Claude tokenizer."""

_LOWER = bytes(range(ord("a"), ord("z") + 1))
_UPPER = _LOWER.upper()
_DIGITS = b"0123456789"
_BREAKS = b"\n\r\t"
_PUNCTUATION = bytes(code for code in range(33, 127) if not chr(code).isalnum())
_CONTINUATION = bytes(range(0x80, 0xC0))
_LEAD_TWO = bytes(range(0xC0, 0xE0))
_LEAD_THREE = bytes(range(0xE0, 0xF0))


def family_of(model: str) -> str:
    """Return the coefficient family for a model name; unknown models count as `o200k`."""
    lowered = model.lower()
    if "claude" in lowered:
        return "claude"
    if "gemini" in lowered or "gemma" in lowered:
        return "gemma"
    if "llama" in lowered or "smollm" in lowered:
        return "llama3"
    return "o200k"


class Estimator:
    """Counts tokens approximately, about two orders of magnitude faster than a tokenizer."""

    def __init__(self, family: str = "o200k") -> None:
        """Choose the coefficients; `family_of` finds the family of a model."""
        self.name = f"estimate:{family}"
        self._per = FAMILIES[family]

    def count(self, text: str) -> int:
        """Return the estimate; a text that is not empty is at least one token."""
        size = len(text)
        if size <= _WHOLE:
            return round(self._tokens(text.encode("utf-8", "surrogatepass"))) or 1 if size else 0
        # Slices keep the cost of a huge text constant; evenly spread ones see every section.
        stride, width = size // _SLICES, _SAMPLE // _SLICES
        if size <= _COPIED and text.isascii():
            raw = b"".join(_slices(stride, width).unpack_from(text.encode()))
        else:
            starts = range(0, stride * _SLICES, stride)
            sample = "".join([text[start : start + width] for start in starts])
            raw = sample.encode("utf-8", "surrogatepass")
        return round(self._tokens(raw) * size / _SAMPLE)

    def _tokens(self, raw: bytes) -> float:
        size = len(raw)
        # One class after the other is taken out, the most frequent first, so that less and less
        # is scanned. The loop is written out: it runs for every message.
        rest = raw.translate(None, _LOWER)
        lower = size - (left := len(rest))
        rest = rest.translate(None, b" ")
        space = left - (left := len(rest))
        rest = rest.translate(None, _PUNCTUATION)
        punctuation = left - (left := len(rest))
        rest = rest.translate(None, _UPPER)
        upper = left - (left := len(rest))
        rest = rest.translate(None, _DIGITS)
        digit = left - (left := len(rest))
        per = self._per
        pairs = raw.count(b"  ") if space > 1 else 0
        tokens = per.lower * lower + per.space * space + per.punctuation * punctuation
        tokens += per.upper * upper + per.digit * digit + per.double_space * pairs
        breaks = 0
        if rest:
            rest = rest.translate(None, _BREAKS)
            breaks = left - len(rest)
            tokens += per.newline * breaks + (self._wide(rest) if rest else 0.0)
        blob = lower + upper + digit - 14 * (space + breaks + punctuation) - 40
        if blob > 0:
            tokens += per.blob * blob
        # No tokenizer needs more than a token a byte.
        return tokens if tokens < size else float(size)

    def _wide(self, rest: bytes) -> float:
        """Return the tokens of what is not ASCII, counted by the first byte of each character."""
        leads = rest.translate(None, _CONTINUATION)
        longer = leads.translate(None, _LEAD_TWO)
        longest = longer.translate(None, _LEAD_THREE)
        two, three = len(leads) - len(longer), len(longer) - len(longest)
        per = self._per
        return per.two_byte * two + per.three_byte * three + per.four_byte * len(longest)


@lru_cache(maxsize=1024)
def _slices(stride: int, width: int) -> Struct:
    """Return what takes so wide a slice at the beginning of each stride."""
    return Struct(f"{width}s{stride - width}x" * _SLICES)


IMAGE_TOKENS = 1_500
"""A flat price for an image in whole-transcript estimates."""
BOUNDARY_IMAGE_TOKENS = 1_600
"""The price in boundary decisions, a little conservative on purpose."""
MESSAGE_TOKENS = 4
"""Role and separators around each message."""
SUMMARY_TOKENS = 106
"""The prefix with its check and the end marker that the wire puts around a summary."""
_RECALLED_TOKENS = 32
"""The tags and the note that the wire puts around recalled memory."""

_SAID = (Text, Summary, Recalled)
_PIECE = 2_000
"""Characters of a text that an estimate looks at whole."""
_CALL_TOKENS = 8
_RESULT_TOKENS = 6
_SEALED_CHARACTERS_PER_TOKEN = 5
"""Encrypted reasoning is base64 of text: a third longer, at about four characters a token."""
_IMAGE = re.compile(
    r"data:image/[\w.+-]*;base64,[A-Za-z0-9+/=]*"
    r'|(?<=")(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR)[A-Za-z0-9+/=]{64,}(?=")'
)
"""An image inside an item that only its provider reads, such as a screenshot or a drawing."""
_FIELD_BYTES = 40
"""Keys, quotes and braces around one part in JSON."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a transcript asks of a provider, in the three currencies that run out."""

    tokens: int = 0
    bytes: int = 0
    images: int = 0

    def __add__(self, other: Load) -> Load:
        """Add two loads."""
        return Load(
            self.tokens + other.tokens, self.bytes + other.bytes, self.images + other.images
        )


class _Counted:
    """Tokens of objects by id; the objects are held, so that their ids stay taken.

    Two flat containers rather than a pair for each object: a collection of garbage in the middle
    of a pass looks at every pair that is alive.
    """

    __slots__ = ("held", "tokens")

    def __init__(self) -> None:
        self.tokens: dict[int, int] = {}
        self.held: list[object] = []

    def copy(self) -> _Counted:
        made = _Counted()
        # The tokens first: whatever they name is held by then.
        made.tokens, made.held = self.tokens.copy(), self.held.copy()
        return made

    def only(self, kept: Iterable[object]) -> _Counted:
        made = _Counted()
        made.held = [it for it in kept if id(it) in self.tokens]
        made.tokens = {id(it): self.tokens[id(it)] for it in made.held}
        return made


class Scale:
    """Weighs messages with a counter, remembering what it has weighed."""

    def __init__(
        self,
        counter: Counter | None = None,
        *,
        ratio: float = 1.0,
        image_tokens: int = IMAGE_TOKENS,
    ) -> None:
        """Use `counter` for words; `ratio` is what calibration learned from real usage."""
        self.counter: Counter = counter or Estimator()
        self.ratio = ratio
        self._image_tokens = image_tokens
        self._messages = _Counted()
        self._texts = _Counted()

    def weigh(self, message: Message) -> int:
        """Return the tokens of one message."""
        known = self._messages
        raw = known.tokens.get(id(message))
        if raw is None:
            raw = weight_of(message, self._count, self._image_tokens)
            # Held first: other threads may ask for a weight at any moment.
            known.held.append(message)
            known.tokens[id(message)] = raw
        return raw if self.ratio == 1.0 else round(raw * self.ratio)

    def weights(self, messages: Iterable[Message]) -> tuple[int, ...]:
        """Return the tokens of each of many messages."""
        many = [*messages]
        known = [*map(self._messages.tokens.get, map(id, many))]
        if self.ratio == 1.0 and None not in known:
            return tuple(cast("list[int]", known))
        return tuple(map(self.weigh, many))

    def total(self, messages: Iterable[Message]) -> int:
        """Return the tokens of many messages."""
        return sum(self.weights(messages))

    def text(self, text: str) -> int:
        """Return the tokens of bare words; those of a weighed message are not counted again."""
        raw = self._texts.tokens.get(id(text))
        if raw is None:
            raw = self.counter.count(text)
        return raw if self.ratio == 1.0 else round(raw * self.ratio)

    def summary(self, text: str) -> int:
        """Return the tokens of a summary's words, as they weigh in a message.

        What is written to fit is counted whole: an estimate from samples is off by a twentieth.
        """
        return round(_in_pieces(text, self.counter.count) * self.ratio)

    def at(self, ratio: float) -> Scale:
        """Return a scale for another ratio that knows what this one has weighed so far."""
        scale = Scale(self.counter, ratio=ratio, image_tokens=self._image_tokens)
        scale._messages, scale._texts = self._messages.copy(), self._texts.copy()
        return scale

    def keep_only(self, messages: Iterable[Message]) -> None:
        """Forget the weights of all other messages, so that folded ones can be freed."""
        # New ones, because other threads may go on weighing.
        self._messages = self._messages.only(messages)
        self._texts = _Counted()

    def _count(self, text: str) -> int:
        """Count the words of a part, which are wanted again when a summary is asked for."""
        if not text:
            return 0
        known = self._texts
        known.held.append(text)
        known.tokens[id(text)] = tokens = self.counter.count(text)
        return tokens


def weight_of(
    message: Message, count: Callable[[str], int], image_tokens: int = IMAGE_TOKENS
) -> int:
    """Return the tokens of one message without remembering them.

    Args:
        message: The message.
        count: Counts the tokens of a text.
        image_tokens: The price of an image.
    """
    tokens = MESSAGE_TOKENS
    # Ordered by frequency and without patterns: this runs for every part of a transcript.
    for part in message.parts:
        if type(part) is ToolResult:
            tokens += _RESULT_TOKENS
            for piece in part.content:
                is_text = type(piece) is Text
                tokens += count(piece.text) if is_text else _weight(piece, count, image_tokens)
        elif type(part) is ToolCall:
            tokens += _CALL_TOKENS + len(part.name) // 4 + count(part.arguments)
        elif type(part) is Text:
            tokens += count(part.text)
        else:
            tokens += _weight(part, count, image_tokens)
    return tokens


def _weight(part: _Rare, count: Callable[[str], int], image_tokens: int) -> int:
    match part:
        case Recalled(text):
            return _RECALLED_TOKENS + count(text)
        case Summary(text):
            return SUMMARY_TOKENS + _in_pieces(text, count)
        case Thinking(text, signature):
            return count(text) if text else _sealed(signature or "")
        case Media():
            return image_tokens
        case Opaque(value=value, readable=readable):
            text, images = _IMAGE.subn("", json.dumps(value, default=str))
            return count(readable) + _sealed(text) + images * image_tokens
        case _:
            assert_never(part)


def _in_pieces(text: str, count: Callable[[str], int]) -> int:
    return sum(count(text[at : at + _PIECE]) for at in range(0, len(text), _PIECE))


def load_of(messages: Iterable[Message], scale: Scale) -> Load:
    """Return tokens, approximate request bytes and images of the messages."""
    tokens = size = images = 0
    for message in messages:
        tokens += scale.weigh(message)
        size += _FIELD_BYTES
        for part in message.parts:
            part_size, part_images = _bulk(part)
            size += part_size
            images += part_images
    return Load(tokens, size, images)


def _sealed(text: str) -> int:
    return len(text) // _SEALED_CHARACTERS_PER_TOKEN


def _bulk(part: Part) -> tuple[int, int]:
    """Return the bytes of a part on the wire, and its images."""
    if isinstance(part, _SAID):
        return _FIELD_BYTES + _bytes(part.text), 0
    if isinstance(part, ToolResult):
        bulks = [_bulk(piece) for piece in part.content]
        size = sum(size for size, _ in bulks)
        return 2 * _FIELD_BYTES + size, sum(images for _, images in bulks)
    if isinstance(part, ToolCall):
        return 2 * _FIELD_BYTES + len(part.name) + _bytes(part.arguments), 0
    if isinstance(part, Thinking):
        return _FIELD_BYTES + _bytes(part.text) + len(part.signature or ""), 0
    if isinstance(part, Media):
        return _FIELD_BYTES + len(part.data) + len(part.url), int(part.kind == "image")
    text = json.dumps(part.value, default=str)
    return len(text), len(_IMAGE.findall(text))


def _bytes(text: str) -> int:
    # A str knows in constant time whether it is ASCII; only other texts must be encoded.
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


_WEIGHT_OF_NEWEST = 0.5
_LOWEST_RATIO, _HIGHEST_RATIO = 0.3, 4.0


@dataclass(frozen=True, slots=True)
class Budget:
    """The most a request may hold."""

    tokens: int
    bytes: int = 20_000_000
    """Request bodies are refused from about 20 MB on."""
    images: int = 100

    def exceeded(self, load: Load) -> tuple[str, ...]:
        """Return one sentence for each limit that the load is over."""
        pairs = (
            ("tokens", load.tokens, self.tokens),
            ("bytes", load.bytes, self.bytes),
            ("images", load.images, self.images),
        )
        return tuple(f"{used:,} of {limit:,} {name}" for name, used, limit in pairs if used > limit)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The ratio of real to estimated tokens, learned from a provider's reports.

    Local servers that report zero teach nothing: the estimate stays as it is.
    """

    ratio: float = 1.0
    reports: int = 0

    def observe(self, *, real: int, rough: int) -> Calibration:
        """Return what is known after one more report of real usage."""
        if real <= 0 or rough <= 0:
            return self
        seen = min(max(real / rough, _LOWEST_RATIO), _HIGHEST_RATIO)
        ratio = seen if not self.reports else self.ratio + _WEIGHT_OF_NEWEST * (seen - self.ratio)
        return Calibration(ratio, self.reports + 1)


_SMALLEST, _LARGEST = 256, 100_000_000
_STATEMENTS = (
    re.compile(r"n_ctx\D{0,8}(\d{3,9})"),
    re.compile(r"maximum (?:context|prompt) length (?:is|of)\D{0,8}(\d[\d,]{2,11})", re.IGNORECASE),
    re.compile(r"(\d[\d,]{2,11}) maximum context length", re.IGNORECASE),
    re.compile(r"tokens allowed \(?(\d[\d,]{2,11})\)?", re.IGNORECASE),
    re.compile(r"context limit: [\d,]+ \+ [\d,]+ > (\d[\d,]{2,11})", re.IGNORECASE),
    re.compile(r"context (?:window|length|size)[^\d\n]{0,40}(\d[\d,]{2,11})", re.IGNORECASE),
    re.compile(r">\s{0,4}(\d[\d,]{2,11})\s{0,4}(?:maximum|max\b)", re.IGNORECASE),
    re.compile(r"max_model_len\D{0,8}(\d{3,9})"),
)


def window_from_error(text: str) -> int | None:
    """Return the window that the error text states, or None when it states none."""
    for statement in _STATEMENTS:
        found = statement.search(text[:20_000])
        if found:
            tokens = int(found.group(1).replace(",", ""))
            if _SMALLEST <= tokens <= _LARGEST:
                return tokens
    return None
