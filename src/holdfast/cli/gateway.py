"""`holdfast gateway`: what the gateway decides, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from holdfast.cli.files import about, read_input
from holdfast.cli.flags import json_flag
from holdfast.cli.root import examples
from holdfast.cli.screen import Line, Styled, show_answer, table
from holdfast.views.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.cli.screen import OutputScreen
    from holdfast.gateway.replay import Decision


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
