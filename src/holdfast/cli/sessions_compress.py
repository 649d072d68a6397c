"""`holdfast sessions compress`: a compaction of a stored session, because somebody asked."""

from __future__ import annotations

import click

from holdfast.cli.desk import Desk, at_desk, session_argument
from holdfast.cli.examples import examples
from holdfast.cli.exits import Exit
from holdfast.cli.finding import find_leaf
from holdfast.cli.flags import setting_flags, summarizer_flag
from holdfast.cli.lines import Line, Span
from holdfast.cli.screen import silence_log
from holdfast.compaction.report import feedback
from holdfast.wiring.conversations import stored_conversation

__all__ = ["compress_command"]

_ENDS = {"unchanged": Exit.NOTHING_TO_DO, "abandoned": Exit.FAILED}
_STYLES = {"unchanged": "bold yellow", "abandoned": "bold red"}


@click.command(
    "compress",
    epilog=examples(
        "holdfast sessions compress last",
        'holdfast sessions compress 20261116_0930 --focus "the billing bug"',
    ),
)
@session_argument
@click.option("--focus", default="", metavar="TEXT", help="What deserves most of the record.")
@setting_flags
@summarizer_flag
@at_desk
def compress_command(desk: Desk, name: str, *, focus: str) -> Exit:
    """Compact the window of a stored session now.

    The record is written by the configured model, or without one. sessions diff shows what went,
    sessions undo takes it back. The exit code is 3 when there was nothing to do.
    """
    silence_log("holdfast.engines")
    session = find_leaf(desk.store, name)
    live = stored_conversation(desk.settings, desk.store, session)
    report = live.compress(focus)
    told = feedback(report)
    value = {"session": live.id, "feedback": list(told), **report.as_json()}
    desk.answer(value, lambda _: _drawn(told, report.outcome, session.id, live.id))
    return _ENDS.get(report.outcome, Exit.DONE)


def _drawn(told: tuple[str, ...], outcome: str, old: str, current: str) -> list[Line]:
    first, *rest = told
    lines: list[Line] = [(Span(first, _STYLES.get(outcome, "bold green")),)]
    lines += [(Span(each, "yellow" if each.startswith("Warning") else ""),) for each in rest]
    if current != old:
        lines.append((Span(f"The conversation goes on in session {current}."),))
    return lines
