"""Session files in which some values are not what they were, as schemas drift."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from holdfast.formats.source import SourceRecord
from tests.formats.conformance import broken_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.formats.catalog import SessionReader

_PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
_ANYTHING = st.recursive(
    _PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


def breaks(reader: SessionReader, records: Sequence[SourceRecord]) -> list[str]:
    """Return the rules that a reader breaks; neither reading nor recognizing may raise."""
    for record in records:
        reader.recognize([record])
    return broken_rules(list(reader.read(records)))


@st.composite
def surprised(draw: st.DrawFn, records: Sequence[SourceRecord]) -> list[SourceRecord]:
    """Return records of which some hold anything at some place, are missing, or come twice."""
    values = [copy.deepcopy(record.value) for record in records]
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(values) - 1))
        spots = list(_spots(values[place]))
        if spots:
            holder, key = spots[draw(st.integers(0, len(spots) - 1))]
            holder[key] = draw(_ANYTHING)
    chosen = draw(st.lists(st.sampled_from(range(len(values))), max_size=3))
    order = [place for place in range(len(values)) if place not in chosen] + chosen
    return [
        SourceRecord(number, values[place], records[place].file)
        for number, place in enumerate(order, 1)
        if isinstance(values[place], dict)
    ]


def _spots(value: object) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, key
            yield from _spots(inner)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield value, place
            yield from _spots(inner)
