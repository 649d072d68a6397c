"""The live state of an agent: typed, read from events, rendered byte for byte the same.

A summarizer is never asked to remember the plan or a running process. They are read from the
calls that changed them and from what the host reports.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import TYPE_CHECKING, cast

from holdfast.errors import ConfigError
from holdfast.keywords import check_text, names_checked
from holdfast.transcript import ToolCall, ToolResult
from holdfast.transcript.toolkit import Family, PlanItem, Toolkit, fields_of, flat, plan_of, planned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Message

__all__ = ["LiveState", "PlanItem", "observe", "read_live", "render_live"]

_ITEM_WIDTH = 240
_CONTINUED = "    "
_BACKGROUND = "run_in_background"
_KILL_TOOLS = frozenset({"KillShell", "KillBash", "kill_shell", "kill_process", "TaskStop"})
_ANSWER = 400
_MOST = 20
"""Of processes and skills, the newest of which are listed."""
_SKILL_TOOLS = frozenset({"Skill", "skill", "load_skill"})
_LABELS = {
    "goal": "Goal",
    "rules": "Rule",
    "approvals": "Waiting for approval",
    "agents": "Running sub-agent",
    "processes": "Running process",
    "skills": "Loaded skill",
    "remembered": "From memory, for reference",
    "directory": "Directory",
    "branch": "Branch",
}
_NAMES = {label: name for name, label in _LABELS.items()}
_SINGLE = frozenset({"goal", "directory", "branch"})
_NUMBER = re.compile(r"#(\d{1,6}) ")
_PLAN = re.compile(r"- Plan: (\d{1,6}) of \d{1,6} done")


@names_checked
@dataclass(frozen=True, slots=True)
class LiveState:
    """What is true now, whatever was folded."""

    goal: str = ""
    rules: tuple[str, ...] = ()
    """Standing rules that the host passes, such as those of a project file, word for word."""
    plan: tuple[PlanItem, ...] = ()
    finished: int = 0
    """How many more items of the plan are done, which are counted and not listed."""
    approvals: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    processes: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    remembered: tuple[str, ...] = ()
    """What a memory provider took from messages before they were folded."""
    directory: str = ""
    branch: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be rendered; one text would be read as its letters."""
        for name in ("goal", "directory", "branch"):
            check_text(name, getattr(self, name))
        for name in ("rules", "approvals", "agents", "processes", "skills", "remembered"):
            value = getattr(self, name)
            if not isinstance(value, tuple | list):
                raise ConfigError(f"{name} is of type {type(value).__name__}; allowed: texts")
            for each in cast("Sequence[object]", value):
                check_text(f"one of the {name}", each)

    def over(self, older: LiveState) -> LiveState:
        """Return this state, with the older one showing wherever this says nothing."""
        names = (field.name for field in fields(self))
        return LiveState(**{name: getattr(self, name) or getattr(older, name) for name in names})


def observe(messages: Sequence[Message], toolkit: Toolkit, before: LiveState) -> LiveState:
    """Return the state after the events in the messages, starting from an earlier state."""
    state = replace(before, approvals=(), agents=())
    agents: dict[str, str] = {}
    processes, skills = dict.fromkeys(before.processes, ""), dict.fromkeys(before.skills)
    started: dict[str, str] = {}
    planning: dict[str, str] = {}
    for part in chain.from_iterable([message.parts for message in messages]):
        if type(part) is ToolResult:
            if not (agents or planning or started):
                continue
            agents.pop(part.call_id, None)
            if said := planning.pop(part.call_id, ""):
                state = _planned(state, said, part.text, toolkit)
            if part.call_id in started:
                # What a start answered holds the id by which the process is ended.
                processes[started[part.call_id]] = part.text[:_ANSWER]
        if type(part) is not ToolCall:
            continue
        kind = toolkit.family(part.name)
        # Arguments are parsed only where they can matter: a session has thousands of calls.
        if kind is Family.PLAN:
            planning[part.id] = part.arguments
        elif kind is Family.DELEGATE:
            agents[part.id] = _item(toolkit.action(part).target or part.name, toolkit)
        elif _BACKGROUND in part.arguments and fields_of(part.arguments).get(_BACKGROUND) is True:
            started[part.id] = _item(toolkit.action(part).target, toolkit)
            processes[started[part.id]] = ""
        elif part.name in _KILL_TOOLS:
            # What is ended is the process whose start answered with the id.
            ids = [str(value) for value in fields_of(part.arguments).values() if value]
            for name, answer in [*processes.items()]:
                if any(id_ in answer for id_ in ids):
                    del processes[name]
        elif part.name in _SKILL_TOOLS:
            named = next(iter(fields_of(part.arguments).values()), part.name)
            skills[_item(str(named), toolkit)] = None
    for said in planning.values():
        state = _planned(state, said, "", toolkit)
    return replace(
        state,
        plan=_counted_once(state, before),
        agents=tuple(agents.values()),
        processes=tuple(filter(None, processes))[-_MOST:],
        skills=tuple(filter(None, skills))[-_MOST:],
    )


def _planned(state: LiveState, arguments: str, answer: str, toolkit: Toolkit) -> LiveState:
    """Return the state after a call that wrote a plan, or changed items of it."""
    plan = planned(state.plan, arguments, answer, toolkit.redact)
    if plan is None:
        return state
    is_whole = plan_of(arguments) is not None
    if not is_whole and len(plan) > len(state.plan) and plan[-1].text in _texts(state.plan):
        # What stayed in the window at the last fold was observed then.
        return state
    return replace(state, plan=plan, finished=0 if is_whole else state.finished)


def _counted_once(state: LiveState, before: LiveState) -> tuple[PlanItem, ...]:
    """Return the plan without finished items that were counted when they were observed before.

    Such items are known by their numbers alone, which agents count up.
    """
    listed = _texts(before.plan)
    known, left = len(before.plan) + before.finished, state.finished
    plan: list[PlanItem] = []
    for item in state.plan:
        number = _NUMBER.match(item.text)
        is_again = number and int(number[1]) <= known and item.text not in listed
        if left and is_again and item.is_done:
            left -= 1
        else:
            plan.append(item)
    return tuple(plan)


def _texts(plan: Sequence[PlanItem]) -> set[str]:
    return {item.text for item in plan}


def _item(text: str, toolkit: Toolkit) -> str:
    return flat(text, _ITEM_WIDTH, toolkit.redact)


def render_live(state: LiveState) -> str:
    """Return the state as lines that `read_live` reads back."""
    lines: list[str] = []
    for name, label in _LABELS.items():
        value = cast("str | tuple[str, ...]", getattr(state, name))
        entries = (value,) if isinstance(value, str) else value
        # Further lines are indented, so that a text of several reads as one entry, word for word.
        entries = (entry.replace("\n", f"\n{_CONTINUED}") for entry in entries if entry)
        lines += [f"- {label}: {entry}" for entry in entries]
    if state.plan or state.finished:
        done = sum(item.is_done for item in state.plan) + state.finished
        lines.append(f"- Plan: {done} of {len(state.plan) + state.finished} done")
        lines += [f"  - [{item.status}] {' '.join(item.text.split())}" for item in state.plan]
    return "\n".join(lines)


def read_live(text: str) -> LiveState:
    """Return the state that `render_live` wrote; lines of any other form are passed over."""
    found: dict[str, list[str]] = {}
    plan: list[PlanItem] = []
    last, done = "", 0
    for line in text.split("\n"):
        if line.startswith(_CONTINUED) and last:
            found[last][-1] += f"\n{line.removeprefix(_CONTINUED)}"
            continue
        if line.startswith("  - [") and "] " in line:
            status, _, item = line.removeprefix("  - [").partition("] ")
            plan.append(PlanItem(item, status))
            continue
        if counted := _PLAN.fullmatch(line):
            done = int(counted[1])
        label, separator, value = line.removeprefix("- ").partition(": ")
        last = _NAMES.get(label, "") if separator else ""
        if last:
            found.setdefault(last, []).append(value)
    single = {name: values[-1] for name, values in found.items() if name in _SINGLE}
    several = {name: tuple(values) for name, values in found.items() if name not in _SINGLE}
    finished = max(done - sum(item.is_done for item in plan), 0)
    return replace(LiveState(plan=tuple(plan), finished=finished), **single, **several)
