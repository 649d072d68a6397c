"""A session while it is written: who says and does what, with the truth after each step."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.summary.truth_phrases import PHRASES, SLUGS, Phrases
from tests.summary.truth_state import Ask, Truth

_LINES = (
    "def collect(rows): return [row for row in rows if row.valid]",
    "class Reader: limit = None",
    "def render(rows): return table(rows, columns=COLUMNS)",
    "for row in rows: writer.put(row.name, row.length, row.draught)",
    "assert sorted(names) == names",
    "COLUMNS = name, length, draught, captain, arrival",
)


@dataclass(frozen=True, slots=True)
class Step:
    """A message, or a call with its result, and what is true after it."""

    messages: tuple[dict[str, Any], ...]
    truth: Truth
    size: int
    """How many characters the session has, up to here."""


def same(truth: Truth) -> Truth:
    return truth


class Script:
    """Messages with their truth, and the names that the session has not used yet."""

    def __init__(self, random: Random, phrases: Phrases) -> None:
        self.random, self.phrases = random, phrases
        self.truth = Truth()
        self.size = 0
        self.steps: list[Step] = []
        self.turns: list[int] = []
        """Where each message of the user stands among the steps."""
        self._slugs: dict[str, str] = {}
        self._unused: dict[str, Iterator[Any]] = {
            "thing": self._things(),
            "goal": self._shuffled(phrases.goals),
            "server": self._shuffled(phrases.servers),
            "store": self._shuffled(phrases.stores),
            "area": self._shuffled(phrases.areas),
            "number": self._shuffled(range(101, 999)),
            "value": self._shuffled(range(1_024, 9_999)),
        }

    def new(self, kind: str) -> Any:
        """Return a name or number that was not used yet; None when there is none left."""
        return next(self._unused[kind], None)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def phrase(self, choices: tuple[str, ...] | str, **blanks: object) -> tuple[str, str]:
        """Return one of the phrases with its blanks filled in, and what only it says."""
        template = choices if isinstance(choices, str) else self.random.choice(choices)
        words = template.format(**blanks)
        core = words.partition("«")[2].partition("»")[0]
        return words.replace("«", "").replace("»", ""), core

    def words(self, choices: tuple[str, ...] | str, **blanks: object) -> str:
        return self.phrase(choices, **blanks)[0]

    def user(self, words: str, change: Callable[[Truth], Truth] = same) -> None:
        self.turns.append(len(self.steps))
        message = {"role": "user", "content": words}
        self._add(lambda truth: replace(change(truth), waiting=words), message)

    def reply(self, *sentences: str, change: Callable[[Truth], Truth] = same) -> None:
        message = {"role": "assistant", "content": self._joined(*sentences)}
        self._add(lambda truth: replace(change(truth), waiting=""), message)

    def call(
        self,
        name: str,
        arguments: dict[str, Any],
        output: str,
        change: Callable[[Truth], Truth] = same,
        narration: str | None = None,
    ) -> None:
        id_ = f"call_{len(self.steps)}"
        function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
        call = {"id": id_, "type": "function", "function": function}
        asked = {"role": "assistant", "content": narration, "tool_calls": [call]}
        self._add(change, asked, {"role": "tool", "tool_call_id": id_, "content": output})

    def run(
        self,
        command: str,
        output: str,
        change: Callable[[Truth], Truth] = same,
        narration: str | None = None,
    ) -> None:
        self.call("bash", {"command": command}, output, change, narration)

    def edit(self, path: str, new: str, old: str = "pass", narration: str | None = None) -> None:
        arguments = {"path": path, "old_string": old, "new_string": new}
        done = f"{path} was updated."
        self.call("edit_file", arguments, done, lambda truth: truth.edited(path), narration)

    def ask(
        self,
        thing: str,
        choices: tuple[str, ...] | str,
        before: str = "",
        change: Callable[[Truth], Truth] = same,
    ) -> None:
        """Let the user ask for a thing, after other words in the same message."""
        words, request = self.phrase(choices, x=thing)
        details = self._details(3) if choices is self.phrases.asks else ""
        whole = self._joined(before, words, details)
        returned = self.truth.was_finished(thing)
        ask = Ask(thing, request, whole, returned=returned)
        self.user(whole, lambda truth: change(truth).asked(ask))

    def work(self, thing: str) -> str:
        """Read, edit and test, at times twice; return how many tests passed."""
        reading, writing, testing = (self.words(each, x=thing) for each in self.phrases.narration)
        number, path = str(self.new("number")), self.path(thing)
        self.call("read_file", {"path": path}, self.code(), narration=reading)
        if self.chance(0.3):
            self.run(f"grep -rn collect {path}", self.code(8))
        new = f"def {self.slug(thing)}(rows): return collect(rows)"
        self.edit(path, new, narration=writing if self.chance(0.5) else None)
        command = f"pytest tests/test_{self.slug(thing)}.py"
        failed = f"{self.new('number')} failed" if self.chance(0.2) else ""
        if failed:
            output = f"Exit code 1\n{self.code(4)}\nE   AssertionError\n{failed} in 1.1s"
            self.run(command, output, narration=testing)
            self.edit(path, "return sorted(rows)", old="return rows")
        outdated = (failed,) if failed else ()
        self.run(
            command,
            f"{self.code(4)}\n{number} passed in 1.2s",
            lambda truth: replace(truth, outdated=(*truth.outdated, *outdated)),
        )
        return number

    def finish(self, thing: str, after: str = "", change: Callable[[Truth], Truth] = same) -> None:
        """Do a thing and say that it is done, then other words in the same message."""
        number = self.work(thing)
        done = self.words(self.phrases.done, x=thing, n=number)
        self.reply(
            *(done, self._details(2), after),
            change=lambda truth: change(truth.ended(thing, number)),
        )

    def state(
        self,
        words: str,
        change: Callable[[Truth], Truth],
        follow: tuple[str, str, str] | None = None,
        reply: str = "",
    ) -> None:
        """Let the user say something, alone or before asking for a thing; an edit may follow."""
        thing = self.new("thing") if self.chance(0.4) else None
        if thing is None:
            self.user(words, change)
        else:
            self.ask(thing, self.phrases.asks, words, change)
        if follow:
            self.edit(*follow)
        if thing is None:
            said = reply or self.words(self.phrases.understood)
            self.reply(said, change=lambda truth: truth.ended(words.rstrip(".。")))
        else:
            self.finish(thing)

    def slug(self, thing: str) -> str:
        return self._slugs[thing]

    def path(self, thing: str) -> str:
        return f"src/harbor/{self.slug(thing)}.py"

    def code(self, lines: int = 0) -> str:
        count = lines or self.random.randint(8, 24)
        return "\n".join(self.random.choices(_LINES, k=count))

    def _add(self, change: Callable[[Truth], Truth], *messages: dict[str, Any]) -> None:
        self.truth = change(self.truth)
        self.size += len(str(messages))
        self.steps.append(Step(messages, self.truth, self.size))

    def _joined(self, *sentences: str) -> str:
        return self.phrases.joint.join(filter(None, sentences))

    def _details(self, most: int) -> str:
        chosen = self.random.sample(self.phrases.details, self.random.randint(0, most))
        return self._joined(*chosen)

    def _shuffled(self, names: Any) -> Iterator[Any]:
        return iter(self.random.sample(names, len(names)))

    def _things(self) -> Iterator[str]:
        """Yield things to ask for; the first two dozen share no word but their kind."""
        order = self.random.sample(range(len(SLUGS)), len(SLUGS))
        for later in range(len(self.phrases.kinds)):
            for place in order:
                kind = (place + later) % len(self.phrases.kinds)
                name = f"{self.phrases.things[place]}{self.phrases.kinds[kind]}"
                self._slugs[name] = f"{SLUGS[place]}_{PHRASES['English'].kinds[kind]}"
                yield name
