"""For programs that call the model themselves: sending, recognizing an overflow, streaming.

`send_body` hands over a request, `is_context_overflow` says whether it was refused for its size,
and a `StreamRecorder` puts the answer together from its chunks.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from inspect import Parameter, signature
from typing import TYPE_CHECKING, TypeVar, cast

from holdfast.errors import ConfigError, DecodeError, ModelOverflow
from holdfast.keywords import names_checked
from holdfast.ports import Spoken
from holdfast.providers.provider_errors import FailureKind, failure_of, status_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.providers.stream_adapter import StreamAssembler
    from holdfast.wire import Body

ATTEMPTS = 3
"""How often a request is sent that is refused for its size."""
Result = TypeVar("Result")
_BAD_REQUEST = 400
_ANTHROPIC = ("message_", "content_block_", "ping", "error")
_MADE_OF_CHUNKS = ("content.", "refusal.", "tool_calls.", "logprobs.")
"""How events begin that the helper of OpenAI chat sends beside the chunks themselves."""


@names_checked
def is_context_overflow(error: object) -> bool:
    """Say whether a provider refused a request because it was too large.

    Args:
        error: What an SDK or this library raised, or the sentence of an error.
    """
    if isinstance(error, ModelOverflow):
        return True
    if isinstance(error, Exception):
        failure = failure_of(error, 0.0)
        if failure is not None and failure.kind is FailureKind.TOO_LARGE:
            return True
    return status_kind(_BAD_REQUEST, str(error)) is FailureKind.TOO_LARGE


def send_body(send: Callable[..., Result], body: Body, dialect: str) -> Result:
    """Hand a request to whoever sends it: its messages, and the system prompt beside them.

    Raises:
        ConfigError: when there is a system prompt beside the messages and `send` takes none.
    """
    taken: Mapping[str, Parameter] = {}
    with suppress(TypeError, ValueError):
        taken = signature(send).parameters
    named = taken.get("system")
    if body.system is None and (named is None or named.default is not Parameter.empty):
        return send(body.messages)
    if named or any(each.kind is Parameter.VAR_KEYWORD for each in taken.values()):
        return send(body.messages, system=body.system)
    raise ConfigError(
        f"format {dialect!r} has the system prompt beside the messages, and it would not be sent: "
        "let send take it too, as in call(lambda messages, system: ..., "
        f"format={dialect!r})"
    )


class StreamRecorder:
    """Puts the answer together that the chunks of a stream make up, whichever SDK they are of."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._assembler: StreamAssembler | None = None
        self._words: list[str] = []

    def take(self, chunk: object) -> None:
        """Take in the next chunk: OpenAI chat or Responses, Anthropic or Gemini, object or JSON.

        The events of the SDKs' own stream helpers are chunks too.

        Raises:
            DecodeError: when it is none of these.
        """
        is_plain = isinstance(chunk, Mapping)
        given: Mapping[str, object] = cast("Mapping[str, object]", chunk) if is_plain else {}
        kind = str(given.get("type", "") if is_plain else getattr(chunk, "type", ""))
        if kind == "chunk":
            # What the helper of OpenAI chat makes of a chunk follows in events of its own.
            self.take(given.get(kind) if is_plain else getattr(chunk, kind, None))
            return
        dump = cast("Callable[..., object] | None", getattr(chunk, "model_dump", None))
        plain = dump(mode="json", exclude_unset=True, warnings=False) if dump else chunk
        if not isinstance(plain, Mapping):
            raise _unknown(type(chunk).__name__)
        fields = cast("Mapping[str, object]", plain)
        if self._assembler is None:
            if kind.startswith(_MADE_OF_CHUNKS):
                self._words.append(str(fields["delta"]) if kind == "content.delta" else "")
                return
            self._assembler = _assembler(fields, kind, type(chunk).__name__)
        for piece in self._assembler.take(fields):
            if isinstance(piece, Spoken):
                self._words.append(piece.text)

    @property
    def is_whole(self) -> bool:
        """Say whether the end of the answer has come."""
        return self._assembler is not None and self._assembler.is_whole

    @property
    def answer(self) -> object:
        """Return the answer as its provider writes it; of one cut off the words, or None."""
        if self._assembler is not None and self._assembler.is_whole:
            return self._assembler.answer()
        return "".join(self._words) or None

    @property
    def partial(self) -> dict[str, object] | None:
        """Return a cut-off answer as its provider writes one: all its words, its finished calls.

        None where nothing of it came. `answer` gives only the words of such an answer.
        """
        return self._assembler.partial() if self._assembler is not None else None


def _unknown(found: str) -> DecodeError:
    problem = f"a {found} is no chunk of a stream that is known, so that nothing can be recorded"
    return DecodeError("stream", "chunk", f"{problem}; hand add_response the whole answer")


def _assembler(first: Mapping[str, object], kind: str, name: str) -> StreamAssembler:
    """Return what puts a stream together, by its first chunk.

    Raises:
        DecodeError: when no stream that is known begins so.
    """
    if kind.startswith("response."):
        from holdfast.providers.stream_adapter import ResponsesStream

        return ResponsesStream()
    if "choices" in first:
        from holdfast.providers.openai_model import ChatStream

        return ChatStream()
    if "candidates" in first or "usageMetadata" in first:
        from holdfast.providers.stream_adapter import GeminiStream

        return GeminiStream()
    if not kind.startswith(_ANTHROPIC) and "error" not in first:
        raise _unknown(f"{name} with {', '.join(map(str, first)) or 'nothing'}")
    from holdfast.providers.anthropic_model import MessageStream

    return MessageStream()
