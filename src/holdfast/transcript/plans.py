"""Plans in the arguments of calls: one reading for the live state and for the record."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import cast

from holdfast.transcript.toolkit import flat

__all__ = ["PlanItem", "fields_of", "plan_of", "planned"]

_DONE = frozenset({"completed", "complete", "done", "finished", "closed", "cancelled", "canceled"})
_LISTS = ("todos", "plan", "items", "tasks", "todo_list")
_WORDS = ("content", "step", "text", "title", "task", "description", "subject")
_NUMBERS = ("taskId", "task_id", "id")
_NUMBERED = re.compile(r"#(\d{1,6})\b")
_DROPPED = frozenset({"deleted", "removed"})
_ITEM_WIDTH = 240
_STATUS_WIDTH = 24


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
        value: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def plan_of(arguments: str) -> tuple[PlanItem, ...] | None:
    """Return the plan that a call wrote; None when it does not list one.

    Agents name the list and its fields differently.
    """
    fields = fields_of(arguments)
    found = next((fields[key] for key in _LISTS if isinstance(fields.get(key), list)), None)
    if found is None:
        return None
    items = (_item(entry) for entry in cast("list[object]", found))
    return tuple(item for item in items if item)


def planned(plan: tuple[PlanItem, ...], arguments: str, answer: str) -> tuple[PlanItem, ...] | None:
    """Return the plan after a call that planned something; None for any other call.

    Some agents write the whole list each time. Others add a task, whose number the answer tells,
    and later change its status by that number.
    """
    whole = plan_of(arguments)
    if whole is not None:
        return whole
    fields = fields_of(arguments)
    number = next((str(fields[key]) for key in _NUMBERS if fields.get(key)), "")
    if number and fields.get("status"):
        status = flat(str(fields["status"]), _STATUS_WIDTH)
        changed = (_with_status(item, number.lstrip("#"), status) for item in plan)
        return tuple(item for item in changed if item.status not in _DROPPED)
    if not number and fields.get("subject"):
        named = _NUMBERED.search(answer[:200])
        return (
            (*plan, PlanItem(flat(f"#{named[1]} {fields['subject']}", _ITEM_WIDTH)))
            if named
            else None
        )
    return None


def _with_status(item: PlanItem, number: str, status: str) -> PlanItem:
    return PlanItem(item.text, status) if item.text.startswith(f"#{number} ") else item


def _item(entry: object) -> PlanItem | None:
    if isinstance(entry, str):
        return PlanItem(flat(entry, _ITEM_WIDTH))
    if not isinstance(entry, dict):
        return None
    fields = cast("dict[str, object]", entry)
    text = next((str(fields[name]) for name in _WORDS if fields.get(name)), "")
    status = str(fields.get("status") or ("done" if fields.get("done") is True else "pending"))
    return PlanItem(flat(text, _ITEM_WIDTH), flat(status, _STATUS_WIDTH)) if text else None
