"""Settings from file, environment and flags, each with where it came from.

Read in this order: `settings`, `origin`, `keys`, `home`, `yaml_file`, `environment`, `loading`,
`template`.
"""

from holdfast.config.home import config_file, home
from holdfast.config.keys import KEYS, Key, checked, read_text
from holdfast.config.loading import Configuration, load
from holdfast.config.origin import Default, Environment, FileOrigin, Flag, Origin, Setting
from holdfast.config.settings import Settings
from holdfast.config.template import template, write_template

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
