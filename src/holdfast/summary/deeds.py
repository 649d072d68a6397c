"""Actions of a record from what tools did: one dense line each, runs of the same kind joined."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.summary.condense import condensed_line
from holdfast.summary.masking import redact_all
from holdfast.transcript.effects import error_line
from holdfast.transcript.families import Family
from holdfast.transcript.toolkit import flat, outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from holdfast.summary.story import Deed
    from holdfast.transcript.effects import Effect
    from holdfast.transcript.toolkit import Action

__all__ = ["action_lines", "defined", "key_line", "quoted", "tally"]

_COMMAND = 180
_OUTCOME = 120
_JOINED = 8
_NAMES = 8

_VERBS = {
    Family.SHELL: "RAN",
    Family.READ: "READ",
    Family.WRITE: "EDITED",
    Family.SEARCH: "SEARCHED",
    Family.WEB: "FETCHED",
    Family.DELEGATE: "DELEGATED",
    Family.PLAN: "PLANNED",
    Family.OTHER: "CALLED",
}
_DEFINITION = re.compile(
    r"^[ \t+]{0,16}(?:(?:export|default|pub|async|static|public|private|abstract)[ \t]+){0,3}"
    r"(?:def|func|function|class|type|interface|struct|enum|fn|const|trait|module)[ \t]+"
    r"(?:\([^)\n]{0,60}\)[ \t]*)?([A-Za-z_]\w{2,60})",
    re.MULTILINE,
)
_VERDICT = re.compile(
    r"[0-9] (?:passed|failed|passing|failing|tests?|errors?|warnings?)\b|^(?:ok|FAIL|PASS|OK)\b"
    r"|^\[\S{1,80} [0-9a-f]{7,40}\]|^Tests?:",
    re.MULTILINE,
)
_TELLING = re.compile(r"\w{3}")


def action_lines(deeds: Sequence[Deed], redact: Callable[[str], str]) -> tuple[str, ...]:
    """Return the deeds as lines: what was done to what, how it ended, with which tool.

    Neighboring reads become one line, and so do neighboring edits of the same file. A line that
    comes again stands where it came last. Long paths keep their end here, where they read as
    names; the list of files has them whole. What is cut here is redacted before; the lines are
    for the caller to redact.
    """
    lines: list[str] = []
    shown = _targets(deeds, redact)
    for (family, tool, _), run in groupby(deeds, key=_likeness):
        members = list(run)
        if family is Family.PLAN:
            continue
        lines.extend(f"{words} [tool: {tool}]" for words in _told(family, members, shown))
    times = Counter(lines)
    newest = tuple(dict.fromkeys(reversed(lines)))[::-1]
    return tuple(f"{line} ({times[line]} times)" if times[line] > 1 else line for line in newest)


def tally(families: Counter[Family], before: int) -> str:
    """Return one condensed action for calls of these families, numbered after `before`."""
    kinds = Counter({_VERBS[family]: count for family, count in families.items()})
    return condensed_line(before + 1, before + families.total(), kinds)


def _targets(deeds: Sequence[Deed], redact: Callable[[str], str]) -> dict[str, str]:
    """Return what deeds worked on as it is shown, where that takes more than a copy."""
    long = [
        deed.action.target
        for deed in deeds
        if len(deed.action.target) > _COMMAND or "\n" in deed.action.target
    ]
    # The slice is longer than what shows, so that a secret across the cut is seen whole.
    masked = redact_all([target[: _COMMAND * 8] for target in long], redact)
    return {target: flat(each, _COMMAND) for target, each in zip(long, masked, strict=True)}


def _likeness(deed: Deed) -> tuple[Family, str, str]:
    action = deed.action
    match action.family:
        case Family.READ:
            what = "failed" if deed.failed else ""
        case Family.WRITE:
            what = f"{action.files} {deed.failed}"
        case _:
            what = str(id(deed))
    return action.family, action.tool, what


def _told(family: Family, members: Sequence[Deed], shown: Mapping[str, str]) -> Iterator[str]:
    verb = _VERBS[family]
    if family is Family.READ:
        failure = _failure(members[-1])
        for start in range(0, len(members), _JOINED):
            yield f"{verb} {_places(members[start : start + _JOINED])}{failure}"
    elif family is Family.WRITE:
        files = members[0].action.files[:_JOINED]
        target = " ".join(map(_short, files)) or members[0].action.target
        names = list(dict.fromkeys(name for each in members for name in defined(each)))[:_NAMES]
        facts = [f"{len(members)} edits"] if len(members) > 1 else []
        facts += [f"defines {', '.join(names)}"] if names else []
        yield f"{verb} {target}{' - ' * bool(facts)}{'; '.join(facts)}{_failure(members[-1])}"
    else:
        yield f"{verb} {_single(members[0], shown)}"


def _places(members: Sequence[Deed]) -> str:
    """Return the files that were read, each once, with the lines that were read of it."""
    found: dict[str, list[str]] = {}
    for deed in members:
        scopes = found.setdefault(_short(deed.action.target), [])
        if deed.action.scope not in {"", *scopes}:
            scopes.append(deed.action.scope)
    return ", ".join(f"{path}:{','.join(each)}" if each else path for path, each in found.items())


def _short(path: str) -> str:
    parts = flat(path, _COMMAND * 2).split("/")
    return "/".join(parts[-3:]) if len(parts) > 5 else "/".join(parts)


def _single(deed: Deed, shown: Mapping[str, str]) -> str:
    action = deed.action
    target = shown.get(action.target) or flat(action.target, _COMMAND)
    if action.family is Family.SEARCH and action.scope:
        target = f"{target} in {flat(action.scope, _COMMAND)}" if target else flat(action.scope, 99)
    if deed.ended is None:
        return f"{target} - no result"
    facts = _facts(deed.ended) if action.family is Family.SHELL else [_outcome(action, deed.ended)]
    return f"{target}{' - ' * bool(facts)}{', '.join(facts)}"


def _outcome(action: Action, ended: Effect) -> str:
    """Return how a call of another tool than a shell went; words of its answer are quoted."""
    error = error_line(ended.text) if ended.failed else ""
    told = outcome(action, replace(ended, failed=False), _OUTCOME)
    return f"failed, {told}{', ' * bool(error)}{quoted(error)}" if ended.failed else told


def _facts(ended: Effect) -> list[str]:
    """Return how a command went; words that it printed are quoted, so that they read as output."""
    facts = [f"exit {ended.exit_code}"] if ended.exit_code is not None else []
    if ended.failed:
        facts = facts or ["failed"]
        facts.append(f"{ended.lines:,} line{'s' * (ended.lines != 1)}")
    line = error_line(ended.text) if ended.failed else key_line(ended.text)
    return [*facts, quoted(line)] if line else facts


def quoted(text: str) -> str:
    """Return words of a program on one line between quotes that end where they should."""
    return f'"{flat(text, _OUTCOME).replace(chr(34), chr(39))}"' if text else ""


def _failure(deed: Deed) -> str:
    if not deed.failed or deed.ended is None:
        return ""
    return f" - failed: {quoted(error_line(deed.ended.text) or deed.ended.text)}"


def key_line(text: str) -> str:
    """Return the line of an output that says most: its verdict, or its last line."""
    end = text[-1_200:].strip()
    if not end:
        return ""
    verdicts = list(_VERDICT.finditer(end))
    if not verdicts:
        telling = (line for line in reversed(end.split("\n")) if _TELLING.search(line))
        return flat(next(telling, ""), _OUTCOME)
    at = verdicts[-1].start()
    start = end.rfind("\n", 0, at) + 1
    return flat(end[start:].partition("\n")[0], _OUTCOME)


def defined(deed: Deed) -> tuple[str, ...]:
    """Return the names that a deed's written content defines."""
    return tuple(dict.fromkeys(_DEFINITION.findall(deed.action.content[:20_000])))
