"""A small model on this machine, served inside this process, with no key and no network.

The server is llama.cpp's own, embedded. It listens on the loopback and speaks both OpenAI's and
Anthropic's format, so everything above it is the same as with a provider: streaming, usage, a real
prefix cache, and a real refusal of what is too large.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, cast

from holdfast.errors import MissingExtra, ModelError, ModelMissing
from holdfast.providers.anthropic_model import AnthropicModel
from holdfast.providers.openai_model import OpenAIModel

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path
    from types import TracebackType

    from holdfast.ports import ChatModel
    from holdfast.ports.model import Delta, Prompt

__all__ = ["LocalModel"]

_PATIENCE = 600.0
"""Seconds for the first word: a long prompt takes minutes on a small machine."""
_ANSWER_SHARE = 8
"""The part of the window that an answer may take where nobody says: an eighth."""
_SAMPLING = {
    "temperature": 0.6,
    "top_p": 0.92,
    "repeat_penalty": 1.1,
    "presence_penalty": 0.6,
    "repeat_last_n": 1024,
    "seed": 7,
}
"""What keeps a very small model from saying one sentence for ever."""
_WAITING = "OMP_WAIT_POLICY"


class _Server(Protocol):
    @property
    def listening_address(self) -> str: ...


class LocalModel:
    """Answers from a model file.

    The server starts with the first request, or with `base_url`, and stops with `close`. It has
    one slot: requests wait for each other.
    """

    def __init__(
        self,
        file: Path,
        *,
        name: str = "smollm2",
        context_length: int = 4096,
        dialect: Literal["openai", "anthropic"] = "openai",
    ) -> None:
        """Describe the model; nothing is loaded yet.

        Args:
            file: The model's weights, in llama.cpp's format.
            name: The name under which it is asked for.
            context_length: The window: what a request and its answer may weigh together.
            dialect: The format in which it is asked.
        """
        if find_spec("xllamacpp") is None:
            raise MissingExtra("a model on this machine", "local")
        self.name = name
        self.dialect = dialect
        self.context_length = context_length
        self._file = file
        self._server: _Server | None = None
        self._starting = threading.Lock()

    @property
    def endpoint(self) -> str:
        """Return where it is reached: the port changes from run to run, so it is not named."""
        return "local"

    @property
    def base_url(self) -> str:
        """Return the server's address, without `/v1`; starts it if it is not running."""
        with self._starting:
            if self._server is None:
                self._server = self._started()
            return self._server.listening_address

    def stream(self, prompt: Prompt) -> Generator[Delta]:
        """Yield the answer as it comes, then the whole of it."""
        limit = prompt.max_tokens or self.context_length // _ANSWER_SHARE
        url, chosen = self.base_url, AnthropicModel
        if self.dialect == "openai":
            url, chosen = f"{url}/v1", OpenAIModel
        client: ChatModel = chosen(
            self.name,
            base_url=url,
            context_length=self.context_length,
            timeout=_PATIENCE,
            options=_SAMPLING,
        )
        return client.stream(replace(prompt, max_tokens=limit))

    def close(self) -> None:
        """Stop the server and let go of its memory; the next request starts it again."""
        with self._starting:
            # The server ends with its last reference: it has no method for that.
            self._server = None

    def __enter__(self) -> Self:
        """Use the model for a while."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server."""
        self.close()

    def _started(self) -> _Server:
        if not self._file.is_file():
            raise ModelMissing(f"{self.name}: there is no model file {self._file}")
        # Before the library loads: threads that spin while they wait starve a busy machine.
        os.environ.setdefault(_WAITING, "passive")
        llama = cast("Any", import_module("xllamacpp"))
        settings = _fill(llama.CommonParams(), self.name, self.context_length)
        settings.model.path = str(self._file)
        try:
            return cast("_Server", llama.Server(settings))
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"{self.name}: {self._file} does not load: {error}") from error


def _fill(settings: Any, name: str, context_length: int) -> Any:
    """Return the server's settings; the library that defines them has no types."""
    cores = os.cpu_count() or 2
    settings.model_alias = {name}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = context_length
    settings.n_parallel = 1
    # One word at a time is not worth a barrier between threads; reading a prompt is.
    settings.cpuparams.n_threads = max(1, cores - 1)
    settings.cpuparams_batch.n_threads = cores
    settings.use_jinja = True
    settings.cache_prompt = True
    settings.cache_ram_mib = 0
    # What is too large is refused, and not silently forgotten from the front.
    settings.ctx_shift = False
    settings.ui = False
    settings.warmup = False
    settings.verbosity = -1
    return settings
