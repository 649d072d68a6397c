"""JSON from models is read despite their slips; what was cut off is not called with."""

import subprocess
import sys

import pytest

from holdfast.wire.json_text import arguments_in, read_object


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
        ("{a: b}", {"a": "b"}),
        ('{"a": [1}', {"a": [1]}),
        ('{"a": 1,} {"b": 2,}', {"a": 1}),
        ("```json\n{'a': 1}\n```", {"a": 1}),
        ('{"a": "say "hi" twice"}', {"a": 'say "hi" twice'}),
        ('{"a": 1 /* one */}', {"a": 1}),
        ("{]", None),
        ("{x} is a set", None),
        ("{" * 50_000, None),
    ],
)
def test_an_object_is_read(text: str, expected: object) -> None:
    assert read_object(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        (" ", {}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": "x"', {"a": "x"}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": "the first half of a', None),
        ('{"a": 1', None),
        ("[1]", None),
        ("null", None),
        ("a", None),
    ],
)
def test_arguments_are_read_unless_they_were_cut_off(text: str, expected: object) -> None:
    assert arguments_in(text) == expected


def test_what_is_correct_needs_nothing_to_be_mended() -> None:
    code = (
        "import sys; from holdfast.wire.json_text import arguments_in, read_object; "
        "arguments_in('{}'); read_object('Yes: {}'); sys.exit('json_repair' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
