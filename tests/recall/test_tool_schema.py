"""The tool is defined once, and each provider's own types accept it."""

from typing import get_type_hints

import pytest
from anthropic.types import ToolParam
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.responses import FunctionToolParam
from pydantic import TypeAdapter, ValidationError

from holdfast.errors import ConfigError
from holdfast.recall.arguments import (
    SearchArguments,
    ToolStyle,
    read_arguments,
    session_search_tool,
)
from holdfast.recall.values import Wrong

STYLES: dict[ToolStyle, type[object]] = {
    "openai": ChatCompletionFunctionToolParam,
    "responses": FunctionToolParam,
    "anthropic": ToolParam,
}


def schema(style: ToolStyle) -> dict[str, object]:
    tool = session_search_tool(style, profiles=("work",))
    inner = tool.get("function", tool)
    assert isinstance(inner, dict)
    assert inner["name"] == "session_search"
    found = inner.get("parameters") or inner["input_schema"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("style", STYLES)
def test_the_types_of_the_provider_accept_the_tool(style: ToolStyle) -> None:
    adapter = TypeAdapter[object](STYLES[style])
    adapter.validate_python(session_search_tool(style))
    with pytest.raises(ValidationError):
        adapter.validate_python({"name": 1})


def test_every_style_has_the_same_schema() -> None:
    assert schema("openai") == schema("responses") == schema("anthropic")


def test_the_schema_has_exactly_the_arguments_of_the_function() -> None:
    properties = schema("openai")["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == list(SearchArguments.__annotations__)
    kinds = {"string": str, "integer": int, "boolean": bool}
    for name, hint in get_type_hints(SearchArguments).items():
        kind = kinds[properties[name]["type"]]
        assert kind in (hint, *getattr(hint, "__args__", ())) or properties[name]["enum"] == list(
            hint.__args__
        )


def test_an_example_of_every_argument_is_understood() -> None:
    examples = {"string": "1", "integer": 1, "boolean": True}
    properties = schema("openai")["properties"]
    assert isinstance(properties, dict)
    for name, each in properties.items():
        value = "user" if name == "role" else each.get("enum", [examples[each["type"]]])[0]
        found = read_arguments({name: value}, lambda text, _: int(text))
        assert not isinstance(found, Wrong), name


def test_profiles_are_offered_by_name_and_only_where_there_are_any() -> None:
    properties = schema("openai")["properties"]
    assert isinstance(properties, dict)
    assert properties["profile"]["enum"] == ["work"]
    bare = session_search_tool("anthropic")["input_schema"]
    assert isinstance(bare, dict)
    assert "profile" not in bare["properties"]


def test_a_caller_may_change_what_it_got() -> None:
    session_search_tool()["function"] = {}
    schema("openai")["properties"] = {}
    assert schema("openai")["properties"]


def test_a_style_that_does_not_exist_is_a_sentence() -> None:
    with pytest.raises(ConfigError, match="'gemini'; allowed: openai, responses, anthropic"):
        session_search_tool("gemini")  # type: ignore[arg-type]
