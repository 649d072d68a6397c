"""Reads the configuration file into settings that remember their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from holdfast.config.keys import KEYS, checked, unknown
from holdfast.config.origin import FileOrigin, Setting
from holdfast.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from yaml import Node, SafeLoader, ScalarNode

__all__ = ["read_file"]


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
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from None
    return _parsed(text, path)


def _parsed(text: str, path: Path) -> tuple[Setting, ...]:
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
        raise ConfigError(f"{path} is not valid YAML: {_first_line(error)}") from None


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
        names = dict.fromkeys(path[len(above) :].partition(".")[0] for path in _below(above))
        raise ConfigError(
            f"{named} ({reading.origin(node)}) holds no keys; allowed: {', '.join(names)}"
        )
    found: list[tuple[ScalarNode, Node]] = []
    for name, value in cast("list[tuple[Node, Node]]", node.value):
        if not isinstance(name, ScalarNode):
            raise ConfigError(f"{named} ({reading.origin(name)}) has a key that is not a name")
        found.append((name, value))
    return found


def _below(above: str) -> Iterator[str]:
    return (path for path in KEYS if path.startswith(above))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
