"""Imports a plug-in from a folder; one that was written for another agent finds the contract."""

from __future__ import annotations

import importlib.util
import re
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from zlib import crc32

from holdfast.engines.contract import ContextEngine

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["imported"]

_ELSEWHERE = "agent.context_engine"
"""Where engines that were written for Hermes import their abstract class from."""
_importing = threading.RLock()


def imported(folder: Path) -> ModuleType:
    """Return the package in a folder, imported once; its own files import each other as usual.

    Raises:
        Exception: whatever the package raises; the next try begins anew.
    """
    name = _module_name(folder)
    with _importing:
        known = sys.modules.get(name)
        if known is not None:
            return known
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        if spec is None or spec.loader is None:
            raise ImportError(f"{folder / '__init__.py'} cannot be imported")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            with _contract_elsewhere():
                spec.loader.exec_module(module)
        except BaseException:
            _forget(name)
            raise
        return module


def _module_name(folder: Path) -> str:
    """Return a name that no other folder has, wherever it is."""
    plain = re.sub(r"\W", "_", folder.name)
    place = crc32(str(folder.resolve()).encode("utf-8", "surrogateescape"))
    return f"holdfast_engine_{plain}_{place:08x}"


def _forget(name: str) -> None:
    for each in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
        del sys.modules[each]


@contextmanager
def _contract_elsewhere() -> Generator[None]:
    """Let the contract be found where another agent has it, unless that agent is installed."""
    package, _, module_name = _ELSEWHERE.partition(".")
    places = _places_of(package)
    if any((place / f"{module_name}.py").is_file() for place in places or ()):
        yield
        return
    stand_in = ModuleType(_ELSEWHERE)
    vars(stand_in)["ContextEngine"] = ContextEngine
    added = {_ELSEWHERE: stand_in}
    if places is None:
        added[package] = ModuleType(package)
    sys.modules.update(added)
    try:
        yield
    finally:
        for each, module in added.items():
            if sys.modules.get(each) is module:
                del sys.modules[each]


def _places_of(package: str) -> list[Path] | None:
    """Return the folders of a package without importing it; nothing if it is not installed."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    return None if spec is None else [Path(each) for each in spec.submodule_search_locations or ()]
