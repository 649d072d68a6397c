"""`holdfast sessions export --for-training`: stored sessions as a file that models learn from."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from holdfast.cli.files import PIPE, drafts, packed
from holdfast.cli.flags import read_moment
from holdfast.cli.root import Exit
from holdfast.cli.screen import show_json, tell
from holdfast.recall.values import meant_sources
from holdfast.redaction import Redactor
from holdfast.training import (
    TRAINING_FORMATS,
    LeftOut,
    LeftOutReason,
    Selection,
    Split,
    SyntheticChoice,
    TrainingExport,
    examples,
    order_of,
)
from holdfast.views.sessions import find_session
from holdfast.views.words import counted
from holdfast.wiring import counter_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.cli.store import OpenStore
    from holdfast.training import Example

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])
_SHARES = re.compile(r"\d{1,2}(?:\.\d+)?(?:/\d{1,2}(?:\.\d+)?){1,2}")
_PACKED = (".gz", ".zst")
_LONGEST_SHOWN = 40


class TrainingFlags(TypedDict):
    """What the flags say."""

    synthetic: str
    original: bool
    unique: bool
    split: tuple[float, ...] | None
    seed: int
    redact: bool
    sources: tuple[str, ...]
    models: tuple[str, ...]
    since: int | None
    until: int | None
    folder: str
    min_turns: int
    max_tokens: int | None
    tool_errors: bool


def _read_shares(
    context: click.Context, option: click.Parameter, text: str | None
) -> tuple[float, ...] | None:
    if text is None:
        return None
    shares = tuple(map(float, text.split("/"))) if _SHARES.fullmatch(text) else ()
    if not shares or min(shares) <= 0 or abs(sum(shares) - 100) > 1e-6:
        shown = text[:_LONGEST_SHOWN]
        problem = f"{shown!r} is no split; write two or three shares of 100, as 95/5 or 90/5/5"
        raise click.BadParameter(problem, context, option)
    return shares


_FLAGS = (
    click.option(
        "--synthetic",
        type=click.Choice([each.value for each in SyntheticChoice]),
        default=SyntheticChoice.DROP.value,
        show_default=True,
        help="What becomes of what nobody said: summaries, stubs and notes.",
    ),
    click.option("--original", is_flag=True, help="What was said before compactions, whole."),
    click.option(
        "--unique", is_flag=True, help="Leave out what another conversation has; mask repeats."
    ),
    click.option(
        "--split",
        metavar="SHARES",
        callback=_read_shares,
        help="Divide into train/test or train/validation/test, such as 95/5 or 90/5/5.",
    ),
    click.option(
        "--seed",
        type=int,
        default=42,
        show_default=True,
        metavar="N",
        help="Another seed gives another split.",
    ),
    click.option(
        "--redact/--no-redact", default=True, show_default=True, help="Mask secrets, or do not."
    ),
    click.option("--source", "sources", multiple=True, metavar="S", help="Only from here."),
    click.option("--model", "models", multiple=True, metavar="M", help="Only sessions with it."),
    click.option("--since", metavar="T", callback=read_moment(), help="Used then or later."),
    click.option(
        "--until", metavar="T", callback=read_moment(end=True), help="Used then or earlier."
    ),
    click.option("--folder", default="", metavar="DIR", help="Only from this folder or below it."),
    click.option(
        "--min-turns",
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        metavar="N",
        help="Only with so many messages of a user.",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Only conversations of at most so many tokens, by our estimate.",
    ),
    click.option(
        "--no-tool-errors",
        "tool_errors",
        flag_value=False,
        type=bool,
        default=True,
        help="Only conversations in which no tool failed.",
    ),
)


def training_flags(function: Wrapped) -> Wrapped:
    """Give a command the flags of an export for training."""
    for option in reversed(_FLAGS):
        function = option(function)
    return function


@dataclass(slots=True)
class _Figures:
    """What was written, added up."""

    conversations: int = 0
    messages: int = 0
    tokens: int = 0
    dropped: int = 0
    masked: int = 0
    redacted: int = 0

    def add(self, example: Example) -> None:
        self.conversations += 1
        self.messages += example.messages
        self.tokens += example.tokens
        self.dropped += example.dropped
        self.masked += example.masked
        self.redacted += example.redacted

    def as_json(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class _Told:
    """What there is to say of a run."""

    files: dict[str, str]
    """The file of each side of the split; without a split one file, whose side is ""."""
    all: _Figures = field(default_factory=_Figures)
    by_side: dict[str, _Figures] = field(default_factory=dict[str, _Figures])
    left_out: Counter[LeftOutReason] = field(default_factory=Counter[LeftOutReason])


def export_for_training(
    opened: OpenStore, name: str | None, format_name: str, output: str, flags: TrainingFlags
) -> Exit:
    """Write a training file, or the files of a split, and say what is in them."""
    shares = flags["split"]
    settings = opened.settings
    wanted = TrainingExport(
        format=format_name,
        synthetic=SyntheticChoice(flags["synthetic"]),
        original=flags["original"],
        unique=flags["unique"],
        split=None if shares is None else Split(shares, flags["seed"]),
        selection=Selection(
            sources=meant_sources(flags["sources"]),
            models=flags["models"],
            since=flags["since"],
            until=flags["until"],
            folder=os.path.abspath(Path(flags["folder"]).expanduser()) if flags["folder"] else "",
            min_turns=flags["min_turns"],
            max_tokens=flags["max_tokens"],
            tool_errors=flags["tool_errors"],
        ),
        redactor=Redactor(settings.redaction.extra_patterns) if flags["redact"] else None,
        counter=counter_of(settings),
    )
    selection = wanted.selection
    if name is None:
        lineages: Iterable[tuple[str, tuple[str, ...]]] = order_of(opened.store, selection)
    else:
        session = find_session(opened.store, name)
        lineages = [(session.root, (session.id,))]
    told = _Told(_files(output, wanted.split))
    told.by_side.update({side: _Figures() for side in told.files})
    found = _counted(examples(opened.store, wanted, lineages), told)
    first = next(found, None)
    if first is None:
        if opened.as_json:
            show_json(_as_json(told, written=False))
        else:
            tell(f"there is nothing to export from {opened.store.name}{_left_out(told)}")
        return Exit.NOTHING_TO_DO
    with drafts(tuple(told.files.values())) as streams, ExitStack() as packers:
        writers = {
            side: packers.enter_context(packed(file, stream))
            for (side, file), stream in zip(told.files.items(), streams, strict=True)
        }
        for example in chain((first,), found):
            writers[example.side].write(example.line)
    _say(opened, told)
    return Exit.DONE


def _files(output: str, split: Split | None) -> dict[str, str]:
    """Return the file of each side: `train.jsonl` becomes `train.test.jsonl` and its like."""
    if split is None:
        return {"": output}
    name = PurePath(output).name
    packing = next((each for each in _PACKED if name.endswith(each)), "")
    stem = PurePath(name.removesuffix(packing))
    folder = output.removesuffix(name)
    return {side: f"{folder}{stem.stem}.{side}{stem.suffix}{packing}" for side in split.sides}


def _counted(found: Iterable[Example | LeftOut], told: _Told) -> Iterator[Example]:
    """Return the examples, and count everything that comes by."""
    for each in found:
        if isinstance(each, LeftOut):
            told.left_out[each.why] += 1
        else:
            told.all.add(each)
            told.by_side[each.side].add(each)
            yield each


def _as_json(told: _Told, *, written: bool) -> dict[str, object]:
    files = [
        {"file": file, "split": side or None, **told.by_side[side].as_json()}
        for side, file in told.files.items()
    ]
    return {
        "files": files if written else [],
        **told.all.as_json(),
        "left_out": {why.name.lower(): count for why, count in sorted(told.left_out.items())},
    }


def _say(opened: OpenStore, told: _Told) -> None:
    if opened.as_json:
        show_json(_as_json(told, written=True))
        return
    for side, file in told.files.items():
        figures = told.by_side[side]
        size = f"{counted(figures.messages, 'message')}, about {figures.tokens:,} tokens"
        where = "" if file == PIPE else f" to {file}"
        tell(f"wrote {counted(figures.conversations, 'conversation')} ({size}){where}")
    done = [
        (told.all.dropped, "message dropped", "messages dropped"),
        (told.all.masked, "reply masked", "replies masked"),
        (told.all.redacted, "text with secrets masked", "texts with secrets masked"),
    ]
    words = [f"{count:,} {one if count == 1 else several}" for count, one, several in done if count]
    if words:
        tell(", ".join(words))
    if told.left_out:
        tell(_left_out(told).removeprefix("; "))


def _left_out(told: _Told) -> str:
    reasons = ", ".join(f"{count:,} {why}" for why, count in sorted(told.left_out.items()))
    return f"; left out: {reasons}" if reasons else ""


def check_format(name: str) -> None:
    """Refuse a format that is none for training.

    Raises:
        click.UsageError: with those that are.
    """
    if name not in TRAINING_FORMATS:
        choices = ", ".join(TRAINING_FORMATS[:-1])
        raise click.UsageError(f"--for-training takes --format {choices} or {TRAINING_FORMATS[-1]}")
