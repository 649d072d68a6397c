"""One path from settings to parts, for every surface: what is configured works everywhere.

What a caller sets wins over the settings, and the settings win over the defaults.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, TypedDict, cast

from holdfast.compaction import Policy
from holdfast.config import load
from holdfast.errors import ConfigError
from holdfast.redaction import Redactor
from holdfast.system import SystemClock
from holdfast.tokens import Estimator, family_of

if TYPE_CHECKING:
    from holdfast.config import Settings
    from holdfast.engines import ChatEngine, Engine, EngineDeps, SummarizerFallback
    from holdfast.ports import Summarizer
    from holdfast.summary import Ask
    from holdfast.tokens import Counter
    from holdfast.wiring.models import Writer

WINDOW = 200_000
"""Tokens that a model is taken to accept where nobody says otherwise."""


def check_values(options: Mapping[str, object]) -> None:
    """Refuse a value of an option that would fail later and elsewhere.

    Raises:
        ConfigError: for the first of them; it says what is allowed.
    """
    for name, (is_right, allowed) in _ALLOWED.items():
        value = options.get(name)
        if value is not None and not is_right(value):
            raise ConfigError(f"{name} is {value!r:.80}; allowed: {allowed}")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _are_counts(value: object) -> bool:
    return isinstance(value, Mapping) and all(
        map(_is_count, cast("Mapping[object, object]", value).values())
    )


_TOKENS = (_is_count, "a whole number of tokens above 0")
_ALLOWED: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "context_length": _TOKENS,
    "context_window": _TOKENS,
    "title": (lambda value: isinstance(value, str), "a text"),
    "model": (lambda value: isinstance(value, str), "a model's name"),
    "focus": (lambda value: isinstance(value, str), "words that name a topic"),
    "tool_limits": (_are_counts, "tools' names, each with a whole number of tokens above 0"),
    "redactor": (
        lambda value: callable(getattr(value, "redact", None)),
        "a Redactor, such as Redactor(['acme-[0-9]{8}'])",
    ),
    "settings": (
        lambda value: hasattr(value, "compression"),
        "what holdfast.config.load returns; single values are options of their own",
    ),
}


def check_key(key: object) -> None:
    """Refuse what is no key: whoever is called nothing would share one conversation with others.

    Raises:
        ConfigError: when it is no text, or an empty one.
    """
    if isinstance(key, str) and key.strip():
        return
    problem = "empty" if isinstance(key, str) else f"{key!r:.80}"
    raise ConfigError(
        f"key is {problem}; it is the text by which you call the conversation, such as 'user-42'"
    )


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
    overhead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """What a caller of an engine sets over the settings."""

    model: str = ""
    """The conversation's model, whose tokenizer family the estimate follows."""
    context_length: int | None = None
    summarizer: Writer | Configured = Configured.YES
    """Who writes summaries; None for the record that needs no model."""
    client: object = None
    """What the conversation's model is asked with, where that writes its own summaries."""
    has_server: bool = False
    """Whether a model at a server of the settings may write them without being chosen for it."""
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

    def redactor_with(self, given: Redactor | None) -> Redactor:
        """Return a caller's redactor with the configured patterns beside its own."""
        if given is None:
            return self.redactor
        own = given.extra_patterns
        more = [each for each in self.redactor.extra_patterns if each not in own]
        return replace(given, extra_patterns=(*own, *more)) if more else given

    def stated_window(self, model: str, context_length: int | None = None) -> int | None:
        """Return what a model takes as the caller says, or as configured for that very model."""
        main = self.settings.model
        is_meant = not model or main.name in (None, model)
        return context_length or (main.context_length if is_meant else None)

    def window(
        self,
        model: str,
        context_length: int | None = None,
        fit: int | None = None,
        learned: int | None = None,
    ) -> int:
        """Return what a model takes: as stated, as known by its name, or assumed.

        It is never more than what an error taught.

        That it is assumed of a model that has a name is said in the log, once for each, unless
        what is made has to fit into less anyway.
        """
        if stated := self.stated_window(model, context_length):
            return min(stated, learned or stated)
        from holdfast.wiring.models import known_window, say_assumed

        named = model or self.settings.model.name or ""
        if known := known_window(named) or learned:
            return min(known, learned or known)
        if named and (fit is None or fit > WINDOW):
            say_assumed(named, WINDOW)
        return WINDOW

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
        window = self.window(options.model, options.context_length, options.knobs.get("fit"))
        return Policy(context_length=window, **knobs)  # type: ignore[arg-type] - checked by names

    def engine_deps(self, options: EngineOptions = EngineOptions()) -> EngineDeps:
        """Return what an engine is made from."""
        from holdfast.config.summary_key import installation_sign
        from holdfast.engines import EngineDeps

        return EngineDeps(
            clock=self.clock,
            fallback=self._fallback(options),
            counter=self.counter(options.counter, options.model),
            redactor=self.redactor_with(options.redactor),
            on_ask=options.on_ask,
            sign=installation_sign,
        )

    def engine(self, options: EngineOptions = EngineOptions()) -> Engine:
        """Return the engine that compacts with a record."""
        from holdfast.engines import Engine

        return Engine(self.policy(options), self.engine_deps(options))

    def truncating(self, options: EngineOptions = EngineOptions()) -> ChatEngine:
        """Return the engine that truncates; it asks nobody."""
        from holdfast.engines.contract import truncating_engine

        silent = replace(options, summarizer=None)
        return truncating_engine(self.policy(silent), self.engine_deps(silent))

    def _fallback(self, options: EngineOptions) -> SummarizerFallback | None:
        """Return who writes: the summary model, then the conversation's own when that one fails."""
        from holdfast.engines import SummarizerFallback
        from holdfast.wiring.models import configured_summarizer, main_summarizer, summarizer_of

        settings, chosen = self.settings, self.settings.auxiliary.compression
        line = partial(SummarizerFallback, clock=self.clock, timeout=chosen.timeout)
        if not isinstance(options.summarizer, Configured):
            found = summarizer_of(options.summarizer)
            return line(found) if found else None
        if chosen.provider == "none":
            return None

        own = options.model or settings.model.name or ""

        def main_of(name: str) -> Summarizer | None:
            return main_summarizer(
                settings,
                name,
                options.client,
                window=options.context_length if name == own else None,
                has_server=options.has_server,
            )

        separate = configured_summarizer(settings) if chosen.separate else None
        is_chosen = chosen.provider == "main"
        return line(main_of(own), separate, main_of=main_of, is_chosen=is_chosen)


def policy_of(settings: Settings, *, fit: int | None = None) -> Policy:
    """Return the knobs of compaction that the settings make."""
    return Assembly(settings).policy(EngineOptions(knobs=Knobs(fit=fit)))


def counter_of(settings: Settings) -> Counter:
    """Return the estimator for the conversation's model."""
    return Assembly(settings).counter()


def engine_of(settings: Settings, *, fit: int | None = None, ask: bool = True) -> Engine:
    """Return an engine with the configured summary model, or with none.

    Args:
        fit: What the result may weigh, in tokens.
        ask: Whether a model may be asked at all.
    """
    options = EngineOptions(knobs=Knobs(fit=fit), summarizer=Configured.YES if ask else None)
    return Assembly(settings).engine(options)
