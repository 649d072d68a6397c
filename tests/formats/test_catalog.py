"""Formats are chosen by name."""

import pytest

from holdfast.errors import ConfigError
from holdfast.formats.catalog import choose


def test_a_known_name_is_returned() -> None:
    assert choose("a", ["a", "b"]) == "a"


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="there is no format 'c'; choose one of a, b"):
        choose("c", ["a", "b"])
