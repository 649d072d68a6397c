"""The head of the page: what is known of the session, and which sessions came from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.html.escape import escaped
from holdfast.cli.html.happenings import time_shown
from holdfast.cli.lines import counted
from holdfast.cli.session_fields import state_of, title_of
from holdfast.session import Usage, places_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.cli.html.survey import Survey
    from holdfast.session import Session

__all__ = ["Family", "head_shown"]


@dataclass(frozen=True, slots=True)
class Family:
    """A session with those it came from and those that came from it."""

    session: Session
    ancestors: tuple[Session, ...]
    children: tuple[Session, ...]


def head_shown(family: Family, survey: Survey) -> str:
    """Return the title and a list of what is known."""
    facts = "".join(
        f"<dt>{label}</dt><dd>{words}</dd>" for label, words in _facts(family, survey) if words
    )
    title = escaped(title_of(family.session))
    return f'<header class="head"><h1 dir="auto">{title}</h1><dl>{facts}</dl></header>'


def _facts(family: Family, survey: Survey) -> Iterator[tuple[str, str]]:
    session = family.session
    yield "session", f"<code>{escaped(session.id)}</code>, {escaped(state_of(session))}"
    yield "from", escaped(session.source)
    yield "model", escaped(", ".join(survey.models) or session.model)
    yield "goal", escaped(session.goal)
    yield "used", f"{time_shown(session.started)} to {time_shown(session.touched)}"
    for label, place in places_of((*family.ancestors, session)).items():
        yield label, f"<code>{escaped(place)}</code>"
    counts = (counted(number, name) for name, number in survey.counts.items())
    yield "holds", ", ".join([counted(survey.messages, "message"), *counts])
    alone = " (this session alone, without those it came from)" if family.ancestors else ""
    yield "usage", "" if session.usage == Usage() else _usage(session.usage) + alone
    yield "came from", ", ".join(map(_named, family.ancestors))
    children = "".join(map(_child, family.children))
    yield "led to", children and f"<ul>{children}</ul><p>What was said in them is not here.</p>"


def _usage(usage: Usage) -> str:
    words = [
        counted(usage.calls, "call") if usage.calls else "",
        f"{usage.input_tokens:,} tokens in",
        f"{usage.output_tokens:,} out",
        f"{usage.cache_read_tokens:,} from caches" if usage.cache_read_tokens else "",
        f"{usage.cache_write_tokens:,} into caches" if usage.cache_write_tokens else "",
        f"${usage.cost:,.2f}" if usage.cost else "",
    ]
    return ", ".join(filter(None, words))


def _child(session: Session) -> str:
    return f"<li>{_named(session)} ({escaped(str(session.fork or 'child'))})</li>"


def _named(session: Session) -> str:
    title = f" {escaped(session.title)}" if session.title else ""
    return f"<code>{escaped(session.id)}</code>{title}"
