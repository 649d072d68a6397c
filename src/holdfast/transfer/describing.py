"""What the row of an imported session says: title, model, where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.ports import Amendment
from holdfast.session import Fork, Usage, next_title, title_from
from holdfast.transfer.identity import Identity, Imported, countable, imported_of
from holdfast.transfer.landing import Landing

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.transfer.identity import Origin
    from holdfast.transfer.strands import Strand

__all__ = ["Described", "described", "identity_of", "improve", "settle"]


@dataclass(frozen=True, slots=True)
class Described:
    """What is known of a strand as a whole."""

    title: str
    model: str
    imported: Imported


def identity_of(strand: Strand, origin: Origin) -> Identity:
    """Return what makes a strand the same one in the next reading."""
    return Identity.of(origin, strand.name, strand.begun.strand)


def described(strand: Strand, origin: Origin) -> Described:
    """Return what is known of a strand by now."""
    title = _title(strand)
    imported = Imported(
        identity=identity_of(strand, origin), file=origin.file, about=strand.about, title=title
    )
    return Described(title, strand.gist.model or strand.about.model, imported)


def improve(store: Store, strand: Strand, origin: Origin) -> None:
    """Write what was learned of a strand after its session was created.

    A title that the user gave stays. So does the path that the session was first read from.
    """
    landing = strand.state
    if not isinstance(landing, Landing) or landing.session is None:
        return
    session = landing.session
    now, before = described(strand, origin), imported_of(session)
    # A branch of a file that goes on in one of its own keeps the name that it has there.
    if before is None or before.identity.strand != now.imported.identity.strand:
        return
    imported = replace(
        now.imported,
        file=before.file,
        mark=before.mark,
        place=before.place,
        repeated=before.repeated,
        begins=before.begins,
    )
    metadata = imported.metadata()
    changed = {key: value for key, value in metadata.items() if session.metadata.get(key) != value}
    title = now.title if session.title == before.title != now.title else None
    model = now.model if now.model != session.model else None
    if changed or title is not None or model:
        landing.session = store.amend(
            session.id, Amendment(title=title, model=model or None, metadata=changed or None)
        )


def settle(store: Store, strand: Strand, origin: Origin) -> None:
    """Count what a file states as the cost of the whole, less what its messages have told of it.

    It is the difference to what is counted, whenever an earlier import was stopped. A branch has
    no total of its own: the session that it left has counted it.
    """
    landing, stated = strand.state, countable(strand.about.usage)
    if stated is None or not isinstance(landing, Landing) or landing.session is None:
        return
    imported = imported_of(landing.session)
    if imported is None or imported.mark:
        return
    if imported.identity.strand != identity_of(strand, origin).strand:
        return
    counted = store.session(landing.id).usage + (imported.repeated or Usage())
    missing = Usage(
        **{
            name: max(getattr(stated, name) - getattr(counted, name), 0)
            for name in Usage.__dataclass_fields__
        }
    )
    if missing != Usage():
        store.append(landing.id, (), missing)


def _title(strand: Strand) -> str:
    branches = 0
    while not strand.about.title and strand.begun.fork is Fork.BRANCH and strand.parent is not None:
        strand, branches = strand.parent, branches + 1
    title = strand.about.title or title_from(strand.gist.opening)
    return _nth_title(title, branches) if branches else title


def _nth_title(title: str, count: int) -> str:
    """Return the title of a branch of a branch, so many times over."""
    stem, mark, number = next_title(title, ()).rpartition("#")
    return f"{stem}{mark}{int(number) + count - 1}" if stem else ""
