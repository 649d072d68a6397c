"""What a rollout of Codex says besides what was said: whose session it is and what it cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from holdfast.formats.chronicle import About
from holdfast.formats.figures import count
from holdfast.formats.loose import is_array, mapping, string
from holdfast.formats.moments import moment
from holdfast.session import Fork, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["NOTED", "about_of", "spent_in"]

NOTED = ("id", "cwd", "git_branch", "version", "parent")
"""The texts that a note may say where Codex has no room for them."""
_MORE = (
    "agent_nickname",
    "agent_role",
    "git",
    "model_provider",
    "originator",
    "source",
    "thread_source",
)


def about_of(meta: Mapping[str, object], note: Mapping[str, object], written: object) -> About:
    """Return what the first line of a rollout tells.

    Args:
        meta: its payload.
        note: what we wrote beside it.
        written: the time of the line, for a payload without one.
    """
    parent, fork = _origin(meta)
    git = mapping(meta.get("git"))
    about = About(
        id=string(meta.get("id")) or string(meta.get("session_id")),
        cwd=string(meta.get("cwd")),
        git_branch=string(git.get("branch")),
        version=string(meta.get("cli_version")),
        started=moment(meta.get("timestamp")) or moment(written),
        parent=parent,
        fork=fork,
        more={name: meta[name] for name in _MORE if meta.get(name)},
    )
    return _with_note(about, mapping(note.get("about")))


def spent_in(counts: Mapping[str, object], note: Mapping[str, object]) -> Usage:
    """Return what one answer cost: what was sent counts what came from the cache as well."""
    noted = note.get("usage")
    if is_array(noted) and len(noted) == 2:
        exact, cost = mapping(noted[0]), noted[1]
        price = float(cost) if isinstance(cost, int | float) else 0.0
        return replace(_usage(exact), calls=count(exact.get("calls")), cost=price)
    return _usage(counts)


def _usage(counts: Mapping[str, object]) -> Usage:
    read = count(counts.get("cached_input_tokens"))
    wrote = count(counts.get("cache_write_input_tokens"))
    sent = max(0, count(counts.get("input_tokens")) - read - wrote)
    return Usage(1, sent, count(counts.get("output_tokens")), read, wrote)


def _origin(meta: Mapping[str, object]) -> tuple[str, Fork | None]:
    subagent = mapping(mapping(meta.get("source")).get("subagent"))
    spawned = mapping(subagent.get("thread_spawn")).get("parent_thread_id")
    if parent := string(meta.get("parent_thread_id")) or string(spawned):
        return parent, Fork.DELEGATION
    shared = mapping(meta.get("history_base")).get("thread_id")
    if parent := string(meta.get("forked_from_id")) or string(shared):
        return parent, Fork.BRANCH
    return "", None


def _with_note(about: About, note: Mapping[str, object]) -> About:
    fields: dict[str, object] = {
        name: value for name in NOTED if isinstance(value := note.get(name), str)
    }
    if (fork := string(note.get("fork"))) in set(Fork):
        fields["fork"] = Fork(fork)
    return replace(about, **cast("dict[str, str]", fields)) if fields else about  # type: ignore[arg-type]
