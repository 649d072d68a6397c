"""`holdfast search`: finds what was ever said, in every stored conversation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypedDict, get_args

import click

from holdfast.cli.flags import (
    configuration,
    json_flag,
    now_ms,
    place_flags,
    read_moment,
    source_flag,
    store_flags,
)
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import Styled, screen, show_json, tell
from holdfast.cli.store import NoSessions, opened_store
from holdfast.recall.values import Asked, Discovery, Inside, Scope, Sort, Wrong, meant_sources
from holdfast.transcript import Role
from holdfast.views.words import cells, clean, clock_time, crop, shortly_ago

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from holdfast.cli.screen import Line, OutputScreen
    from holdfast.cli.store import OpenStore
    from holdfast.recall.shapes import Result

_ROLES = [role.value for role in Role]
_PIECE = re.compile(r"\s+|\S+")
_INDENT = "    "
_MATCH = "bold yellow"
_PARTIAL = "only some of the words:"


class _Options(TypedDict):
    query: tuple[str, ...]
    limit: int
    sources: tuple[str, ...]
    roles: tuple[str, ...]
    since: int | None
    until: int | None
    session: str | None
    models: tuple[str, ...]
    project: str
    branch: str
    file: str
    sort: Sort
    offset: int
    all_sources: bool


@click.command(
    "search",
    epilog=examples(
        "holdfast search billing port",
        "holdfast search '\"connection refused\" OR timeout' --since 7d --role tool",
        "holdfast search src/main.py --sort newest --limit 3 --json",
        "holdfast search --session last which port did we choose for billing",
    ),
)
@click.argument("query", nargs=-1, required=True)
@click.option(
    "--limit",
    type=click.IntRange(min=1, max=1_000),
    default=10,
    show_default=True,
    metavar="N",
    help="How many results at most.",
)
@click.option(
    "--offset", type=click.IntRange(min=0), default=0, metavar="N", help="Skip the first N results."
)
@source_flag
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(_ROLES, case_sensitive=False),
    metavar="R",
    help=f"Only what these said: {', '.join(_ROLES)}.",
)
@click.option("--since", metavar="T", callback=read_moment(), help="Said at this time or later.")
@click.option(
    "--until", metavar="T", callback=read_moment(end=True), help="Said at this time or earlier."
)
@click.option("--session", metavar="ID", help="Passages of one conversation; last is the last.")
@place_flags
@click.option(
    "--model", "models", multiple=True, metavar="M", help="Only models whose name holds this."
)
@click.option(
    "--sort",
    type=click.Choice(get_args(Sort)),
    default="relevance",
    show_default=True,
    help="What comes first.",
)
@click.option("--all-sources", is_flag=True, help="Look into sub-agents and tools as well.")
@store_flags
@json_flag
def command(*, as_json: bool, **options: Unpack[_Options]) -> Exit:
    """Find what was said in stored conversations.

    Each conversation is listed once, with its best match; with --session, what was said in that
    one is quoted, the passages first that answer best. What a compaction took out of a window is
    found like everything else. What sub-agents said is found with --all-sources, with --source,
    or in the --session that sent them. --role user means what somebody typed: no summary, and
    nothing that an agent wrote in the user's name. QUERY is words, "a phrase", prefix*, AND, OR,
    NOT, -word and parentheses; any other punctuation is safe. T is a time such as 2026-11-15, 7d,
    12h or yesterday. The exit code is 3 when nothing was found.
    """
    query = " ".join(options["query"])
    try:
        settings = configuration(options).settings
        with opened_store(settings, as_json=as_json) as opened:
            # Imported only here, so that help does not wait for it.
            from holdfast.views.search import search_hits, search_json
            from holdfast.views.sessions import find_session
            from holdfast.wiring.searching import search_in

            named = options["session"]
            ids = _narrowed(opened, options)
            if ids == ():
                return _none("no session is like that", query, as_json=as_json)
            scope = Scope(
                roles=tuple(map(Role, options["roles"])),
                sources=meant_sources(options["sources"]),
                since=options["since"],
                until=options["until"],
                sessions=ids or (),
                include_subagents=options["all_sources"],
            )
            limit, offset, sort = options["limit"], options["offset"], options["sort"]
            shape: Discovery | Inside
            if named:
                id_ = find_session(opened.store, named).id
                shape = Inside(
                    query=query, session_id=id_, scope=scope, limit=limit, sort=sort, offset=offset
                )
            else:
                shape = Discovery(query=query, scope=scope, limit=limit, sort=sort, offset=offset)
            found = search_in(opened.store).look(Asked(shape, include_current=True))
            if isinstance(found, Wrong):
                return _none(found.problem, query, as_json=as_json)
            if not search_hits(found):
                hint = _hint(opened, options, is_narrowed=ids is not None)
                return _none(hint, query, as_json=as_json)
            if as_json:
                show_json(search_json(found, limit))
            else:
                view = screen()
                view.show(hits_drawn(found, view, now_ms(), is_within=named is not None))
            return Exit.DONE
    except NoSessions as absence:
        return _none(str(absence), query, as_json=as_json)


def _narrowed(opened: OpenStore, options: _Options) -> tuple[str, ...] | None:
    """Return the ids of the sessions that the flags about sessions mean; None for all."""
    from holdfast.views.sessions import EVERYTHING, SessionFilter, admitted, folder_meant

    filters = [
        SessionFilter(
            project=folder_meant(options["project"]),
            branch=options["branch"],
            file=options["file"],
            model=model,
        )
        for model in options["models"] or ("",)
    ]
    return None if EVERYTHING in filters else admitted(opened.store, filters)


def _hint(opened: OpenStore, options: _Options, *, is_narrowed: bool) -> str:
    """Return what to try where nothing was found."""
    from holdfast.views.sessions import unknown_sources

    narrowing = ("sources", "roles", "since", "until", "session")
    if unknown := unknown_sources(opened.store, options["sources"]):
        return unknown
    if is_narrowed or any(options[each] for each in narrowing):
        return "nothing was found that is like that; try without some of the flags"
    return (
        f"nothing was found in {opened.store.name}; try fewer or other words, or part* "
        "for the beginning of one"
    )


def _none(reason: str, query: str, *, as_json: bool) -> Exit:
    """Say that nothing was found, and why if that is known."""
    if as_json:
        show_json({"shape": "discovery", "query": query, "results": [], "note": reason})
    else:
        tell(reason)
    return Exit.NOTHING_TO_DO


def hits_drawn(found: Result, view: OutputScreen, now: int, *, is_within: bool) -> list[Line]:
    """Return the results, a blank line between them.

    Args:
        view: Where it is drawn; without colors the matches keep their marks.
        is_within: Whether all of it is from one conversation, which is then named once.
    """
    from holdfast.views.search import search_hits

    lines: list[Line] = []
    for number, hit in enumerate(search_hits(found)):
        lines += [()] if number else []
        if not (is_within and number):
            lines.append((Styled(crop(clean(hit.title), view.width), "bold"),))
        # Where and when it was said; what is known best to others comes last and is cut.
        known = [clock_time(hit.at), f"message {hit.message}", hit.agent, hit.speaker]
        rest = "".join(f"  {words}" for words in known if words)
        id_ = f"  {hit.session}"
        room = max(view.width - cells(id_), 1)
        since = f"  {shortly_ago(hit.at, now)}"
        rest += since if cells(rest + since) <= room else ""
        lines.append((Styled(id_, "cyan"), Styled(crop(clean(rest), room), "dim")))
        lines += [(Styled(_INDENT + _PARTIAL, "dim"),)] if hit.is_partial else []
        for line in hit.snippet.split("\n"):
            lines += _wrapped(line, view)
    return lines


def _wrapped(snippet: str, view: OutputScreen) -> list[Line]:
    """Return the words in lines that fit; a word that does not fit a line is cropped.

    Lines break between words only: a match stays together with its marks and with the rest of the
    word that it stands in, if a line can hold that.
    """
    room = view.width - len(_INDENT)
    lines: list[list[Styled]] = [[Styled(_INDENT)]]
    used = 0
    for pieces in _words(snippet, room, is_colored=view.colored):
        width = sum(cells(piece.text) for piece in pieces)
        if used + width > room:
            lines.append([Styled(_INDENT)])
            used = 0
        if used or not pieces[0].text.isspace():
            lines[-1] += pieces
            used += width
    return [tuple(line) for line in lines]


def _words(snippet: str, room: int, *, is_colored: bool) -> Iterator[list[Styled]]:
    """Return what no line break may part: words with the matches in them, and what is between."""
    from holdfast.views.search import SearchHit

    word: list[Styled] = []
    for part, is_match in SearchHit.pieces(clean(snippet)):
        match_shown = Styled(part if is_colored else f">>>{part}<<<", _MATCH)
        for piece in [match_shown] if is_match else map(Styled, _PIECE.findall(part)):
            if piece.text.isspace() or (word and word[-1].text.isspace()):
                yield from _fitting(word, room)
                word = []
            word.append(piece)
    yield from _fitting(word, room)


def _fitting(word: list[Styled], room: int) -> Iterator[list[Styled]]:
    if sum(cells(piece.text) for piece in word) <= room:
        yield from [word] if word else []
        return
    for piece in word:
        for part in _PIECE.findall(piece.text):
            yield [Styled(crop(part, room), piece.style)]
