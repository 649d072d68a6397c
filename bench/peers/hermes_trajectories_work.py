"""Puts Hermes' trajectory compressor to work; runs inside its environment, knows no holdfast.

Its own way over files is taken: it reads a folder, asks for summaries at once, writes the output
and its figures. The model is a fixed text, and the tokenizer one of these, with its vocabulary:

    hermes_trajectories_work.py IN.jsonl SUMMARY.txt huggingface tokenizer.json
    hermes_trajectories_work.py IN.jsonl SUMMARY.txt tiktoken FOLDER/OF/CACHE
    hermes_trajectories_work.py IN.jsonl SUMMARY.txt splintr o200k_base
"""

import asyncio
import contextlib
import io
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sized
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Encode = Callable[[str], Sized]


def huggingface(path: str) -> Encode:
    """Return what the fast tokenizers of `transformers` call."""
    tokenizer: Any = import_module("tokenizers").Tokenizer.from_file(path)
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def tiktoken(folder: str) -> Encode:
    os.environ["TIKTOKEN_CACHE_DIR"] = folder
    return import_module("tiktoken").get_encoding("o200k_base").encode_ordinary


def splintr(name: str) -> Encode:
    return import_module("splintr").Tokenizer.from_pretrained(name).encode_ordinary


TOKENIZERS: dict[str, Callable[[str], Encode]] = {
    "huggingface": huggingface,
    "tiktoken": tiktoken,
    "splintr": splintr,
}


class Clocked:
    """The one method that Hermes calls of a tokenizer, and the seconds that were spent in it."""

    def __init__(self, encode: Encode) -> None:
        self.inner = encode
        self.seconds = 0.0

    def encode(self, text: str) -> Sized:
        """Tokenize a text, and take the time."""
        started = time.perf_counter()
        try:
            return self.inner(text)
        finally:
            self.seconds += time.perf_counter() - started


def compressor(tokenizer: Clocked, summary: str) -> Any:
    """Return Hermes' compressor as it is, but for the tokenizer and the model."""
    hermes: Any = import_module("trajectory_compressor")
    message = SimpleNamespace(message=SimpleNamespace(content=summary))

    async def create(**_: object) -> SimpleNamespace:
        await asyncio.sleep(0)
        return SimpleNamespace(choices=[message])

    client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))

    class Offline(hermes.TrajectoryCompressor):
        def _init_tokenizer(self) -> None:
            self.tokenizer = tokenizer

        def _init_summarizer(self) -> None:
            self._use_call_llm = False

        def _get_async_client(self) -> object:
            return client

    logging.getLogger("trajectory_compressor").setLevel(logging.ERROR)
    return Offline(hermes.CompressionConfig())


def compress(path: Path, summary: str, load: Callable[[], Encode]) -> dict[str, float]:
    # Hermes imports its client with the first summary, which is no part of the work.
    import_module("agent.auxiliary_client")
    import_module("trajectory_compressor")
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        inside = Path(folder) / "in"
        inside.mkdir()
        (inside / path.name).symlink_to(path)
        started, processor = time.perf_counter(), time.process_time()
        tokenizer = Clocked(load())
        made = compressor(tokenizer, summary)
        with contextlib.redirect_stdout(io.StringIO()):
            made.process_directory(inside, Path(folder) / "out")
        seconds, busy = time.perf_counter() - started, time.process_time() - processor
    found = made.aggregate_metrics
    return {
        "trajectories": found.trajectories_compressed,
        "tokens": found.total_tokens_before,
        "seconds": seconds,
        "processor": busy,
        "peak": peak(),
        "counting": tokenizer.seconds,
    }


def peak() -> int:
    """Return the most bytes that this process has had resident; 0 where the system keeps none."""
    try:
        lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    except OSError:
        return 0
    found = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(next(found, "0")) * 1024


def main() -> None:
    match sys.argv[1:]:
        case [path, summary, kind, vocabulary] if kind in TOKENIZERS:
            words = Path(summary).read_text("utf-8")
            done = compress(Path(path), words, lambda: TOKENIZERS[kind](vocabulary))
            sys.stdout.write(json.dumps(done))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
