"""`holdfast token`: who may use the gateway from other machines, and whose sessions they see."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from holdfast.cli.flags import json_flag, now_ms
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import Styled, screen, show_answer, show_json, table, tell
from holdfast.views.words import clock_time, iso_time

if TYPE_CHECKING:
    from holdfast.gateway.tokens import TokenFile


@click.group(
    "token",
    epilog=examples(
        "holdfast token add laptop --tenant default",
        "holdfast token list",
        "holdfast token revoke laptop",
    ),
)
def command() -> None:
    """Say who may use the gateway, and whose sessions they see.

    Each token is bound to a tenant, which is a profile: it has a store of its own, and settings of
    its own in the config.yaml of the profile's folder. As long as no token was ever added, the
    gateway serves this machine alone, without one.
    """


@command.command(
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


@command.command("list", epilog=examples("holdfast token list", "holdfast token list --json"))
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


@command.command(
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
