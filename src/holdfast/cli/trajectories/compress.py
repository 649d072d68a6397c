"""`holdfast trajectories compress`: training data in bulk, shrunk to a training window."""

from __future__ import annotations

import json
import re
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from holdfast.cli.files import PIPE, format_flag, named_files, same_file, write_output, write_pieces
from holdfast.cli.flags import configuration, json_flag, summarizer_flag
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import meter_for, screen, show_json, tell
from holdfast.cli.trajectories.report import report_html
from holdfast.cli.trajectories.view import drawn
from holdfast.cost import Price
from holdfast.trajectories.asking import BulkSummarizer, SummaryLimits
from holdfast.trajectories.compression import (
    ESTIMATE,
    TrajectoryPolicy,
    counter_for,
    tokenizer_named,
)
from holdfast.trajectories.items import inputs_in
from holdfast.trajectories.metrics import Aggregate
from holdfast.trajectories.output import AlreadyDone, OutputFiles, RunOutput
from holdfast.trajectories.running import (
    HereExecutor,
    PoolExecutor,
    RunProgress,
    figures,
    jobs_for,
    run,
    run_identity,
)
from holdfast.trajectories.work import NATIVE, Work, prepare_process
from holdfast.views.words import counted
from holdfast.wiring.models import configured_summarizer
from holdfast.wiring.usage_accounting import price_book

if TYPE_CHECKING:
    from holdfast.agent_files.finding import Walk
    from holdfast.cli.screen import ProgressMeter
    from holdfast.config import Settings
    from holdfast.trajectories.items import InputFile, SkippedInput
    from holdfast.trajectories.running import Executor

PACKINGS = {"none": "", "gz": ".gz", "zst": ".zst"}
_SIZE = re.compile(r"(\d+)\s*([kmg]?)i?b?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_BLOCK = 1 << 20
_NAMED = 20
"""Files that are named one by one, of those that hold no trajectory."""


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


@click.group(
    "trajectories",
    epilog=examples("holdfast trajectories compress runs/ -o train.jsonl --report report.html"),
)
def command() -> None:
    """Shrink training data: trajectories of agents, in bulk."""


@command.command(
    "compress",
    epilog=examples(
        "holdfast trajectories compress runs/ -o train.jsonl --report report.html",
        "holdfast trajectories compress big.jsonl.zst -o train/ --packed zst",
        "holdfast trajectories compress runs/ -o train.jsonl --sample 15% --seed 42",
        "holdfast trajectories compress runs/ -o train.jsonl --summarizer gpt-5-mini --max-cost 5",
        "holdfast trajectories compress big.jsonl -o train/ --ray local",
    ),
)
@click.argument("paths", nargs=-1, required=True, metavar="IN...")
@click.option("-o", "--output", metavar="OUT", help="A JSONL file, a folder for parts, or -.")
@format_flag("every file")
@click.option("--to", type=click.Choice(NATIVE), help="Write this format instead of the input's.")
@click.option(
    "--target",
    type=click.IntRange(min=1),
    default=TrajectoryPolicy().target_tokens,
    show_default=True,
    metavar="N",
    help="Tokens that a trajectory is brought down to.",
)
@click.option(
    "--summary",
    type=click.IntRange(min=1),
    default=TrajectoryPolicy().summary_tokens,
    show_default=True,
    metavar="N",
    help="Tokens that a summary may have.",
)
@click.option(
    "--protect-last",
    type=click.IntRange(min=0),
    default=TrajectoryPolicy().protect_last,
    show_default=True,
    metavar="N",
    help="Turns at the end that stay.",
)
@click.option(
    "--tokenizer",
    default="auto",
    metavar="NAME",
    help="o200k, cl100k, another vocabulary or model, a tokenizer.json, or estimate.",
)
@click.option("--redact/--no-redact", default=True, help="Mask secrets, or keep them.")
@summarizer_flag
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    metavar="N",
    help="Summaries that are asked for at once.",
)
@click.option("--rate", type=float, metavar="N", help="Requests to the model a minute, at most.")
@click.option(
    "--attempts",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    metavar="N",
    help="Requests for a summary before it is made without a model.",
)
@click.option("--max-cost", type=float, metavar="USD", help="What summaries may cost, by estimate.")
@click.option("--price", metavar="IN/OUT", help="US dollars for a million tokens in and out.")
@click.option(
    "--sample",
    default="100%",
    metavar="SHARE",
    help="Take a share, as 15% or 0.15; all by default.",
)
@click.option(
    "--seed", type=int, default=42, show_default=True, metavar="N", help="Which ones those are."
)
@click.option("--dry-run", is_flag=True, help="Show the figures; write nothing and ask no model.")
@click.option(
    "--resume/--restart",
    "resume",
    default=True,
    help="Go on with what an earlier run wrote (the default), or throw it away.",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes; one a core without it."
)
@click.option("--ray", metavar="local|ADDRESS", help="Run on Ray Data, here or on a cluster.")
@click.option(
    "--packed",
    type=click.Choice([*PACKINGS]),
    default="none",
    help="How the parts of a folder are packed; a file goes by its name.",
)
@click.option(
    "--shard-size",
    default="256M",
    show_default=True,
    metavar="SIZE",
    help="Of a folder's parts.",
)
@click.option("--report", metavar="FILE", help="Write the figures as a page of HTML.")
@json_flag
def compress_command(**options: Unpack[CompressFlags]) -> Exit:
    """Shrink trajectories to a training window.

    IN is a file, a folder, a pattern, or - for standard input: ShareGPT or OpenAI messages as JSON
    or JSONL, packed or not, or sessions of an agent in any known format. Each trajectory becomes a
    line of OUT, in the order of the input; one that weighs no more than the target stays byte for
    byte as it is, but for secrets, which are masked. Of a heavier one, the first turns after the
    protected beginning are replaced by one summary, as few as the target allows. The first turn of
    each speaker and the last turns stay.

    OUT gets its name when it is whole. A run that was interrupted goes on where it was when the
    same command is run again. Figures stand beside OUT in metrics.json and metrics.jsonl. What
    cannot be read is set aside in failed.jsonl; the exit code is 1 then, and 3 when nothing is left
    to do.
    """
    settings = configuration(options, options["summarizer"]).settings
    work = Work(
        policy=TrajectoryPolicy(
            target_tokens=options["target"],
            summary_tokens=options["summary"],
            protect_last=options["protect_last"],
        ),
        tokenizer=tokenizer_named(options["tokenizer"]),
        redact=options["redact"],
        patterns=tuple(settings.redaction.extra_patterns),
        to=options["to"] or "",
        sample=read_share(options["sample"]),
        seed=options["seed"],
        asks=configured_summarizer(settings) is not None,
    )
    # A name that is wrong is told now, and what processes need is loaded before they are split off.
    prepare_process(work)
    with ExitStack() as stack:
        files = _files(options, stack)
        walk = stack.enter_context(named_files(options["paths"]))()
        inputs, skipped = inputs_in(_without_output(walk, files, options), options["format_name"])
        unreadable = _tell_skipped(skipped)
        if not inputs:
            tell("holdfast: there is no trajectory in what was named")
            return Exit.FAILED if unreadable else Exit.NOTHING_TO_DO
        if work.tokenizer == ESTIMATE:
            tell("holdfast: tokens are estimated; the extra `tokens` counts them exactly")
        # Before anything has a thread: processes are split off from this one.
        executor = _executor(options, stack)
        view = _View(options, inputs, stack.enter_context(meter_for(silent=options["as_json"])))
        if files is None or options["dry_run"]:
            aggregate = figures(inputs, work, executor, view.progress())
            _write_report(options, aggregate, _about(options, work, "no model is asked"), view)
        else:
            try:
                aggregate = _written(files, settings, work, executor, view)
            except AlreadyDone as done:
                view.meter.end()
                tell(f"holdfast: {done}")
                return Exit.NOTHING_TO_DO
            if options["output"] == PIPE:
                with files.output.open("rb") as stream:
                    write_pieces(PIPE, iter(lambda: stream.read(_BLOCK), b""))
        view.show(aggregate)
    failed = aggregate.totals.trajectories_failed
    return Exit.FAILED if failed or unreadable else Exit.DONE


def _files(options: CompressFlags, stack: ExitStack) -> OutputFiles | None:
    """Return where to write; None where nothing is written."""
    name = options["output"]
    if name is None:
        if options["dry_run"]:
            return None
        raise click.UsageError("name where to write with -o, or ask for figures with --dry-run")
    if name == PIPE:
        if options["as_json"]:
            raise click.UsageError("figures and trajectories cannot both go to standard output")
        # Whole before it goes anywhere, as any other output.
        name = f"{stack.enter_context(TemporaryDirectory(prefix='holdfast-'))}/out.jsonl"
    return OutputFiles.at(
        name,
        packing=PACKINGS[options["packed"]],
        shard_bytes=read_bytes(options["shard_size"]),
    )


def _without_output(walk: Walk, files: OutputFiles | None, options: CompressFlags) -> Walk:
    """Return what was found without what a run writes, which may lie in a folder that was named."""
    report = options["report"]
    for file in walk.files:
        if report is not None and same_file(report, str(file.path)):
            raise click.UsageError(f"the report would overwrite its input, {report}")
        if files is not None and file.is_named and files.owns(file.path):
            raise click.UsageError(f"{file.path} is input and output; name another output")
    if files is None:
        return walk
    return replace(walk, files=tuple(each for each in walk.files if not files.owns(each.path)))


@dataclass(slots=True)
class _View:
    """What a person sees of a run, while it goes on and at its end."""

    options: CompressFlags
    inputs: list[InputFile]
    meter: ProgressMeter
    done: int = 0
    started: float = 0.0
    resumed: bool = False

    def progress(self) -> RunProgress:
        """Begin to show how far the run is."""
        self.started = time.perf_counter()
        total = sum(each.size for each in self.inputs)
        self.meter.begin(total)
        self.meter.next("", total)

        def count(trajectories: int) -> None:
            self.done += trajectories
            self.meter.rename(counted(self.done, "trajectory", "trajectories"))

        return RunProgress(self.meter.advance, count)

    @property
    def seconds(self) -> float:
        """Return how long the run has taken so far."""
        return time.perf_counter() - self.started

    @property
    def whole_seconds(self) -> float | None:
        """Return how long all of the run took; nobody knows of one that was interrupted."""
        return None if self.resumed else self.seconds

    def show(self, aggregate: Aggregate) -> None:
        """Show the figures."""
        self.meter.end()
        if self.options["as_json"]:
            seconds = {"processing": {"duration_seconds": round(self.seconds, 3)}}
            show_json({**aggregate.as_json(), **seconds})
            return
        page = screen(is_error=self.options["output"] == PIPE)
        page.show(
            drawn(
                aggregate,
                page.width,
                target=self.options["target"],
                seconds=self.whole_seconds,
                rehearsed=self.options["dry_run"],
                colored=page.colored,
            )
        )


def _written(
    files: OutputFiles, settings: Settings, work: Work, executor: Executor, view: _View
) -> Aggregate:
    """Run to the end, and put the figures beside what was written."""
    options = view.options
    writer = configured_summarizer(settings)
    name = "deterministic" if writer is None else writer.name
    layout = (files.is_folder, files.packing, files.shard_bytes if files.is_folder else 0)
    identity = run_identity(view.inputs, work, name, layout)
    with RunOutput(files, identity, restart=not options["resume"]) as output:
        aggregate = Aggregate()
        if output.resumed:
            view.resumed = True
            tell(f"holdfast: going on after {counted(output.resumed, 'batch', 'batches')}")
        bulk = None
        if writer is not None:
            costs = (line.get("cost") for line in output.metrics())
            spent = sum(cost for cost in costs if isinstance(cost, float))
            limits = SummaryLimits(
                concurrency=options["concurrency"],
                requests_per_minute=options["rate"],
                attempts=options["attempts"],
                timeout=settings.auxiliary.compression.timeout,
                max_cost=options["max_cost"],
            )
            price = read_price(options["price"])
            if price is None and (book := price_book()) is not None:
                endpoint = settings.auxiliary.compression.base_url or ""
                price = book.price(writer.name, endpoint=endpoint)
            count = counter_for(work.tokenizer).count
            bulk = BulkSummarizer(writer, limits, count, price=price, spent=spent)
        run(view.inputs, work, executor, output, view.progress(), bulk)
        for line in output.metrics():
            aggregate.add(line)
        about = _about(options, work, name)
        processing = {"duration_seconds": round(view.seconds, 3), **about}
        figures_json = {**aggregate.as_json(), "processing": processing}
        content = json.dumps(figures_json, ensure_ascii=False, indent=2) + "\n"
        write_output(str(files.beside("metrics.json")), content.encode("utf-8", "replace"))
        _write_report(options, aggregate, about, view)
        output.finish()
    return aggregate


def _write_report(
    options: CompressFlags, aggregate: Aggregate, about: dict[str, str], view: _View
) -> None:
    if options["report"]:
        page = report_html(
            aggregate,
            about,
            target=options["target"],
            seconds=view.whole_seconds,
            rehearsed=options["dry_run"],
        )
        write_output(options["report"], page.encode("utf-8", "replace"))


def _about(options: CompressFlags, work: Work, summarizer: str) -> dict[str, str]:
    """Return what a run was, in words."""
    return {
        "target tokens": f"{work.policy.target_tokens:,}",
        "summary tokens": f"{work.policy.summary_tokens:,}",
        "turns protected at the end": str(work.policy.protect_last),
        "tokenizer": work.tokenizer,
        "summarizer": summarizer,
        "secrets": "masked" if work.redact else "kept",
        "sample": options["sample"],
        "inputs": ", ".join(options["paths"]),
        "output": options["output"] or "",
        "date": time.strftime("%Y-%m-%d %H:%M"),
    }


def _executor(options: CompressFlags, stack: ExitStack) -> Executor:
    if options["ray"] is not None:
        from holdfast.trajectories.ray_executor import RayExecutor

        return stack.enter_context(RayExecutor(options["ray"], options["jobs"]))
    jobs = jobs_for(options["jobs"])
    return HereExecutor() if jobs == 1 else stack.enter_context(PoolExecutor(jobs))


def _tell_skipped(skipped: list[SkippedInput]) -> bool:
    """Say what holds no trajectory; return whether something that was named is among it."""
    for each in skipped[:_NAMED]:
        tell(f"holdfast: {each.path}: {each.reason}")
    if len(skipped) > _NAMED:
        tell(f"holdfast: and {counted(len(skipped) - _NAMED, 'file')} more without a trajectory")
    return any(each.is_named for each in skipped)
