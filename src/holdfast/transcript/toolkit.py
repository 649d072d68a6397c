"""What a tool call did, said in one line whatever agent made it, and the plans in its arguments.

Pruning puts these lines where long results were, and the deterministic record is made of them,
so both speak of the same call in the same words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from msgspec import Struct

from holdfast.keywords import names_checked
from holdfast.transcript.arguments import parsed
from holdfast.transcript.effects import Effect, Family, effect, error_line, family

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.transcript.parts import ToolCall, ToolResult

__all__ = [
    "Action",
    "Family",
    "PlanItem",
    "Toolkit",
    "describe",
    "family",
    "fields_of",
    "flat",
    "headline",
    "opening",
    "outcome",
    "patched_files",
    "plan_of",
    "planned",
]

_MARGIN = 1_024
"""Characters read beyond a cut, so that a secret across it is seen whole and goes whole."""
_WIDTH = 200
_ERROR_WIDTH = 140

_COMMAND = ("command", "cmd", "script", "code", "input", "chars", "bash_id", "session_id")
_PATH = (
    "file_path",
    "path",
    "filename",
    "file",
    "target_file",
    "filePath",
    "notebook_path",
    "AbsolutePath",
    "paths",
    "file_paths",
)
_PATTERN = (
    *("pattern", "query", "regex", "search_term", "glob", "Query", "search", "name"),
    "file_name",
)
_SCOPE = ("path", "directory", "dir", "dir_path", "target_directories", "include", "cwd", "glob")
_WEB = ("query", "url", "urls", "q", "prompt")
_GOAL = ("description", "goal", "task", "prompt", "message", "instructions", "context")
_CONTENT = (
    *("content", "new_string", "new_str", "file_text", "newText", "contents", "text"),
    "replace",
)
_PLACES = ("workdir", "cwd")
_OLD = ("old_string", "old_str", "oldText", "old_text", "oldString", "search")
_PLAN = ("todos", "plan", "items", "subject", "status")
_START = ("offset", "start_line", "line_start", "startLine", "StartLine")
_END = ("end_line", "line_end", "endLine", "EndLine")

_PATCH_MARKS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ")


class Action(Struct, frozen=True, gc=False):
    """A call, read: which kind of work on what."""

    family: Family
    tool: str
    target: str
    """The command, path, pattern, query or goal, exactly as it was given."""
    scope: str = ""
    """Where a search looked, or which lines were read."""
    files: tuple[str, ...] = ()
    """The files that were read or written."""
    content: str = ""
    """What was written."""
    beside: str = ""
    """Where a command runs, or what an edit takes away."""


@dataclass(frozen=True, slots=True)
class Toolkit:
    """The tools of an agent: the known families, and names that a user adds to them."""

    extra: Mapping[str, Family] = field(default_factory=dict[str, Family])
    """Families of tools that holdfast does not know, by their exact names."""
    redact: Callable[[str], str] = str
    """Masks secrets in a text before it is cut, after which they would not be known as such."""

    def family(self, name: str) -> Family:
        """Return the family of the tool called `name`."""
        return self.extra.get(name) or family(name)

    def action(self, call: ToolCall) -> Action:
        """Return what the call was for."""
        arguments, tool = _arguments(call.arguments), call.name
        kind = self.family(tool)
        if kind is Family.WRITE and arguments.get("command") == "view":
            kind = Family.READ
        match kind:
            case Family.SHELL:
                command = _first(arguments, _COMMAND)
                place = _first(arguments, _PLACES)
                return Action(kind, tool, command, files=patched_files(command), beside=place)
            case Family.READ:
                path = _first(arguments, _PATH) or _first(arguments, ("input",))
                paths = arguments.get("paths") or arguments.get("file_paths")
                files = (path,)
                if isinstance(paths, list):
                    files = tuple(map(_words, cast("list[object]", paths)))
                return Action(kind, tool, path, _range(arguments), tuple(filter(None, files)))
            case Family.WRITE:
                patch = _first(arguments, ("patch", "input", "diff"))
                path = _first(arguments, _PATH)
                files = (path,) if path else patched_files(patch)
                old, new = _replaced(arguments)
                target = path or " ".join(files)
                return Action(kind, tool, target, files=files, content=new or patch, beside=old)
            case Family.SEARCH:
                pattern = _first(arguments, _PATTERN)
                places = (_words(arguments.get(key)) for key in _SCOPE)
                scope = next((place for place in places if place not in {"", pattern}), "")
                return Action(kind, tool, pattern, scope)
            case Family.WEB:
                about = _first(arguments, _WEB)
            case Family.DELEGATE:
                about = _first(arguments, _GOAL)
            case Family.PLAN:
                values = (arguments.get(key) for key in _PLAN)
                plans = (cast("list[object]", each) for each in values if isinstance(each, list))
                about = next((_plural(len(plan), "item") for plan in plans), "")
            case Family.OTHER:
                about = ""
        if not about:
            named = ((key, flat(_words(each), 80, self.redact)) for key, each in arguments.items())
            about = ", ".join(f"{key}={text}" for key, text in named if text)
        plan = arguments.get("plan") if kind is Family.PLAN else ""
        return Action(kind, tool, about, content=plan if isinstance(plan, str) else "")

    def describe(self, call: ToolCall, result: ToolResult | None) -> str:
        """Return one informative line about the call and how it went."""
        action = self.action(call)
        ending = "no result"
        if result is not None:
            ending = outcome(action, effect(result, action.family), self.redact)
        return f"{headline(action, self.redact)} ({ending})"


def describe(call: ToolCall, result: ToolResult | None) -> str:
    """Return one informative line about a call of any agent's tool and how it went."""
    return _PLAIN.describe(call, result)


def headline(action: Action, redact: Callable[[str], str] = str) -> str:
    """Return the tool and what it worked on."""
    target = flat(action.target, _WIDTH, redact)
    match action.family:
        case Family.SEARCH if action.scope and target:
            what = f"{target} in {flat(action.scope, _WIDTH, redact)}"
        case Family.READ if action.scope:
            what = f"{target} lines {action.scope}"
        case _:
            what = target or flat(action.scope, _WIDTH, redact)
    return f"{action.tool}: {what}" if what else action.tool


def outcome(action: Action, ended: Effect, redact: Callable[[str], str] = str) -> str:
    """Return how the action went: exit code, counts, size, and the error if there was one."""
    facts: list[str] = []
    if ended.exit_code is not None:
        facts.append(f"exit {ended.exit_code}")
    elif ended.failed:
        facts.append("failed")
    match action.family:
        case Family.SHELL:
            facts.append(_plural(ended.lines, "line"))
        case Family.SEARCH:
            facts.append(_plural(_matches(ended.text), "match", "matches"))
        case Family.WRITE if action.content:
            facts.append(f"wrote {_plural(action.content.count(chr(10)) + 1, 'line')}")
        case Family.READ:
            facts.append(_plural(ended.lines, "line"))
            facts.append(_plural(len(ended.text), "character"))
        case _:
            facts.append(_plural(len(ended.text), "character"))
    if ended.failed and (error := error_line(redact(ended.text))):
        facts.append(flat(error, _ERROR_WIDTH))
    return ", ".join(facts)


def flat(text: str, width: int, redact: Callable[[str], str] = str) -> str:
    """Return the text on one line of at most `width` characters, redacted where it is cut."""
    whole = text if len(text) <= width else opening(text, width * 4, redact)
    line = " ".join(whole.split())
    return line if len(line) <= width else line[: max(width - 1, 1)] + "…"


def opening(text: str, length: int, redact: Callable[[str], str]) -> str:
    """Return the first characters of a text, redacted before the rest of it is cut off."""
    masked = redact(text[: length + _MARGIN])
    # What a mask made shorter must not bring the end of the margin to light.
    unread = _MARGIN if len(text) > length + _MARGIN else 0
    return masked[: max(min(length, len(masked) - unread), 0)]


def patched_files(text: str) -> tuple[str, ...]:
    """Return the files that a patch touches."""
    if "*** " not in text and "+++ " not in text:
        return ()
    found: dict[str, None] = {}
    for line in text.split("\n"):
        for mark in _PATCH_MARKS:
            if line.startswith(mark):
                found[line[len(mark) :].strip()] = None
        if line.startswith("+++ "):
            path = line[4:].partition("\t")[0].strip().removeprefix("b/")
            if path != "/dev/null":
                found[path] = None
    return tuple(found)


def _replaced(arguments: Mapping[str, object]) -> tuple[str, str]:
    """Return what an edit takes away and what it puts there, in one place or in several."""
    edits = arguments.get("edits")
    several = cast("list[object]", edits) if isinstance(edits, list) else []
    places = [cast("dict[str, object]", each) for each in several if isinstance(each, dict)]
    old, new = (
        [_first(place, keys) for place in places or [arguments]] for keys in (_OLD, _CONTENT)
    )
    return "\n".join(filter(None, old)), "\n".join(filter(None, new))


def _arguments(text: str) -> dict[str, object]:
    try:
        value: object = parsed(text)
    except (ValueError, RecursionError):
        # Some tools take free text, such as a patch, instead of JSON.
        return {"input": text} if text.strip() else {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {"input": text}


def _first(arguments: Mapping[str, object], keys: tuple[str, ...]) -> str:
    for key in keys:
        if text := _words(arguments.get(key)):
            return text
    return ""


def _words(value: object) -> str:
    match value:
        case str():
            return value
        case bool() | None:
            return ""
        case int() | float():
            return str(value)
        case list():
            items = [_words(item) for item in cast("list[object]", value)]
            if len(items) == 3 and items[1] in {"-c", "-lc", "-ic"}:
                return items[2]
            return " ".join(filter(None, items))
        case _:
            return ""


def _range(arguments: Mapping[str, object]) -> str:
    match arguments.get("view_range"):
        case [int(first), int(last)]:
            return f"{first}-{last}"
        case _:
            pass
    first, last = _number(arguments, _START), _number(arguments, _END)
    size = _number(arguments, ("limit",))
    if size and not last:
        last = (first or 1) + size - 1
    return f"{first or 1}-{last or ''}" if first or last else ""


def _number(arguments: Mapping[str, object], keys: tuple[str, ...]) -> int:
    text = _first(arguments, keys)
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _matches(text: str) -> int:
    head = text[:200]
    words = head.split()
    if words and words[0] == "No":
        return 0
    if len(words) > 1 and words[0] == "Found" and words[1].isdecimal():
        return int(words[1])
    return sum(1 for line in text.split("\n") if line.strip())


def _plural(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


_PLAIN = Toolkit()


_DONE = frozenset({"completed", "complete", "done", "finished", "closed", "cancelled", "canceled"})
_LISTS = ("todos", "plan", "items", "tasks", "todo_list")
_WORDS = ("content", "step", "text", "title", "task", "description", "subject")
_NUMBERS = ("taskId", "task_id", "id")
_NUMBERED = re.compile(r"#(\d{1,6})\b")
_DROPPED = frozenset({"deleted", "removed"})
_ITEM_WIDTH = 240
_STATUS_WIDTH = 24


@names_checked
@dataclass(frozen=True, slots=True)
class PlanItem:
    """One step of the agent's plan."""

    text: str
    status: str = "pending"

    @property
    def is_done(self) -> bool:
        """Say whether nothing is left to do for it."""
        return self.status in _DONE


def fields_of(arguments: str) -> dict[str, object]:
    """Return the arguments of a call as fields; what is no JSON object has none."""
    try:
        value: object = parsed(arguments)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def plan_of(arguments: str, redact: Callable[[str], str] = str) -> tuple[PlanItem, ...] | None:
    """Return the plan that a call wrote; None when it does not list one.

    Agents name the list and its fields differently.
    """
    fields = fields_of(arguments)
    found = next((fields[key] for key in _LISTS if isinstance(fields.get(key), list)), None)
    if found is None:
        return None
    items = (_item(entry, redact) for entry in cast("list[object]", found))
    return tuple(item for item in items if item)


def planned(
    plan: tuple[PlanItem, ...], arguments: str, answer: str, redact: Callable[[str], str] = str
) -> tuple[PlanItem, ...] | None:
    """Return the plan after a call that planned something; None for any other call.

    Some agents write the whole list each time. Others add a task, whose number the answer tells,
    and later change its status by that number.
    """
    whole = plan_of(arguments, redact)
    if whole is not None:
        return whole
    fields = fields_of(arguments)
    number = next((str(fields[key]) for key in _NUMBERS if fields.get(key)), "")
    if number and fields.get("status"):
        status = flat(str(fields["status"]), _STATUS_WIDTH)
        named = f"#{number.lstrip('#')} "
        changed = (
            PlanItem(item.text, status) if item.text.startswith(named) else item for item in plan
        )
        return tuple(item for item in changed if item.status not in _DROPPED)
    if not number and fields.get("subject"):
        found = _NUMBERED.search(answer[:200])
        if found is None:
            return None
        return (*plan, PlanItem(flat(f"#{found[1]} {fields['subject']}", _ITEM_WIDTH, redact)))
    return None


def _item(entry: object, redact: Callable[[str], str]) -> PlanItem | None:
    if isinstance(entry, str):
        return PlanItem(flat(entry, _ITEM_WIDTH, redact))
    if not isinstance(entry, dict):
        return None
    fields = cast("dict[str, object]", entry)
    text = next((str(fields[name]) for name in _WORDS if fields.get(name)), "")
    status = str(fields.get("status") or ("done" if fields.get("done") is True else "pending"))
    if not text:
        return None
    return PlanItem(flat(text, _ITEM_WIDTH, redact), flat(status, _STATUS_WIDTH, redact))
