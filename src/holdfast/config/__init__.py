"""Settings from file, environment and flags, each with where it came from.

Read in this order: `settings`, `table`, `loading`.
"""

from holdfast.config.loading import Configuration, config_file, home, load
from holdfast.config.settings import (
    Default,
    Environment,
    FileOrigin,
    Flag,
    Origin,
    Setting,
    Settings,
)
from holdfast.config.table import KEYS, Key, checked, read_text, template, write_template

__all__ = [
    "KEYS",
    "Configuration",
    "Default",
    "Environment",
    "FileOrigin",
    "Flag",
    "Key",
    "Origin",
    "Setting",
    "Settings",
    "checked",
    "config_file",
    "home",
    "load",
    "read_text",
    "template",
    "write_template",
]
