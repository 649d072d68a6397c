"""What a tool's answer says about how the call went: exit code, size, error line.

Only the ends of an answer are searched, because that is where every agent writes these things,
and because answers run to megabytes.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from holdfast.transcript.families import Family

if TYPE_CHECKING:
    from holdfast.transcript.parts import ToolResult

__all__ = ["Effect", "effect", "effect_of_text", "error_line"]

_END = 600
_WIDEST = 300

_EXIT = re.compile(
    r"<returncode>\s{0,8}(-?\d{1,10})"
    r"|^\W{0,8}(?:[Ee]xit|[Rr]eturn)[_ ]?code\W{1,4}(-?\d{1,10})"
    r"|\"(?:exit|return)_?[cC]ode\":\s{0,3}(-?\d{1,10})"
    r"|\b(?:exited|finished) with (?:exit )?(?:code|status) (-?\d{1,10})"
    r"|^exit status (\d{1,10})",
    re.MULTILINE,
)
_EXIT_WORDS = ("exit", "Exit", "code", "finished")
# A line that reports a failure, in the words that programs use whatever their user speaks.
_ERROR = re.compile(
    r"\b\w*(?:Error|Exception|Panic)\b|\b(?:error|fatal|panic|failed|failure|denied|FAIL)\b\W"
    r"|not found|No such file|cannot |E {3}",
)
_ERROR_WORDS = (
    *("Error", "Exception", "Panic", "error", "fatal", "panic", "failed", "failure", "denied"),
    *("FAIL", "not found", "No such file", "cannot ", "E   "),
)
"""What every match holds one of: to look for them costs a tenth of trying the pattern."""
_ENVELOPES = ("output", "stdout", "content", "result")
_PREAMBLE = re.compile(
    r"(?:(?:Chunk ID|Wall time|Exit code|Process exited|Process running|Original token count"
    r"|Total output lines)[^\n]{0,120}\n){1,6}\s{0,4}Output:\s*"
)
"""What some agents write above the output of a command."""


@dataclass(frozen=True, slots=True)
class Effect:
    """How a call ended."""

    text: str
    """The words of the answer, taken out of its JSON envelope where it has one."""
    exit_code: int | None = None
    failed: bool = False

    @property
    def lines(self) -> int:
        """Return the number of lines of the answer."""
        stripped = self.text.strip("\n")
        return stripped.count("\n") + 1 if stripped else 0


def effect(result: ToolResult, kind: Family) -> Effect:
    """Return what the result says about its call.

    Only a shell reports exit codes: a file that was read may talk about anybody's.
    """
    if kind is not Family.SHELL:
        return Effect(_opened(result.text), failed=result.is_error)
    read = effect_of_text(result.text)
    return Effect(read.text, read.exit_code, failed=read.failed or result.is_error)


def effect_of_text(text: str) -> Effect:
    """Return what a shell's answer says about its command, from its words alone."""
    code = _exit_code(text)
    return Effect(_opened(text), code, failed=code is not None and code != 0)


def error_line(text: str) -> str:
    """Return the line that names the error, or nothing.

    The last such line wins: a traceback ends with its error, a build with its verdict.
    """
    for end in (text[-4 * _END :], text[: 4 * _END]):
        there = [word for word in _ERROR_WORDS if word in end]
        for line in reversed(end.split("\n")) if there else ():
            stripped = line.strip()
            if len(stripped) > 5 and any([word in stripped for word in there]):
                beginning = stripped[:_WIDEST]
                if _ERROR.search(beginning):
                    return beginning
    return ""


def _exit_code(text: str) -> int | None:
    for end in (text[:_END], text[-_END:]):
        if any(word in end for word in _EXIT_WORDS) and (found := _EXIT.search(end)):
            return int(next(group for group in found.groups() if group is not None))
    return None


def _opened(text: str) -> str:
    """Return the answer without the JSON object or the preamble that some agents put around it."""
    if text.startswith(("Chunk", "Wall", "Exit", "Process")) and (above := _PREAMBLE.match(text)):
        return text[above.end() :]
    if not text.startswith("{") or not any(f'"{key}"' in text[:_END] for key in _ENVELOPES):
        return text
    try:
        value: object = json.loads(text)
    except ValueError:
        return text
    fields = cast("dict[str, object]", value)
    return next(
        (inner for key in _ENVELOPES if isinstance(inner := fields.get(key), str)),
        text,
    )
