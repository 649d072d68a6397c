"""A tool as a model is told of it, and how each provider writes that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What a model may call."""

    name: str
    description: str
    parameters: Mapping[str, object] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    """The JSON schema of the arguments, an object at its top."""


def write_tools(specs: Iterable[ToolSpec], dialect: str) -> list[dict[str, object]]:
    """Return the tools as a request in this dialect lists them."""
    match dialect:
        case "anthropic":
            return [
                {
                    "name": spec.name,
                    "description": spec.description,
                    "input_schema": dict(spec.parameters),
                }
                for spec in specs
            ]
        case "responses":
            return [{"type": "function", **_function(spec)} for spec in specs]
        case "gemini":
            return [{"functionDeclarations": [_function(spec) for spec in specs]}]
        case _:
            return [{"type": "function", "function": _function(spec)} for spec in specs]


def _function(spec: ToolSpec) -> dict[str, object]:
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.parameters),
    }
