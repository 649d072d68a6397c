"""What a session of Copilot CLI cost, which its log says when a run of the program ends.

A run counts anew, so the runs of a session add up. Their totals hold those of sub-agents, apart in
newer releases; where they are not, what sub-agents told of their own answers is taken off. A stream
tells the cost of each request instead, and so does the log of the newest releases, whose totals
are those of all runs; then they say nothing that was not told. The tokens that were sent are
counted with those that came from a cache.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN
from holdfast.formats.figures import count, usage_in
from holdfast.formats.loose import is_object, mapping
from holdfast.session import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Totals"]

_USAGE = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_DETAILS = ("input", "output", "cache_read", "cache_write")
_MAIN = "main"
"""What newer releases call the agent that the user speaks with."""


class Totals:
    """Adds up what the conversations of a log cost."""

    def __init__(self) -> None:
        """Know of no cost."""
        self._spent: dict[str, Usage] = {}
        self._is_live = False
        """Whether the log tells what each request cost."""
        self._elsewhere = 0
        """How much sub-agents wrote in this run, as their answers say."""

    def answer(self, strand: str, usage: Usage | None) -> None:
        """Take what an answer says of its own cost."""
        if usage is not None and strand != MAIN:
            self._elsewhere += usage.output_tokens

    def request(self, strand: str, event: Mapping[str, object]) -> Iterator[tuple[str, Usage]]:
        """Return what a conversation cost with one more request."""
        if (usage := usage_in(event, _USAGE)) is not None:
            self._is_live = True
            yield self._add(strand, _apart(usage))

    def run(
        self, event: Mapping[str, object], agents: Mapping[str, str]
    ) -> Iterator[tuple[str, Usage]]:
        """Return what conversations cost, now that a run is over.

        Args:
            event: What was written of it.
            agents: The strands of sub-agents by their ids.
        """
        elsewhere, self._elsewhere = self._elsewhere, 0
        apart = mapping(event.get("agentMetrics"))
        if self._is_live:
            return
        if apart:
            for agent, metrics in apart.items():
                strand = MAIN if agent == _MAIN else agents.get(agent, MAIN)
                usage = _of_models(mapping(metrics).get("modelMetrics"))
                if usage != Usage():
                    yield self._add(strand, usage)
            return
        usage = _of_models(event.get("modelMetrics"))
        if usage in (Usage(), Usage(usage.calls)):
            usage = _of_kinds(event.get("tokenDetails"), usage.calls)
        usage = replace(usage, output_tokens=max(0, usage.output_tokens - elsewhere))
        if usage != Usage():
            yield self._add(MAIN, usage)

    def _add(self, strand: str, usage: Usage) -> tuple[str, Usage]:
        self._spent[strand] = self._spent.get(strand, Usage()) + usage
        return strand, self._spent[strand]


def _of_models(metrics: object) -> Usage:
    whole = Usage()
    for metric in mapping(metrics).values():
        fields = mapping(metric)
        requests = fields.get("requests")
        calls = count(mapping(requests).get("count") if is_object(requests) else requests)
        usage = usage_in(mapping(fields.get("usage")), _USAGE) or Usage()
        whole += replace(_apart(usage), calls=calls)
    return whole


def _of_kinds(details: object, calls: int) -> Usage:
    kinds = mapping(details)
    counts = [count(mapping(kinds.get(kind)).get("tokenCount")) for kind in _DETAILS]
    return Usage(calls, *counts) if any(counts) else Usage(calls)


def _apart(usage: Usage) -> Usage:
    """Return a usage in which what was sent does not count what came from a cache."""
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return replace(usage, input_tokens=max(0, usage.input_tokens - cached))
