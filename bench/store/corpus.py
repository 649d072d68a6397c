"""Seeded sessions for a store: chat turns, calls, tool outputs, in six languages.

Outputs have 0.3 to 6 kB and hold prose, paths, identifiers, addresses and hexadecimal ids; some
come back word for word. One message in twenty is not English. The shapes are those of OpenAI chat,
so that a peer is given the very same messages.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.project import Dice, project
from bench.store.words import FOREIGN, english, foreign

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.project import Project
    from bench.transcripts import Chat

SOURCES = ("cli", "api", "gateway", "subagent")
_LENGTHS = (40, 400)
"""Messages of a session, from and to."""
_FOREIGN = 0.05
_AGAIN = 0.08
_SHORTEST_OUTPUT = 300
_OUTPUT_RANGE = 20
_TOOLS = ("terminal", "read_file", "search_files", "web_extract")
_PEOPLE = ("anna", "boris", "chen", "dana", "emil", "farah", "goran", "hana", "ivo", "june")


@dataclass(frozen=True, slots=True)
class Mix:
    """What a corpus is made of."""

    name: str
    calls: float
    """The share of turns that are a call and its output."""
    longest: int = 24
    """Words of a turn at most."""


MIXED = Mix("tool-heavy", 0.34)
CHAT = Mix("short chat", 0.0, 13)
MOSTLY_CHAT = Mix("mostly chat", 0.08)
"""What a million messages are made of, so that they are written within minutes."""


@dataclass(frozen=True, slots=True)
class Sitting:
    """One session: where it comes from, and what was said."""

    id: str
    source: str
    started: int
    """Milliseconds since the epoch."""
    messages: list[Chat]


class Corpus:
    """An endless supply of sessions from one seed."""

    def __init__(self, mix: Mix, seed: int = 17) -> None:
        self.mix = mix
        self.english = english(Dice(1))
        self.foreign = {name: foreign(Dice(2), name) for name in FOREIGN}
        self.names: Project = project(Dice(3), files=1_500)
        self._dice = Dice(seed)
        self._outputs: list[str] = []

    def sittings(self, messages: int) -> Iterator[Sitting]:
        """Yield sessions until so many messages were said, to the message."""
        number = 0
        while messages > 0:
            first, last = _LENGTHS
            wanted = min(messages, first + self._dice.below(last - first))
            yield self.sitting(number, wanted)
            messages -= wanted
            number += 1

    def sitting(self, number: int, messages: int) -> Sitting:
        """Return one session of exactly so many messages."""
        said: list[Chat] = []
        while len(said) < messages:
            left = messages - len(said)
            said += self._exchange(left)
        started = 1_750_000_000_000 + number * 3_600_000
        source = SOURCES[number % len(SOURCES)]
        return Sitting(f"20260101_000000_{number:06x}", source, started, said)

    def _exchange(self, left: int) -> list[Chat]:
        dice = self._dice
        if left >= 2 and dice.random() < self.mix.calls:
            return self._call()
        asked: Chat = {"role": "user", "content": self._turn()}
        if left < 2:
            return [asked]
        return [asked, {"role": "assistant", "content": self._turn()}]

    def _call(self) -> list[Chat]:
        dice, names = self._dice, self.names
        id_ = f"call_{dice.hex(12)}"
        arguments = {"command": f"{dice.pick(names.functions)} {dice.pick(names.paths)}"}
        function = {"name": dice.any(_TOOLS), "arguments": json.dumps(arguments)}
        call = {"id": id_, "type": "function", "function": function}
        content = self._turn() if dice.random() < 0.3 else ""
        return [
            {"role": "assistant", "content": content, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": id_, "content": self._output()},
        ]

    def _turn(self) -> str:
        dice = self._dice
        if dice.random() < _FOREIGN:
            lexicon = self.foreign[dice.any(FOREIGN)]
            return lexicon.sentence(dice, 6 + dice.below(14))
        words = self.english.draw(dice, 4 + dice.below(self.mix.longest - 3))
        chance = dice.random()
        if chance < 0.2:
            words[dice.below(len(words))] = self._name()
        return " ".join(words) + ("?" if chance > 0.8 else ".")

    def _output(self) -> str:
        dice = self._dice
        if self._outputs and dice.random() < _AGAIN:
            return dice.any(self._outputs)
        wanted = int(_SHORTEST_OUTPUT * _OUTPUT_RANGE ** dice.random())
        lines: list[str] = []
        while wanted > 0:
            line = " ".join([self._name(), *self.english.draw(dice, 3 + dice.below(12))])
            lines.append(line)
            wanted -= len(line) + 1
        text = "\n".join(lines)
        if len(self._outputs) < 500:
            self._outputs.append(text)
        return text

    def _name(self) -> str:
        """Return something exact: a path, an identifier, an id, an address, a moment."""
        dice, names = self._dice, self.names
        chance = dice.below(6)
        if chance < 2:
            return f"{dice.pick(names.paths)}:{dice.below(900)}:"
        if chance < 4:
            return dice.pick(names.functions)
        if chance == 4:
            return dice.hex(12) if dice.random() < 0.5 else dice.pick(names.commits)
        return f"{dice.any(_PEOPLE)}.{dice.pick(self.english.words[60:900])}@example.org"


def content_bytes(messages: list[Chat]) -> int:
    """Return the bytes of what was said: texts, and names and arguments of calls."""
    total = 0
    for message in messages:
        total += len(str(message["content"]).encode())
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call["function"]
            total += len(function["name"]) + len(function["arguments"].encode())
    return total
