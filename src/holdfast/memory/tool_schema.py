"""The `memory` tool as a model is told of it."""

from __future__ import annotations

from holdfast.memory.notebooks import MEMORY, NOTEBOOKS, USER
from holdfast.wire.tool_specs import ToolSpec

__all__ = ["MEMORY_TOOL"]

_ABOUT = f"""\
Keep a fact for later sessions. What is kept stands in the system prompt of every session to come, \
so keep little, and only what will still matter: preferences and corrections of the user, facts of \
the environment, conventions of the project, lessons that cost time. Not: progress of the task, \
long output, anything that can be looked up again, secrets.
- target memory: notes about work and environment (at most {MEMORY.limit:,} characters).
- target user: who the user is and what the user wants (at most {USER.limit:,} characters).
- action add: a new entry, one fact in a sentence or two.
- action replace: content takes the place of the entry that holds old_text.
- action remove: the entry that holds old_text goes.
old_text is a piece that only one entry has. The prompt of this session does not change; the \
answer says what is kept now."""

MEMORY_TOOL = ToolSpec(
    "memory",
    _ABOUT,
    {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["add", "replace", "remove"]},
            "target": {
                "type": "string",
                "enum": list(NOTEBOOKS),
                "description": "Which file; memory by default.",
            },
            "content": {"type": "string", "description": "The entry, for add and replace."},
            "old_text": {
                "type": "string",
                "description": "A piece of the entry that is meant, for replace and remove.",
            },
        },
        "required": ["action"],
        "additionalProperties": False,
    },
)
