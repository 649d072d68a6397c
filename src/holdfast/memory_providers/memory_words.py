"""What the memory providers have in common: words taken in, and failures told in one sentence."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from holdfast.errors import MemoryUnavailable
from holdfast.memory import own_words
from holdfast.redaction import redact
from holdfast.transcript import Role
from holdfast.wire.json_text import encodable
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from holdfast.transcript import Transcript

    Mask: TypeAlias = Callable[[str], str]

_LONGEST = 300
_DENIED = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Service:
    """A service by its name, and the environment variable that holds its credential."""

    name: str
    variable: str
    key: str | None = None
    """The credential itself, so that it never stands in a message."""

    def rejected(self, status: int, body: object, after: float | None = None) -> MemoryUnavailable:
        """Return the error for an answer with this HTTP status."""
        words = self._safe(_sentence(body))
        http = f"HTTP {status}: {words}" if words else f"HTTP {status}"
        if status in _DENIED:
            return MemoryUnavailable(
                f"{self.name} refused the credential; check {self.variable} ({http})"
            )
        if status == 429:
            wish = f" in {after:g} s" if after is not None else " later"
            return MemoryUnavailable(
                f"{self.name} has had too many requests; it can be asked again{wish} ({http})",
                retry_after=after,
            )
        return MemoryUnavailable(f"{self.name} did not do it ({http})", retry_after=after)

    def silent(self, seconds: float) -> MemoryUnavailable:
        """Return the error for an answer that did not come in time."""
        return MemoryUnavailable(f"{self.name} gave no answer within {seconds:g} s")

    def unreachable(self, error: Exception | str) -> MemoryUnavailable:
        """Return the error for a connection that failed."""
        return MemoryUnavailable(f"{self.name} cannot be reached: {self._safe(str(error))}")

    def misread(self, error: Exception | str) -> MemoryUnavailable:
        """Return the error for an answer that is not what the service answers."""
        return MemoryUnavailable(
            f"{self.name} answered what cannot be read: {self._safe(str(error))}"
        )

    def _safe(self, text: str) -> str:
        if self.key:
            text = text.replace(self.key, "***")
        words = " ".join(redact(text).split())
        return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"


def _sentence(body: object) -> str:
    """Return what an error body says: its `detail` or `message`, else all of it."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return str(body)
    if isinstance(body, dict):
        fields = cast("Mapping[str, object]", body)
        for name in ("detail", "message", "error"):
            if fields.get(name):
                return _sentence(fields[name])
        return json.dumps(fields)
    return "" if body is None else str(body)


_LONGEST_WORDS = 20_000
"""Characters of one message that are taken in: a pasted log is not worth remembering whole."""
_LONGEST_QUERY = 2_000
_LONGEST_LINE = 500
_MOST_RESULTS = 25
_MOST_KNOWN = 10_000

Speaker: TypeAlias = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Utterance:
    """Words of one speaker, without secrets."""

    speaker: Speaker
    text: str

    @property
    def digest(self) -> bytes:
        """Return what equal words have in common."""
        return hashlib.sha256(f"{self.speaker}\0{self.text}".encode(errors="replace")).digest()


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """Something that a provider remembers."""

    text: str
    day: str = ""
    """When it was said, such as `2026-11-03`; empty where nobody knows."""
    score: float | None = None


def exchange(user: str, assistant: str, mask: Mask) -> tuple[Utterance, ...]:
    """Return both sides of an exchange, without those that said nothing."""
    return _present([("user", user), ("assistant", assistant)], mask)


def folded(messages: Transcript, mask: Mask) -> tuple[Utterance, ...]:
    """Return what users and models said in messages that are about to be folded.

    What tools printed, what was recalled and what holdfast wrote itself is not worth keeping:
    it is there again when it is asked for.
    """
    sides: dict[Role, Speaker] = {Role.USER: "user", Role.ASSISTANT: "assistant"}
    sayings: Iterable[tuple[Speaker, str]] = (
        (sides[each.role], own_words(each.text) if each.role is Role.USER else each.text)
        for each in messages
        if each.role in sides and each.synthetic is None
    )
    return _present(sayings, mask)


def shortened(query: str, mask: Mask) -> str:
    """Return a query without secrets, and no longer than a search can use."""
    return mask(encodable(query).strip())[:_LONGEST_QUERY]


def day_of(moment: object) -> str:
    """Return the day of a moment that a service wrote as text; empty where it is none."""
    if not isinstance(moment, str):
        return ""
    try:
        return datetime.fromisoformat(moment.strip()).date().isoformat()
    except ValueError:
        return ""


def as_lines(found: Iterable[RecalledMemory]) -> str:
    """Return memories as a list, one line each, with their days; equal ones once."""
    lines = (
        f"- {each.day}: {_line(each.text)}" if each.day else f"- {_line(each.text)}"
        for each in found
        if each.text.strip()
    )
    return "\n".join(dict.fromkeys(lines))


def as_answer(found: Iterable[RecalledMemory]) -> str:
    """Return memories as a tool's answer."""
    results: list[dict[str, object]] = []
    for each in found:
        if each.text.strip():
            fields: dict[str, object] = {"text": each.text}
            if each.day:
                fields["day"] = each.day
            if each.score is not None:
                fields["score"] = round(each.score, 3)
            results.append(fields)
    return json.dumps({"results": results}, ensure_ascii=False)


def search_tool(name: str, description: str) -> ToolSpec:
    """Return a tool that takes a query and how many results it may have."""
    query = {"type": "string", "description": "What to look for, in plain words."}
    limit = {
        "type": "integer",
        "minimum": 1,
        "maximum": _MOST_RESULTS,
        "description": "How many results at most.",
    }
    properties = {"query": query, "limit": limit}
    schema = {"type": "object", "properties": properties, "required": ["query"]}
    return ToolSpec(name, description, schema)


def asked(arguments: Mapping[str, object], otherwise: int, mask: Mask) -> tuple[str, int]:
    """Return the query and the limit of a call; models write odd limits, and no harm is done.

    Raises:
        ValueError: when there is no query.
    """
    query = arguments.get("query")
    if not isinstance(query, str) or not query.strip():
        raise ValueError("query must be a text that is not empty")
    limit = arguments.get("limit", otherwise)
    if isinstance(limit, bool) or not isinstance(limit, int | float) or limit != limit:
        limit = otherwise
    return shortened(query, mask), int(min(max(limit, 1), _MOST_RESULTS))


class Unsent:
    """Knows which words a service has, so that a fold does not bring them again."""

    def __init__(self) -> None:
        self._known: dict[bytes, None] = {}

    def among(self, words: Iterable[Utterance]) -> tuple[Utterance, ...]:
        """Return the words that the service does not have yet."""
        return tuple(each for each in words if each.digest not in self._known)

    def sent(self, words: Sequence[Utterance]) -> None:
        """Take note that the service has accepted these; the oldest are forgotten in the end."""
        self._known.update((each.digest, None) for each in words)
        for digest in list(self._known)[: max(len(self._known) - _MOST_KNOWN, 0)]:
            self._known.pop(digest, None)


def _present(sides: Iterable[tuple[Speaker, str]], mask: Mask) -> tuple[Utterance, ...]:
    found: list[Utterance] = []
    for speaker, text in sides:
        if not text.strip():
            continue
        # Masked before it is cut: half a secret is no longer known for one.
        words = mask(encodable(text)).strip()
        if len(words) > _LONGEST_WORDS:
            half = _LONGEST_WORDS // 2
            left_out = f"[{len(words) - 2 * half:,} characters left out]"
            words = f"{words[:half]}\n{left_out}\n{words[-half:]}"
        found.append(Utterance(speaker, words))
    return tuple(found)


def _line(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST_LINE else f"{words[:_LONGEST_LINE].rstrip()}…"
