"""JSON from models is read despite their slips, and never guessed."""

import pytest

from holdfast.wire.json_text import read_object


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here you go: {"a": [1, 2]} as asked', {"a": [1, 2]}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,], }', {"a": [1, 2]}),
        ('{"a": {"b": [1', {"a": {"b": [1]}}),
        ('{"a": "open', {"a": "open"}),
        ("{'a': None, 'b': True}", {"a": None, "b": True}),
        ('{"a": "\\"quoted\\" }"}', {"a": '"quoted" }'}),
        ('{"a": 1,} and more }', {"a": 1}),
        ("no object", None),
        ("[1]", None),
        ("{a: b}", None),
        ('{"a": [1}', None),
        ("{]", None),
    ],
)
def test_an_object_is_read(text: str, expected: object) -> None:
    assert read_object(text) == expected
