"""Where sessions are kept: a profile's own file, or the store that somebody names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from holdfast.config import home
from holdfast.config.settings import is_profile
from holdfast.errors import ConfigError
from holdfast.stores import file_of, open_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.config import Settings
    from holdfast.ports import Store

    Place: TypeAlias = str | Path | Store | None

_FILE = "holdfast.db"
_PROFILES = "profiles"
_OWN = "sqlite"
"""The setting that stands for the profile's own file."""


def store_url(url: str, profile: str, environ: Mapping[str, str]) -> str:
    """Return the address behind a setting: `sqlite` is the profile's own file.

    Raises:
        ConfigError: when the profile's name could lead out of its folder.
    """
    if not is_profile(profile):
        raise ConfigError(f"store.profile is {profile!r}; a profile is named like a file")
    return str(home(environ) / _PROFILES / profile / _FILE) if url == _OWN else url


def file_behind(url: str, profile: str, environ: Mapping[str, str]) -> Path | None:
    """Return the file behind a setting; None when the store is not kept in a file."""
    return file_of(store_url(url, profile, environ))


def store_file(url: str, profile: str, environ: Mapping[str, str]) -> Path:
    """Return the file behind a setting, for what can only be done to a file.

    Raises:
        ConfigError: when the store is not kept in a file.
    """
    file = file_behind(url, profile, environ)
    if file is None:
        raise ConfigError(f"store.url is {url}, which is not kept in a file")
    return file


def store_of(settings: Settings, environ: Mapping[str, str]) -> Store:
    """Open the store that the settings name."""
    return open_url(store_url(settings.store.url, settings.store.profile, environ))


def open_store(place: str | Path | Store, environ: Mapping[str, str]) -> Store:
    """Open a store by its path or address; a store that is open already is used as it is."""
    if isinstance(place, str | Path):
        return open_url(store_url(str(place), "default", environ))
    if not hasattr(place, "capabilities"):
        raise ConfigError(
            f"store is {place!r:.80}; allowed: a path, an address such as 'memory:', or an open "
            "store"
        )
    return place


def profile_names(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the profiles that have a store."""
    folder = home(environ) / _PROFILES
    return tuple(sorted(each.parent.name for each in folder.glob(f"*/{_FILE}")))
