"""Tracks what the window of a session shows, by the keys of messages alone.

A format that names the parent of each entry is followed as a tree: which strand an entry goes on,
and what the model sees there. A writer follows the same tree to know what a file says by its
structure alone, so that it writes nothing twice. A format without parents is followed as a window.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from holdfast.formats.events import MAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


_Label = TypeVar("_Label")


class WindowTracker(Generic[_Label]):
    """The keys of the messages that a model sees, in order, each under a label.

    A label is what the format knows an entry by: its id, its turn or its role. An entry that told
    no message has an empty key.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.entries: list[tuple[_Label, str]] = []

    @property
    def shows(self) -> tuple[str, ...]:
        """Return the keys of the messages that the model sees."""
        return tuple(key for _, key in self.entries if key)

    def add(self, label: _Label, key: str = "") -> None:
        """Add an entry at the end."""
        self.entries.append((label, key))

    def put(self, place: object, label: _Label, key: str) -> None:
        """Put an entry after so many others; at the end where the format says no number."""
        self.entries.insert(place if isinstance(place, int) else len(self.entries), (label, key))

    def show(self, entries: Iterable[tuple[_Label, str]]) -> tuple[str, ...]:
        """Show these entries and no others, and return the keys of their messages."""
        self.entries = list(entries)
        return self.shows

    def keep(self, is_kept: Callable[[_Label], bool]) -> tuple[str, ...]:
        """Show only the entries whose labels are kept, and return the keys of their messages."""
        return self.show(entry for entry in self.entries if is_kept(entry[0]))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TreeNode:
    """One entry of a session, without its content."""

    parent: TreeNode | None
    strand: str
    depth: int
    last: str
    """The key of the newest message on the way from the root to here; empty before the first."""
    key: str = ""
    """The message that it tells; empty where it tells none."""
    prompt: str = ""
    """The system prompt that it tells, or that a compaction leaves in force."""
    window: tuple[str, ...] | None = None
    """What the model sees from here on, where the entry changes that."""
    forks: bool = False
    """Whether what follows is a branch, even where nothing else follows."""
    copies: str = ""
    """The message that our writer wrote again here, below a compaction."""
    again: bool = False
    """Whether copies of all that the window shows follow."""


class BranchTree:
    """Follows the entries of one file as a tree; it holds their ids, never their content."""

    def __init__(self) -> None:
        """Start with no entry."""
        self._nodes: dict[str, TreeNode] = {}
        self._ends: dict[str, TreeNode] = {}
        """The newest entry of each strand that told something or changed what is seen."""
        self._newest: TreeNode | None = None
        self._is_folded = False

    @property
    def newest(self) -> TreeNode | None:
        """Return the entry that was added last."""
        return self._newest

    def find(self, name: object) -> TreeNode | None:
        """Return the entry of that name."""
        return self._nodes.get(name) if isinstance(name, str) else None

    def has_strand(self, strand: str) -> bool:
        """Say whether anything was told on that strand."""
        return strand in self._ends

    def end_of(self, strand: str) -> str:
        """Return the key of the newest message of a strand."""
        end = self._ends.get(strand)
        return "" if end is None else end.last

    def strand_below(self, above: TreeNode | None) -> str | None:
        """Return the strand of an entry below this one; None when that one begins a branch."""
        strand, last = (MAIN, "") if above is None else (above.strand, above.last)
        if above is not None and above.forks:
            return None
        return strand if last == self.end_of(strand) else None

    def add(self, name: str, node: TreeNode) -> TreeNode:
        """Add an entry; a name that was used before means the newer entry from here on."""
        if name:
            self._nodes[name] = node
        self._newest = node
        if node.key or node.copies or (node.window is not None and not node.forks):
            self._ends[node.strand] = node
        self._is_folded = self._is_folded or node.window is not None
        return node

    def move(self, name: str, to: TreeNode | None) -> None:
        """Go to an entry, or before the first one: what comes next is below it."""
        node = to or TreeNode(parent=None, strand=MAIN, depth=0, last="")
        if name:
            self._nodes[name] = node
        self._newest = node

    def child_node(self, above: TreeNode | None, strand: str, key: str = "") -> TreeNode:
        """Return a new entry below another; `add` puts it into the tree."""
        depth, last, forks = (
            (0, "", False) if above is None else (above.depth, above.last, above.forks)
        )
        return TreeNode(
            parent=above,
            strand=strand,
            depth=depth + 1,
            last=key or last,
            key=key,
            forks=forks and not key,
        )

    def copy_node(self, above: TreeNode | None, strand: str, original: str) -> TreeNode:
        """Return a new entry that repeats an earlier one; `add` puts it into the tree."""
        return replace(self.child_node(above, strand), last=original, copies=original)

    def window_at(self, node: TreeNode | None) -> tuple[str, ...]:
        """Return what the model sees when an entry is the newest of its conversation."""
        later: list[str] = []
        copied: set[str] = set()
        for each in _upwards(node):
            if each.window is not None:
                hidden = set(each.window) - copied - {each.key} if each.again else set[str]()
                shown = (key for key in each.window if key not in hidden)
                return (*shown, *reversed(later))
            copied.add(each.copies)
            if each.key:
                later.append(each.key)
        return tuple(reversed(later))

    def kept(self, above: TreeNode | None, first: TreeNode | None) -> tuple[str, ...]:
        """Return what a compaction below `above` leaves when `first` is the first that it keeps.

        Summaries of earlier compactions are never kept. An entry that is not on the way to the
        root keeps nothing.
        """
        if first is None:
            return ()
        found: list[str] = []
        for each in _upwards(above):
            if each.depth < first.depth:
                return ()
            if (name := each.key or each.copies) and each.window is None:
                found.append(name)
            if each is first:
                break
        else:
            return ()
        return tuple(reversed(found))

    def prompts(self, above: TreeNode | None) -> tuple[str, ...]:
        """Return the system prompts that are in force at an entry, the oldest first."""
        found: list[str] = []
        for each in _upwards(above):
            if each.prompt:
                found.append(each.prompt)
                if each.window is not None:
                    break
        return tuple(reversed(found))

    def newest_of(self, above: TreeNode | None, count: int) -> tuple[str, ...]:
        """Return the newest messages on the way to an entry, without summaries."""
        found: list[str] = []
        for each in _upwards(above):
            if len(found) == count:
                break
            if (name := each.key or each.copies) and each.window is None and name not in found:
                found.append(name)
        return tuple(reversed(found))

    def first_kept(self, above: TreeNode | None, shows: frozenset[str]) -> TreeNode | None:
        """Return where the longest end of the way to `above` begins that is shown as it was."""
        first: TreeNode | None = None
        for each in _upwards(above):
            if each.copies:
                # From here on the file holds what is shown twice.
                break
            if each.key and each.window is None:
                if each.key not in shows:
                    break
                first = each
        return first

    def default_window(self, above: TreeNode | None) -> tuple[str, ...]:
        """Return what a branch below an entry sees unless the file says otherwise.

        That is the window of the strand that it leaves up to the message that both share, or
        everything up to there when the strand does not show that message any more.
        """
        if above is None or not self._is_folded:
            return self.window_at(above)
        left = self.window_at(self._ends.get(above.strand))
        if above.last in left:
            return left[: left.index(above.last) + 1]
        return tuple(each.key for each in reversed(list(_upwards(above))) if each.key)

    def window_override(self, above: TreeNode | None) -> tuple[str, ...] | None:
        """Return what a branch below an entry sees; None where that is its default window."""
        if not self._is_folded:
            return None
        seen = self.window_at(above)
        return None if seen == self.default_window(above) else seen


def _upwards(node: TreeNode | None) -> Iterator[TreeNode]:
    while node is not None:
        yield node
        node = node.parent
