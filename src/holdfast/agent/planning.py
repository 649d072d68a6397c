"""The `plan` tool: what the model wants to do, as a list that survives every compaction.

Nothing is stored here. The newest plan is read from the calls themselves, and stands in the live
state of the record word for word.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from holdfast.agent.toolbox import ToolFailed
from holdfast.transcript.plans import plan_of
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from holdfast.agent.toolbox import Arguments

__all__ = ["Plan"]

_STATUSES = ("pending", "in_progress", "completed", "cancelled")
_SPEC = ToolSpec(
    "plan",
    "Keep the plan of a task with several steps: pass the whole list each time it changes. It "
    "stays in view however long the conversation gets.",
    {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "content": {"type": "string", "description": "What is to be done."},
                        "status": {"type": "string", "enum": list(_STATUSES)},
                    },
                    "required": ["content", "status"],
                },
            }
        },
        "required": ["items"],
    },
)


class Plan:
    """Takes a plan, and says how far it is."""

    @property
    def spec(self) -> ToolSpec:
        """Return what the model is told of it."""
        return _SPEC

    def needs_approval(self, arguments: Arguments) -> str:
        """Return nothing: a plan changes nothing outside the conversation."""
        del arguments
        return ""

    def run(self, arguments: Arguments) -> str:
        """Return how far the plan is."""
        items = plan_of(json.dumps(dict(arguments), default=str))
        if not items:
            raise ToolFailed("items is missing; it is a list of {content, status}")
        done = sum(item.is_done for item in items)
        following = next((item.text for item in items if not item.is_done), "")
        rest = f"; next: {following}" if following else ""
        return f"{done} of {len(items)} done{rest}"
