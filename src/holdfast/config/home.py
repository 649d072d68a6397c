"""Where the configuration lives on each platform."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FILE_NAME", "NoHome", "config_file", "home", "user_folder"]

FILE_NAME = "config.yaml"


class NoHome(ConfigError):
    """Nothing says where the user's folder is: no `HOME`, and a user that the system lacks."""


def home(environ: Mapping[str, str], platform: str = sys.platform) -> Path:
    """Return the home directory: `HOLDFAST_HOME`, else the platform's place for settings.

    Raises:
        NoHome: when neither is known.
    """
    chosen = environ.get("HOLDFAST_HOME", "").strip()
    if chosen:
        return Path(chosen).expanduser().absolute()
    return _settings_folder(environ, platform) / "holdfast"


def config_file(environ: Mapping[str, str]) -> Path:
    """Return the path of the configuration file, whether it exists or not."""
    return home(environ) / FILE_NAME


def user_folder(environ: Mapping[str, str]) -> Path:
    """Return the user's own folder.

    Raises:
        NoHome: when nothing says where it is.
    """
    try:
        return Path(environ.get("HOME") or Path.home())
    except RuntimeError:
        raise NoHome(
            "there is no home folder; set HOLDFAST_HOME to a folder for settings and sessions"
        ) from None


def _settings_folder(environ: Mapping[str, str], platform: str) -> Path:
    user = user_folder(environ)
    if platform == "darwin":
        return user / "Library" / "Application Support"
    if platform == "win32":
        return Path(environ.get("APPDATA") or user / "AppData" / "Roaming")
    chosen = Path(environ.get("XDG_CONFIG_HOME", ""))
    # The XDG rules say that a relative path is to be ignored.
    return chosen if chosen.is_absolute() else user / ".config"
