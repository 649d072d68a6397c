"""Around a model's call: was it refused for its size, and what did its stream say in the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from holdfast.errors import DecodeError, ModelOverflow
from holdfast.keywords import names_checked
from holdfast.ports import Spoken
from holdfast.providers.provider_errors import FailureKind, failure_of, status_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.providers.stream_adapter import StreamAssembler

__all__ = ["ATTEMPTS", "StreamRecorder", "is_context_overflow"]

ATTEMPTS = 3
"""How often a request is sent that is refused for its size."""
_BAD_REQUEST = 400


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


class StreamRecorder:
    """Puts the answer together that the chunks of a stream make up, whichever SDK they are of."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._assembler: StreamAssembler | None = None
        self._words: list[str] = []

    def take(self, chunk: object) -> None:
        """Take in the next chunk: OpenAI chat or Responses, Anthropic or Gemini, object or JSON.

        Raises:
            DecodeError: when it is none of these.
        """
        dump = cast("Callable[..., object] | None", getattr(chunk, "model_dump", None))
        plain = dump(mode="json", exclude_unset=True) if dump else chunk
        if not isinstance(plain, Mapping):
            problem = f"a {type(chunk).__name__} is no chunk of a stream that is known"
            raise DecodeError("stream", "chunk", f"{problem}; hand add_response the whole answer")
        fields = cast("Mapping[str, object]", plain)
        if self._assembler is None:
            self._assembler = _assembler(fields)
        for piece in self._assembler.take(fields):
            if isinstance(piece, Spoken):
                self._words.append(piece.text)

    @property
    def is_whole(self) -> bool:
        """Say whether the end of the answer has come."""
        return self._assembler is not None and self._assembler.is_whole

    @property
    def answer(self) -> object:
        """Return the whole answer, or the words of one that was cut off; None where none came."""
        if self._assembler is not None and self._assembler.is_whole:
            return self._assembler.answer()
        return "".join(self._words) or None

    @property
    def partial(self) -> dict[str, object] | None:
        """Return what is finished of an answer that was cut off, and all of its words."""
        return self._assembler.partial() if self._assembler is not None else None


def _assembler(first: Mapping[str, object]) -> StreamAssembler:
    if str(first.get("type", "")).startswith("response."):
        from holdfast.providers.stream_assemblers import ResponsesStream

        return ResponsesStream()
    if "choices" in first:
        from holdfast.providers.openai_model import ChatStream

        return ChatStream()
    if "candidates" in first or "usageMetadata" in first:
        from holdfast.providers.stream_assemblers import GeminiStream

        return GeminiStream()
    from holdfast.providers.anthropic_model import MessageStream

    return MessageStream()
