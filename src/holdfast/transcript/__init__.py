"""Transcripts as values: parts, messages, their structure, their validity, their shape.

Read in this order: `parts`, `structure`, `validity`, `shape`.
"""

from holdfast.transcript.parts import (
    NO_EXTRAS,
    Content,
    Extras,
    Form,
    Media,
    Message,
    Opaque,
    Part,
    Recalled,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Transcript,
)
from holdfast.transcript.shape import one_line, shape
from holdfast.transcript.structure import (
    exchange_at,
    is_user_word,
    newest_reply,
    newest_user,
    open_calls,
    said_in,
    seams,
    turns,
)
from holdfast.transcript.validity import Violation, check

__all__ = [
    "NO_EXTRAS",
    "Content",
    "Extras",
    "Form",
    "Media",
    "Message",
    "Opaque",
    "Part",
    "Recalled",
    "Role",
    "Summary",
    "Synthetic",
    "Text",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Transcript",
    "Violation",
    "check",
    "exchange_at",
    "is_user_word",
    "newest_reply",
    "newest_user",
    "one_line",
    "open_calls",
    "said_in",
    "seams",
    "shape",
    "turns",
]
