"""Tools of a plug-in: schemas in either form, answers of any kind, calls with what fits."""

import json

import pytest

from holdfast.engines.plugin_thread import (
    Tools,
    answer_of,
    call_offered,
    plain_json,
    suited,
    tools_of,
)
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
    assert tools_of([schema]) == Tools((ToolSpec("grep", "Finds.", {"type": "object"}),))


def test_a_tool_may_take_nothing_and_an_engine_may_have_none() -> None:
    assert tools_of([{"name": "recent"}]) == Tools((ToolSpec("recent", ""),))
    assert tools_of(None) == Tools()


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"description": "?"}, "without a name"),
        ("grep", "without a name"),
        ({"function": "grep"}, "without a name"),
        ({"name": "grep", "parameters": "none"}, "no JSON schema"),
        ({"name": "grep", "parameters": {"a": object()}}, "no JSON"),
        ({"name": "bad name!"}, "called 'bad name!'"),
        ({"name": "x" * 65}, "up to 64 letters"),
        ({"name": "größe"}, "up to 64 letters"),
        ({"name": "read_file"}, "another tool called read_file"),
        ({"name": "kept"}, "another tool called kept"),
        ({"name": "grep", "description": "x" * 100_000}, "too long"),
    ],
)
def test_a_tool_that_cannot_be_offered_is_left_out_and_the_others_are_not(
    schema: object, said: str
) -> None:
    tools = tools_of([{"name": "kept"}, schema, BARE | {"name": "last"}], {"read_file"})
    assert [spec.name for spec in tools.specs] == ["kept", "last"]
    (trouble,) = tools.troubles
    assert said in trouble
    assert len(trouble) < 250


def test_too_many_tools_and_no_list_of_tools_are_said() -> None:
    many = tools_of([{"name": f"t{number}"} for number in range(40)])
    assert (len(many.specs), len(many.troubles)) == (32, 8)
    assert tools_of("grep") == Tools(troubles=("get_tool_schemas returned a str, and no list",))


class Evil(dict[str, object]):
    """Can be written as JSON, and does not like to be read otherwise."""

    def get(self, *_: object) -> object:
        raise RuntimeError("not to be read")


def test_nothing_of_a_plug_ins_own_classes_is_left() -> None:
    plain = plain_json([Evil(role="user", content="half \ud800")])
    assert plain == [{"role": "user", "content": "half \ufffd"}]
    assert isinstance(plain, list)
    assert type(plain[0]) is dict
    with pytest.raises(ConfigError, match="no JSON"):
        plain_json(b"x")


def test_a_long_answer_is_cut_and_says_so() -> None:
    answer = json.loads(answer_of("x" * 5_000_000))
    assert answer["note"] == "cut to 32,000 of 5,000,000 characters"
    assert answer["result"] == "x" * 32_000
    assert len(answer_of({"rows": list(range(100_000))})) < 33_000


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        ('{"found": 1}', '{"found": 1}'),
        ("found 1", '{"result": "found 1"}'),
        ({"found": "日"}, '{"found": "日"}'),
        (None, "null"),
        ("half \ud800", '{"result": "half \ufffd"}'),
        ({"half": "\ud800"}, '{"half": "\ufffd"}'),
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
