"""Engines by name, for a conversation or to hold oneself, and the one-shot calls of the library."""

from __future__ import annotations

import difflib
import json
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Unpack, cast

from holdfast.config import Settings, home
from holdfast.config.summary_key import installation_sign
from holdfast.deadline import Hung, Raised, Returned
from holdfast.engines import ChatEngine
from holdfast.engines.contract import ContractAdapter, Truncating
from holdfast.engines.plugin_engine import PluginEngine
from holdfast.engines.plugin_thread import PluginEnding, PluginThread, call_offered
from holdfast.engines.registry import DEFAULT, EngineSource, find_engine, known_engines, twin
from holdfast.errors import ConfigError
from holdfast.keywords import check_names, names_checked
from holdfast.redaction import Redactor
from holdfast.tokens import Estimator, Scale, family_of
from holdfast.wire.message_list import AUTO, read_messages
from holdfast.wire.provenance import recognized
from holdfast.wiring.assembly import Assembly, Configured, EngineOptions, Knobs, check_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.engines import Compaction, Engine
    from holdfast.engines.contract import ContextEngine
    from holdfast.ports import WindowEngine
    from holdfast.summary import Ask
    from holdfast.tokens import Counter
    from holdfast.wire.message_list import Given
    from holdfast.wiring.models import Writer


class Compressor(ChatEngine):
    """Compacts the messages of one conversation; the engine with the usual parts in place.

    ```python
    compressor = holdfast.Compressor(context_length=200_000)
    if compressor.should_compress(messages):
        messages = compressor.compress(messages).messages
    ```
    """

    def __init__(  # noqa: PLR0913 - keywords that all have a default
        self,
        *,
        context_length: int | None = None,
        summarizer: Writer | Configured = Configured.YES,
        client: object = None,
        model: str = "",
        redactor: Redactor | None = None,
        counter: Counter | Literal["estimate", "exact"] = "estimate",
        on_ask: Callable[[Ask], None] | None = None,
        settings: Settings | None = None,
        **knobs: Unpack[Knobs],
    ) -> None:
        """Put a compressor together.

        Args:
            context_length: What the model accepts, in tokens; by default what is configured, or
                known of the model.
            summarizer: A function from prompt to text, a model's name, an object with the
                `Summarizer` protocol, or None for the record that needs no model; by default
                whoever `auxiliary.compression` says.
            client: What you ask the model with, an SDK's client or a function from a model's name
                to a summarizer: with it, the model writes its records; a name alone sends nothing.
            model: The conversation's model, whose tokenizer family the estimate follows.
            redactor: A redactor with patterns of its own, which apply beside the configured ones.
            counter: How tokens are counted: by estimate, exactly with the model's own vocabulary
                (an extra), or by an object with the `Counter` protocol.
            on_ask: Told of each ask to the summarizer: a long middle is written in several steps.
            settings: What is configured; by default read from the file and the environment.
            knobs: Thresholds and budgets; by default as configured.
        """
        check_names(knobs, _options_of(Compressor.__init__), "Compressor")
        check_values({"model": model})
        assembly = Assembly(settings)
        options = EngineOptions(
            model=model,
            context_length=context_length,
            summarizer=summarizer,
            client=client,
            counter=counter,
            redactor=redactor,
            on_ask=on_ask,
            knobs=knobs,
        )
        super().__init__(assembly.policy(options), assembly.engine_deps(options))


def compress(  # noqa: PLR0913 - a call with everything at hand, each with a default
    messages: Iterable[Given],
    *,
    context_length: int | None = None,
    summarizer: Writer | Configured = Configured.YES,
    client: object = None,
    focus: str | None = None,
    force: bool = False,
    current_tokens: int | None = None,
    model: str = "",
    format: str = AUTO,  # noqa: A002
    **knobs: Unpack[Knobs],
) -> Compaction:
    """Compact a list of messages once.

    Args:
        messages: OpenAI chat messages, Responses items, Anthropic messages or Gemini contents;
            what comes back is of the same kind, and the list and what is in it stay as they are.
        context_length: See `Compressor`.
        summarizer: See `Compressor`.
        client: See `Compressor`.
        focus: The topic that deserves most of the record.
        force: Compact even what fits the budget of the tail.
        current_tokens: The real size, if the provider has reported it.
        model: The conversation's model, whose tokenizer family the estimate follows.
        format: The dialect of the messages (`openai`, `responses`, `anthropic`, `gemini` or
            `sharegpt`), by default the one that they tell.
        knobs: Thresholds and budgets; `fit=8000` makes the result weigh at most 8,000 tokens.

    Raises:
        DecodeError: when a message cannot be read, or messages of several dialects are mixed; it
            names the message.
    """
    check_names(knobs, _options_of(compress), "compress")
    check_values({"focus": focus})
    compressor = Compressor(
        context_length=context_length, summarizer=summarizer, client=client, model=model, **knobs
    )
    return compressor.compress(
        messages, current_tokens=current_tokens, focus=focus, force=force, format=format
    )


def compact(
    messages: Iterable[Given],
    *,
    max_tokens: int | None = None,
    model: str = "",
    format: str = AUTO,  # noqa: A002
    **knobs: Unpack[Knobs],
) -> list[dict[str, object]]:
    """Compact a list of messages once, and return the list that takes its place.

    Where nothing is gained, or what must stay is more than it may weigh, the list comes back as it
    is; the log says why, and the report of `compress` does.

    Args:
        messages: In any dialect; what comes back is in the same one.
        max_tokens: What the result may weigh; by default what is usual for the model's window.
        model: The conversation's model.
        format: The dialect of the messages, by default the one that they tell.
        knobs: Thresholds and budgets; `compress` takes more and says what it did.
    """
    check_names(knobs, _options_of(compact), "compact")
    if max_tokens is not None:
        knobs["fit"] = max_tokens
    return compress(messages, model=model, format=format, **knobs).messages


@names_checked
def estimate_tokens(
    messages: Iterable[Given] | str,
    *,
    tools: Sequence[dict[str, object]] = (),
    model: str = "",
    format: str = AUTO,  # noqa: A002
) -> int:
    """Return the estimated tokens of messages in any dialect, or of a bare text.

    Args:
        messages: What would be sent.
        tools: Tool schemas of the request, which count beside the messages.
        model: The model, whose tokenizer family the estimate follows.
        format: The dialect of the messages, by default the one that they tell.
    """
    scale = Scale(Estimator(family_of(model)))
    if isinstance(messages, str):
        return scale.text(messages)
    schemas = scale.text(json.dumps(tools, ensure_ascii=False, default=str)) if tools else 0
    transcript = read_messages(messages, format).transcript
    return schemas + scale.total(recognized(transcript, installation_sign))


def _options_of(function: Callable[..., object]) -> tuple[str, ...]:
    return (*(function.__kwdefaults__ or ()), *Knobs.__annotations__)


BUILT_IN = (DEFAULT, "truncate")
"""The engines that are always there, the default first."""

_log = logging.getLogger(__name__)
_QUICK = 5.0
"""Seconds that a plug-in has where somebody only looks at it."""
_SHARED_KNOBS = {
    "threshold": "threshold_percent",
    "protect_first_n": "protect_first_n",
    "protect_last_n": "protect_last_n",
}
"""Knobs that the contract knows too, and what it calls them."""


class EngineKnobs(Knobs, total=False):
    """What an engine may be loaded with; a plug-in takes those that the contract knows."""

    summarizer: Writer
    client: object
    redactor: Redactor
    counter: Counter | Literal["estimate", "exact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFactory:
    """What engines of a conversation are made with."""

    default: Callable[[], Engine]
    truncating: Callable[[], Engine]
    model: str = ""
    deadline: float = Settings().auxiliary.compression.timeout
    """Seconds that a plug-in's compaction may take."""
    redact: Callable[[str], str] = str


def engine_names() -> tuple[str, ...]:
    """Return the names of all engines that could be chosen: the built-in ones, then plug-ins."""
    plugins = known_engines(home(os.environ))
    return (*BUILT_IN, *(name for name in plugins if name not in BUILT_IN))


def load_engine(
    name: str = DEFAULT,
    *,
    model: str = "",
    context_length: int | None = None,
    **knobs: Unpack[EngineKnobs],
) -> ContextEngine:
    """Return an engine by its name, to be used through the contract.

    A plug-in that cannot be loaded is a warning in the log, and the default engine comes back.

    Args:
        name: `compressor`, `truncate`, or the name of a plug-in.
        model: The conversation's model.
        context_length: What the model accepts, in tokens; by default as configured or known.
        knobs: Thresholds and budgets, and for the built-in engines summarizer, client, redactor
            and counter, as a `Compressor` takes them.

    Raises:
        ConfigError: when there is no engine of that name, or it has no such knob.
    """
    source = _source(name)
    if source is None:
        return _built_in(name, model, context_length, knobs)
    check_names(knobs, _SHARED_KNOBS, f"The engine {name}")
    # A plug-in takes them under the names of the contract.
    tuned = {_SHARED_KNOBS[key]: value for key, value in knobs.items()}

    def make() -> object:
        engine = source.make()
        for knob, value in tuned.items():
            setattr(engine, knob, value)
        window = Assembly().window(model, context_length)
        call_offered(engine, "update_model", model, window, details={})
        return engine

    ending = PluginThread(name, make, deadline=Settings().auxiliary.compression.timeout).arrive()
    if isinstance(ending, Returned):
        return cast("ContextEngine", ending.value)
    _log.warning("The engine %s could not be loaded: %s; %s is used.", name, _why(ending), DEFAULT)
    return _built_in(DEFAULT, model, context_length, knobs)


def engine_trouble(name: str, *, seconds: float = _QUICK) -> str:
    """Return why an engine cannot be used, found out by loading it; "" when it can.

    Args:
        seconds: How long a plug-in may take to arrive.
    """
    source = _source(name, must_exist=False)
    if source is None:
        return ""
    ending = PluginThread(name, source.make, deadline=seconds).arrive()
    return "" if isinstance(ending, Returned) else _why(ending)


def _why(ending: PluginEnding) -> str:
    return ending.reason if isinstance(ending, Raised | Hung) else "it is busy"


def engines_for(
    choice: str | ContextEngine, hosting: EngineFactory, *, must_exist: bool
) -> Callable[[], WindowEngine]:
    """Return what makes the engine of each session of a conversation.

    Args:
        choice: An engine's name, or an engine, of which every session after the first has a copy.
        must_exist: Whether a name that nobody knows is an error, and not a warning.

    Raises:
        ConfigError: when the name must exist and does not.
    """
    if not isinstance(choice, str):
        return _guests(choice, hosting)
    if choice == DEFAULT:
        # It has no plug-ins to look for.
        return hosting.default
    source = _source(choice, must_exist=must_exist)
    if source is None:
        return hosting.truncating
    return lambda: _hosted(PluginThread(choice, source.make, deadline=hosting.deadline), hosting)


def _guests(engine: ContextEngine, hosting: EngineFactory) -> Callable[[], WindowEngine]:
    unused = [engine]

    def make() -> object:
        # The caller holds the first: a copy would leave its counters at nothing.
        return unused.pop() if unused else twin(engine)

    kind = type(engine).__name__

    def ask() -> str:
        return "".join(str(getattr(engine, "name", kind)))

    ending = PluginThread(kind, lambda: engine, deadline=_QUICK).run(ask)
    name = cast("str", ending.value) if isinstance(ending, Returned) else kind
    return lambda: _hosted(PluginThread(name, make, deadline=hosting.deadline), hosting)


def _hosted(guest: PluginThread, hosting: EngineFactory) -> PluginEngine:
    return PluginEngine(hosting.default(), guest, model=hosting.model, redact=hosting.redact)


def _source(name: str, *, must_exist: bool = True) -> EngineSource | None:
    """Return where a plug-in comes from; None for an engine of our own.

    Raises:
        ConfigError: when the name must exist and nobody knows it.
    """
    # A caller without types may pass anything: that names no engine.
    name = str(name)
    found = find_engine(name, home(os.environ))
    if found is not None or name in BUILT_IN:
        return found
    names = engine_names()
    close = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
    missing = ConfigError(f"there is no engine {name!r}; {hint}")
    if must_exist:
        raise missing

    def refuse() -> object:
        raise missing

    return EngineSource(name, "nowhere", refuse)


def _built_in(
    name: str, model: str, context_length: int | None, knobs: EngineKnobs
) -> ContextEngine:
    known = ("model", "context_length", *EngineKnobs.__annotations__)
    check_names(knobs, known, f"The engine {name}")
    if name == DEFAULT:
        return ContractAdapter(
            name, lambda: Compressor(context_length=context_length, model=model, **knobs)
        )
    parts = ("summarizer", "client", "redactor", "counter")
    budgets = cast("Knobs", {key: value for key, value in knobs.items() if key not in parts})
    options = EngineOptions(
        model=model,
        context_length=context_length,
        counter=knobs.get("counter", "estimate"),
        redactor=knobs.get("redactor"),
        knobs=budgets,
    )
    return Truncating(name, lambda: Assembly().truncating(options))
