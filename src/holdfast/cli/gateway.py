"""`holdfast gateway` and `holdfast token`: what the gateway decides and why, and who may use it."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from holdfast.cli.flags import json_flag, now_ms
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import Line, Styled, screen, show_answer, show_json, table, tell
from holdfast.views.words import clock_time, counted, iso_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.cli.screen import OutputScreen
    from holdfast.gateway.replay import Decision
    from holdfast.gateway.tokens import TokenFile


@click.group("gateway", epilog=examples("holdfast gateway explain recording.jsonl"))
def command() -> None:
    """Ask what the gateway decides, and why."""


@command.command(
    "explain",
    epilog=examples(
        "holdfast gateway explain request.json",
        "holdfast gateway explain recording.jsonl --json",
    ),
)
@click.argument("file", metavar="FILE")
@json_flag
def explained(*, file: str, as_json: bool) -> None:
    """Say which conversation each request of a recording belongs to, and why.

    FILE is one request, {"path": "/v1/messages", "headers": {...}, "body": {...}}, or a body with
    its "path" in it, or a recording with one such request a line; - reads standard input. The
    requests are taken in their order, as if a new gateway had seen them; nothing is stored.
    """
    # Imported only here: tokens need no reader of files.
    from holdfast.cli.files import about, read_input
    from holdfast.gateway.replay import NoRecording, read_recording, replay

    given = read_input(file)
    with about(given.name):
        try:
            text = given.content.decode("utf-8-sig")
        except UnicodeError:
            raise NoRecording("it is no text; a recording of requests is wanted") from None
        requests, others = read_recording(text)
        if not requests:
            raise NoRecording(f"none of its {others:,} requests is one to a model")
    decisions = [*replay(requests)]
    rows = [
        {**asdict(each), "how": str(each.how), "new": dict(Counter(each.new))} for each in decisions
    ]
    answer = {"requests": rows, "others": others}
    show_answer(answer, lambda view: _drawn(decisions, others, view), as_json=as_json)


def _drawn(decisions: Sequence[Decision], others: int, view: OutputScreen) -> list[Line]:
    heading = ("request", "conversation", "how", "known", "new", "why")
    rows: list[tuple[str, ...]] = []
    for each in decisions:
        how = f"{each.how} of {each.origin}" if each.origin else str(each.how)
        how += f" after {each.follows}" if each.follows else ""
        new = ", ".join(f"{count} {kind}" for kind, count in Counter(each.new).items())
        rows.append((each.label, each.conversation, how, f"{each.known:,}", new or "-", each.why))
    # In a pipe nothing is cropped: the reason is the last column.
    width = view.width if view.colored else None
    began = len({each.conversation for each in decisions})
    asked = counted(len(decisions), "request")
    total = f"{asked}, {counted(began, 'conversation')}, side calls included"
    if others:
        total += f"; {counted(others, 'other')} that asked no model, or without a body"
    return [*table([heading, *rows], width, right=frozenset({3})), (), (Styled(f"  {total}"),)]


@click.group(
    "token",
    epilog=examples(
        "holdfast token add laptop --tenant default",
        "holdfast token list",
        "holdfast token revoke laptop",
    ),
)
def token_command() -> None:
    """Say who may use the gateway, and whose sessions they see.

    Each token is bound to a tenant, which is a profile: it has a store of its own, and settings of
    its own in the config.yaml of the profile's folder. As long as no token was ever added, the
    gateway serves this machine alone, without one.
    """


@token_command.command(
    "add",
    epilog=examples(
        "holdfast token add alice", "holdfast token add laptop --tenant default --json"
    ),
)
@click.argument("name")
@click.option(
    "--tenant", metavar="NAME", help="Whose sessions it opens; by default the token's own name."
)
@json_flag
def added(name: str, tenant: str | None, *, as_json: bool) -> None:
    """Add a token, and show it this once.

    A client sends it as its API key, or beside its own as X-Holdfast-Token. The profile that
    commands use is called default. From the first token on, every request needs one.
    """
    owner = tenant or name
    secret = _tokens().add(name, owner, now_ms())
    if not as_json:
        tell(f"token {name} opens the sessions of {owner}; it is not shown again:")
    fields = {"name": name, "tenant": owner, "token": secret}
    show_answer(fields, lambda _: [(Styled(secret),)], as_json=as_json)


@token_command.command("list", epilog=examples("holdfast token list", "holdfast token list --json"))
@json_flag
def listed(*, as_json: bool) -> Exit:
    """List the tokens, also those that were revoked; what they are is not known here."""
    tokens = _tokens().tokens()
    if as_json:
        show_json(
            [
                {
                    "name": each.name,
                    "tenant": each.tenant,
                    "created": iso_time(each.created),
                    "revoked": iso_time(each.revoked),
                }
                for each in tokens
            ]
        )
        return Exit.DONE
    if not tokens:
        tell("there are no tokens; the gateway serves this machine alone")
        return Exit.NOTHING_TO_DO
    rows = [("name", "tenant", "added", "state")]
    for each in tokens:
        state = "active" if each.revoked is None else f"revoked {clock_time(each.revoked)}"
        rows.append((each.name, each.tenant, clock_time(each.created), state))
    view = screen()
    view.show(table(rows, view.width, right=frozenset()))
    return Exit.DONE


@token_command.command(
    "revoke", epilog=examples("holdfast token revoke laptop", "holdfast token revoke laptop --json")
)
@click.argument("name")
@json_flag
def revoked(name: str, *, as_json: bool) -> Exit:
    """Let a token open nothing any more, at once.

    The sessions of its tenant stay. A gateway whose tokens are all revoked lets nobody in. The
    exit code is 3 when there is no such token.
    """
    is_done = _tokens().revoke(name, now_ms())
    if as_json:
        show_json({"name": name, "revoked": is_done})
    else:
        tell(f"token {name} is revoked" if is_done else f"there is no token {name} to revoke")
    return Exit.DONE if is_done else Exit.NOTHING_TO_DO


def _tokens() -> TokenFile:
    # Imported only here, so that help does not wait for it.
    from holdfast.gateway.tokens import token_file

    return token_file(os.environ)
