"""One path from settings to parts, for every surface: what is configured works everywhere.

What a caller sets wins over the settings, and the settings win over the defaults.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypedDict

from holdfast.compaction import Policy
from holdfast.config import load
from holdfast.errors import ConfigError
from holdfast.redaction import Redactor
from holdfast.system.system_clock import SystemClock
from holdfast.tokens import Estimator, family_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.config import Settings
    from holdfast.engines import ChatEngine, Engine, EngineDeps, SummarizerFallback
    from holdfast.summary import Ask
    from holdfast.tokens import Counter
    from holdfast.wiring.summarizers import Writer

__all__ = [
    "WINDOW",
    "Assembly",
    "Configured",
    "EngineOptions",
    "Knobs",
    "counter_of",
    "engine_of",
    "policy_of",
]

WINDOW = 200_000
"""Tokens that a model is taken to accept where nobody says otherwise."""


class Configured(Enum):
    """Stands for what the settings say, where None has a meaning of its own."""

    YES = "configured"


class Knobs(TypedDict, total=False):
    """What a caller may set beyond the window; the settings say what is not set."""

    threshold: float
    target_ratio: float
    protect_first_n: int
    protect_last_n: int
    reserve: int
    max_bytes: int
    max_images: int
    abort_on_summary_failure: bool
    fit: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """What a caller of an engine sets over the settings."""

    model: str = ""
    """The conversation's model, whose tokenizer family the estimate follows."""
    context_length: int | None = None
    summarizer: Writer | Configured = Configured.YES
    """Who writes summaries; None for the record that needs no model."""
    counter: Counter | Literal["estimate", "exact"] = "estimate"
    redactor: Redactor | None = None
    on_ask: Callable[[Ask], None] | None = None
    knobs: Knobs = field(default_factory=Knobs)


class Assembly:
    """Makes the parts that settings describe; several may live in one process.

    What does not depend on a conversation is made once and shared by all of them.
    """

    def __init__(self, settings: Settings | None = None) -> None:
        """Take the settings; without any, those of the file and the environment are read."""
        self.settings = load(os.environ).settings if settings is None else settings
        self.clock = SystemClock()

    @cached_property
    def redactor(self) -> Redactor:
        """Return what masks secrets, the configured patterns included."""
        return Redactor(self.settings.redaction.extra_patterns)

    def window(self, model: str, context_length: int | None = None) -> int:
        """Return what a model takes: as the caller says, as configured, as known, or assumed."""
        named = model or self.settings.model.name or ""
        return context_length or self.settings.model.context_length or _known(named) or WINDOW

    def counter(
        self, name: Counter | Literal["estimate", "exact"] = "estimate", model: str = ""
    ) -> Counter:
        """Return what counts tokens: by estimate, exactly, or as the caller does."""
        named = model or self.settings.model.name or ""
        if name == "exact":
            from holdfast.providers.exact_counter import ExactCounter

            return ExactCounter(named)
        if name == "estimate":
            return Estimator(family_of(named))
        if isinstance(name, str):
            raise ConfigError(f"counter is {name!r}; allowed: 'estimate', 'exact' or a Counter")
        return name

    def policy(self, options: EngineOptions = EngineOptions()) -> Policy:
        """Return the knobs of compaction."""
        compression = self.settings.compression
        knobs: dict[str, object] = {
            "threshold": compression.threshold,
            "target_ratio": compression.target_ratio,
            "protect_first_n": compression.protect_first_n,
            "protect_last_n": compression.protect_last_n,
            "abort_on_summary_failure": compression.abort_on_summary_failure,
            "hygiene": compression.hygiene_threshold,
            **options.knobs,
        }
        window = self.window(options.model, options.context_length)
        return Policy(context_length=window, **knobs)  # type: ignore[arg-type] - checked by names

    def engine_deps(self, options: EngineOptions = EngineOptions()) -> EngineDeps:
        """Return what an engine is made from."""
        from holdfast.config.summary_key import installation_sign
        from holdfast.engines import EngineDeps

        return EngineDeps(
            clock=self.clock,
            fallback=self._fallback(options.summarizer),
            counter=self.counter(options.counter, options.model),
            redactor=options.redactor or self.redactor,
            on_ask=options.on_ask,
            sign=installation_sign,
        )

    def engine(self, options: EngineOptions = EngineOptions()) -> Engine:
        """Return the engine that compacts with a record."""
        from holdfast.engines import Engine

        return Engine(self.policy(options), self.engine_deps(options))

    def truncating(self, options: EngineOptions = EngineOptions()) -> ChatEngine:
        """Return the engine that truncates; it asks nobody."""
        from holdfast.engines.contract_adapter import truncating_engine

        silent = replace(options, summarizer=None)
        return truncating_engine(self.policy(silent), self.engine_deps(silent))

    def _fallback(self, writer: Writer | Configured) -> SummarizerFallback | None:
        """Return who writes: the summary model, then the conversation's own when that one fails."""
        from holdfast.engines import SummarizerFallback
        from holdfast.wiring.summarizers import summarizer_of

        summary, main = self.settings.auxiliary.compression, self.settings.model
        if not isinstance(writer, Configured):
            found = summarizer_of(writer)
            return (
                SummarizerFallback(found, clock=self.clock, timeout=summary.timeout)
                if found
                else None
            )
        if summary.model is None:
            return None
        first = summarizer_of(
            summary.model,
            provider=summary.provider,
            base_url=summary.base_url,
            timeout=summary.timeout,
            window=summary.context_length,
        )
        if main.name is None or main.name == summary.model:
            return SummarizerFallback(first, clock=self.clock, timeout=summary.timeout)
        second = summarizer_of(
            main.name,
            provider=main.provider,
            base_url=main.base_url,
            timeout=summary.timeout,
            window=main.context_length,
        )
        return SummarizerFallback(second, first, clock=self.clock, timeout=summary.timeout)


def policy_of(settings: Settings, *, fit: int | None = None) -> Policy:
    """Return the knobs of compaction that the settings make."""
    return Assembly(settings).policy(EngineOptions(knobs=Knobs(fit=fit)))


def counter_of(settings: Settings) -> Counter:
    """Return the estimator for the conversation's model."""
    return Assembly(settings).counter()


def engine_of(settings: Settings, *, fit: int | None = None, ask: bool = True) -> Engine:
    """Return an engine with the configured summary model, or with none.

    Args:
        settings: What is configured.
        fit: What the result may weigh, in tokens.
        ask: Whether a model may be asked at all.
    """
    options = EngineOptions(knobs=Knobs(fit=fit), summarizer=Configured.YES if ask else None)
    return Assembly(settings).engine(options)


def _known(model: str) -> int | None:
    if not model:
        return None
    from holdfast.wiring.models import known_window

    return known_window(model)
