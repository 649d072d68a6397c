"""What the lines of a Claude Code session say about it: there is no header, each line says it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About
from holdfast.formats.claude_code.lines import ABOUT, SPOKEN
from holdfast.formats.loose import mapping, string
from holdfast.formats.replay import merged
from holdfast.session import Fork

if TYPE_CHECKING:
    from holdfast.formats.claude_code.lines import Line
    from holdfast.formats.claude_code.tree import Tree

__all__ = ["Header"]

_TITLES = {"custom-title": ("customTitle", 3), "ai-title": ("aiTitle", 2)}
_OLD_TITLE = 1
_SAID = ("cwd", "gitBranch", "version", *ABOUT)
_NOTHING = About()


class Header:
    """Gathers what is known of a session while its lines come."""

    def __init__(self, tree: Tree) -> None:
        """Know nothing; the tree says which lines are in the file."""
        self._tree = tree
        self.session = ""
        """The first session id of the file."""
        self.has_begun = False
        self._known = _NOTHING
        self._said: dict[str, str] = {}
        """The fields of messages as they were last."""
        self._rank = 0
        """How good the title is: a user's is better than one that was made up."""
        self._titles: dict[str, str] = {}
        """Titles by the line that they are for; those of other files stand here as well."""

    def see(self, line: Line) -> About | None:
        """Return what a line says that was not known; None until the session has begun."""
        if not self.session:
            self.session = string(line.entry.get("sessionId"))
        is_spoken = line.kind in SPOKEN
        found = self._found(line) if is_spoken else _NOTHING
        if (self._titles or not is_spoken) and (title := self._title(line)):
            found = replace(found, title=title)
        if found is _NOTHING or found == _NOTHING:
            return None
        self._known = merged(self._known, found)
        return found if self.has_begun else None

    def begin(self, line: Line | None) -> About:
        """Return what is known when the first message is told, or when there is none."""
        self.has_begun = True
        if line is None:
            return replace(self._known, id=self.session)
        agent = string(line.entry.get("agentId")) if line.is_side else ""
        origin = string(mapping(line.entry.get("forkedFrom")).get("sessionId"))
        parent = self.session if agent else origin
        fork = Fork.DELEGATION if agent else Fork.BRANCH if parent else None
        return replace(
            self._known, id=agent or self.session, started=line.at, parent=parent, fork=fork
        )

    def _found(self, line: Line) -> About:
        """Return what is new in the fields that every message has."""
        said = [*map(line.entry.get, _SAID)]
        fresh: dict[str, str] = {}
        # Most lines repeat what the one before them says.
        if said != [*map(self._said.get, _SAID)]:
            fresh = {
                key: value
                for key, value in zip(_SAID, said, strict=True)
                if isinstance(value, str) and value != self._said.get(key)
            }
        if line.kind == "assistant":
            model = string(line.message.get("model"))
            if model != self._said.get("model") and not (line.is_side or line.is_unseen):
                fresh["model"] = model
        if not fresh:
            return _NOTHING
        # Where the session was begun: commands change the directory and go back.
        cwd = "" if self._said.get("cwd") else fresh.get("cwd", "")
        self._said |= fresh
        return About(
            cwd=cwd,
            git_branch=fresh.get("gitBranch", ""),
            version=fresh.get("version", ""),
            model=fresh.get("model", ""),
            more={key: fresh[key] for key in ABOUT if fresh.get(key)},
        )

    def _title(self, line: Line) -> str:
        title, rank = "", 0
        if line.kind in _TITLES:
            key, rank = _TITLES[line.kind]
            title = string(line.entry.get(key))
        elif line.kind == "summary":
            leaf, title = string(line.entry.get("leafUuid")), string(line.entry.get("summary"))
            rank = _OLD_TITLE
            if leaf and not self._tree.knows(leaf):
                self._titles[leaf] = title
                return ""
        elif line.uuid in self._titles:
            title, rank = self._titles.pop(line.uuid), _OLD_TITLE
        if not title or rank < self._rank or title == self._known.title:
            return ""
        self._rank = rank
        return title
