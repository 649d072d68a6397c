"""Where sessions are kept: a profile's own file, or the file that somebody names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from holdfast.config import home
from holdfast.config.kinds import is_profile
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.config import Settings
    from holdfast.ports import Store

    Place: TypeAlias = str | Path | Store | None

__all__ = ["open_store", "profile_names", "store_file", "store_of"]

_FILE = "holdfast.db"
_PROFILES = "profiles"
_PREFIX = "sqlite:///"


def store_file(url: str, profile: str, environ: Mapping[str, str]) -> Path:
    """Return the file behind a setting: `sqlite` is the profile's own, everything else a path.

    Raises:
        ConfigError: when the profile's name could lead out of its folder, or the address is that
            of a kind of store that this version does not have.
    """
    if not is_profile(profile):
        raise ConfigError(f"store.profile is {profile!r}; a profile is named like a file")
    if url == "sqlite":
        return home(environ) / _PROFILES / profile / _FILE
    if "://" in url and not url.startswith(_PREFIX):
        scheme = url.partition("://")[0]
        raise ConfigError(f"store.url is a {scheme} address; allowed: sqlite or the path of a file")
    return Path(url.removeprefix(_PREFIX)).expanduser().absolute()


def store_of(settings: Settings, environ: Mapping[str, str]) -> Store:
    """Open the store that the settings name."""
    return _opened(store_file(settings.store.url, settings.store.profile, environ))


def open_store(place: str | Path | Store, environ: Mapping[str, str]) -> Store:
    """Open a store by its path or address; a store that is open already is used as it is."""
    if isinstance(place, str | Path):
        return _opened(store_file(str(place), "default", environ))
    return place


def profile_names(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the profiles that have a store."""
    folder = home(environ) / _PROFILES
    return tuple(sorted(each.parent.name for each in folder.glob(f"*/{_FILE}")))


def _opened(file: Path) -> Store:
    # Imported only here: commands that need no store should not pay for it.
    from holdfast.stores.sqlite import SqliteStore

    return SqliteStore(file)
