"""Plans in the arguments of calls: one reading for the live state and for the record."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import cast

from holdfast.transcript.toolkit import flat

__all__ = ["PlanItem", "fields_of", "plan_of"]

_DONE = frozenset({"completed", "complete", "done", "finished", "closed", "cancelled", "canceled"})
_LISTS = ("todos", "plan", "items", "tasks", "todo_list")
_WORDS = ("content", "step", "text", "title", "task", "description", "subject")
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


def _item(entry: object) -> PlanItem | None:
    if isinstance(entry, str):
        return PlanItem(flat(entry, _ITEM_WIDTH))
    if not isinstance(entry, dict):
        return None
    fields = cast("dict[str, object]", entry)
    text = next((str(fields[name]) for name in _WORDS if fields.get(name)), "")
    status = str(fields.get("status") or ("done" if fields.get("done") is True else "pending"))
    return PlanItem(flat(text, _ITEM_WIDTH), flat(status, _STATUS_WIDTH)) if text else None
