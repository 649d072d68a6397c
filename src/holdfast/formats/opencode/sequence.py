"""The messages of opencode's second schema, as those of the first.

There a row is a whole message: what a user said, an answer with everything in it, a command that
the user ran, a compaction with its summary. Rows count up within their session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.loose import mapping, mappings, parsed, string
from holdfast.formats.opencode.telling import Entry
from holdfast.formats.session_reader import words

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["entry_of"]

_SPOKEN = frozenset(["user", "synthetic", "system"])


def entry_of(kind: str, fields: Mapping[str, object]) -> Entry | None:
    """Return a message and its parts; None for one that says nothing to a model.

    Args:
        kind: What the row is.
        fields: Everything else about it.
    """
    match kind:
        case "assistant":
            model = mapping(fields.get("model"))
            named = string(model.get("id")) or string(model.get("modelID"))
            parts = [_part(each) for each in mappings(fields.get("content"))]
            return Entry({**fields, "role": "assistant", "modelID": named}, parts)
        case "compaction":
            told = (string(fields.get("summary")), string(fields.get("recent")))
            said = {"type": "text", "text": "\n\n".join(filter(None, told))}
            return Entry({**fields, "role": "assistant", "summary": True}, [said])
        case "shell":
            state = {
                "status": "completed",
                "input": {"command": fields.get("command")},
                "output": fields.get("output"),
                "time": _span(fields),
            }
            run = {"type": "tool", "tool": "shell", "callID": fields.get("callID"), "state": state}
            return Entry({**fields, "role": "assistant"}, [run])
        case _ if kind in _SPOKEN:
            files = [_file(each) for each in mappings(fields.get("files"))]
            said = {"type": "text", "text": fields.get("text")}
            return Entry({**fields, "role": "user"}, [said, *files])
        case _:
            return None


def _part(content: Mapping[str, object]) -> Mapping[str, object]:
    if content.get("type") != "tool":
        return content
    state = mapping(content.get("state"))
    asked, found = state.get("input"), mappings(state.get("content"))
    files = [*(each for each in found if "uri" in each), *mappings(state.get("attachments"))]
    failure = mapping(state.get("error")).get("message") or state.get("error")
    return {
        "type": "tool",
        "id": content.get("id"),
        "callID": content.get("id"),
        "tool": content.get("name"),
        "state": {
            "status": state.get("status"),
            # A call that still waits has its arguments as text.
            "input": parsed(asked) if isinstance(asked, str) else asked,
            "output": words([each for each in found if "uri" not in each]),
            "error": failure if isinstance(failure, str) else "",
            "attachments": [_file(each) for each in files],
            "time": _span(content),
        },
    }


def _file(attached: Mapping[str, object]) -> Mapping[str, object]:
    return {"type": "file", "mime": attached.get("mime"), "url": attached.get("uri")}


def _span(fields: Mapping[str, object]) -> Mapping[str, object]:
    time = mapping(fields.get("time"))
    return {"start": time.get("ran") or time.get("created"), "end": time.get("completed")}
