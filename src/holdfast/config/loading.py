"""Joins defaults, file, environment and flags into settings, and remembers who won."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from holdfast.config.environment import read_environment
from holdfast.config.home import config_file
from holdfast.config.keys import KEYS
from holdfast.config.origin import Default, Setting
from holdfast.config.settings import Settings, assemble
from holdfast.config.yaml_file import read_file
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["Configuration", "load"]


@dataclass(frozen=True, slots=True)
class Configuration:
    """Checked settings, and where each of them came from."""

    settings: Settings
    chosen: Mapping[str, Setting]
    """The winning setting of every key, in the order of the table."""
    file: Path
    """Where the configuration file is, or would be."""


def load(environ: Mapping[str, str], flags: Sequence[Setting] = ()) -> Configuration:
    """Return the configuration: flags over environment over file over defaults.

    Args:
        environ: The environment variables.
        flags: What the command line sets, already checked.

    Raises:
        ConfigError: when anything that is set cannot be used.
    """
    file = config_file(environ)
    chosen = {path: Setting(path, key.default, Default()) for path, key in KEYS.items()}
    for setting in (*read_file(file), *read_environment(environ), *flags):
        chosen[setting.path] = setting
    settings = assemble({path: setting.value for path, setting in chosen.items()})
    _check_patterns(settings.redaction.extra_patterns, chosen["redaction.extra_patterns"])
    return Configuration(settings, MappingProxyType(chosen), file)


def _check_patterns(patterns: tuple[str, ...], setting: Setting) -> None:
    if not patterns:
        return
    from holdfast.redaction import Redactor

    try:
        Redactor(patterns)
    except ConfigError as error:
        words = str(error).removeprefix(f"{setting.path}: ")
        raise ConfigError(f"{setting.path} ({setting.origin}): {words}") from None
