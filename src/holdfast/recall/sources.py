"""Which sessions somebody means who names where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["agent_of", "meant_sources"]

_IMPORTED = "import:"


def meant_sources(names: Iterable[str]) -> tuple[str, ...]:
    """Return the sources that names stand for.

    An agent's name stands for what was imported from it, and `import` for every import.
    """
    return tuple(
        source
        for name in names
        for source in ((name,) if ":" in name else (name, _long_form(name)))
    )


def agent_of(source: str) -> str:
    """Return the agent that a session was imported from; empty for one that was begun here."""
    return source.removeprefix(_IMPORTED) if source.startswith(_IMPORTED) else ""


def _long_form(name: str) -> str:
    return _IMPORTED if name == "import" else f"{_IMPORTED}{name}"
