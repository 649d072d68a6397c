"""A route of the REST interface as a value, and requests to it read by its types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import msgspec
from msgspec import inspect as types

from holdfast.gateway.rest_models import Asking, NothingAsked
from holdfast.gateway.tenants import ApiError

if TYPE_CHECKING:
    from holdfast.gateway.tenants import OpenTenant

_JSON = "application/json"
_LARGEST_BODY = 1 << 20
_WHOLE = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_SWITCH = {"true": True, "false": False}

Query_co = TypeVar("Query_co", covariant=True)
Given_co = TypeVar("Given_co", covariant=True)


@dataclass(frozen=True, slots=True)
class ApiCall(Generic[Query_co, Given_co]):
    """A request that was read: who asks, for what, with what."""

    tenant: OpenTenant
    path: Mapping[str, str]
    query: Query_co
    body: Given_co

    @property
    def id(self) -> str:
        """Return the session that the path names."""
        return self.path["id"]

    def number(self, name: str) -> int:
        """Return a number of the path.

        Raises:
            ApiError: when it is none.
        """
        text = self.path[name]
        if not _WHOLE.fullmatch(text) or not 0 < int(text) < 2**53:
            raise ApiError(400, "bad_request", f"{name} in the path is a whole number over 0")
        return int(text)


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """What is answered at a path, how it is asked for, and what the answer looks like."""

    method: str
    path: str
    handle: Callable[[ApiCall[Any, Any]], object]
    """Its name and its docstring are in the OpenAPI document too."""
    answer: Any
    query: type[Asking] = NothingAsked
    body: type[Asking] = NothingAsked
    status: int = 200
    takes: str = ""
    """The type of a body that is taken as it is; empty for JSON."""
    gives: str = ""
    """The type of an answer that is a stream; empty for JSON."""


def read_query(route: ApiRoute, items: Iterable[tuple[str, str]]) -> Asking:
    """Return what the query of a request asks for.

    Raises:
        ApiError: when it cannot be understood; the sentence names the parameter.
    """
    given: dict[str, object] = {}
    kinds = _kinds(route.query)
    for name, text in items:
        if name not in kinds:
            known = f"there are: {', '.join(kinds)}" if kinds else "there are none here"
            raise ApiError(400, "bad_request", f"there is no parameter {name[:40]!r}; {known}")
        kind = kinds[name]
        value: object = text
        if isinstance(kind, types.IntType):
            value = int(text) if _WHOLE.fullmatch(text) else text
        elif isinstance(kind, types.BoolType):
            value = _SWITCH.get(text, text)
        if isinstance(kind, types.ListType):
            cast("list[object]", given.setdefault(name, [])).append(value)
        elif name in given:
            raise ApiError(400, "bad_request", f"{name} is given more than once")
        else:
            given[name] = value
    try:
        return msgspec.convert(given, route.query)
    except msgspec.ValidationError as error:
        raise ApiError(400, "bad_request", _sentence(error)) from None


def read_body(route: ApiRoute, kind: str, raw: bytes) -> Asking | bytes:
    """Return what the body of a request says; none says what an empty object does.

    Raises:
        ApiError: when it is not JSON, is too large, or cannot be understood.
    """
    if route.takes:
        return raw
    if not raw:
        raw = b"{}"
    elif kind.partition(";")[0].strip().lower() != _JSON:
        # What a form of another web page can send is never JSON by its type.
        raise ApiError(415, "unsupported_media_type", f"send the body as {_JSON}")
    if len(raw) > _LARGEST_BODY:
        raise ApiError(413, "too_large", f"the body is larger than {_LARGEST_BODY:,} bytes")
    try:
        given = msgspec.json.decode(raw, type=dict[str, object])
        # JSON has one kind of number: 5.0 is a whole one.
        whole = {
            name: int(value) if isinstance(value, float) and value.is_integer() else value
            for name, value in given.items()
        }
        return msgspec.convert(whole, route.body)
    except msgspec.ValidationError as error:
        raise ApiError(400, "bad_request", _sentence(error)) from None
    except (ValueError, RecursionError):
        raise ApiError(400, "bad_request", "the body is not a JSON object") from None


@cache
def _kinds(query: type[Asking]) -> dict[str, types.Type]:
    """Return the parameters of a query, each with its type once it is given."""
    found = cast("types.StructType", types.type_info(query))
    return {each.encode_name: _given(each.type) for each in found.fields}


def _given(kind: types.Type) -> types.Type:
    if isinstance(kind, types.Metadata):
        return _given(kind.type)
    if isinstance(kind, types.UnionType):
        return next(_given(each) for each in kind.types if not isinstance(each, types.CustomType))
    return kind


def _sentence(error: msgspec.ValidationError) -> str:
    """Return what is wrong as a sentence that names the place."""
    words, _, place = str(error).partition(" - at `$.")
    named = place.rstrip("`")
    return f"{named}: {words[:1].lower()}{words[1:]}" if named else words
