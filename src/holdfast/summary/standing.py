"""Where the work stood: directory, branch, commits, test counts, failures, plan."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.summary.deeds import defined, key_line, quoted
from holdfast.transcript.effects import error_line
from holdfast.transcript.families import Family
from holdfast.transcript.plans import fields_of, plan_of
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.summary.story import Deed
    from holdfast.transcript import Message
    from holdfast.transcript.toolkit import Toolkit

__all__ = ["failures", "file_notes", "plan_left", "state_lines"]

_RECENT = 120
_FAILURES = 4
_FILES = 80

_CD = re.compile(r"(?:^|[;&\n(])\s{0,4}cd\s+([^\s;&|)]{1,200})")
_BRANCH = re.compile(
    r"On branch (\S{1,100})|Switched to (?:a new )?branch '([^'\n]{1,100})'"
    r"|^\[([^\s\]]{1,100})(?: \([^)\n]{0,40}\))? [0-9a-f]{7,40}\]",
    re.MULTILINE,
)
_COMMIT = re.compile(
    r"^\[\S{1,100}(?: \([^)\n]{0,40}\))? ([0-9a-f]{7,40})\] (.{1,100})", re.MULTILINE
)
_TESTED = re.compile(
    r"\b\d+ (?:passed|failed|passing|failing)\b|^(?:ok|FAIL|PASS|Tests?:|--- FAIL)\b", re.MULTILINE
)
_STEPS = re.compile(r"&&|\|\||[;\n]")
_ASIDE = frozenset({"cd", "export", "source", "set", "echo", "true"})
"""Commands that are not what a command line is for."""
_TESTING = re.compile(r"\btests?\b|pytest|jest|vitest|mocha|rspec|ctest|tox|nox")


def state_lines(deeds: Sequence[Deed]) -> tuple[str, ...]:
    """Return the state that commands and their output show, one `Name: value` each."""
    shells = [deed for deed in deeds[-_RECENT:] if deed.action.family is Family.SHELL]
    found: dict[str, str] = {}
    commits: list[str] = []
    for deed in reversed(shells):
        for name, value in _signs(deed):
            found.setdefault(name, value)
        if deed.ended is not None:
            ended = deed.ended.text[:4_000]
            if _opens_bracket(ended):
                commits += (f"{commit} {title.strip()}" for commit, title in _COMMIT.findall(ended))
    lines = [f"{name}: {value}" for name, value in found.items()]
    return tuple(lines) + ((f"Commits: {'; '.join(commits[:4])}",) if commits else ())


def _signs(deed: Deed) -> Iterator[tuple[str, str]]:
    command = deed.action.target[:2_000]
    directory = _directory(deed) or next(reversed(_CD.findall(command)), "")
    if directory:
        yield "Directory", directory
    if command.rstrip().endswith("&") and not command.rstrip().endswith("&&"):
        yield "Started in the background", flat(command, 120)
    if deed.ended is None:
        return
    ended = deed.ended.text[:4_000]
    if ("branch" in ended or _opens_bracket(ended)) and (branches := _BRANCH.findall(ended)):
        yield "Branch", "".join(branches[-1])
    if _TESTING.search(command) and _TESTED.search(deed.ended.text[-4_000:]):
        yield "Tests", f"{key_line(deed.ended.text)} ({flat(command, 100)})"


def _opens_bracket(text: str) -> bool:
    """Say whether a line begins like what git prints of a commit: quicker than the patterns."""
    return text.startswith("[") or "\n[" in text


def _directory(deed: Deed) -> str:
    if '"workdir"' not in deed.arguments and '"cwd"' not in deed.arguments:
        return ""
    fields = fields_of(deed.arguments)
    where = fields.get("workdir") or fields.get("cwd")
    return where if isinstance(where, str) else ""


def failures(deeds: Sequence[Deed]) -> tuple[str, ...]:
    """Return recent failures with their errors that no later success resolved, oldest first.

    A later failure of the same work replaces an earlier one.
    """
    settled: set[tuple[str, ...]] = set()
    found: list[str] = []
    for deed in reversed(deeds[-_RECENT:]):
        if deed.ended is None:
            continue
        work = _work(deed)
        error = error_line(deed.ended.text) if deed.failed else ""
        if error and work[-1] not in settled:
            found.append(f"{flat(deed.action.target, 120)} - {quoted(error)}")
        settled.update(work[-1:] if deed.failed else work)
    return tuple(reversed(found[:_FAILURES]))


def _work(deed: Deed) -> list[tuple[str, ...]]:
    """Return what makes two deeds attempts at the same thing: the steps of a command, or a target.

    A step is its first words, since its options change from one attempt to the next.
    """
    target = deed.action.target
    if deed.action.family is not Family.SHELL:
        return [(target,)]
    line = target[:2_000].partition("<<")[0]
    steps = [_step(part.partition("|")[0].split()) for part in _STEPS.split(line)]
    return [step for step in steps if step and step[0] not in _ASIDE] or [(target,)]


def _step(words: list[str]) -> tuple[str, ...]:
    while words and "=" in words[0]:
        words = words[1:]
    is_runner = len(words) > 1 and (words[1].startswith("-") or words[1] in {"run", "exec"})
    return tuple(words[: 3 if is_runner else 2])


def file_notes(deeds: Sequence[Deed]) -> tuple[str, ...]:
    """Return the files that were changed or read, the newest first, one note each."""
    notes: dict[str, tuple[int, dict[str, None], str]] = {}
    for deed in reversed(deeds):
        if deed.failed:
            continue
        changed = deed.action.family is not Family.READ
        names = dict.fromkeys(defined(deed)) if changed else {}
        for path in deed.action.files:
            edits, known, lines = notes.get(path, (0, {}, ""))
            notes[path] = (edits + changed, known | names, lines or deed.action.scope)
    return tuple(
        f"{path} - {_note(edits, tuple(names), lines)}"
        for path, (edits, names, lines) in list(notes.items())[:_FILES]
    )


def _note(edits: int, names: tuple[str, ...], lines: str) -> str:
    if not edits:
        return f"read, lines {lines}" if lines else "read"
    times = f", {edits} edits" if edits > 1 else ""
    return f"changed{times}" + (f": {', '.join(names[:6])}" if names else "")


def plan_left(
    deeds: Sequence[Deed], after: Sequence[Message], toolkit: Toolkit
) -> tuple[str, ...] | None:
    """Return the open items of the newest plan that lists all of its items; None without a plan.

    Args:
        deeds: What was done in the folded turns.
        after: The messages that follow them; a plan there is newer.
        toolkit: The agent's tools.
    """
    for arguments in _plans(deeds, after, toolkit):
        items = plan_of(arguments)
        if items is not None:
            return tuple(f"{item.text} ({item.status})" for item in items if not item.is_done)
    return None


def _plans(deeds: Sequence[Deed], after: Sequence[Message], toolkit: Toolkit) -> Iterable[str]:
    """Yield the arguments of calls that plan, the newest first."""
    for message in reversed(after):
        for call in reversed(message.calls):
            if toolkit.family(call.name) is Family.PLAN:
                yield call.arguments
    yield from (each.arguments for each in reversed(deeds) if each.action.family is Family.PLAN)
