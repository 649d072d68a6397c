"""What Kimi's folders say: which session a file belongs to, and what is known of it beside it.

A session has no id but the name of its folder. `state.json` in it has the title, the working
directory and the session that it was forked from, and says which agent works for which. Kimi CLI
named the folder above after a digest of the working directory, which `kimi.json` lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import md5
from re import fullmatch
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About
from holdfast.formats.loose import is_array, is_object, mapping, mappings, string
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "MAIN_AGENT",
    "Place",
    "homes_in",
    "is_homes",
    "is_state",
    "place_of",
    "stated",
    "unit_of",
]

MAIN_AGENT = "main"
_UNTITLED = frozenset(["New Session", "Untitled"])
_CLI_STATE = frozenset(["custom_title", "title_generated"])


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file lies."""

    folder: str
    """The folder of its session."""
    agent: str
    """Whose it is in the session: its own agent's, a sub-agent's, or a part that was laid aside."""
    about: About
    """What the path says."""


def place_of(file: str) -> Place:
    """Return what the path of a file says about it, where it is known."""
    match file.replace("\\", "/").split("/"):
        case [*above, session, "agents" | "subagents", agent, _]:
            folder = "/".join([*above, session])
            if agent == MAIN_AGENT:
                return Place(folder, agent, About(id=session))
            about = About(id=f"{session}/{agent}", parent=session, fork=Fork.DELEGATION)
            return Place(folder, agent, about)
        case [*above, session, "context.jsonl" | "wire.jsonl" | "state.json" | "metadata.json"]:
            return Place("/".join([*above, session]), MAIN_AGENT, About(id=session))
        case [*above, session, name] if aside := fullmatch(
            r"(context(_sub)?(?:_\d+)?)\.jsonl", name
        ):
            fork = Fork.DELEGATION if aside[2] else Fork.BRANCH
            about = About(id=f"{session}/{aside[1]}", parent=session, fork=fork)
            return Place("/".join([*above, session]), aside[1], about)
        case [*_, "sessions", _, name] if name.endswith(".jsonl"):
            return Place(file, MAIN_AGENT, About(id=name.removesuffix(".jsonl")))
        case _:
            return Place(file, MAIN_AGENT, About())


def unit_of(file: str) -> str:
    """Return the folder of a session; nothing for Kimi CLI, which lists folders beside them all."""
    folder = place_of(file).folder
    above = folder.rpartition("/")[0].rpartition("/")[2]
    is_old = fullmatch(r"[0-9a-f]{32}", above) or file.endswith("/kimi.json")
    return "" if is_old else folder


def is_state(entry: Mapping[str, object]) -> bool:
    """Say whether a file says what is known of a session."""
    is_own = is_object(entry.get("agents")) and not {"workDir", "cwd"}.isdisjoint(entry)
    return (is_own and "createdAt" in entry) or not _CLI_STATE.isdisjoint(entry)


def is_homes(entry: Mapping[str, object]) -> bool:
    """Say whether a file lists working directories."""
    return is_array(entry.get("work_dirs"))


def homes_in(entry: Mapping[str, object]) -> dict[str, str]:
    """Return working directories by the names of the folders that hold their sessions."""
    paths = (string(each.get("path")) for each in mappings(entry.get("work_dirs")))
    return {md5(path.encode(), usedforsecurity=False).hexdigest(): path for path in paths if path}


def stated(state: Mapping[str, object], place: Place) -> About:
    """Return what a state says about one agent of its session."""
    custom = string(mapping(state.get("custom")).get("cwd"))
    cwd = string(state.get("workDir")) or string(state.get("cwd")) or custom
    if place.agent != MAIN_AGENT:
        session = place.about.id.removesuffix(f"/{place.agent}")
        known = mapping(mapping(state.get("agents")).get(place.agent))
        above = string(known.get("parentAgentId"))
        parent = "" if above in {"", MAIN_AGENT} else f"{session}/{above}"
        return About(cwd=cwd, parent=parent, fork=Fork.DELEGATION if parent else None)
    title = string(state.get("custom_title")) or string(state.get("title"))
    origin = string(state.get("forkedFrom"))
    return About(
        title="" if title in _UNTITLED else title,
        cwd=cwd,
        parent=origin,
        fork=Fork.BRANCH if origin else None,
    )
