"""The flags of `holdfast trajectories compress`, and what their texts mean."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypedDict, TypeVar

import click

from holdfast.cli.files import format_flag
from holdfast.cli.flags import json_flag, summarizer_flag
from holdfast.cost import Price
from holdfast.trajectories.compression import TrajectoryPolicy
from holdfast.trajectories.work import NATIVE

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])

PACKINGS = {"none": "", "gz": ".gz", "zst": ".zst"}
_SIZE = re.compile(r"(\d+)\s*([kmg]?)i?b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class CompressFlags(TypedDict):
    """What click collects."""

    paths: tuple[str, ...]
    output: str | None
    format_name: str
    to: str | None
    target: int
    summary: int
    protect_last: int
    tokenizer: str
    redact: bool
    summarizer: str | None
    concurrency: int
    rate: float | None
    attempts: int
    max_cost: float | None
    price: str | None
    sample: str
    seed: int
    dry_run: bool
    resume: bool
    jobs: int | None
    ray: str | None
    packed: str
    shard_size: str
    report: str | None
    as_json: bool


_FLAGS: tuple[Callable[..., Any], ...] = (
    click.argument("paths", nargs=-1, required=True, metavar="IN..."),
    click.option("-o", "--output", metavar="OUT", help="A JSONL file, a folder for parts, or -."),
    format_flag("every file"),
    click.option(
        "--to", type=click.Choice(NATIVE), help="Write this format instead of the input's."
    ),
    click.option(
        "--target",
        type=click.IntRange(min=1),
        default=TrajectoryPolicy().target_tokens,
        show_default=True,
        metavar="N",
        help="Tokens that a trajectory is brought down to.",
    ),
    click.option(
        "--summary",
        type=click.IntRange(min=1),
        default=TrajectoryPolicy().summary_tokens,
        show_default=True,
        metavar="N",
        help="Tokens that a summary may have.",
    ),
    click.option(
        "--protect-last",
        type=click.IntRange(min=0),
        default=TrajectoryPolicy().protect_last,
        show_default=True,
        metavar="N",
        help="Turns at the end that stay.",
    ),
    click.option(
        "--tokenizer",
        default="auto",
        metavar="NAME",
        help="o200k, cl100k, another vocabulary or model, a tokenizer.json, or estimate.",
    ),
    click.option("--redact/--no-redact", default=True, help="Mask secrets, or keep them."),
    summarizer_flag,
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        default=16,
        show_default=True,
        metavar="N",
        help="Summaries that are asked for at once.",
    ),
    click.option(
        "--rate", type=float, metavar="N", help="Requests to the model a minute, at most."
    ),
    click.option(
        "--attempts",
        type=click.IntRange(min=1),
        default=3,
        show_default=True,
        metavar="N",
        help="Requests for a summary before it is made without a model.",
    ),
    click.option(
        "--max-cost", type=float, metavar="USD", help="What summaries may cost, by estimate."
    ),
    click.option("--price", metavar="IN/OUT", help="US dollars for a million tokens in and out."),
    click.option(
        "--sample",
        default="100%",
        metavar="SHARE",
        help="Take a share, as 15% or 0.15; all by default.",
    ),
    click.option(
        "--seed", type=int, default=42, show_default=True, metavar="N", help="Which ones those are."
    ),
    click.option(
        "--dry-run", is_flag=True, help="Show the figures; write nothing and ask no model."
    ),
    click.option(
        "--resume/--restart",
        "resume",
        default=True,
        help="Go on with what an earlier run wrote (the default), or throw it away.",
    ),
    click.option(
        "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes; one a core without it."
    ),
    click.option("--ray", metavar="local|ADDRESS", help="Run on Ray Data, here or on a cluster."),
    click.option(
        "--packed",
        type=click.Choice([*PACKINGS]),
        default="none",
        help="How the parts of a folder are packed; a file goes by its name.",
    ),
    click.option(
        "--shard-size",
        default="256M",
        show_default=True,
        metavar="SIZE",
        help="Of a folder's parts.",
    ),
    click.option("--report", metavar="FILE", help="Write the figures as a page of HTML."),
    json_flag,
)


def compress_flags(function: Wrapped) -> Wrapped:
    """Give a command the argument and the flags."""
    for flag in reversed(_FLAGS):
        function = flag(function)
    return function


def read_price(text: str | None) -> Price | None:
    """Return the price that a text means: dollars for a million tokens in and out."""
    if text is None:
        return None
    try:
        plain, output = (float(part) for part in text.split("/"))
    except ValueError:
        raise click.BadParameter(
            f"{text} is not two figures as in 0.25/2", param_hint="--price"
        ) from None
    return Price(
        input=plain, output=output, cache_read=plain, cache_write_5m=plain, cache_write_1h=plain
    )


def read_share(text: str) -> float:
    """Return the share that a text means: a percentage, or a figure up to 1."""
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise click.BadParameter(f"{text} is not a share as 15% or 0.15", param_hint="--sample")
    return share


def read_bytes(text: str) -> int:
    """Return the bytes that a text means, as in 256M."""
    found = _SIZE.fullmatch(text.strip())
    size = int(found[1]) * _UNITS[found[2].lower()] if found else 0
    if not size:
        raise click.BadParameter(f"{text} is not a size as 256M or 2G", param_hint="--shard-size")
    return size
