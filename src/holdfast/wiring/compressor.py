"""What users of the library hold: an engine with the usual parts in place, and one-shot calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from holdfast.config.summary_key import installation_sign
from holdfast.engines import ChatEngine
from holdfast.keywords import check_names, names_checked
from holdfast.tokens import Estimator, Scale, family_of
from holdfast.wire.message_list import AUTO, read_messages
from holdfast.wire.signing import recognized
from holdfast.wiring.assembly import Assembly, Configured, EngineOptions, Knobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.config import Settings
    from holdfast.engines import Compaction
    from holdfast.redaction import Redactor
    from holdfast.summary import Ask
    from holdfast.tokens import Counter
    from holdfast.wire.message_list import Given
    from holdfast.wiring.summarizers import Writer

__all__ = ["Compressor", "compact", "compress", "estimate_tokens"]


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
    schemas = scale.text(_as_json(tools)) if tools else 0
    transcript = read_messages(messages, format).transcript
    return schemas + scale.total(recognized(transcript, installation_sign))


def _options_of(function: Callable[..., object]) -> tuple[str, ...]:
    return (*(function.__kwdefaults__ or ()), *Knobs.__annotations__)


def _as_json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)
