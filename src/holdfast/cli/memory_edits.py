"""`holdfast memory add`, `replace` and `remove`: edits of the memory files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.commands import Exit, examples
from holdfast.cli.files import PIPE
from holdfast.cli.lines import Span
from holdfast.cli.memory_desk import OpenMemory, file_fields, target_flag, with_memory
from holdfast.cli.screen import Unusable, input_bytes, tell
from holdfast.memory import NOTEBOOKS, Add, Edited, Remove, Replace

if TYPE_CHECKING:
    from holdfast.memory import Edit

__all__ = ["add_command", "remove_command", "replace_command"]


@click.command(
    "add",
    epilog=examples(
        'holdfast memory add "The staging port is 8443"',
        'holdfast memory add --target user "Prefers short answers"',
        "git log -1 --format=%s | holdfast memory add -",
    ),
)
@click.argument("text")
@target_flag
@with_memory
def add_command(opened: OpenMemory, text: str, *, target: str) -> Exit:
    """Remember something in every session to come.

    TEXT is one fact in a sentence or two, or - for standard input. Secrets are masked. The exit
    code is 3 when it is remembered already.
    """
    return _edit(opened, Add(target, _text(text)))


@click.command(
    "replace",
    epilog=examples('holdfast memory replace 8443 "The staging port is 9443 since the move"'),
)
@click.argument("old")
@click.argument("text")
@target_flag
@with_memory
def replace_command(opened: OpenMemory, old: str, text: str, *, target: str) -> Exit:
    """Put another entry in the place of one.

    OLD is a piece of text that only one entry has. TEXT is the whole entry that takes its place, or
    - for standard input.
    """
    return _edit(opened, Replace(target, old, _text(text)))


@click.command(
    "remove",
    epilog=examples(
        'holdfast memory remove "staging port"',
        'holdfast memory remove --target user "short answers"',
    ),
)
@click.argument("old")
@target_flag
@with_memory
def remove_command(opened: OpenMemory, old: str, *, target: str) -> Exit:
    """Forget an entry.

    OLD is a piece of text that only one entry has.
    """
    return _edit(opened, Remove(target, old))


def _edit(opened: OpenMemory, edit: Edit) -> Exit:
    edition = opened.files.edit(edit)
    is_done = isinstance(edition, Edited)
    if not is_done and not opened.as_json:
        tell(edition.words)
        return Exit.NOTHING_TO_DO
    fields = file_fields(opened, NOTEBOOKS[edit.target], edition.entries)
    opened.answer(
        {"done": is_done, "message": edition.words, **fields},
        lambda _: [(Span(edition.words),)],
    )
    return Exit.DONE if is_done else Exit.NOTHING_TO_DO


def _text(given: str) -> str:
    if given != PIPE:
        return given
    try:
        return input_bytes().read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unusable(f"standard input is not UTF-8 text (byte {error.start})") from None
