"""Reads the sessions of Grok's command line, each a folder of files.

Files show `chat_history.jsonl`, what the model sees, and beside it `summary.json` with id, title,
folder, branch, model and times. Its messages have no time and no id of their own. The wording of a
thought comes with a sealed form, as Responses has it; tools that ran at the provider have no
result. Going by the program's source and by other readers: `updates.jsonl` holds what was shown on
the screen, `compaction_checkpoints` what each compaction left, and a folder `subagents` in the
session of a parent a `meta.json` for each child, whose files may lie beside that. What a turn cost
has in it what the sub-agents of the turn cost, so theirs is not counted again. A session is held
while it is read, because what is known about it comes last.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun
from holdfast.formats.document import Format
from holdfast.formats.grok.display import Display, is_update
from holdfast.formats.grok.telling import Pages, tell_pages
from holdfast.formats.loose import is_array, is_object, mapping, string
from holdfast.formats.moments import moment
from holdfast.formats.session_reader import LIKELY, SURE, SessionReader, Sign, everywhere
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record

__all__ = ["GROK"]

_TRANSCRIPT = "chat_history.jsonl"
_SCREEN = "updates.jsonl"
_MORE = ("session_kind", "agent_name", "reasoning_effort")
_CHILD = "subagent"


def _recognize(records: Sequence[Record]) -> Sign | None:
    for record in records:
        entry = mapping(record.value)
        if _is_summary(entry):
            return Sign("what Grok knows about a session, beside its chat_history.jsonl")
        if _is_link(entry):
            return Sign("what Grok knows about a sub-agent, beside its parent's session")
        if _is_checkpoint(entry):
            return Sign("what a compaction of Grok left, beside its session")
        if is_update(entry):
            return Sign("what Grok showed on its screen", SURE if "params" in entry else LIKELY)
        match entry.get("type"):
            case "backend_tool_call" if is_object(entry.get("kind")):
                return Sign("a line of type backend_tool_call")
            case "assistant" if "model_fingerprint" in entry or "model_id" in entry:
                return Sign("an answer with a model_id")
            case "user" if "prompt_index" in entry or "synthetic_reason" in entry:
                return Sign("a user's line with its place among the prompts", LIKELY)
            case _:
                continue
    return None


def _is_summary(entry: Mapping[str, object]) -> bool:
    return is_object(entry.get("info")) and "chat_format_version" in entry


def _is_link(entry: Mapping[str, object]) -> bool:
    return "parent_session_id" in entry and "subagent_type" in entry


def _is_checkpoint(entry: Mapping[str, object]) -> bool:
    return "checkpoint_id" in entry and is_array(entry.get("compacted_history"))


def _read(records: Iterable[Record]) -> Iterator[Event]:
    parents: dict[str, str] = {}
    held: list[_Folder] = []
    for record in records:
        entry = mapping(record.value)
        if _is_link(entry):
            child = string(entry.get("child_session_id")) or _child(record.file)
            parents[child] = string(entry.get("parent_session_id"))
            continue
        folder = _folder(record.file)
        while held and not _is_in(folder, held[-1].name):
            yield from held.pop().tell(parents)
        if not held or held[-1].name != folder:
            held.append(_Folder(folder))
        held[-1].take(record)
    while held:
        yield from held.pop().tell(parents)


class _Folder:
    """The files of one session."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._summaries: list[Mapping[str, object]] = []
        self._transcripts: dict[str, list[Record]] = {}
        self._displays: dict[str, Display] = {}
        self._kept: dict[str, Record] = {}

    def take(self, record: Record) -> None:
        """Keep a line, or what it says about the session."""
        entry = mapping(record.value)
        if _is_summary(entry):
            self._summaries.append(entry)
        elif _is_checkpoint(entry):
            self._kept[string(entry.get("checkpoint_id"))] = record
        elif is_update(entry):
            self._displays.setdefault(record.file, Display()).take(record)
        else:
            self._transcripts.setdefault(record.file, []).append(record)

    def tell(self, parents: Mapping[str, str]) -> Iterator[Event]:
        """Tell the session; of several in one folder, nothing says which is which."""
        files = self._transcripts or self._displays
        is_one = len(files) == 1
        screens = list(self._displays.values()) if is_one else []
        for file in files:
            known = About(id=_named(file, self.name))
            if is_one and len(self._summaries) == 1:
                known = _about(self._summaries[0])
            pages = Pages(
                strand=file or MAIN,
                chat=self._transcripts.get(file, ()),
                display=screens[0] if len(screens) == 1 else self._displays.get(file, Display()),
                kept=self._kept,
            )
            yield from _tell(pages, _related(known, self.name, parents))


def _related(about: About, folder: str, parents: Mapping[str, str]) -> About:
    """Return what is known with the session that it came from: it forked, or works for another."""
    match folder.split("/"):
        case [*_, above, "subagents", _]:
            parent = above
        case _:
            parent = ""
    if delegated := parents.get(about.id, parent):
        return replace(about, parent=delegated, fork=Fork.DELEGATION)
    if not about.parent:
        return about
    is_child = string(about.more.get("session_kind")).startswith(_CHILD)
    return replace(about, fork=Fork.DELEGATION if is_child else Fork.BRANCH)


def _tell(pages: Pages, about: About) -> Iterator[Event]:
    told = list(tell_pages(pages))
    if not told:
        return
    is_child = about.fork is Fork.DELEGATION
    is_child = is_child or string(about.more.get("session_kind")).startswith(_CHILD)
    usage = None if is_child else pages.display.usage
    line = pages.chat[0].line if pages.chat else 1
    started = about.started or pages.display.started
    about = replace(about, usage=usage, started=started)
    yield Begun(strand=pages.strand, line=line, about=about)
    yield from told


def _is_in(folder: str, above: str) -> bool:
    return not above or f"{folder}/".startswith(f"{above}/")


def _folder(file: str) -> str:
    """Return the folder of the session that a file belongs to."""
    *folders, _ = file.replace("\\", "/").split("/")
    is_kept = folders[-1:] == ["compaction_checkpoints"]
    return "/".join(folders[:-1] if is_kept else folders)


def _child(file: str) -> str:
    match file.replace("\\", "/").split("/"):
        case [*_, own, _]:
            return own
        case _:
            return ""


def _named(file: str, folder: str) -> str:
    """Return the id that the folder of a transcript gives it, where Grok itself put it there."""
    is_own = file.replace("\\", "/").endswith((f"/{_TRANSCRIPT}", f"/{_SCREEN}"))
    return folder.rpartition("/")[2] if is_own else ""


def _about(summary: Mapping[str, object]) -> About:
    own = mapping(summary.get("info"))
    return About(
        id=string(own.get("id")),
        title=string(summary.get("generated_title")) or string(summary.get("session_summary")),
        model=string(summary.get("current_model_id")),
        cwd=string(own.get("cwd")),
        git_branch=string(summary.get("head_branch")),
        started=moment(summary.get("created_at")),
        parent=string(summary.get("parent_session_id")),
        more={key: found for key in _MORE if (found := string(summary.get(key)))},
    )


GROK = SessionReader(
    format=Format("grok", "Grok CLI session, a folder", "responses", writable=False),
    recognize=_recognize,
    read=_read,
    spread=everywhere,
)
