"""Names for what several files tell in one stream, so that no file's names are another's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import Begun, Folded, Noted, Rewound, Told

if TYPE_CHECKING:
    from holdfast.formats.chronicle import Event

__all__ = ["named"]


def named(event: Event, own: str) -> Event:
    """Return an event of one file as it is called among those of others.

    Args:
        event: What a file tells as if there were no other.
        own: What comes before all names of that file.
    """
    if isinstance(event, Told):
        # Made anew, which is quicker than replacing: most events are of this kind.
        return Told(
            strand=own + event.strand,
            line=event.line,
            key=own + event.key,
            message=event.message,
            native=event.native,
        )
    match event:
        case Begun():
            of = None if event.of is None else own + event.of
            after = own + event.after if event.after else ""
            return replace(event, strand=own + event.strand, of=of, after=after)
        case Folded():
            shows = tuple(own + key for key in event.shows)
            return replace(event, strand=own + event.strand, id=own + event.id, shows=shows)
        case Rewound():
            shows = tuple(own + key for key in event.shows)
            return replace(event, strand=own + event.strand, shows=shows)
        case Noted():
            return Noted(strand=own + event.strand, about=event.about)
        case _:
            return event
