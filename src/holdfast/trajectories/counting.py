"""What counts the tokens of trajectories, by a name that can be sent to another process."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.providers.exact_counter import ExactCounter, require_splintr
from holdfast.tokens import Estimator

if TYPE_CHECKING:
    from holdfast.tokens import Counter

__all__ = ["AUTO", "DEFAULT_VOCABULARY", "ESTIMATE", "counter_for", "tokenizer_named"]

AUTO = "auto"
ESTIMATE = "estimate"
DEFAULT_VOCABULARY = "o200k"


def tokenizer_named(name: str) -> str:
    """Return the tokenizer that a name stands for; `auto` is the best that is installed."""
    if name != AUTO:
        return name
    return ESTIMATE if find_spec("splintr") is None else DEFAULT_VOCABULARY


def counter_for(name: str) -> Counter:
    """Return the counter behind a name: a vocabulary, a model, a `tokenizer.json`, or `estimate`.

    Raises:
        ConfigError: there is no such vocabulary, or the file is none.
        MissingExtra: exact counting is not installed.
    """
    name = tokenizer_named(name)
    if name == ESTIMATE:
        return Estimator()
    require_splintr()
    return _exact(name)


@lru_cache(maxsize=4)
def _exact(name: str) -> Counter:
    if name.endswith(".json"):
        return ExactCounter.from_file(Path(name))
    return ExactCounter(name)
