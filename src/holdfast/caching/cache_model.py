"""How a provider's cache behaves, what it holds of earlier requests, and what that is worth.

The figures are what is written about the providers, not what was measured at them. Where a rule
depends on the model, a new model counts as the family's usual one until it is listed here.

A compaction is a billing event. The summarizer reads and writes; then the prefix behind the system
prompt is new, and is written to the cache at many times the price of reading it. After that each
request is shorter by what was folded, at the low price of cached tokens. So the price depends on
whether the cache is warm: where it has run out, the prefix is written anew in any case.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, insort
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias, assert_never
from urllib.parse import urlsplit

from holdfast.tokens import Calibration

if TYPE_CHECKING:
    from holdfast.caching.blocks import RequestBlocks
    from holdfast.cost import Price, Ttl

MINUTES = 60_000
"""Milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """Prefixes are kept where the request marks them, as Anthropic does."""

    minimum: int = 1_024
    """A shorter prefix is not kept, marked or not, and nobody says so."""
    lookback: int = 20
    """At how many blocks, counted back from a marker and with its own, an entry is looked for."""
    native: bool = True
    """Whether the receiver reads a marker on a message too: Anthropic's own layout."""
    through: str = ""
    """The host that hands the markers on, where it is not Anthropic's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Automatic:
    """The provider keeps every prompt by itself, in steps of some tokens."""

    minimum: int = 1_024
    step: int = 128
    lifetime: int | None = 5 * MINUTES
    """Milliseconds after the last use; None where it is kept as long as the server runs."""


@dataclass(frozen=True, slots=True)
class Uncached:
    """Nothing is kept, as far as anybody knows."""

    reason: str


Support: TypeAlias = Marked | Automatic | Uncached

_MINIMUMS = (
    (r"opus-4[-.][567]|haiku-4[-.]5|mythos-preview", 4_096),
    (r"3[-.]5-haiku|3-haiku|haiku-3", 2_048),
    (r"(?:opus|fable|mythos)-5", 512),
)
"""The shortest prefix that Claude models keep, where it is not 1,024 tokens."""
_HOSTS: tuple[tuple[str, Automatic], ...] = (
    ("openai.com", Automatic()),
    ("azure.com", Automatic()),
    ("deepseek.com", Automatic(minimum=64, step=64, lifetime=60 * MINUTES)),
    ("x.ai", Automatic(minimum=1, step=1)),
    ("googleapis.com", Automatic(minimum=1_024, step=1)),
)
_LOCAL = Automatic(minimum=1, step=1, lifetime=None)
_IN_PROCESS = "local"
"""The endpoint of a model that this process serves: its port changes from run to run."""
_FORWARDING = ("openrouter.ai", "vercel.sh", "portkey.ai", "requesty.ai")
"""Hosts that hand markers in OpenAI's layout on to Claude."""


@lru_cache(maxsize=64)
def support_of(model: str, *, dialect: str, endpoint: str = "") -> Support:
    """Return how prompts to a model are cached.

    Args:
        model: Its name as requests have it.
        dialect: How its requests are written.
        endpoint: Where it is reached; empty for the provider's own address, `local` for a model
            inside this process.
    """
    if endpoint == _IN_PROCESS:
        return _LOCAL
    host = (urlsplit(endpoint).hostname or "").lower() if endpoint else ""
    is_claude = "claude" in model.lower()
    if dialect == "anthropic":
        if is_claude or not host or _is_at(host, "anthropic.com"):
            return Marked(minimum=_minimum(model))
        return Uncached(f"{host} speaks Anthropic's dialect, but {model} is not known to cache")
    if is_claude:
        # Nobody runs Claude at home: what answers there is a gateway such as LiteLLM.
        if _is_here(host) or any(_is_at(host, each) for each in _FORWARDING):
            return Marked(minimum=_minimum(model), native=False, through=host)
        return Uncached(f"{host or 'this address'} is not known to hand markers on to Claude")
    if _is_here(host):
        return _LOCAL
    if not host:
        return Automatic(step=1) if dialect == "gemini" else Automatic()
    for known, automatic in _HOSTS:
        if _is_at(host, known):
            return automatic
    return Uncached(f"{host} is not known to cache prompts")


def caching_line(support: Support, *, ttl: Ttl = "5m") -> str:
    """Return one sentence that says at the start how prompts are cached."""
    match support:
        case Marked(minimum=minimum, through=through):
            kept = "an hour" if ttl == "1h" else "5 minutes"
            way = f" through {through}" if through else ""
            return (
                f"Prompt caching is on{way}: four markers, kept {kept} after each use, "
                f"from {minimum:,} tokens."
            )
        case Automatic(minimum=minimum) if minimum > 1:
            return f"Prompt caching is automatic at this provider, from {minimum:,} tokens."
        case Automatic():
            return "Prompt caching is automatic at this server."
        case Uncached(reason=reason):
            return f"Prompt caching is off: {reason}."
        case _:
            assert_never(support)


def _minimum(model: str) -> int:
    name = model.lower()
    return next((tokens for pattern, tokens in _MINIMUMS if re.search(pattern, name)), 1_024)


def _is_here(host: str) -> bool:
    return host in ("localhost", "::1", "0.0.0.0") or host.startswith("127.")


def _is_at(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


_MILLION = 1_000_000
_GRAIN = 1e-9
"""What floating point may add to a quotient that is a whole number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrink:
    """A compaction in tokens."""

    before: int
    """What a request weighs without it, tools and system prompt included."""
    after: int
    """What it weighs with it."""
    kept: int = 0
    """The tokens at the start that stay as they are, and so stay cached."""
    brief: int = 0
    """Tokens that the summarizer reads; 0 where no model is asked."""
    summary: int = 0
    """What it writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The prices that meet in a compaction: some depend on how long a request is."""

    before: Price
    after: Price
    summarizer: Price
    ttl: Ttl = "5m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payoff:
    """A compaction in US dollars."""

    summarizing: float
    """What the summarizer takes."""
    rewriting: float
    """What the next request costs more than if the shorter prefix were cached already."""
    saving: float
    """What each request after the next one costs less; below zero where it costs more."""
    ahead: float
    """What has been paid more after the next request, the summarizer included."""

    @property
    def cost(self) -> float:
        """Return the price of the compaction: summarizer and cache."""
        return self.summarizing + self.rewriting

    @property
    def break_even(self) -> int | None:
        """Return with which request after the compaction it has paid for itself; None for never."""
        if self.ahead <= 0:
            return 1
        if self.saving <= 0:
            return None
        return 1 + math.ceil(self.ahead / self.saving - _GRAIN)

    def break_even_turn(self, requests_per_turn: float) -> int | None:
        """Return in which turn after the compaction that is; None for never."""
        request = self.break_even
        if request is None:
            return None
        return math.ceil(request / max(requests_per_turn, 1.0) - _GRAIN)

    def __str__(self) -> str:
        """Return it as a sentence."""
        if not self.cost and not self.saving:
            return "A compaction costs nothing here."
        price = f"A compaction costs about ${self.cost:.4f}"
        if self.break_even is None:
            return f"{price} and never pays for itself."
        requests = "the next request" if self.break_even == 1 else f"{self.break_even} requests"
        return f"{price} and has paid for itself after {requests}."


def payoff(shrink: Shrink, rates: Rates, *, warm: bool = True) -> Payoff:
    """Return what a compaction costs and saves.

    Args:
        shrink: The compaction in tokens.
        rates: The prices of the requests before and after it, and of the summarizer. At a
            provider without a cache, those of `Price.without_cache`.
        warm: Whether the prefix is cached at this moment.
    """
    short, long = rates.after, rates.before
    written, again = short.cache_write(rates.ttl), long.cache_write(rates.ttl)
    kept = min(shrink.kept, shrink.after) if warm else 0
    summarizing = shrink.brief * rates.summarizer.input + shrink.summary * rates.summarizer.output
    with_it = kept * short.cache_read + (shrink.after - kept) * written
    without = shrink.before * (long.cache_read if warm else again)
    # Without warmth the prefix is written in any case, and rewriting it is no cost of this.
    rewriting = (shrink.after - kept) * (written - short.cache_read) if warm else 0.0
    return Payoff(
        summarizing=summarizing / _MILLION,
        rewriting=rewriting / _MILLION,
        saving=(shrink.before * long.cache_read - shrink.after * short.cache_read) / _MILLION,
        ahead=(summarizing + with_it - without) / _MILLION,
    )


_MEASURED = 256
"""How many prefixes are remembered with the weight that the provider reported."""
LIFETIMES: dict[Ttl, int] = {"5m": 5 * MINUTES, "1h": 60 * MINUTES}
"""Milliseconds that an entry is kept after its last use."""
_ROOM = 64
"""How many entries there may be before those that have run out are looked for."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one request, as far as anybody knows now."""

    chain: RequestBlocks
    reports: Reports

    @property
    def whole(self) -> int:
        """Return the tokens of the request."""
        return self.of(self.chain.size)

    def of(self, size: int) -> int:
        """Return the tokens of so many blocks from the start.

        What follows a prefix that was reported is estimated by itself, so an error does not grow
        with the conversation.
        """
        if not size:
            return 0
        totals = self.chain.block_prefix.totals
        known, tokens = self.reports.longest(self.chain, size)
        rough = totals[known - 1] if known else 0
        return tokens + round((totals[size - 1] - rough) * self.reports.ratio)


class Reports:
    """What the provider reported so far: prefixes with their weight, and a ratio for the rest."""

    def __init__(self) -> None:
        """Begin without a report."""
        self._prefixes: dict[str, tuple[int, int]] = {}
        self._sizes: list[tuple[int, str]] = []
        self._calibration = Calibration()

    @property
    def ratio(self) -> float:
        """Return by which estimates are scaled."""
        return self._calibration.ratio

    def longest(self, chain: RequestBlocks, size: int) -> tuple[int, int]:
        """Return the longest prefix of so many blocks that was reported, in blocks and tokens."""
        links = chain.block_prefix.links
        # From the longest on: in a talk that goes on it is the last one.
        for index in range(bisect_left(self._sizes, (size + 1, "")) - 1, -1, -1):
            known, link = self._sizes[index]
            if links[known - 1] == link:
                return self._prefixes[link]
        return 0, 0

    def take(self, chain: RequestBlocks, tokens: int) -> None:
        """Take in what the provider counted for a request; a count of nothing teaches nothing."""
        if not tokens or not chain.size:
            return
        block_prefix, last = chain.block_prefix, chain.size - 1
        self._calibration = self._calibration.observe(real=tokens, rough=block_prefix.totals[last])
        self._forget(block_prefix.links[last])
        self._prefixes[block_prefix.links[last]] = (chain.size, tokens)
        insort(self._sizes, (chain.size, block_prefix.links[last]))
        if len(self._prefixes) > _MEASURED:
            self._forget(next(iter(self._prefixes)))

    def _forget(self, link: str) -> None:
        known = self._prefixes.pop(link, None)
        if known is not None:
            del self._sizes[bisect_left(self._sizes, (known[0], link))]


@dataclass(frozen=True, slots=True)
class CacheLookup:
    """How far a request is read from the cache, and how far it is written to it."""

    read: int = 0
    """In blocks from the start."""
    written: int = 0
    """In blocks from the start; not more than is read where nothing is written."""


@dataclass(frozen=True, slots=True)
class _Entry:
    lifetime: float
    until: float


@dataclass(frozen=True, slots=True)
class _Whole:
    """A request of which every prefix is kept."""

    chain: RequestBlocks
    until: float


class CacheModel:
    """What a provider's cache holds, each with the moment until which it is kept.

    At markers, entries by link: one stands for the whole prefix up to its link, and using it keeps
    it for another lifetime. Where every prefix is kept, requests: the last one covers those that
    it begins with.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._entries: dict[str, _Entry] = {}
        self._wholes: tuple[_Whole, ...] = ()
        self._room = _ROOM

    def find(self, weights: Weights, support: Support, at: int) -> CacheLookup:
        """Return what a request would find at this moment; nothing changes.

        Args:
            weights: The request, weighed.
            support: The provider's rules.
            at: The moment, in milliseconds.
        """
        chain = weights.chain
        match support:
            case Marked(minimum=minimum):
                links = chain.block_prefix.links
                # Where entries are looked for, the longest prefix first.
                places = (
                    place
                    for marked in reversed(chain.marked)
                    for place in range(marked, max(marked - support.lookback, -1), -1)
                )
                known = ((place, self._entries.get(links[place])) for place in places)
                read = next((place for place, entry in known if entry and at < entry.until), -1)
                kept = [index for index in chain.marked if weights.of(index + 1) >= minimum]
                return CacheLookup(read + 1, max(kept, default=-1) + 1)
            case Automatic():
                shared = (chain.shared(each.chain) for each in self._wholes if at < each.until)
                return CacheLookup(max(shared, default=0))
            case Uncached():
                return CacheLookup()
            case _:
                assert_never(support)

    def keep(self, weights: Weights, support: Support, at: int) -> None:
        """Take note of a request that was sent at this moment."""
        found, chain = self.find(weights, support, at), weights.chain
        match support:
            case Marked(minimum=minimum):
                links = chain.block_prefix.links
                if found.read:
                    self._use(links[found.read - 1], at)
                for index, ttl in chain.markers:
                    if weights.of(index + 1) >= minimum:
                        self._use(links[index], at, LIFETIMES[ttl])
                # Drop what has run out, now and then: to look at each takes longer than a call.
                if len(self._entries) > self._room:
                    kept = {link: each for link, each in self._entries.items() if at < each.until}
                    self._entries, self._room = kept, max(2 * len(kept), _ROOM)
            case Automatic(lifetime=lifetime):
                until = math.inf if lifetime is None else at + lifetime
                # What does not begin with this request is kept beside it.
                others = (
                    each
                    for each in self._wholes
                    if at < each.until and chain.shared(each.chain) < each.chain.size
                )
                self._wholes = (_Whole(chain, until), *others)
            case Uncached():
                pass
            case _:
                assert_never(support)

    def _use(self, link: str, at: int, lifetime: float = 0) -> None:
        """Keep an entry for another lifetime: the one that it was written with."""
        entry = self._entries.get(link)
        lasting = entry.lifetime if entry and at < entry.until else lifetime
        self._entries[link] = _Entry(lasting, at + lasting)
