"""A provider's prompt cache, played out over the literal text of requests.

It shares nothing with the accountant but the rules: it reads the JSON of a request by itself and
keeps whole prefixes as text, where the accountant keeps digests of blocks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from holdfast.caching import Automatic, Marked, Support, Uncached
from holdfast.session import Usage

_FOREVER = 10**18
_SECONDS = {"5m": 300, "1h": 3_600}


@dataclass(frozen=True, slots=True)
class _Cut:
    """A place in a request where a block ends."""

    text: str
    """The whole request up to here."""
    tokens: int
    ttl: str
    """The marker that stands here; empty for none."""


@dataclass(slots=True)
class _Kept:
    lifetime: int
    used: int


class CacheSimulator:
    """Answers each request with the usage that a provider with these rules would report."""

    def __init__(self, rules: Support, weigh: Callable[[Mapping[str, object]], int]) -> None:
        """Begin with an empty cache; `weigh` returns the tokens of one block without its marker."""
        self._rules = rules
        self._weigh = weigh
        self._kept: dict[str, _Kept] = {}

    def answer(self, request: Mapping[str, Any], at: int, *, output_tokens: int = 0) -> Usage:
        """Return the usage of a request at a moment in milliseconds, and remember the request.

        Args:
            request: The JSON that is sent: `model`, `tools`, `system`, `messages`.
            at: When it is sent.
            output_tokens: What the answer weighs.
        """
        cuts = list(self._cuts(request))
        self._kept = {
            text: kept for text, kept in self._kept.items() if at - kept.used < kept.lifetime
        }
        whole = cuts[-1].tokens if cuts else 0
        match self._rules:
            case Marked() as rules:
                ends = {cut.text: number for number, cut in enumerate(cuts)}
                markers = [number for number, cut in enumerate(cuts) if cut.ttl]
                # Every kept text is held against the request, and not every place against what is
                # kept.
                matches = [
                    ends[text]
                    for text in self._kept
                    if text in ends
                    and any(0 <= marker - ends[text] < rules.lookback for marker in markers)
                ]
                found = 0
                if matches:
                    longest = cuts[max(matches)]
                    found = longest.tokens
                    self._kept[longest.text].used = at
                worth = [cuts[number] for number in markers if cuts[number].tokens >= rules.minimum]
                for cut in worth:
                    kept = self._kept.setdefault(cut.text, _Kept(_SECONDS[cut.ttl] * 1_000, at))
                    kept.used = at
                read, written = found, max([cut.tokens - found for cut in worth] + [0])
            case Automatic() as rules:
                tokens = max((cut.tokens for cut in cuts if cut.text in self._kept), default=0)
                for cut in cuts:
                    self._kept[cut.text] = _Kept(rules.lifetime or _FOREVER, at)
                steps = tokens - tokens % rules.step
                read, written = (steps if steps >= rules.minimum else 0), 0
            case Uncached():
                read, written = 0, 0
        return Usage(1, whole - read - written, output_tokens, read, written)

    def _cuts(self, request: Mapping[str, Any]) -> Iterator[_Cut]:
        text, tokens = f"to {request['model']}:", 0
        for role, block, marker in _flat(request):
            text += f"\n{role} {json.dumps(block, ensure_ascii=False)}"
            tokens += self._weigh(block)
            yield _Cut(text, tokens, str(marker.get("ttl", "5m")) if marker else "")


_Flat = tuple[str, dict[str, object], Mapping[str, object] | None]


def _flat(request: Mapping[str, Any]) -> Iterator[_Flat]:
    """Yield each block with whose it is and the marker behind it."""
    for tool in request.get("tools") or ():
        yield _bare("tool", tool)
    if request.get("system") is not None:
        yield from _spoken({"role": "system", "content": request["system"]})
    for message in request["messages"]:
        yield from _spoken(message)


def _spoken(message: Mapping[str, Any]) -> list[_Flat]:
    rest = dict(message)
    role, marker = str(rest.pop("role")), rest.pop("cache_control", None)
    if role == "tool":
        return [(role, rest, marker)]
    content, calls = rest.pop("content", None), rest.pop("tool_calls", None)
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] * bool(content)
    blocks = [_bare(role, part) for part in (*(content or ()), *(calls or ()))]
    if rest or not blocks:
        blocks.append((role, rest, None))
    last_role, last, own = blocks[-1]
    return [*blocks[:-1], (last_role, last, own or marker)]


def _bare(role: str, part: Mapping[str, Any]) -> _Flat:
    block = dict(part)
    marker = block.pop("cache_control", None)
    return role, block, cast("Mapping[str, object] | None", marker)
