"""What a tool of memory answers, as a model may read it.

Most answers are JSON. A suspicious line of one of its texts is replaced inside that text, so that
the rest of the answer can still be read.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeAlias, cast

__all__ = ["each_text"]

_Change: TypeAlias = Callable[[str], str]


def each_text(answer: str, change: _Change) -> str:
    """Return an answer with every text in it changed: those of its JSON, or the whole of it."""
    try:
        value: object = json.loads(answer)
        if not isinstance(value, dict | list):
            return change(answer)
        return json.dumps(_changed(cast("object", value), change), ensure_ascii=False)
    except (ValueError, RecursionError):
        return change(answer)


def _changed(value: object, change: _Change) -> object:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return {change(name): _changed(each, change) for name, each in fields.items()}
    if isinstance(value, list):
        return [_changed(each, change) for each in cast("list[object]", value)]
    return value
