"""How what stands in a file, a variable or a flag becomes the value of a key, or an error."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from holdfast.config.kinds import converted, parsed, shown
from holdfast.config.table import FORMER, KEYS, LATER, Key
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from holdfast.config.origin import Origin

__all__ = ["FORMER", "KEYS", "LATER", "Key", "checked", "read_text", "unknown"]


def checked(key: Key, value: object, origin: Origin) -> object:
    """Return the value in the key's own type.

    Raises:
        ConfigError: when the value is not allowed; the message says where it stands.
    """
    if value is None and key.optional:
        return None
    found = converted(key.kind, value)
    if found is None or not key.holds(found):
        raise ConfigError(f"{key.path} is {shown(value)} ({origin}); allowed: {key.allowed}")
    return found


def read_text(key: Key, text: str, origin: Origin) -> object:
    """Return the value that a flag or an environment variable spells out."""
    return checked(key, parsed(key.kind, text), origin)


def unknown(path: str, origin: Origin, *, spelled: str = "") -> ConfigError:
    """Return the error for a key that this version does not have.

    Args:
        path: The key with its sections.
        origin: Where it stands.
        spelled: How the origin spells it, when that is not the path.
    """
    named = spelled or path
    for later, part in LATER.items():
        if path == later or path.startswith(f"{later}."):
            return ConfigError(
                f"{named} ({origin}) belongs to {part}, which this version does not have; remove it"
            )
    if path in FORMER:
        return ConfigError(f"{named} ({origin}) is now called {FORMER[path]}; rename it")
    nearest = _nearest(path)
    hint = f"did you mean {nearest}?" if nearest else f"known keys: {', '.join(KEYS)}"
    return ConfigError(f"there is no setting {named} ({origin}); {hint}")


def _nearest(path: str) -> str:
    # A key in the wrong section shares its last name with the right one.
    leaves = {known.rpartition(".")[2]: known for known in KEYS}
    leaf = path.rpartition(".")[2]
    close = (
        *difflib.get_close_matches(path, KEYS, 1, 0.85),
        *(leaves[each] for each in difflib.get_close_matches(leaf, leaves, 1, 0.75)),
        *difflib.get_close_matches(path, KEYS, 1, 0.6),
    )
    return close[0] if close else ""
