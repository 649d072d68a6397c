"""Memory as values: what is kept, what may be kept, and how a model is told of it.

Read in this order: `entries`, `screening`, `prompt_block`,
then `scrubber` and `shareable`, which keep memory out of what is said, and out of memory
what was not said.
"""

from holdfast.memory.entries import (
    MEMORY,
    MEMORY_TOOL,
    NOTEBOOKS,
    USER,
    Add,
    AlreadyThere,
    Edit,
    Edited,
    Edition,
    Entries,
    Notebook,
    Remove,
    Replace,
    applied,
    edit_from,
    plain,
    read_entries,
    size_of,
    write_entries,
)
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
from holdfast.memory.shareable import is_bare_command, own_words, shareable

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
