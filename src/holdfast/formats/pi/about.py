"""What entries of a Pi session say of the session as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About
from holdfast.formats.loose import string
from holdfast.formats.pi.content import time_of
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["noted", "opened"]

_HEADER = ("provider", "thinkingLevel", "parentSession", "branchedFrom")


def opened(header: Mapping[str, object]) -> About:
    """Return what the header says."""
    origin = string(header.get("parentSession")) or string(header.get("branchedFrom"))
    return About(
        id=string(header.get("id")),
        model=string(header.get("modelId")),
        cwd=string(header.get("cwd")),
        started=time_of(header),
        parent=_session_of(origin),
        fork=Fork.BRANCH if origin else None,
        more={key: found for key in _HEADER if (found := string(header.get(key)))},
    )


def noted(entry: Mapping[str, object]) -> About | None:
    """Return what an entry says of the session; None where it says something else."""
    match entry.get("type"):
        case "model_change":
            provider, model = string(entry.get("provider")), string(entry.get("modelId"))
            return About(model=model, more={"provider": provider} if provider else {})
        case "session_info":
            return About(title=string(entry.get("name")).strip())
        case "thinking_level_change":
            return About(more={"thinkingLevel": string(entry.get("thinkingLevel"))})
        case _:
            return None


def _session_of(path: str) -> str:
    """Return the id in the name of a session file, which begins with the time.

    OpenClaw names one of its database instead, as `sqlite:agent:id:path`.
    """
    if path.startswith("sqlite:"):
        return path.split(":", 3)[2] if path.count(":") > 1 else ""
    name = path.replace("\\", "/").rpartition("/")[2].removesuffix(".jsonl")
    return name.partition("_")[2] or name
