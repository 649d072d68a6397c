"""Which stored session a conversation of a file is, whoever imports it and how often."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import count
from time import gmtime, strftime
from typing import TYPE_CHECKING, cast

from holdfast.formats.events import MAIN, About
from holdfast.session import UNDATED, Fork, Usage, session_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.session import Session

_FIELD = "import"
"""Where the metadata of a session say that it was imported."""
_MOST = 1 << 53
"""More tokens than any provider counts."""
_COUNTS = tuple(Usage.__dataclass_fields__)
_ABOUT = tuple(About.__dataclass_fields__)
LATEST = 253_402_300_799_000
"""The last time that has a date, in milliseconds; files hold any number."""


@dataclass(frozen=True, slots=True)
class ImportOrigin:
    """Where events come from."""

    system: str
    """The agent, such as `claude-code`, or the format where that is no agent's."""
    file: str
    """The path, or whatever names the place for people."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What makes a conversation the same one in the next reading of its file."""

    system: str
    name: str
    """The agent's own id for it; where it has none, the path of its file."""
    strand: str = MAIN

    @classmethod
    def of(cls, origin: ImportOrigin, id_: str, strand: str) -> Identity:
        """Return the identity of a strand of a file whose conversation has that id, or none.

        Where a file holds many conversations, strands are called after theirs. In a file of its
        own the same conversation has no other name than its id.
        """
        if not id_:
            return cls(origin.system, f"file:{origin.file}", strand)
        own = MAIN if strand == id_ else strand.removeprefix(f"{id_}/")
        return cls(origin.system, id_, own)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRecord:
    """What a session that was imported remembers of its file."""

    identity: Identity
    file: str = ""
    about: About = field(default_factory=About)
    title: str = ""
    """The title that the import gave; another one is the user's."""
    mark: str = ""
    """For a branch: the mark of the last message that it shares."""
    place: int | None = None
    """How many messages of its parent's strand were told before it began; None for no strand."""
    repeated: Usage | None = None
    """What its replies cost that are copies of others, and is in the totals of those."""
    begins: str = ""
    """The mark of its first message, for one that came from no other."""

    def metadata(self) -> dict[str, object]:
        """Return it as metadata of a session, with what people look for at the top."""
        about = self.about
        fields: dict[str, object] = {
            "system": self.identity.system,
            "id": self.identity.name,
            "strand": self.identity.strand,
            "file": self.file,
            "about": _written(about),
            "title": self.title,
            "mark": self.mark,
            "place": self.place,
            "repeated": _numbers(self.repeated),
            "begins": self.begins,
        }
        kept = {key: value for key, value in fields.items() if value or value == 0}
        shown = {"cwd": about.cwd, "git_branch": about.git_branch, "version": about.version}
        return {_FIELD: kept, **{key: value for key, value in shown.items() if value}}


def countable(usage: Usage | None) -> Usage | None:
    """Return a usage that a provider may have counted; files hold any number."""
    if usage is None:
        return None
    is_sane = (
        0 <= usage.calls < _MOST
        and 0 <= usage.input_tokens < _MOST
        and 0 <= usage.output_tokens < _MOST
        and 0 <= usage.cache_read_tokens < _MOST
        and 0 <= usage.cache_write_tokens < _MOST
        and 0 <= usage.cost < _MOST
    )
    return usage if is_sane else None


def import_record(session: Session) -> ImportRecord | None:
    """Return what a session remembers of its file; None for one that was not imported."""
    fields = _fields(session)
    if fields is None:
        return None
    place = fields.get("place")
    return ImportRecord(
        identity=_identity(fields),
        file=str(fields.get("file", "")),
        about=_about(cast("Mapping[str, object]", fields.get("about") or {})),
        title=str(fields.get("title", "")),
        mark=str(fields.get("mark", "")),
        place=place if isinstance(place, int) else None,
        repeated=_usage(fields.get("repeated")),
        begins=str(fields.get("begins", "")),
    )


def is_of(session: Session, identity: Identity) -> bool:
    """Say whether a session is one of a conversation: its own, or a branch of it."""
    fields = _fields(session)
    return fields is not None and _identity(fields) == identity


def name_of(session: Session) -> Identity | None:
    """Return the conversation that a session was imported as; None for a part of another."""
    fields = _fields(session)
    if fields is None or fields.get("mark") or fields.get("place") is not None:
        return None
    return _identity(fields)


def is_strand(session: Session) -> bool:
    """Say whether a session was told in the file of another, as a branch or a sub-agent there."""
    fields = _fields(session)
    return fields is not None and fields.get("place") is not None


def mark_left(session: Session) -> str:
    """Return the mark of the last message that an imported branch shares; empty for others."""
    return str((_fields(session) or {}).get("mark", ""))


def beginning_of(session: Session) -> str:
    """Return the mark of the first message of a session, as far as it was written down."""
    return str((_fields(session) or {}).get("begins", ""))


def repeats(session: Session) -> bool:
    """Say whether some of what a session cost is in the totals of those that it came from."""
    return bool((_fields(session) or {}).get("repeated"))


def parent_name(session: Session) -> str:
    """Return what its agent calls the session that one came from; empty where it does not say."""
    about = cast("Mapping[str, object]", (_fields(session) or {}).get("about") or {})
    return str(about.get("parent", ""))


def proposed_ids(identity: Identity, started: int | None, salt: str = "") -> Iterator[str]:
    """Return ids for the session of a conversation, the same ones on every machine.

    The first that is free or its own is taken: two conversations may share one by chance.

    Args:
        started: When it began, as its file says; None where it does not say.
        salt: What tells a branch from the session that it left.
    """
    moment = strftime("%Y%m%d_%H%M%S", gmtime(started // 1000)) if started else UNDATED
    for number in count():
        words = [identity.system, identity.name, identity.strand, salt, str(number)]
        digest = hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).digest()
        yield session_id(moment, int.from_bytes(digest[:3]))


def _fields(session: Session) -> dict[str, object] | None:
    """Return what `ImportRecord.metadata` wrote into a session."""
    found = session.metadata.get(_FIELD)
    return cast("dict[str, object]", found) if isinstance(found, dict) else None


def _identity(fields: Mapping[str, object]) -> Identity:
    return Identity(
        str(fields.get("system", "")), str(fields.get("id", "")), str(fields.get("strand", ""))
    )


def _written(about: About) -> dict[str, object]:
    fields: dict[str, object] = {
        name: value for name in _ABOUT if (value := getattr(about, name)) or value == 0
    }
    if about.usage is not None:
        fields["usage"] = _numbers(about.usage)
    if about.more:
        fields["more"] = dict(about.more)
    return fields


def _about(fields: Mapping[str, object]) -> About:
    known = {name: value for name, value in fields.items() if name in About.__dataclass_fields__}
    if "fork" in known:
        known["fork"] = Fork(str(known["fork"]))
    if "usage" in known:
        known["usage"] = _usage(known["usage"])
    return About(**known)  # type: ignore[arg-type] - what `_written` wrote


def _numbers(usage: Usage | None) -> list[float] | None:
    return None if usage is None else [getattr(usage, name) for name in _COUNTS]


def _usage(written: object) -> Usage | None:
    """Return what `_numbers` wrote."""
    return None if written is None else Usage(*cast("list[int]", written))
