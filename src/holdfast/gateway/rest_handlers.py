"""What each route of the REST interface does, on the store of one tenant.

A plain function reads or writes the store and runs on a thread for stores; a coroutine waits for
something else. What a verb changes is the session in which the one that was named goes on.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from msgspec import UNSET

from holdfast.agent_files.detection import AUTO, FoundFile, ReadOptions, examine
from holdfast.agent_files.files import begins_database
from holdfast.agent_files.finding import find_files
from holdfast.compaction.report import feedback
from holdfast.conversation.searching import SessionSearch
from holdfast.conversation.waiting import await_, in_store
from holdfast.deadline import in_thread
from holdfast.errors import SessionEnded, UnknownSession
from holdfast.formats.catalog import FORMATS
from holdfast.gateway import rest_models as models
from holdfast.gateway.api_route import ApiCall
from holdfast.gateway.tenants import ApiError
from holdfast.ports import Amendment
from holdfast.ports.store import Listing
from holdfast.recall.values import Asked, Discovery, Inside, Scope, Wrong, meant_sources, moment
from holdfast.session import latest_leaf
from holdfast.session.lineage_reader import said_until
from holdfast.system import SystemClock
from holdfast.transcript import Role
from holdfast.views.context_map import compaction_diff, ratio_of, weighed
from holdfast.views.inspection import WindowStep, session_details
from holdfast.views.messages import call_names, entry_fields, full_text, message_fields
from holdfast.views.search import search_json
from holdfast.views.sessions import (
    SessionFilter,
    compaction_fields,
    conversations,
    every_session,
    session_fields,
    store_figures,
)
from holdfast.views.timeline import lineage_tree
from holdfast.wire import DIALECTS
from holdfast.wiring import counter_of, policy_of
from holdfast.wiring.conversations import stored_conversation
from holdfast.wiring.import_job import ImportJob
from holdfast.wiring.resuming import settings_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from msgspec import UnsetType

    from holdfast.conversation import StoredConversation
    from holdfast.gateway.tenants import OpenTenant
    from holdfast.ports import Store
    from holdfast.session import Entry, Session
    from holdfast.transcript import Message
    from holdfast.views.inspection import SessionDetails

_N: TypeAlias = models.NothingAsked
_CLOCK = SystemClock()
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


def list_sessions(call: ApiCall[models.ListQuery, _N]) -> dict[str, object]:
    """List conversations, the one used last first."""
    asked = call.query
    wanted = Listing(
        sources=meant_sources(asked.source),
        since=_moment(asked.since),
        until=_moment(asked.until, end=True),
        title=asked.title,
        trashed=asked.trash,
        # One more than is shown says whether there is another page.
        limit=asked.limit + 1,
        offset=asked.offset,
    )
    only = SessionFilter(
        project=asked.project, branch=asked.branch, file=asked.file, model=asked.model
    )
    is_single = asked.every or asked.trash
    rows = (every_session if is_single else conversations)(call.tenant.store, wanted, only)
    return {
        "sessions": [row.as_json() for row in rows[: asked.limit]],
        "next_offset": asked.offset + asked.limit if len(rows) > asked.limit else None,
    }


def show_session(call: ApiCall[models.ShowQuery, _N]) -> dict[str, object]:
    """Show a session: its window, its compactions, its newest messages."""
    session = _found(call.tenant.store, call.id)
    shown = _details(call.tenant, session)
    is_all = call.query.scope == "all"
    entries = shown.window
    if is_all:
        entries = weighed(said_until(call.tenant.store, session.id), ratio_of(session))
    kept = entries[-call.query.limit :] if call.query.limit else ()
    return shown.as_json(kept, len(entries) - len(kept))


def list_messages(call: ApiCall[models.MessagesQuery, _N]) -> dict[str, object]:
    """List the messages of a session, the oldest first."""
    store, asked = call.tenant.store, call.query
    session = _found(store, call.id)
    is_all = asked.scope == "all"
    entries = said_until(store, session.id) if is_all else store.window(session.id).entries
    following = asked.offset + asked.limit
    shown = weighed(entries[asked.offset : following], ratio_of(session))
    return {
        "session": session.id,
        "messages": [
            _whole(store, each, each.message) if asked.text else message_fields(each)
            for each in shown
        ],
        "total": len(entries),
        "next_offset": following if len(entries) > following else None,
    }


def show_message(call: ApiCall[models.MessageQuery, _N]) -> dict[str, object]:
    """Show one message with all of its words."""
    store = call.tenant.store
    session = _found(store, call.id)
    (entry,) = weighed([_part_of(store, session, call.number("message"))], ratio_of(session))
    return _whole(store, entry, store.whole(entry.id) if call.query.whole else entry.message)


def show_window(call: ApiCall[models.WindowQuery, _N]) -> dict[str, object]:
    """Show what the model sees now, in the words of a provider; nothing is compacted for it."""
    shown = _details(call.tenant, _found(call.tenant.store, call.id))
    body = DIALECTS[call.query.format].encode(tuple(each.message for each in shown.window))
    return {
        "session": shown.session.id,
        "window": shown.window_json(),
        "entries": [message_fields(each) for each in shown.window],
        "format": call.query.format,
        "system": body.system,
        "messages": body.messages,
    }


def list_compactions(call: ApiCall[_N, _N]) -> dict[str, object]:
    """List the compactions of a session, the oldest first."""
    session = _found(call.tenant.store, call.id)
    found = call.tenant.store.compactions(session.id)
    return {"session": session.id, "compactions": [compaction_fields(each) for each in found]}


def show_compaction(call: ApiCall[_N, _N]) -> dict[str, object]:
    """Show what a compaction did to the window."""
    session, number = _found(call.tenant.store, call.id), call.number("number")
    redact = _conversation(call.tenant, session).live.deps.redact
    found = compaction_diff(call.tenant.store, session, number, redact)
    if found is None:
        raise UnknownSession(f"session {session.id} was never compacted")
    return found.as_json()


def show_lineage(call: ApiCall[models.LineageQuery, _N]) -> dict[str, object]:
    """Show the sessions that came from one another."""
    store = call.tenant.store
    return lineage_tree(store, _found(store, call.id), views=call.query.views).as_json()


def list_pins(call: ApiCall[_N, _N]) -> dict[str, object]:
    """List the messages that compactions keep word for word."""
    return _pins(call.tenant.store, _found(call.tenant.store, call.id))


def fork_session(call: ApiCall[_N, models.ForkBody]) -> dict[str, object]:
    """Begin a session that shares what was said so far, or up to a message."""
    store, body = call.tenant.store, call.body
    parent = _found(store, call.id)
    if body.at is not None:
        _part_of(store, parent, body.at)
    lineage = _conversation(call.tenant, parent).lineage
    child = lineage.branch(body.at, title=body.title.strip(), keep_parent=not body.end_parent)
    return {**session_fields(child), "messages": len(store.window(child.id).entries)}


async def compress_session(call: ApiCall[_N, models.CompressBody]) -> dict[str, object]:
    """Compact the window of a session now."""
    live = await in_store(lambda: _live(call))
    report = await await_(live.compactor.compact(call.body.focus or None))
    return {"session": live.id, "feedback": list(feedback(report)), **report.as_json()}


def rewind_session(call: ApiCall[_N, models.RewindBody]) -> dict[str, object]:
    """Take the last turns out of the window; undo brings them back.

    Not for a conversation that a client holds through the gateway: it sends all that it has, and
    its next request brings the turns back.
    """
    return _stepped(call, lambda live: bool(live.rewind(call.body.turns)))


def undo_step(call: ApiCall[_N, _N]) -> dict[str, object]:
    """Take the newest compaction or rewind back."""
    return _stepped(call, lambda live: live.undo())


def redo_step(call: ApiCall[_N, _N]) -> dict[str, object]:
    """Bring back what an undo took away."""
    return _stepped(call, lambda live: live.redo())


def set_goal(call: ApiCall[_N, models.GoalBody]) -> dict[str, object]:
    """Set the goal of a session, which is shown to the model; an empty one takes it away.

    A conversation that a client holds through the gateway shows it in the summary of its next
    compaction, since the client's own system prompt goes out.
    """
    session = call.tenant.store.amend(_leaf(call).id, Amendment(goal=call.body.goal.strip()))
    return {"session": session.id, "goal": session.goal}


def rename_session(call: ApiCall[_N, models.RenameBody]) -> dict[str, object]:
    """Give a session another title."""
    session = _found(call.tenant.store, call.id)
    amendment = Amendment(title=call.body.title.strip())
    return session_fields(call.tenant.store.amend(session.id, amendment))


def pin_message(call: ApiCall[_N, models.PinBody]) -> dict[str, object]:
    """Keep a message word for word in every compaction, or no longer."""
    session, body = _leaf(call), call.body
    _part_of(call.tenant.store, session, body.message)
    call.tenant.store.pin(session.id, body.message, pinned=body.pinned)
    return _pins(call.tenant.store, session)


def delete_session(call: ApiCall[models.DeleteQuery, _N]) -> dict[str, object]:
    """Put a session into the trash, out of lists and search."""
    ids = _chosen(call, trashed=False)
    call.tenant.store.trash(ids, _CLOCK.moment())
    return {"trashed": ids}


def restore_session(call: ApiCall[models.DeleteQuery, _N]) -> dict[str, object]:
    """Take a session out of the trash."""
    ids = _chosen(call, trashed=True)
    call.tenant.store.restore(ids)
    return {"restored": ids}


def search_sessions(call: ApiCall[models.SearchQuery, _N]) -> dict[str, object]:
    """Find what was ever said."""
    store, asked = call.tenant.store, call.query
    scope = Scope(
        roles=tuple(map(Role, asked.role)),
        sources=meant_sources(asked.source),
        since=_moment(asked.since),
        until=_moment(asked.until, end=True),
        models=tuple(asked.model),
        include_subagents=asked.subagents,
    )
    shape: Discovery | Inside
    if asked.session:
        shape = Inside(
            query=asked.q,
            session_id=_found(store, asked.session).id,
            scope=scope,
            limit=asked.limit,
            sort=asked.sort,
            offset=asked.offset,
        )
    else:
        shape = Discovery(
            query=asked.q, scope=scope, limit=asked.limit, sort=asked.sort, offset=asked.offset
        )
    # Without a way to open other profiles: they are other tenants'.
    found = SessionSearch(store, _CLOCK).look(Asked(shape, include_current=True))
    if isinstance(found, Wrong):
        return {"shape": "discovery", "query": asked.q, "results": [], "note": found.problem}
    return search_json(found, asked.limit)


def show_stats(call: ApiCall[_N, _N]) -> dict[str, object]:
    """Return what the store holds, in figures."""
    return store_figures(call.tenant.store)


async def import_session(call: ApiCall[models.ImportQuery, bytes]) -> dict[str, object]:
    """Import the session file that the body is."""
    # On a thread of its own: a large file takes long, and others want their stores meanwhile.
    return await in_thread(lambda: _imported(call), name="holdfast-import")


async def follow_events(call: ApiCall[models.EventsQuery, _N]) -> AsyncGenerator[bytes]:
    """Follow what changes, as server-sent events."""
    if call.query.session:
        await in_store(lambda: _found(call.tenant.store, call.query.session))
    return call.tenant.feed.follow(call.query.session)


def _imported(call: ApiCall[models.ImportQuery, bytes]) -> dict[str, object]:
    name, content = call.query.format, call.body
    if name not in (AUTO, *FORMATS):
        raise ApiError(400, "bad_request", f"there is no format {name[:40]!r}")
    if begins_database(content) or content.startswith(_PACKED):
        raise ApiError(
            415,
            "unsupported_media_type",
            "databases and packed files are not read here; send the text of a session file, or "
            "use `holdfast import` where the gateway runs",
        )
    with TemporaryDirectory(prefix="holdfast-") as folder:
        path = Path(folder) / "upload"
        path.write_bytes(content)
        (file,) = find_files([str(path)]).files
        look = examine(replace(file, alias="an upload"), ReadOptions(format=name))
        if not isinstance(look, FoundFile):
            raise ApiError(400, "bad_request", f"the body holds no session: {look.reason}")
        done = ImportJob(call.tenant.store, call.tenant.settings).take(look)
    return {
        "status": str(done.status),
        "format": done.found.guess.format,
        "sessions": [each for each in done.tally.sessions if each],
        "grown": list(done.tally.grown),
        "unchanged": list(done.tally.unchanged),
        "messages": done.tally.count.messages,
        "reason": done.reason.replace(folder, ""),
        "problems": [
            {"line": each.line, "reason": each.reason.replace(folder, "")}
            for each in done.tally.problems
        ],
    }


def _found(store: Store, id_: str, *, trashed: bool = False) -> Session:
    """Return a session by its whole id; one in the trash is found only where that is meant."""
    try:
        session = store.session(id_)
    except UnknownSession:
        raise UnknownSession(f"there is no session {id_[:40]!r}") from None
    if session.trashed is not None and not trashed:
        raise UnknownSession(f"session {id_} is in the trash; restore it first")
    return session


def _leaf(call: ApiCall[models.Asking, models.Asking]) -> Session:
    """Return the session in which the one that was named goes on."""
    store = call.tenant.store
    session = _found(store, call.id)
    leaf = latest_leaf(store.lineage(session.id), session.id)
    if leaf.trashed is not None:
        raise SessionEnded(f"it goes on in {leaf.id}, which is in the trash; restore that first")
    return leaf


def _conversation(tenant: OpenTenant, session: Session) -> StoredConversation:
    settings = settings_for(tenant.settings, session.model, session.context_length, {})
    return stored_conversation(settings, tenant.store, session)


def _live(call: ApiCall[models.Asking, models.Asking]) -> StoredConversation:
    return _conversation(call.tenant, _leaf(call))


def _stepped(
    call: ApiCall[models.Asking, models.Asking], step: Callable[[StoredConversation], bool]
) -> dict[str, object]:
    store, live = call.tenant.store, _live(call)
    before = store.window(live.id)
    is_done = step(live)
    after, ratio = store.window(live.id), ratio_of(live.session)
    return WindowStep(live.id, is_done, before, after, ratio).as_json()


def _details(tenant: OpenTenant, session: Session) -> SessionDetails:
    settings = settings_for(tenant.settings, session.model, session.context_length, {})
    return session_details(tenant.store, session, policy_of(settings), counter_of(settings))


def _part_of(store: Store, session: Session, message: int) -> Entry:
    """Return a message of the conversation; one of another is unknown here."""
    try:
        entry = store.entry(message)
        if store.session(entry.session).root == session.root:
            return entry
    except UnknownSession:
        pass
    raise UnknownSession(f"there is no message {message} in the conversation of {session.id}")


def _whole(store: Store, entry: Entry, message: Message) -> dict[str, object]:
    names = call_names(store, entry) if any(not each.name for each in message.results) else {}
    return {**message_fields(entry, message), "text": full_text(message, names)}


def _pins(store: Store, session: Session) -> dict[str, object]:
    kept = (store.entry(each) for each in sorted(store.pins(session.id)))
    found = weighed(kept, ratio_of(session))
    return {"session": session.id, "pins": [entry_fields(each) for each in found]}


def _chosen(call: ApiCall[models.DeleteQuery, _N], *, trashed: bool) -> list[str]:
    store = call.tenant.store
    session = _found(store, call.id, trashed=trashed)
    chosen = store.lineage(session.id) if call.query.lineage else (session,)
    return [each.id for each in chosen if (each.trashed is not None) == trashed]


def _moment(text: str | UnsetType, *, end: bool = False) -> int | None:
    """Return the milliseconds that a text means.

    Raises:
        ApiError: when it is no moment.
    """
    if text is UNSET:
        return None
    found = moment(text, datetime.now(UTC), end=end)
    if found is None:
        raise ApiError(
            400, "bad_request", f"{text[:40]!r} is no time; write 2026-11-15T09:30:00Z, or 7d"
        )
    zoned = found if found.tzinfo else found.replace(tzinfo=UTC)
    # By hand: the system's clock does not know every year.
    return (zoned - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
