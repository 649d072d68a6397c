"""Where a run writes: trajectories in order, their figures, what was set aside, and a journal.

Everything grows in files beside the output until it is whole, so that no reader ever meets a torn
line. The journal says up to which byte each file is good; a run that was killed is cut back to that
and goes on. Packed files are made of one frame a batch, so they can be cut back as well.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from holdfast.errors import HoldfastError, MissingExtra
from holdfast.formats.json_access import mapping, parsed

_SHARD_BYTES = 256 << 20
_EVERY = 1.0
"""Seconds after which what was written is put on the disk."""
_VERSION = 1
_FIRST = b'{"holdfast": '
"""How a journal begins."""


class OutputError(HoldfastError):
    """The output cannot be written, or belongs to another run; the message says what to do."""


class AlreadyDone(HoldfastError):
    """The same run has ended before; there is nothing to do."""


@dataclass(frozen=True, slots=True)
class BatchLines:
    """What a batch adds to each file."""

    trajectories: bytes
    metrics: bytes
    failed: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputFiles:
    """The names of everything that a run writes."""

    output: Path
    is_folder: bool
    packing: str = ""
    """`.gz`, `.zst`, or ""."""
    shard_bytes: int = _SHARD_BYTES
    """Bytes of trajectories, before packing, from which on another file is begun in a folder."""

    @classmethod
    def at(cls, name: str, *, packing: str = "", shard_bytes: int = _SHARD_BYTES) -> OutputFiles:
        """Return the files of an output: a folder if it is one or ends like one, else a file."""
        path = Path(name)
        is_folder = name.endswith(("/", os.sep)) or path.is_dir()
        known = next((end for end in (".gz", ".zst") if path.name.endswith(end)), "")
        packing = packing if is_folder else known
        if packing == ".zst" and find_spec("zstandard") is None:
            raise MissingExtra("an output that is packed with zstd", "zstd")
        return cls(output=path, is_folder=is_folder, packing=packing, shard_bytes=shard_bytes)

    def shard(self, number: int) -> Path:
        """Return where trajectories go."""
        if not self.is_folder:
            return self.output
        return self.output / f"part-{number:05d}.jsonl{self.packing}"

    def beside(self, name: str) -> Path:
        """Return the file of a kind: `metrics.jsonl` in a folder, `out.metrics.jsonl` beside it."""
        if self.is_folder:
            return self.output / name
        stem = self.output.name.removesuffix(self.packing)
        stem = stem.removesuffix(".jsonl").removesuffix(".json")
        return self.output.with_name(f"{stem}.{name}")

    def figures(self) -> tuple[Path, ...]:
        """Return what stands beside the trajectories."""
        return tuple(map(self.beside, ("metrics.jsonl", "failed.jsonl", "metrics.json")))

    def owns(self, path: Path) -> bool:
        """Say whether a file is, or would be, one that a run writes."""
        place, output = path.resolve(), self.output.resolve()
        if self.is_folder:
            return place.is_relative_to(output)
        written = {output, *(each.resolve() for each in (*self.figures(), self.beside("journal")))}
        return place in written or place in set(map(_partial, written))


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a run is: batches that are written, and the good bytes of each file."""

    batches: int = 0
    shard: int = 0
    in_shard: int = 0
    """Bytes of trajectories in the shard, before packing."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Bytes of each open file, by its kind."""


_KINDS = ("trajectories", "metrics", "failed")


class RunOutput:
    """The files of one run, from its beginning or from where an earlier one was killed."""

    def __init__(self, files: OutputFiles, run: Mapping[str, object], *, restart: bool) -> None:
        """Open the output.

        Args:
            run: What decides over the output: inputs, options, versions.
            restart: Whether an earlier output is thrown away.

        Raises:
            AlreadyDone: this run has ended before.
            OutputError: something else is in the way.
        """
        self.files = files
        self._stack = ExitStack()
        self._streams: dict[str, BinaryIO] = {}
        self._is_ending = False
        self._mark = Mark()
        try:
            if files.is_folder:
                files.output.mkdir(parents=True, exist_ok=True)
            self._journal = self._stack.enter_context(closing(_Journal(files.beside("journal"))))
            if restart:
                self._discard()
            self._mark = self._agreed(run, restart=restart)
            if not self._journal.size:
                self._journal.note({"holdfast": _VERSION, "run": dict(run)})
            for kind in _KINDS:
                self._open_stream(kind, self._mark.sizes.get(kind, 0))
        except OSError as error:
            self._stack.close()
            raise OutputError(f"cannot write {files.output}: {error.strerror or error}") from error
        except BaseException:
            self._stack.close()
            raise
        self.resumed = self._mark.batches
        """How many batches an earlier part of the run has written."""

    def __enter__(self) -> RunOutput:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the files; what is written so far can be gone on with."""
        if not self._is_ending:
            with suppress(OSError):
                self._checkpoint()
        with suppress(OSError):  # what a full disk did not take is cut off when the run goes on
            self._stack.close()

    def write(self, lines: BatchLines) -> None:
        """Add what a batch made."""
        if self.files.is_folder and self._mark.in_shard >= self.files.shard_bytes:
            # The shard is whole, and the next one begins.
            self._checkpoint()
            self._sync()
            self._streams["trajectories"].close()
            whole = self._place("trajectories")
            sizes = {**self._mark.sizes, "trajectories": 0}
            self._mark = replace(self._mark, shard=self._mark.shard + 1, in_shard=0, sizes=sizes)
            # Noted before the file gets its name: a kill between the two leaves it whole, and it is
            # given its name when the run goes on.
            self._journal.note(asdict(self._mark))
            self._publish(whole)
            self._open_stream("trajectories", 0)
        packed = _packed(lines.trajectories, self.files.packing)
        self._mark = replace(
            self._mark,
            batches=self._mark.batches + 1,
            in_shard=self._mark.in_shard + len(lines.trajectories),
        )
        try:
            for kind, content in zip(_KINDS, (packed, lines.metrics, lines.failed), strict=True):
                self._streams[kind].write(content)
            self._checkpoint()
        except OSError as error:
            self._is_ending = True
            problem = error.strerror or str(error)
            raise OutputError(
                f"cannot write {self.files.output}: {problem}; run the same command again to go on"
            ) from error

    def finish(self) -> None:
        """Put everything in its place: the run is whole."""
        self._checkpoint()
        self._sync()
        for stream in self._streams.values():
            stream.close()
        # A kill from here on leaves whole files, which get their names when the run is tried again.
        self._is_ending = True
        self._journal.note({"ending": True})
        self._conclude()

    def _conclude(self) -> None:
        for kind in _KINDS:
            self._publish(self._place(kind))
        self._journal.note({"done": True})

    def metrics(self) -> Iterator[Mapping[str, object]]:
        """Yield the figures of all trajectories that are done, of earlier parts of the run too."""
        self._streams["metrics"].flush()
        with _partial(self._place("metrics")).open("rb") as stream:
            for line in stream:
                yield mapping(parsed(line))

    def _agreed(self, run: Mapping[str, object], *, restart: bool) -> Mark:
        """Return where to go on; refuse to mix two runs, or to replace what is there."""
        known = self._journal.read()
        if known is None:
            # What no run of ours wrote is not replaced; one file may be, if that is asked for.
            if self.files.is_folder and any(self.files.output.glob("part-*")):
                raise OutputError(
                    f"{self.files.output} has parts that no run with a journal wrote; name another "
                    "folder"
                )
            if not self.files.is_folder and self.files.output.exists() and not restart:
                raise OutputError(
                    f"{self.files.output} exists and was not written by a run that can be gone on "
                    "with; name another output, or replace it with --restart"
                )
            return Mark()
        if known.run != run:
            changed = sorted(
                key for key in {*known.run, *run} if known.run.get(key) != run.get(key)
            )
            raise OutputError(
                f"{self.files.output} was begun with other {', '.join(changed)}; run it as it was "
                "begun, or begin again with --restart"
            )
        self._mark = known.mark
        for number in range(known.mark.shard):
            self._publish(self.files.shard(number))
        if known.is_ending:
            self._conclude()
        if known.is_ending or known.is_done:
            places = [self.files.shard(each) for each in range(known.mark.shard + 1)]
            if all(place.exists() for place in places):
                raise AlreadyDone(f"{self.files.output} is complete; nothing is left to do")
            self._discard()
            return Mark()
        return known.mark

    def _open_stream(self, kind: str, size: int) -> None:
        path = _partial(self._place(kind))
        path.touch()
        if path.stat().st_size < size:
            raise OutputError(
                f"{path} is shorter than its journal says: it was changed, or the disk lost it; "
                "begin again with --restart"
            )
        os.truncate(path, size)
        self._streams[kind] = self._stack.enter_context(path.open("ab"))

    def _place(self, kind: str) -> Path:
        if kind == "trajectories":
            return self.files.shard(self._mark.shard)
        return self.files.beside(f"{kind}.jsonl")

    def _publish(self, place: Path) -> None:
        """Give a file that is whole its name; an empty list of failures is no file at all."""
        partial = _partial(place)
        if not partial.exists():
            return
        if place == self.files.beside("failed.jsonl") and not partial.stat().st_size:
            partial.unlink()
            place.unlink(missing_ok=True)
        else:
            partial.replace(place)

    def _checkpoint(self) -> None:
        """Hand everything so far to the system, and then say so in the journal.

        What the system has survives the end of this process. Now and then it is put on the disk, so
        that a machine that goes down costs moments.
        """
        is_due = time.monotonic() - self._journal.synced >= _EVERY
        live = {kind: stream for kind, stream in self._streams.items() if not stream.closed}
        for stream in live.values():
            stream.flush()
        sizes = {kind: stream.tell() for kind, stream in live.items()}
        self._mark = replace(self._mark, sizes={**self._mark.sizes, **sizes})
        self._journal.note(asdict(self._mark))
        if is_due:
            self._sync()

    def _sync(self) -> None:
        """Put everything on the disk, and the journal last."""
        for stream in self._streams.values():
            if not stream.closed:
                os.fsync(stream.fileno())
        self._journal.sync()

    def _discard(self) -> None:
        """Remove what the run of the journal wrote, and nothing else."""
        known = self._journal.read()
        if known is not None:
            shards = map(self.files.shard, range(known.mark.shard + 1))
            for path in (*self.files.figures(), *shards):
                path.unlink(missing_ok=True)
                _partial(path).unlink(missing_ok=True)
            self._journal.clear()


@dataclass(frozen=True, slots=True)
class _Noted:
    """What a journal says."""

    run: Mapping[str, object]
    mark: Mark
    is_ending: bool
    """Whether all is written, and files are getting their names."""
    is_done: bool


class _Journal:
    """The file in which a run notes how far it is; only one run at a time can have it."""

    def __init__(self, path: Path) -> None:
        """Open the file behind its last whole line.

        Raises:
            OutputError: another run has it.
        """
        self._stream = path.open("a+b")
        self.synced = time.monotonic()
        if sys.platform != "win32":
            import fcntl

            try:
                # A process that dies lets it go.
                fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                self._stream.close()
                problem = f"another run is writing here: {path} is in use"
                raise OutputError(problem) from error
        self._stream.seek(0)
        content = self._stream.read()
        if not content.startswith(_FIRST[: len(content)]):
            self._stream.close()
            raise OutputError(f"{path} is in the way: it is no journal of ours; move it elsewhere")
        self._stream.truncate(content.rfind(b"\n") + 1)

    @property
    def size(self) -> int:
        """Return how many bytes were noted."""
        return self._stream.seek(0, os.SEEK_END)

    def read(self) -> _Noted | None:
        """Return what was noted; None when that is no beginning of a run."""
        self._stream.seek(0)
        values = [mapping(parsed(line)) for line in self._stream]
        if not values:
            return None
        mark = Mark()
        for value in values:
            if "batches" in value:
                sizes = mapping(value["sizes"])
                mark = Mark(
                    _whole(value, "batches"),
                    _whole(value, "shard"),
                    _whole(value, "in_shard"),
                    {kind: _whole(sizes, kind) for kind in _KINDS},
                )
        last = values[-1]
        run = mapping(values[0]["run"])
        return _Noted(run, mark, is_ending="ending" in last, is_done="done" in last)

    def note(self, value: Mapping[str, object]) -> None:
        """Write something down."""
        self._stream.write(json.dumps(value).encode() + b"\n")
        self._stream.flush()

    def sync(self) -> None:
        """Put what was noted on the disk."""
        os.fsync(self._stream.fileno())
        self.synced = time.monotonic()

    def clear(self) -> None:
        """Forget everything."""
        self._stream.truncate(0)

    def close(self) -> None:
        """Let others have it."""
        self._stream.close()


def _partial(place: Path) -> Path:
    """Return where a file grows until it is whole."""
    return place.with_name(f".{place.name}.partial")


def _whole(value: Mapping[str, object], key: str) -> int:
    found = value.get(key)
    return found if isinstance(found, int) else 0


def _packed(content: bytes, packing: str) -> bytes:
    """Return content as a frame of its own; the same bytes make the same frame."""
    if not content or not packing:
        return content
    if packing == ".gz":
        return gzip.compress(content, 6, mtime=0)
    from zstandard import ZstdCompressor

    return ZstdCompressor(level=3).compress(content)
