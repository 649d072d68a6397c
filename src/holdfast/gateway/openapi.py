"""The REST interface as an OpenAPI document, written from the routes that serve it."""

from __future__ import annotations

import re
from inspect import getdoc
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec

from holdfast.gateway.rest_models import NothingAsked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.gateway.api_route import ApiRoute

_SCHEMAS = "#/components/schemas/{name}"
_PLACES = {
    "id": ("The id of a session.", {"type": "string", "minLength": 1, "maxLength": 100}),
    "message": (
        "The id of a message.",
        {"type": "integer", "minimum": 1, "maximum": 2**53 - 1},
    ),
    "number": (
        "Which compaction, counted from 1.",
        {"type": "integer", "minimum": 1, "maximum": 2**53 - 1},
    ),
}
_IN_PATH = re.compile(r"{(\w+)}")
_ERRORS = {
    "400": "The request cannot be understood.",
    "401": "No token of this gateway was shown.",
    "413": "The request is too large.",
    "429": "The tenant asks for too much at once.",
    "503": "The store cannot be used now.",
}
_ABOUT = (
    "Stored conversations of a tenant. Errors are JSON objects with a code for programs and a "
    "sentence for people. Where the gateway has no tokens, its own machine needs none."
)


class ErrorFields(TypedDict):
    """What went wrong."""

    code: str
    message: str


class ErrorAnswer(TypedDict):
    """The answer to every request that fails."""

    error: ErrorFields


def openapi_document(routes: Sequence[ApiRoute], version: str) -> dict[str, object]:
    """Return the document for the routes."""
    kinds: list[Any] = [ErrorAnswer]
    for route in routes:
        kinds += [route.query, route.answer, *([] if route.takes else [route.body])]
    found, components = msgspec.json.schema_components(kinds, ref_template=_SCHEMAS)
    schemas = iter(found[1:])
    paths: dict[str, dict[str, object]] = {}
    for route in routes:
        query, answer = next(schemas), next(schemas)
        body = {"type": "string", "format": "binary"} if route.takes else next(schemas)
        asked = _resolved(query, components)
        said, _, more = (getdoc(route.handle) or "").partition("\n")
        operation: dict[str, object] = {
            "operationId": route.handle.__name__,
            "summary": said,
            **({"description": " ".join(more.split())} if more else {}),
            "tags": [route.path.split("/")[2].partition(".")[0]],
            "parameters": [*_in_path(route.path), *_in_query(asked)],
            "responses": _responses(route, answer),
        }
        if route.takes or route.body is not NothingAsked:
            required = bool(route.takes or _resolved(body, components).get("required"))
            content = {route.takes or "application/json": {"schema": body}}
            operation["requestBody"] = {"required": required, "content": content}
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    asked_only = {route.query.__name__ for route in routes} | {NothingAsked.__name__}
    return {
        "openapi": "3.1.0",
        "info": {"title": "holdfast", "version": version, "description": _ABOUT},
        "paths": paths,
        "security": [{"token": []}, {"header": []}],
        "components": {
            "schemas": {name: each for name, each in components.items() if name not in asked_only},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "X-Holdfast-Token"},
            },
        },
    }


def _in_path(path: str) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PLACES[name][0],
            "schema": _PLACES[name][1],
        }
        for name in _IN_PATH.findall(path)
    ]


def _in_query(schema: dict[str, Any]) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "schema": each,
        }
        for name, each in schema["properties"].items()
    ]


def _responses(route: ApiRoute, answer: dict[str, Any]) -> dict[str, object]:
    content = {route.gives or "application/json": {"schema": answer}}
    found: dict[str, object] = {
        str(route.status): {"description": "What was asked for.", "content": content}
    }
    errors = dict(_ERRORS)
    if "{id}" in route.path or "session" in route.query.__struct_fields__:
        errors["404"] = "There is no such session, message or compaction."
    if route.method != "GET":
        errors["409"] = "The session has ended, or another changed it."
        errors["415"] = "The body is not of a type that is read here."
    failed = {"application/json": {"schema": {"$ref": _SCHEMAS.format(name="ErrorAnswer")}}}
    for status in sorted(errors):
        found[status] = {"description": errors[status], "content": failed}
    return found


def _resolved(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    return components[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
