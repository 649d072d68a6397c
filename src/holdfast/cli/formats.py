"""`holdfast formats`: which files can be read and written, and what given files are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.cli.flags import json_flag
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import Line, Styled, screen, show_json, table
from holdfast.formats import FORMATS

if TYPE_CHECKING:
    from holdfast.agent_files.detection import Look

_UNKNOWN = "unknown"


@click.command(
    "formats",
    epilog=examples(
        "holdfast formats", "holdfast formats session.jsonl state.db", "holdfast formats --json"
    ),
)
@click.argument("files", nargs=-1, metavar="[FILE]...")
@json_flag
def command(files: tuple[str, ...], *, as_json: bool) -> Exit:
    """List the formats that can be read, or say what files are.

    The format of a file is recognized by its content; --format overrides that. A format that
    cannot be written is written as openai, or as --to says. With FILE, a folder, a pattern or - for
    standard input, each file is named with its format, how sure that is, from 0 to 1, and why. The
    exit code is then 1 when one of them cannot be read, and 3 when none is in a known format.
    """
    if files:
        # Imported only here: the list needs no file.
        from holdfast.agent_files.detection import FoundFile, ReadOptions, UnreadableFile, examine
        from holdfast.cli.files import named_files

        with named_files(files) as find:
            walk = find()
            looks = [examine(file, ReadOptions()) for file in walk.files]
        entries = [_fields(look) for look in looks]
        entries += (_unreadable(str(each.path), each.reason) for each in walk.refused)
        if as_json:
            show_json(entries)
        else:
            screen().show([_line(each) for each in entries])
        if walk.refused or any(isinstance(look, UnreadableFile) for look in looks):
            return Exit.FAILED
        return (
            Exit.DONE if any(isinstance(look, FoundFile) for look in looks) else Exit.NOTHING_TO_DO
        )
    if as_json:
        show_json(
            [
                {
                    "name": each.name,
                    "description": each.description,
                    "dialect": each.dialect,
                    "writable": each.writable,
                }
                for each in FORMATS.values()
            ]
        )
        return Exit.DONE
    rows = [("format", "reads", "writes", "what it is")]
    rows += [
        (each.name, "yes", "yes" if each.writable else "no", each.description)
        for each in FORMATS.values()
    ]
    view = screen()
    view.show(table(rows, view.width, right=frozenset()))
    return Exit.DONE


def _fields(look: Look) -> dict[str, object]:
    from holdfast.agent_files.detection import FoundFile

    if not isinstance(look, FoundFile):
        return _unreadable(look.file.shown, look.reason)
    return {
        "file": look.files[0].shown,
        "format": look.guess.format,
        "confidence": look.guess.confidence,
        "reason": look.guess.reason,
    }


def _unreadable(file: str, reason: str) -> dict[str, object]:
    return {"file": file, "format": None, "confidence": 0.0, "reason": reason}


def _line(entry: dict[str, object]) -> Line:
    file, name, reason = entry["file"], entry["format"], entry["reason"]
    if name is None:
        return (Styled(f"{file}: "), Styled(_UNKNOWN, "bold yellow"), Styled(f": {reason}"))
    sure = f" ({entry['confidence']:.1f}): {reason}"
    return (Styled(f"{file}: "), Styled(str(name), "bold green"), Styled(sure))
