"""Checks on what an engine may have: each is made only where the engine has it."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, cast

from holdfast.engines.contract import ATTRIBUTES
from holdfast.engines.plugin_thread import call_offered, tools_of
from holdfast.testing.engine_talks import SHORT, long_talk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from holdfast.engines.contract import ContextEngine

__all__ = ["OPTIONS", "offers"]

_USAGE = {"prompt_tokens": 1_000, "completion_tokens": 20, "total_tokens": 1_020}


def offers(engine: object, method: str) -> bool:
    """Say whether an engine has a method that it may have."""
    return callable(getattr(engine, method, None))


def _optional(make: Callable[[], ContextEngine]) -> Iterator[str]:
    engine = make()
    for method in ("should_compress_preflight", "has_content_to_compress"):
        if not offers(engine, method):
            continue
        said = call_offered(engine, method, deepcopy(SHORT), details={})
        if not isinstance(said, bool):
            yield f"{method} returns {said!r}, and neither True nor False"


def _lifecycle(make: Callable[[], ContextEngine]) -> Iterator[str]:
    engine = make()
    for id_, details in (
        ("20260101_000000_abcdef", {"model": "a-model", "platform": "test"}),
        ("20260101_000000_fedcba", {"boundary_reason": "compression"}),
    ):
        call_offered(engine, "on_session_start", id_, details=details)
    call_offered(engine, "on_session_end", id_, deepcopy(SHORT), details={})
    yield from ()


def _reset(make: Callable[[], ContextEngine]) -> Iterator[str]:
    engine = make()
    if not offers(engine, "on_session_reset"):
        return
    first = make().compress(deepcopy(SHORT))
    engine.update_from_response(dict(_USAGE))
    engine.compress(long_talk())
    engine.on_session_reset()
    for name in ATTRIBUTES:
        if name.startswith("last_") or name == "compression_count":
            value: object = getattr(engine, name)
            if value != 0:
                yield f"{name} is {value!r} after on_session_reset"
    if engine.compress(deepcopy(SHORT)) != first:
        yield "after on_session_reset something of the old conversation is in the new one"


def _tools(make: Callable[[], ContextEngine]) -> Iterator[str]:
    tools = tools_of(call_offered(make(), "get_tool_schemas", details={}))
    yield from tools.troubles
    for spec in tools.specs:
        if not spec.description or spec.parameters.get("type") != "object":
            yield f"the tool {spec.name} needs a description and parameters of type object"


def _tool_errors(make: Callable[[], ContextEngine]) -> Iterator[str]:
    engine = make()
    specs = tools_of(call_offered(engine, "get_tool_schemas", details={})).specs
    if not offers(engine, "handle_tool_call"):
        if specs:
            yield "get_tool_schemas offers tools, and there is no handle_tool_call"
        return
    answer = _answered(engine, "no_such_tool", {})
    if not isinstance(answer, dict) or "error" not in answer:
        yield "an unknown tool is not answered with JSON that has an error"
    for spec in specs:
        for arguments in ({}, {"odd": [None, -1]}):
            if _answered(engine, spec.name, dict(arguments)) is None:
                yield f"the tool {spec.name} does not answer {arguments} with JSON"


def _answered(engine: ContextEngine, name: str, arguments: dict[str, Any]) -> object:
    answer = call_offered(engine, "handle_tool_call", name, arguments, details={})
    try:
        return cast("object", json.loads(answer)) if isinstance(answer, str) else None
    except ValueError:
        return None


def _status(make: Callable[[], ContextEngine]) -> Iterator[str]:
    engine = make()
    if not offers(engine, "get_status"):
        return
    status = call_offered(engine, "get_status", details={})
    if not isinstance(status, dict):
        yield f"get_status returns a {type(status).__name__}, and no dict"
    json.dumps(status)


OPTIONS: Final[dict[str, Callable[[Callable[[], ContextEngine]], Iterator[str]]]] = {
    "optional": _optional,
    "lifecycle": _lifecycle,
    "reset": _reset,
    "tools": _tools,
    "tool-errors": _tool_errors,
    "status": _status,
}
"""By the name of the promise."""
