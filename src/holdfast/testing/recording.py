"""Stand-ins for tests: a clock moved by hand, scripted answers, a real model's answers in a file.

The file holds answers under a hash of their prompts, never the prompts. A prompt names the current
day, so a recording is made and replayed with a clock that stands still.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from holdfast.errors import ConfigError, SummarizerError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from holdfast.ports import Summarizer
    from holdfast.summary import Ask

    File: TypeAlias = str | os.PathLike[str]


class FixedClock:
    """Stands still until it is told to advance."""

    def __init__(self, now: float = 0.0, *, today: str = "2026-01-01") -> None:
        """Start at this moment of this day."""
        self._now = now
        self._today = today

    def now(self) -> float:
        """Return the moment at which the clock stands."""
        return self._now

    def today(self) -> str:
        """Return the day at which the clock stands."""
        return self._today

    def moment(self) -> int:
        """Return the milliseconds that passed since the epoch: those the clock advanced by."""
        return int(self._now * 1000)

    def advance(self, seconds: float) -> None:
        """Let time pass; the day stays what it was."""
        self._now += seconds


class ScriptedSummarizer:
    """Answers from a list: a text is returned, an exception is raised.

    Every ask is kept in `asks`. Being asked more often than the script foresees is an
    `AssertionError`, so that a test notices a call that should not have been made.
    """

    def __init__(
        self,
        answers: Iterable[str | Exception],
        *,
        name: str = "scripted",
        window: int | None = None,
    ) -> None:
        """Learn the answers, in the order in which they are given."""
        self.name = name
        self.window = window
        self.asks: list[Ask] = []
        self._answers = list(answers)

    def write(self, ask: Ask) -> str:
        """Return or raise the next answer of the script."""
        self.asks.append(ask)
        if not self._answers:
            raise AssertionError(f"{self.name} was asked {len(self.asks)} times, once too often")
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def awrite(self, ask: Ask) -> str:
        """Return or raise the next answer of the script."""
        return self.write(ask)


_VERSION = 1


class MissingRecording(SummarizerError):
    """Nothing was recorded for this prompt: it changed since, or was never asked."""


class RecordingSummarizer:
    """Asks another summarizer and writes each answer to the file at once.

    Answers that the file already holds stay, so that a recording can grow over several runs.
    Failures are raised and not recorded.
    """

    def __init__(self, summarizer: Summarizer, file: File) -> None:
        """Record what this summarizer answers."""
        self._summarizer = summarizer
        self._path = Path(file)
        self.name = summarizer.name

    @property
    def window(self) -> int | None:
        """Return the window of the summarizer behind."""
        return self._summarizer.window

    def write(self, ask: Ask) -> str:
        """Return the other's answer, recorded."""
        return self._keep(ask, self._summarizer.write(ask))

    async def awrite(self, ask: Ask) -> str:
        """Return the other's answer, recorded."""
        return self._keep(ask, await self._summarizer.awrite(ask))

    def _keep(self, ask: Ask, answer: str) -> str:
        answers = _load(self._path)[2] if self._path.exists() else {}
        recording = {
            "holdfast_recording": _VERSION,
            "name": self.name,
            "window": self.window,
            "answers": {**answers, _key(ask): answer},
        }
        text = json.dumps(recording, ensure_ascii=False, indent=2, sort_keys=True)
        self._path.write_text(text + "\n", encoding="utf-8")
        return answer


class ReplayingSummarizer:
    """Answers from a recording; a prompt that is not in it is an error that says so."""

    def __init__(self, file: File) -> None:
        """Read the recording."""
        self._path = Path(file)
        self.name, self.window, self._answers = _load(self._path)

    def write(self, ask: Ask) -> str:
        """Return the recorded answer."""
        answer = self._answers.get(_key(ask))
        if answer is None:
            opening = " ".join(ask.prompt[:80].split())
            raise MissingRecording(
                f"{self._path} holds no answer to this {ask.purpose} prompt (it begins "
                f"{opening!r}); record it again with RecordingSummarizer"
            )
        return answer

    async def awrite(self, ask: Ask) -> str:
        """Return the recorded answer."""
        return self.write(ask)


def _key(ask: Ask) -> str:
    return sha256(ask.prompt.encode("utf-8", "surrogatepass")).hexdigest()


def _load(path: Path) -> tuple[str, int | None, dict[str, str]]:
    try:
        recording: object = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist; make it with RecordingSummarizer") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not a recording: {error}") from error
    fields = cast("dict[str, object]", recording) if isinstance(recording, dict) else {}
    if fields.get("holdfast_recording") != _VERSION:
        raise ConfigError(f"{path} is not a recording of version {_VERSION}")
    return (
        cast("str", fields["name"]),
        cast("int | None", fields["window"]),
        cast("dict[str, str]", fields["answers"]),
    )
