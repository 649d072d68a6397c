"""`holdfast sample`: what the product does, on a session that comes with it.

Also run as `python -m holdfast.cli.sample`. The session was written for this purpose: an agent
moves a billing service onto one retry policy, over more than two hundred messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

import click

from holdfast.cli.compress import figures
from holdfast.cli.files import write_output
from holdfast.cli.inspect import MapScale, legend, window_bar
from holdfast.cli.root import Exit, as_typed, examples
from holdfast.cli.screen import Styled, screen, show_json, wrapped
from holdfast.config import Settings
from holdfast.config.settings import ModelSettings
from holdfast.formats import read
from holdfast.summary import read_checkpoint
from holdfast.tokens import Scale
from holdfast.transcript import one_line
from holdfast.views.context_map import context_map
from holdfast.views.messages import record_sections
from holdfast.views.words import counted, crop
from holdfast.wiring import engine_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.screen import Line, OutputScreen
    from holdfast.compaction import CompactionReport, Policy
    from holdfast.transcript import Transcript

_WINDOW = 40_000
"""A small window, so that the session is due: agents fill one of 200,000 the same way."""
_CHANGES = ("EDITED ", "WROTE ", "COMMITTED ")
"""How lines of an entry begin that tell what was changed."""
_ENTRIES = 4
"""How many entries of a section are shown when not everything is."""
_FIRST, _LAST = 2, 1
"""How many lines of an entry are shown then: the ask, what was done first, how it ended."""
_ROWS = 2
"""How many rows of the screen such a line may take."""
_MARGIN = "    "
_BEGINNING, _END = 3, 4
"""How many messages of the window are shown from its ends."""
_MORE = "holdfast sample --full"
_ON_OWN_FILES = {
    "holdfast compress session.json": "does the same with a session of yours",
    "holdfast import": "brings in the sessions of your agents",
}
_WAYS_ON = {_MORE: "shows the whole record", **_ON_OWN_FILES}
"""What to do next, shown at the end."""


@click.command(
    "sample",
    epilog=examples(
        "holdfast sample", "holdfast sample --full | less", "holdfast sample -o session.json"
    ),
)
@click.option("--full", is_flag=True, help="Show the whole record.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "-o", "--output", metavar="FILE", help="Write the session itself, to try other commands on."
)
def command(*, full: bool, as_json: bool, output: str | None) -> Exit:
    """Compact a bundled session, and show what happened.

    The session is that of an agent at work on a billing service. No model is asked and no
    setting is read, so the result is the same everywhere.
    """
    if output is not None:
        write_output(output, _content())
        return Exit.DONE
    engine = engine_of(Settings(model=ModelSettings(context_length=_WINDOW)))
    before = sample_session()
    report = engine.compact(before)
    if as_json:
        show_json(report.as_json())
        return Exit.DONE
    view = screen()
    view.show(sample_drawn(SampleRun(before, report, engine.policy), view, full=full))
    return Exit.DONE


def sample_session() -> Transcript:
    """Return the bundled session."""
    return read(_content(), format="openai").transcript


def _content() -> bytes:
    return files("holdfast.cli").joinpath("sample_session.json").read_bytes()


@dataclass(frozen=True, slots=True)
class SampleRun:
    """A compaction to be shown."""

    before: Transcript
    report: CompactionReport
    policy: Policy


def sample_drawn(showing: SampleRun, view: OutputScreen, *, full: bool = False) -> list[Line]:
    """Return everything that is shown."""
    after = showing.report.result.transcript
    policy = showing.policy
    scale = MapScale(policy.context_length, policy.threshold_tokens, view.width, view.colored)
    lines: list[Line] = [*_map("before", showing.before, scale), *_map("after", after, scale)]
    lines += [*_record(after, view.width, full=full), ()]
    lines += [(Styled("what the model sees now", "bold"),), *_shape(after, view.width), ()]
    lines += [(Styled("what happened", "bold"),), *figures(showing.report, view.width), ()]
    lines += [
        (Styled(f"  {as_typed(command):<32}", "cyan"), Styled(f" {about}"))
        for command, about in (_ON_OWN_FILES if full else _WAYS_ON).items()
    ]
    return lines


def _map(label: str, transcript: Transcript, scale: MapScale) -> Iterator[Line]:
    usage = context_map(transcript, Scale())
    yield (
        Styled(label, "bold"),
        Styled(f": {counted(len(transcript), 'message')}, {counted(usage.tokens, 'token')}"),
        Styled(f", {usage.tokens / scale.window:.0%} of a window of {scale.window:,}"),
    )
    yield from window_bar(usage, scale)
    yield from legend(usage, scale)
    yield ()


def _record(after: Transcript, width: int, *, full: bool) -> Iterator[Line]:
    """Yield the record that stands for what was folded, section by section."""
    summary = next((message.summary for message in after if message.summary), None)
    if summary is None:
        return
    rest = "" if full else " (in part)"
    yield (Styled("the record", "bold green"), Styled(f" that stands for what was folded{rest}"))
    for heading, entries in record_sections(read_checkpoint(summary.text)):
        yield (Styled(f"  {heading}", "green"),)
        shown = entries if full else entries[-_ENTRIES:]
        if len(shown) < len(entries):
            yield (Styled(f"{_MARGIN}... {len(entries) - len(shown):,} before these", "dim"),)
        for entry in shown:
            yield from (_whole if full else brief)(entry, width)


def _whole(entry: str, width: int) -> Iterator[Line]:
    """Yield an entry with all it says; its further lines stand below its first words."""
    first, *rest = entry.split("\n")
    yield from ((Styled(line),) for line in wrapped(first, width, _MARGIN))
    for line in rest:
        yield from ((Styled(row),) for row in wrapped(line, width, _deeper(first)))


def brief(entry: str, width: int) -> Iterator[Line]:
    """Yield the lines of an entry that tell most: the first on what was done, and how it ended."""
    lines = entry.split("\n")
    left = len(lines) - _FIRST - _LAST
    indent = _deeper(lines[0])
    if left > 1:
        # What changed something tells more than what was said and looked at on the way.
        done = [line for line in lines[1:-_LAST] if line.strip().startswith(_CHANGES)]
        lines = [*[lines[0], *done, *lines[1:]][:_FIRST], *lines[-_LAST:]]
    for number, line in enumerate(lines):
        if left > 1 and number == _FIRST:
            yield (Styled(f"{indent}... {left:,} more lines", "dim"),)
        rows = wrapped(line, width, indent if number else _MARGIN)
        kept = rows[:_ROWS]
        if len(rows) > _ROWS:
            kept[-1] = crop(f"{kept[-1]} {rows[_ROWS].strip()}", width)
        yield from ((Styled(row),) for row in kept)


def _deeper(first: str) -> str:
    """Return the indent of what follows the first line of an entry: below its words."""
    number, dot, _ = first.partition(". ")
    return _MARGIN + " " * (len(number) + 2 if dot and number.isdecimal() else 2)


def _shape(transcript: Transcript, width: int) -> Iterator[Line]:
    """Yield the first and the last messages and the record between them, one line each."""
    size = len(transcript)
    skipped = 0
    for index, message in enumerate(transcript):
        summary = message.summary
        if _BEGINNING <= index < size - _END and summary is None:
            skipped += 1
            continue
        if skipped:
            yield (Styled(f"  ...  {counted(skipped, 'message')}, word for word", "dim"),)
            skipped = 0
        words = one_line(message, width)
        if summary is not None:
            words = f"the record, {counted(len(summary.text.split()), 'word')}"
        line = f"  {index:>3}  {message.role:<10}{words}"
        yield (Styled(crop(line, width), "green" if summary is not None else ""),)


if __name__ == "__main__":
    from holdfast.cli.root import root

    root(["sample"])
