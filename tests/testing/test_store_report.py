"""The report on a store goes by what it does, not by what it says."""

from collections.abc import Sequence
from pathlib import Path

from holdfast.ports import Capability, Lease
from holdfast.stores.memory import MemoryStore
from holdfast.testing.store_report import CapabilityReport, store_report


class Boastful(MemoryStore):
    """Claims to outlive its process, gives leases to everybody and has no trash."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        return super().capabilities - {Capability.TRASH} | {Capability.DURABLE}

    def acquire(self, lease: Lease, now: int) -> Lease:
        return Lease(lease.session, lease.holder, lease.expires + 0 * now)


def opened(path: Path) -> MemoryStore:
    return MemoryStore(str(path))


def test_a_store_has_what_it_keeps() -> None:
    report = {each.capability: each for each in store_report(opened)}
    kept = {capability for capability, each in report.items() if each.is_kept}
    assert kept == MemoryStore().capabilities
    assert str(report[Capability.BACKUP]).split() == ["backup", "no"]
    assert str(report[Capability.LOG]).startswith("log      yes, ")


def test_what_is_claimed_and_not_kept_is_named() -> None:
    report = {each.capability: each for each in store_report(lambda path: Boastful(str(path)))}
    assert names(report[Capability.LEASES].failed) == [
        "test_a_lease_is_held_by_one",
        "test_a_lease_needs_a_session",
        "test_one_of_many_threads_gets_the_lease",
    ]
    assert "every store needs it" in str(report[Capability.TRASH])
    assert "broken, 3 cases of 3 fail" in str(report[Capability.LEASES])
    assert report[Capability.LOG].failed == ()


def test_a_capability_without_cases_is_not_kept() -> None:
    assert not CapabilityReport(Capability.BACKUP, is_claimed=True).is_kept


def names(failed: Sequence[str]) -> list[str]:
    return [each.partition(":")[0] for each in failed]
