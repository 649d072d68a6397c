"""Sentences as vectors: the model all-MiniLM-L6-v2, computed with numpy alone.

The model is small enough that six layers of matrix products on a processor take some ten
milliseconds a text, so that nothing with a framework's weight has to be installed.
"""

from __future__ import annotations

import ctypes
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

from holdfast.errors import MemoryUnavailable, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float32]
    _Load: TypeAlias = Callable[[Path], dict[str, Array]]

_NAMES = (
    "scipy_openblas_{}_num_threads64_",
    "scipy_openblas_{}_num_threads",
    "openblas_{}_num_threads64_",
    "openblas_{}_num_threads",
)
_TURN = threading.Lock()
_inside: list[int] = []
"""The number of threads before the first of those who are inside now; empty when nobody is."""

WIDTH = 384
"""Numbers in a vector."""
_HEADS = 12
_LAYERS = 6
_LONGEST = 256
"""Tokens that the model reads of a text; it was trained on no more."""
_BATCH = 16
_STRETCH = 1.5
"""How much longer than the shortest a text of the same batch may be."""
_EPSILON = 1e-12
_NEEDED = ("numpy", "safetensors", "tokenizers")


@dataclass(frozen=True, slots=True)
class _Switch:
    read: Callable[[], int]
    turn: Callable[[int], object]


@contextmanager
def one_thread() -> Generator[None]:
    """Compute on one thread inside; the last to leave restores what was.

    Where numpy stands on another library, nothing changes.
    """
    switch = _switch()
    if switch is None:
        yield
        return
    with _TURN:
        _inside.append(_inside[0] if _inside else switch.read())
        switch.turn(1)
    try:
        yield
    finally:
        with _TURN:
            before = _inside.pop()
            if not _inside:
                switch.turn(before)


@cache
def _switch() -> _Switch | None:
    """Return the switch in the library that numpy's wheel brings, if it brings one."""
    package = Path(str(import_module("numpy").__file__)).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for path in folder.glob("*openblas*"):
            try:
                # It is loaded already: this is another handle on the same library.
                library = ctypes.CDLL(str(path))
            except OSError:
                continue
            for name in _NAMES:
                read = getattr(library, name.format("get"), None)
                turn = getattr(library, name.format("set"), None)
                if read is not None and turn is not None:
                    return _Switch(read, turn)
    return None


class _Tokens(Protocol):
    ids: list[int]


class _Tokenizer(Protocol):
    def encode(self, sequence: str) -> _Tokens: ...
    def no_padding(self) -> None: ...
    def enable_truncation(self, max_length: int) -> None: ...


@dataclass(frozen=True, slots=True)
class _Loaded:
    weights: Mapping[str, Array]
    tokenizer: _Tokenizer


class Embedder:
    """Turns texts into vectors of length one; texts of one meaning point the same way.

    The files are read at the first text. It may be used from several threads.
    """

    def __init__(self, folder: Path) -> None:
        """Keep the folder of `model.safetensors` and `tokenizer.json`."""
        if any(find_spec(name) is None for name in _NEEDED):
            raise MissingExtra("the memory provider vector", "vectors")
        self._folder = folder
        self._loaded: _Loaded | None = None
        self._loading = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Array:
        """Return one row per text.

        Texts of like length are computed together. A text's vector does not depend on its
        company, but for the last digits.

        Raises:
            MemoryUnavailable: when the files are not there, or not what they should be.
        """
        import numpy as np

        with self._loading:
            model = self._loaded = self._loaded or _load(self._folder)
        # One text at a time: the tokenizer's own threads do not survive a fork.
        tokens = [model.tokenizer.encode(text).ids for text in texts]
        rows = np.zeros((len(texts), WIDTH), dtype=np.float32)
        with one_thread():
            for places in _batches(tokens):
                rows[places] = _vectors(model.weights, [tokens[place] for place in places])
        return rows


def _load(folder: Path) -> _Loaded:
    from safetensors import SafetensorError

    load = cast("_Load", import_module("safetensors.numpy").load_file)
    parse = cast("Callable[[str], _Tokenizer]", import_module("tokenizers").Tokenizer.from_str)
    try:
        weights = load(folder / "model.safetensors")
        words = (folder / "tokenizer.json").read_text("utf-8")
    except (OSError, SafetensorError, ValueError) as error:
        raise MemoryUnavailable(f"the model in {folder} cannot be read: {error}") from error
    try:
        tokenizer = parse(words)
    except Exception as error:
        # The tokenizer has no class of errors; any other is not about the file.
        if type(error) is not Exception:
            raise
        raise MemoryUnavailable(f"the tokenizer in {folder} cannot be read: {error}") from error
    if "encoder.layer.0.attention.self.query.weight" not in weights:
        raise MemoryUnavailable(f"the model in {folder} is not all-MiniLM-L6-v2")
    tokenizer.no_padding()
    tokenizer.enable_truncation(_LONGEST)
    return _Loaded(weights, tokenizer)


def _batches(tokens: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yield the places of texts that are computed together: of like length, to pad little."""
    batch: list[int] = []
    for place in sorted(range(len(tokens)), key=lambda place: len(tokens[place])):
        length = len(tokens[place])
        if batch and (len(batch) == _BATCH or length > _STRETCH * len(tokens[batch[0]])):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _vectors(weights: Mapping[str, Array], tokens: Sequence[Sequence[int]]) -> Array:
    """Return the mean of each text's token states, scaled to length one."""
    import numpy as np

    longest = max(map(len, tokens))
    ids = np.zeros((len(tokens), longest), dtype=np.int64)
    mask = np.zeros((len(tokens), longest), dtype=np.float32)
    for row, each in enumerate(tokens):
        ids[row, : len(each)] = each
        mask[row, : len(each)] = 1.0
    states = weights["embeddings.word_embeddings.weight"][ids]
    states = states + weights["embeddings.position_embeddings.weight"][:longest]
    states += weights["embeddings.token_type_embeddings.weight"][0]
    states = _normalized(states, weights, "embeddings.LayerNorm")
    bias = ((mask - 1.0) * np.float32(1e9))[:, None, None, :]
    for layer in range(_LAYERS):
        name = f"encoder.layer.{layer}"
        context = _attention(states, bias, weights, f"{name}.attention.self")
        attended = _dense(context, weights, f"{name}.attention.output.dense")
        states = _normalized(attended + states, weights, f"{name}.attention.output.LayerNorm")
        wide = _gelu(_dense(states, weights, f"{name}.intermediate.dense"))
        narrow = _dense(wide, weights, f"{name}.output.dense")
        states = _normalized(narrow + states, weights, f"{name}.output.LayerNorm")
    mean = (states * mask[:, :, None]).sum(1) / mask.sum(1)[:, None]
    return mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), np.float32(1e-9))


def _attention(states: Array, bias: Array, weights: Mapping[str, Array], name: str) -> Array:
    import numpy as np

    texts, length, _ = states.shape

    def heads(which: str) -> Array:
        made = _dense(states, weights, f"{name}.{which}")
        return made.reshape(texts, length, _HEADS, WIDTH // _HEADS).transpose(0, 2, 1, 3)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.transpose(0, 1, 3, 2)
    scores *= np.float32((WIDTH // _HEADS) ** -0.5)
    scores += bias
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    return (scores @ value).transpose(0, 2, 1, 3).reshape(texts, length, WIDTH)


def _dense(states: Array, weights: Mapping[str, Array], name: str) -> Array:
    return states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normalized(states: Array, weights: Mapping[str, Array], name: str) -> Array:
    import numpy as np

    states = states - states.mean(-1, keepdims=True)
    variance = np.square(states).mean(-1, keepdims=True)
    states /= np.sqrt(variance + np.float32(_EPSILON))
    return states * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _gelu(states: Array) -> Array:
    """Return the activation of the model, which is defined by the error function.

    numpy has none; the rational approximation of Abramowitz and Stegun (7.1.26) is off by less
    than 2e-7, the size of a rounding error here.
    """
    import numpy as np

    one, half = np.float32(1.0), np.float32(0.5)
    size = np.abs(states) * np.float32(2**-0.5)
    step = one / (one + np.float32(0.3275911) * size)
    series = np.full_like(step, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series *= step
        series += np.float32(factor)
    series *= step
    series *= np.exp(-np.square(size))
    return states * half * (one + np.copysign(one - series, states))
