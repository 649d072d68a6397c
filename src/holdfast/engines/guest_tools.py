"""What a plug-in offers and answers, read with patience: engines come from several agents."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from holdfast.errors import ConfigError
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["answer_of", "call_offered", "specs_of", "suited"]


def call_offered(
    engine: object, method: str, *arguments: object, details: Mapping[str, object]
) -> object:
    """Call a method that an engine may have, with as much as it takes; None if it has none."""
    offered = cast("object", getattr(engine, method, None))
    return offered(*arguments, **suited(offered, details)) if callable(offered) else None


def suited(function: Callable[..., object], details: Mapping[str, object]) -> dict[str, object]:
    """Return those of the details that a function takes: older engines know fewer of them."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return dict(details)
    named = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
    return {key: value for key, value in details.items() if key in named}


def specs_of(schemas: object) -> tuple[ToolSpec, ...]:
    """Return the tools that an engine offers; their schemas may be bare or as OpenAI wraps them.

    Raises:
        ConfigError: when one of them is no schema of a tool.
    """
    if schemas is None:
        return ()
    if not isinstance(schemas, list | tuple):
        raise ConfigError(f"get_tool_schemas returned a {type(schemas).__name__}, and no list")
    return tuple(map(_spec, cast("list[object]", schemas)))


def answer_of(value: object) -> str:
    """Return what a tool answered as JSON text, whatever it returned."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return json.dumps({"result": value}, ensure_ascii=False)
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _spec(schema: object) -> ToolSpec:
    fields = cast("Mapping[str, object]", schema if isinstance(schema, Mapping) else {})
    function = fields.get("function", fields)
    fields = cast("Mapping[str, object]", function if isinstance(function, Mapping) else {})
    name, parameters = fields.get("name"), fields.get("parameters", fields.get("input_schema"))
    if not isinstance(name, str) or not name:
        raise ConfigError(f"get_tool_schemas has a tool without a name: {schema!r:.80}")
    if parameters is None:
        return ToolSpec(name, str(fields.get("description", "")))
    if not isinstance(parameters, Mapping):
        raise ConfigError(f"the parameters of the tool {name} are no JSON schema")
    shape = cast("Mapping[str, object]", parameters)
    return ToolSpec(name, str(fields.get("description", "")), shape)
