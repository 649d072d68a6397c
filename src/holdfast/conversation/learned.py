"""What errors taught of windows: remembered in the store, for a model and its endpoint."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.ports import Store

_log = logging.getLogger(__name__)


def learned_window(store: Store, model: str, endpoint: str = "") -> int | None:
    """Return the window that an error of this model at this endpoint stated."""
    kept = store.remembered(_name(model, endpoint))
    return int(kept) if kept else None


def remember_window(store: Store, model: str, endpoint: str, tokens: int) -> None:
    """Keep the window that an error stated, and let the log say so when it is news."""
    if learned_window(store, model, endpoint) == tokens:
        return
    store.remember(_name(model, endpoint), str(tokens))
    place = f" at {endpoint}" if endpoint else ""
    _log.warning("window of %s%s learned: %s", model or "the model", place, f"{tokens:,}")


def _name(model: str, endpoint: str) -> str:
    return f"window:{endpoint}:{model}"
