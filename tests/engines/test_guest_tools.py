"""Tools of a plug-in: schemas in either form, answers of any kind, calls with what fits."""

import pytest

from holdfast.engines.guest_tools import answer_of, call_offered, specs_of, suited
from holdfast.errors import ConfigError
from holdfast.wire.tool_specs import ToolSpec

BARE = {"name": "grep", "description": "Finds.", "parameters": {"type": "object"}}


@pytest.mark.parametrize(
    "schema",
    [
        BARE,
        {"type": "function", "function": BARE},
        {"name": "grep", "description": "Finds.", "input_schema": {"type": "object"}},
    ],
)
def test_a_schema_is_read_in_either_form(schema: dict[str, object]) -> None:
    assert specs_of([schema]) == (ToolSpec("grep", "Finds.", {"type": "object"}),)


def test_a_tool_may_take_nothing_and_an_engine_may_have_none() -> None:
    assert specs_of([{"name": "recent"}]) == (ToolSpec("recent", ""),)
    assert specs_of(None) == ()


@pytest.mark.parametrize(
    ("schemas", "said"),
    [
        ("grep", "returned a str"),
        ([{"description": "?"}], "without a name"),
        (["grep"], "without a name"),
        ([{"function": "grep"}], "without a name"),
        ([{"name": "grep", "parameters": "none"}], "no JSON schema"),
    ],
)
def test_what_is_no_schema_is_refused(schemas: object, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        specs_of(schemas)


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ('{"found": 1}', '{"found": 1}'),
        ("found 1", '{"result": "found 1"}'),
        ({"found": "日"}, '{"found": "日"}'),
        (None, "null"),
    ],
)
def test_an_answer_is_json_whatever_it_was(value: object, answer: str) -> None:
    assert answer_of(value) == answer


def test_a_call_gets_as_much_as_it_takes() -> None:
    def few(a: int, *, model: str = "") -> str:
        return f"{a} {model}"

    def many(a: int, **details: object) -> list[str]:
        return [str(a), *details]

    class Engine:
        start = staticmethod(few)
        silent = None

    details = {"model": "m", "platform": "p"}
    assert suited(few, details) == {"model": "m"}
    assert suited(many, details) == details
    assert suited(dict.fromkeys, details) == {}
    assert call_offered(Engine(), "start", 1, details=details) == "1 m"
    assert call_offered(Engine(), "silent", 1, details=details) is None
