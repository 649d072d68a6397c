"""Joins defaults, file, environment and flags into settings, and says where the file lives."""

from __future__ import annotations

import difflib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from holdfast.config.settings import Default, Environment, FileOrigin, Setting, Settings, assemble
from holdfast.config.table import FORMER, KEYS, checked, read_text, unknown
from holdfast.errors import ConfigError, reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from yaml import Node, SafeLoader, ScalarNode

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


_PREFIX = "HOLDFAST_"
_NEAR = 0.75
"""Stricter than elsewhere, since all names share their beginning."""
_OTHERS = frozenset(
    {
        "HOLDFAST_API_KEY",
        "HOLDFAST_HOME",
        "HOLDFAST_DEBUG",
        "HOLDFAST_SESSION_ID",
        "HOLDFAST_SHARED",
        "HOLDFAST_SUMMARY_KEY",
    }
)
"""Variables of ours that are no settings: `HOLDFAST_SHARED` names the material of the tests."""
_VARIABLES = {key.variable: key for key in KEYS.values()}


def read_environment(environ: Mapping[str, str]) -> tuple[Setting, ...]:
    """Return the settings that the environment makes; an empty variable sets nothing.

    A variable with our prefix that is no setting is an error, as it would be in the file.
    """
    found: list[Setting] = []
    for variable in sorted(environ):
        if not variable.startswith(_PREFIX) or variable in _OTHERS:
            continue
        if not environ[variable].strip():
            continue
        origin = Environment(variable)
        key = _VARIABLES.get(variable)
        if key is None:
            former = {
                f"{_PREFIX}{old.upper().replace('.', '_')}": new for old, new in FORMER.items()
            }
            if variable in former:
                now = KEYS[former[variable]].variable
                raise ConfigError(f"{origin} is now called {now}; rename it")
            close = difflib.get_close_matches(variable, _VARIABLES, 1, _NEAR)
            hint = f"did you mean {close[0]}?" if close else f"known: {', '.join(_VARIABLES)}"
            raise ConfigError(f"there is no setting behind the {origin}; {hint}")
        found.append(Setting(key.path, read_text(key, environ[variable], origin), origin))
    return tuple(found)


def read_file(path: Path) -> tuple[Setting, ...]:
    """Return the settings of the file; a file that does not exist has none.

    Raises:
        ConfigError: when the file cannot be read, is not YAML, or says something not allowed.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        return ()
    except NotADirectoryError:
        raise ConfigError(f"the home directory {path.parent} is not a folder") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {reason_of(error)}") from None
    # Imported here because most commands find no file, and YAML costs more than they do.
    import yaml

    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        return () if root is None else tuple(_section(root, "", _Reading(loader, path)))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{path}, line {line}: not valid YAML: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ConfigError(f"{path} is not valid YAML: {reason}") from None


class _Reading:
    """A file while it is read."""

    def __init__(self, loader: SafeLoader, path: Path) -> None:
        self._loader = loader
        self._path = path

    def origin(self, node: Node) -> FileOrigin:
        return FileOrigin(self._path, node.start_mark.line + 1)

    def value(self, node: Node) -> object:
        construct = cast("Callable[..., object]", self._loader.construct_object)
        return construct(node, deep=True)


def _section(node: Node, above: str, reading: _Reading) -> Iterator[Setting]:
    seen: set[str] = set()
    for name_node, value_node in _entries(node, above, reading):
        path = f"{above}{name_node.value}"
        origin = reading.origin(name_node)
        if path in seen:
            raise ConfigError(f"{path} is set twice ({origin}); keep one of them")
        seen.add(path)
        key = KEYS.get(path)
        if key is not None:
            yield Setting(path, checked(key, reading.value(value_node), origin), origin)
        elif any(known.startswith(f"{path}.") for known in KEYS):
            yield from _section(value_node, f"{path}.", reading)
        else:
            raise unknown(path, origin)


def _entries(node: Node, above: str, reading: _Reading) -> list[tuple[ScalarNode, Node]]:
    """Return the names and values of a section; a section left empty has none."""
    from yaml import MappingNode, ScalarNode

    if isinstance(node, ScalarNode) and reading.value(node) is None:
        return []
    named = above.removesuffix(".") or "the file"
    if not isinstance(node, MappingNode):
        below = (path[len(above) :] for path in KEYS if path.startswith(above))
        names = dict.fromkeys(path.partition(".")[0] for path in below)
        raise ConfigError(
            f"{named} ({reading.origin(node)}) holds no keys; allowed: {', '.join(names)}"
        )
    found: list[tuple[ScalarNode, Node]] = []
    for name, value in cast("list[tuple[Node, Node]]", node.value):
        if not isinstance(name, ScalarNode):
            raise ConfigError(f"{named} ({reading.origin(name)}) has a key that is not a name")
        found.append((name, value))
    return found


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

    The flags are checked already.

    Raises:
        ConfigError: when anything that is set cannot be used.
    """
    try:
        file = config_file(environ)
    except NoHome:
        # What needs no home folder works with the defaults; whatever does says so itself.
        file = Path(os.devnull)
    chosen = {path: Setting(path, key.default, Default()) for path, key in KEYS.items()}
    for setting in (*read_file(file), *read_environment(environ), *flags):
        chosen[setting.path] = setting
    settings = assemble({path: setting.value for path, setting in chosen.items()})
    if patterns := settings.redaction.extra_patterns:
        from holdfast.redaction import Redactor

        try:
            Redactor(patterns)
        except ConfigError as error:
            setting = chosen["redaction.extra_patterns"]
            words = str(error).removeprefix(f"{setting.path}: ")
            raise ConfigError(f"{setting.path} ({setting.origin}): {words}") from None
    return Configuration(settings, MappingProxyType(chosen), file)
