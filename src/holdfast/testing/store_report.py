"""A report on a store: which capabilities it has, and what it does not keep of their promises.

`python -m holdfast.testing.store_report 'sqlite:///{place}'` prints one for any store that an
address opens; `{place}` becomes a path that nothing is at.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from unittest import SkipTest

from holdfast.ports import REQUIRED, Capability, Store
from holdfast.testing.store_case import capability_of
from holdfast.testing.store_suite import StoreSuite

if TYPE_CHECKING:
    from collections.abc import Callable

    StoreFactory: TypeAlias = Callable[[Path], Store]


@dataclass(frozen=True, slots=True)
class CapabilityReport:
    """What became of the cases of one capability."""

    capability: Capability
    is_claimed: bool
    passed: int = 0
    failed: tuple[str, ...] = ()
    """The cases that failed, with what went wrong."""

    @property
    def is_kept(self) -> bool:
        """Say whether the store has the capability, by what it does and not by what it says."""
        return self.is_claimed and bool(self.passed) and not self.failed

    def __str__(self) -> str:
        """Return a line for a person, and one for each case that failed."""
        if not self.is_claimed:
            missing = "missing, and every store needs it" if self.capability in REQUIRED else "no"
            return f"{self.capability:<8} {missing}"
        if self.is_kept:
            return f"{self.capability:<8} yes, {self.passed} cases"
        count = self.passed + len(self.failed)
        lines = [f"{self.capability:<8} broken, {len(self.failed)} cases of {count} fail"]
        return "\n".join([*lines, *(f"         {each}" for each in self.failed)])


def store_report(make: StoreFactory) -> tuple[CapabilityReport, ...]:
    """Run the suite against the stores that a factory makes, and return a line per capability.

    Args:
        make: Returns the store at a path, created there or opened again.
    """

    class Suite(StoreSuite):
        def make(self, path: Path) -> Store:
            return make(path)

    passed = dict.fromkeys(Capability, 0)
    failed: dict[Capability, list[str]] = {each: [] for each in Capability}
    claimed: set[Capability] = set()
    for name in sorted(dir(Suite)):
        capability = capability_of(getattr(Suite, name))
        if capability is None:
            continue
        with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
            try:
                getattr(Suite(), name)(Path(folder))
            except SkipTest:
                continue
            except Exception as error:  # noqa: BLE001 - whatever a store raises is in the report
                failed[capability].append(f"{name}: {type(error).__name__}: {error}")
            else:
                passed[capability] += 1
        claimed.add(capability)
    return tuple(
        CapabilityReport(each, each in claimed, passed[each], tuple(failed[each]))
        for each in Capability
    )


def main() -> int:
    """Print the report on the store behind an address."""
    from holdfast.stores import open_url

    (template,) = sys.argv[1:] or ("sqlite:///{place}",)
    report = store_report(lambda path: open_url(template.replace("{place}", str(path))))
    sys.stdout.writelines(f"{each}\n" for each in report)
    return int(any(each.failed for each in report))


if __name__ == "__main__":
    sys.exit(main())
