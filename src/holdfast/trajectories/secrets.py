"""Masks secrets in JSON values: in words, and in fields whose name gives them away."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from holdfast.formats.json_access import is_array, is_object
from holdfast.redaction.redactor import redact_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["redact_json"]

_WORDS = frozenset({"value", "content", "text", "arguments", "input", "output", "reasoning"})
"""Fields whose texts say for themselves what they are about."""
_KINDS = frozenset({"from", "role", "type"})
"""Fields that hold one of a few known words."""
_LONGEST_KIND = 18
"""Characters of the longest of those words; no secret is as short."""


def redact_json(values: Sequence[object], redact: Callable[[str], str]) -> list[object]:
    """Return JSON values with the secrets in their texts and keys masked.

    A text is judged with the name of its field, as in `"api_key": "..."`. A value in which nothing
    was masked comes back as the same object.
    """
    leaves = [list(_leaves(value, "")) for value in values]
    asked = [text for found in leaves for text in found]
    masked = redact_all(asked, redact)
    if masked == asked:
        return list(values)
    result: list[object] = []
    start = 0
    for value, found in zip(values, leaves, strict=True):
        shown = masked[start : start + len(found)]
        start += len(found)
        same = shown == found
        result.append(value if same else _filled(value, "", iter(shown), redact))
    return result


def _leaves(value: object, key: str) -> Iterator[str]:
    if isinstance(value, str):
        if not _is_kind(key, value):
            yield value if key in _WORDS else _named(key, value)
    elif is_object(value):
        for name, each in value.items():
            if len(name) > _LONGEST_KIND:
                yield name
            yield from _leaves(each, name)
    elif is_array(value):
        for each in value:
            yield from _leaves(each, key)


def _is_kind(key: str, text: str) -> bool:
    return key in _KINDS and len(text) <= _LONGEST_KIND


def _named(key: str, text: str) -> str:
    return json.dumps({key: text}, ensure_ascii=False) if key else text


def _filled(value: object, key: str, masked: Iterator[str], redact: Callable[[str], str]) -> object:
    if isinstance(value, str):
        if _is_kind(key, value):
            return value
        shown = next(masked)
        if key in _WORDS or not key:
            return shown
        return value if shown == _named(key, value) else _unnamed(shown, key, value, redact)
    if is_object(value):
        return {
            next(masked) if len(name) > _LONGEST_KIND else name: _filled(each, name, masked, redact)
            for name, each in value.items()
        }
    if is_array(value):
        return [_filled(each, key, masked, redact) for each in value]
    return value


def _unnamed(shown: str, key: str, text: str, redact: Callable[[str], str]) -> object:
    """Return the text of a field that was masked with its name; by itself if that broke."""
    try:
        fields = cast("dict[str, object]", json.loads(shown))
    except ValueError:
        return redact(text)
    return fields.get(key, redact(text)) if is_object(fields) else redact(text)
