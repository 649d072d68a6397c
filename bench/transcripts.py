"""Seeded, tool-heavy sessions of any length, as OpenAI chat messages.

An invented agent works on an invented project: it reads files, searches, runs tests and shells,
edits, fetches JSON, and says something in between. About half of the messages are tool results;
their sizes follow the long-tailed distribution of real sessions, some results are read twice, and
calls are sometimes parallel. The same seed and length give the same bytes on every machine.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from bench import outputs
from bench.project import Dice, Project, project
from bench.prose import request, sentence, thought

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Chat: TypeAlias = dict[str, object]

SIZES = (200, 2_000, 20_000)
"""Messages in the transcripts that the speed tables speak of."""

_MEDIAN_CHARACTERS = 2_600
_SPREAD = 1.15
_LONGEST = 60_000
_AGAIN = 0.04
"""How often a file is read a second time without having changed."""
_PARALLEL = 0.12


@dataclass(frozen=True, slots=True)
class _Step:
    """One tool call and what came back."""

    tool: str
    arguments: dict[str, object]
    output: str


def transcript(messages: int, *, seed: int = 7, verbosity: float = 1.0) -> list[Chat]:
    """Return a session of exactly this many messages; no call waits for its result.

    Args:
        messages: How many.
        seed: Other seeds give other sessions.
        verbosity: How long results and written files are, against those of real sessions.
    """
    dice = Dice(seed)
    names = replace(project(dice, files=min(2_000, 60 + messages // 8)), verbosity=verbosity)
    said: list[Chat] = []
    for exchange in _session(dice, names):
        if len(said) + len(exchange) >= messages:
            break
        said += exchange
    while len(said) < messages:
        role = "user" if said[-1]["role"] == "assistant" else "assistant"
        said.append({"role": role, "content": thought(dice, names)})
    return said


def megabytes(messages: list[Chat]) -> float:
    """Return the size of the messages as JSON text, in MB."""
    return len(json.dumps(messages, ensure_ascii=False).encode()) / 1e6


def _session(dice: Dice, names: Project) -> Iterator[list[Chat]]:
    """Yield messages that belong together: one, or calls and their results."""
    rules = " ".join(sentence(dice, names) for _ in range(60))
    yield [{"role": "system", "content": f"You are a careful engineer.\n\n{rules}"}]
    seen: list[_Step] = []
    while True:
        yield [{"role": "user", "content": request(dice, names)}]
        for _ in range(4 + dice.below(22)):
            yield _exchange(dice, names, _steps(dice, names, seen))
        yield [{"role": "assistant", "content": thought(dice, names)}]


def _steps(dice: Dice, names: Project, seen: list[_Step]) -> list[_Step]:
    wanted = 2 + dice.below(2) if dice.random() < _PARALLEL else 1
    steps: list[_Step] = []
    for _ in range(wanted):
        if seen and dice.random() < _AGAIN:
            steps.append(dice.any(seen))
            continue
        step = dice.choices(_KINDS, _WEIGHTS)[0](dice, names)
        steps.append(step)
        if step.tool == "read_file":
            seen.append(step)
    return steps


def _exchange(dice: Dice, names: Project, steps: list[_Step]) -> list[Chat]:
    ids = [f"call_{dice.hex(12)}" for _ in steps]
    calls: Chat = {
        "role": "assistant",
        "content": thought(dice, names) if dice.random() < 0.5 else "",
        "tool_calls": [
            {
                "id": id_,
                "type": "function",
                "function": {"name": step.tool, "arguments": json.dumps(step.arguments)},
            }
            for id_, step in zip(ids, steps, strict=True)
        ],
    }
    results: list[Chat] = [
        {"role": "tool", "tool_call_id": id_, "content": step.output}
        for id_, step in zip(ids, steps, strict=True)
    ]
    return [calls, *results]


def _text(dice: Dice, names: Project, lines: Iterator[str]) -> str:
    drawn = min(_LONGEST, int(_MEDIAN_CHARACTERS * math.exp(dice.gauss(0, _SPREAD))))
    wanted = drawn * names.verbosity
    kept: list[str] = []
    length = 0
    for line in lines:
        kept.append(line)
        length += len(line) + 1
        if length >= wanted:
            break
    return "\n".join(kept)


def _reading(dice: Dice, names: Project) -> _Step:
    path = dice.pick(names.paths)
    source = outputs.python
    if path.endswith(".ts"):
        source = outputs.typescript
    elif path.endswith((".md", ".yaml")):
        source = outputs.documents
    start = 1 + dice.below(400)
    text = _text(dice, names, source(dice, names))
    numbered = "\n".join(f"{start + at:6}|{line}" for at, line in enumerate(text.split("\n")))
    return _Step("read_file", {"path": path, "offset": start, "limit": 500}, numbered)


def _searching(dice: Dice, names: Project) -> _Step:
    wanted = dice.pick(names.functions)
    text = _text(dice, names, outputs.matches(dice, names, wanted))
    return _Step("search_files", {"pattern": wanted, "path": "src"}, text)


def _shell(dice: Dice, names: Project) -> _Step:
    command, lines = dice.any(_COMMANDS)(dice, names)
    text = _text(dice, names, lines)
    code = 1 if dice.random() < 0.15 else 0
    if dice.random() < 0.5:
        text = json.dumps({"output": text, "exit_code": code})
    else:
        text = f"{text}\n[exit code {code}]"
    return _Step("terminal", {"command": command, "timeout": 120}, text)


def _editing(dice: Dice, names: Project) -> _Step:
    path = dice.pick(names.paths)
    text = _text(dice, names, outputs.python(dice, names))
    if dice.random() < 0.5:
        arguments: dict[str, object] = {"path": path, "content": text}
        return _Step("write_file", arguments, json.dumps({"bytes_written": len(text)}))
    half = len(text) // 2
    arguments = {"path": path, "old_string": text[:half], "new_string": text[half:]}
    return _Step("patch", arguments, _text(dice, names, outputs.diff(dice, names)))


def _fetching(dice: Dice, names: Project) -> _Step:
    url = f"https://{dice.pick(names.services)}.example.com/v1/{dice.pick(names.functions)}"
    lines = chain(["["], (f"{line}," for line in outputs.records(dice, names)))
    return _Step("web_extract", {"urls": [url]}, f"{_text(dice, names, lines)}\nnull]")


def _command(
    template: str, lines: Callable[[Dice, Project], Iterator[str]]
) -> Callable[[Dice, Project], tuple[str, Iterator[str]]]:
    def command(dice: Dice, names: Project) -> tuple[str, Iterator[str]]:
        text = template.format(
            path=dice.pick(names.paths),
            service=dice.pick(names.services),
            commit=dice.pick(names.commits),
            number=1 + dice.below(400),
        )
        return text, lines(dice, names)

    return command


_COMMANDS = [
    _command("pytest -v {path} --maxfail {number}", outputs.suite),
    _command("python -m pytest {path} -x --tb=long", outputs.failures),
    _command("docker compose logs --tail {number} {service}", outputs.logs),
    _command("journalctl -u {service} -n {number}", outputs.logs),
    _command("git diff {commit} -- {path}", outputs.diff),
    _command("git log --oneline -n {number}", outputs.history),
    _command("ls -laR $(dirname {path})", outputs.listing),
    _command("docker build -t {service}:{number} . 2>&1", outputs.build),
    _command("cat {path} | head -n {number}", outputs.python),
]
_KINDS = [_reading, _searching, _shell, _editing, _fetching]
_WEIGHTS = [30, 14, 34, 14, 8]
