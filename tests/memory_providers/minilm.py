"""The sentence model for tests, where it is installed."""

from functools import cache
from pathlib import Path

import pytest

from holdfast.memory_providers.embedding import Embedder
from holdfast.providers.local_model import MODELS, find

_FOUND = find(MODELS["minilm"], Path("nowhere"))
FOLDER = _FOUND.folder if _FOUND else Path("nowhere")
needs_minilm = pytest.mark.skipif(
    _FOUND is None, reason="no sentence model here; holdfast models pull minilm"
)


@cache
def embedder() -> Embedder:
    """Return the model, loaded once for all tests."""
    return Embedder(FOLDER)
