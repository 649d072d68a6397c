"""The REST interface: stored conversations of a tenant, listed, shown, searched and changed.

One table of routes serves requests and writes the OpenAPI document. Answers are the JSON that the
command line prints for the same question.
"""

from __future__ import annotations

import inspect
import json
import logging
import math
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from holdfast import __version__
from holdfast.conversation.waiting import in_store
from holdfast.errors import (
    ConfigError,
    Conflict,
    HoldfastError,
    InvalidTranscript,
    SessionEnded,
    StoreBusy,
    UnknownSession,
)
from holdfast.gateway import rest_handlers as handlers
from holdfast.gateway import rest_models as models
from holdfast.gateway.api_route import ApiCall, ApiRoute, read_body, read_query
from holdfast.gateway.gate import TenantGate, api_error_body, audit_log
from holdfast.gateway.openapi import openapi_document
from holdfast.gateway.tenants import ADMITTED, ApiError, ShutTenant, unopened

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence

    from starlette.types import Receive, Scope, Send

    from holdfast.gateway.tenants import Tenants

VERSION = __version__

_LOG = logging.getLogger("holdfast.gateway")
_SESSION = "/api/sessions/{id}"


def describe_interface(_: ApiCall[models.NothingAsked, models.NothingAsked]) -> dict[str, object]:
    """Return the OpenAPI document of this interface."""
    return openapi_document(ROUTES, VERSION)


ROUTES: tuple[ApiRoute, ...] = (
    ApiRoute(
        "GET",
        "/api/sessions",
        handlers.list_sessions,
        models.SessionList,
        query=models.ListQuery,
    ),
    ApiRoute(
        "GET",
        _SESSION,
        handlers.show_session,
        models.SessionDetailFields,
        query=models.ShowQuery,
    ),
    ApiRoute(
        "DELETE",
        _SESSION,
        handlers.delete_session,
        models.TrashedFields,
        query=models.DeleteQuery,
    ),
    ApiRoute(
        "GET",
        f"{_SESSION}/messages",
        handlers.list_messages,
        models.MessagePage,
        query=models.MessagesQuery,
    ),
    ApiRoute(
        "GET",
        f"{_SESSION}/messages/{{message}}",
        handlers.show_message,
        models.WholeMessageFields,
        query=models.MessageQuery,
    ),
    ApiRoute(
        "GET",
        f"{_SESSION}/window",
        handlers.show_window,
        models.WindowFields,
        query=models.WindowQuery,
    ),
    ApiRoute("GET", f"{_SESSION}/compactions", handlers.list_compactions, models.CompactionList),
    ApiRoute(
        "GET",
        f"{_SESSION}/compactions/{{number}}",
        handlers.show_compaction,
        models.DiffFields,
    ),
    ApiRoute(
        "GET",
        f"{_SESSION}/lineage",
        handlers.show_lineage,
        models.LineageFields,
        query=models.LineageQuery,
    ),
    ApiRoute("GET", f"{_SESSION}/pin", handlers.list_pins, models.PinFields),
    ApiRoute(
        "POST",
        f"{_SESSION}/fork",
        handlers.fork_session,
        models.ForkFields,
        body=models.ForkBody,
        status=201,
    ),
    ApiRoute(
        "POST",
        f"{_SESSION}/compress",
        handlers.compress_session,
        models.CompactionReportFields,
        body=models.CompressBody,
    ),
    ApiRoute(
        "POST",
        f"{_SESSION}/rewind",
        handlers.rewind_session,
        models.StepFields,
        body=models.RewindBody,
    ),
    ApiRoute("POST", f"{_SESSION}/undo", handlers.undo_step, models.StepFields),
    ApiRoute("POST", f"{_SESSION}/redo", handlers.redo_step, models.StepFields),
    ApiRoute(
        "POST",
        f"{_SESSION}/goal",
        handlers.set_goal,
        models.GoalFields,
        body=models.GoalBody,
    ),
    ApiRoute(
        "POST",
        f"{_SESSION}/rename",
        handlers.rename_session,
        models.SessionFields,
        body=models.RenameBody,
    ),
    ApiRoute(
        "POST", f"{_SESSION}/pin", handlers.pin_message, models.PinFields, body=models.PinBody
    ),
    ApiRoute(
        "POST",
        f"{_SESSION}/restore",
        handlers.restore_session,
        models.RestoredFields,
        query=models.DeleteQuery,
    ),
    ApiRoute(
        "GET",
        "/api/search",
        handlers.search_sessions,
        models.SearchFields,
        query=models.SearchQuery,
    ),
    ApiRoute("GET", "/api/stats", handlers.show_stats, models.StatsFields),
    ApiRoute(
        "POST",
        "/api/import",
        handlers.import_session,
        models.ImportFields,
        query=models.ImportQuery,
        takes="application/octet-stream",
    ),
    ApiRoute(
        "GET",
        "/api/events",
        handlers.follow_events,
        str,
        query=models.EventsQuery,
        gives="text/event-stream",
    ),
    ApiRoute("GET", "/api/openapi.json", describe_interface, dict[str, Any]),
)


def rest_routes(tenants: Tenants) -> list[Route]:
    """Return the routes of the interface, each behind the gate; what is unknown below is 404."""
    by_path: dict[str, dict[str, ApiRoute]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = route
    audit = audit_log(tenants.environ)
    found = [
        Route(path, TenantGate(_Resource(methods), tenants, audit))
        for path, methods in by_path.items()
    ]
    unknown = TenantGate(_Resource({}), tenants, audit)
    return [*found, Route("/api", unknown), Route("/api/{rest:path}", unknown)]


class _Resource:
    """What answers requests to one path, by their methods."""

    def __init__(self, methods: Mapping[str, ApiRoute]) -> None:
        self._methods = methods

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            answer = await self._answer(Request(scope, receive))
        except ApiError as error:
            answer = _refusal(error, self._methods)
        except Exception as error:  # noqa: BLE001 - the outermost edge
            if (known := _explained(error)) is None:
                # A client gets a sentence, and the log the rest.
                _LOG.exception("%s failed", scope["method"])
                known = ApiError(500, "internal", "the gateway failed; its log says where")
            answer = _refusal(known, self._methods)
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        if not self._methods:
            raise ApiError(404, "not_found", "there is no such path; see /api/openapi.json")
        if (route := self._methods.get(method)) is None:
            allowed = ", ".join(self._methods)
            raise ApiError(405, "method_not_allowed", f"{allowed} can be asked for here")
        admission = ADMITTED.get()
        assert admission is not None, "the gate stands before every route"
        if isinstance(admission.tenant, ShutTenant):
            raise unopened()
        call = ApiCall(
            tenant=admission.tenant,
            path=cast("dict[str, str]", request.path_params),
            query=read_query(route, request.query_params.multi_items()),
            body=read_body(route, request.headers.get("content-type", ""), await request.body()),
        )
        if route.gives and request.method == "HEAD":
            return Response(media_type=route.gives)
        if route.gives:
            # It is told whom to follow before its stream begins, so that it can be refused.
            events = await cast("Awaitable[AsyncIterator[bytes]]", route.handle(call))
            return StreamingResponse(
                events, headers={"cache-control": "no-store"}, media_type=route.gives
            )
        if inspect.iscoroutinefunction(route.handle):
            value = await route.handle(call)
        else:
            value = await in_store(partial(route.handle, call))
        if route.method != "GET":
            call.tenant.feed.nudge()
        answer = Response(_written(value), route.status, media_type="application/json")
        answer.headers["cache-control"] = "no-store"
        if "id" in call.path and call.path["id"].isascii() and call.path["id"].isprintable():
            answer.headers["x-holdfast-session"] = call.path["id"]
        return answer


def _refusal(error: ApiError, methods: Sequence[str] | Mapping[str, object]) -> Response:
    headers: dict[str, str] = {"cache-control": "no-store"}
    if error.status == 405:
        headers["allow"] = ", ".join(methods)
    if error.retry_after:
        headers["retry-after"] = str(error.retry_after)
    return Response(api_error_body("", error), error.status, headers, "application/json")


def _explained(error: Exception) -> ApiError | None:
    """Return what an error of ours means to a client; None for what only the log may know.

    Errors of a store as a whole name files, which are for whoever runs the gateway.
    """
    match error:
        case UnknownSession():
            return ApiError(404, "not_found", str(error))
        case SessionEnded() | Conflict():
            return ApiError(409, "conflict", str(error))
        case StoreBusy():
            return ApiError(503, "busy", "the store is busy; try again", retry_after=1)
        case ConfigError() | InvalidTranscript():
            return ApiError(400, "bad_request", str(error))
        case HoldfastError():
            _LOG.error("%s", error)
            return ApiError(503, "unavailable", "this cannot be done now; the log says why")
        case _:
            return None


def _written(value: object) -> bytes:
    """Return a value as JSON that every client reads: no numbers that JSON does not have."""
    try:
        return json.dumps(value, allow_nan=False).encode()
    except ValueError:
        return json.dumps(_finite(value), allow_nan=False).encode()


def _finite(value: object) -> object:
    match value:
        case float() if not math.isfinite(value):
            return None
        case dict():
            return {name: _finite(each) for name, each in cast("dict[str, object]", value).items()}
        case list() | tuple():
            return [_finite(each) for each in cast("Sequence[object]", value)]
        case _:
            return value
