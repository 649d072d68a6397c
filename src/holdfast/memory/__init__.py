"""Memory as values: what is kept, what may be kept, and how a model is told of it.

Read in this order: `notebooks`, `entries`, `edits`, `screening`, `prompt_block`, `tool_schema`,
then `scrubber`, `skills` and `shareable`, which keep memory out of what is said, and out of memory
what was not said.
"""

from holdfast.memory.edits import Add, Edit, Remove, Replace, applied, edit_from
from holdfast.memory.entries import (
    AlreadyThere,
    Edited,
    Edition,
    Entries,
    plain,
    read_entries,
    size_of,
    write_entries,
)
from holdfast.memory.notebooks import MEMORY, NOTEBOOKS, USER, Notebook
from holdfast.memory.prompt_block import (
    FENCE_END,
    FENCE_START,
    ProjectFile,
    fenced,
    prompt_block,
    usage,
)
from holdfast.memory.screening import LEFT_OUT, Finding, screen, softened
from holdfast.memory.scrubber import LONGEST_TAG, Scrubber, scrub, without_tags
from holdfast.memory.shareable import shareable
from holdfast.memory.skills import is_bare_command, own_words
from holdfast.memory.tool_schema import MEMORY_TOOL

__all__ = [
    "FENCE_END",
    "FENCE_START",
    "LEFT_OUT",
    "LONGEST_TAG",
    "MEMORY",
    "MEMORY_TOOL",
    "NOTEBOOKS",
    "USER",
    "Add",
    "AlreadyThere",
    "Edit",
    "Edited",
    "Edition",
    "Entries",
    "Finding",
    "Notebook",
    "ProjectFile",
    "Remove",
    "Replace",
    "Scrubber",
    "applied",
    "edit_from",
    "fenced",
    "is_bare_command",
    "own_words",
    "plain",
    "prompt_block",
    "read_entries",
    "screen",
    "scrub",
    "shareable",
    "size_of",
    "softened",
    "usage",
    "without_tags",
    "write_entries",
]
