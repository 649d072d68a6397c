"""A lease counts while it can be true."""

import os
import subprocess
import sys

import pytest

from holdfast.conversation.lease import is_running, lease_holder, why_void
from holdfast.ports import Lease

NOW = 1_700_000_000_000


def gone() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_one_signs_with_process_thread_agent_and_machine() -> None:
    process, thread, agent, nonce, machine = lease_holder("a:b", "me", 0xF123456).split(":")
    assert (process, thread, agent, nonce) == (str(os.getpid()), "a-b", "me", "123456")
    assert len(machine) == 9


@pytest.mark.parametrize(
    ("ahead", "length", "counts"),
    [(300_000, 60_000, True), (300_001, 60_000, False), (300_001, 100_000, True)],
)
def test_only_a_few_lengths_ahead_are_believed(ahead: int, length: int, *, counts: bool) -> None:
    reason = why_void(Lease("s", lease_holder("main", "me", 1), NOW + ahead), NOW, length)
    assert (reason == "") == counts


@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be asked for there")
def test_a_process_that_is_gone_holds_nothing_and_only_here_is_that_known() -> None:
    process, rest = gone(), lease_holder("main", "me", 1).partition(":")[2]

    def reason(holder: str) -> str:
        return why_void(Lease("s", holder, NOW + 60_000), NOW)

    assert reason(f"{process}:{rest}") == f"process {process} of this machine is gone"
    assert reason(f"{process}:main:me:000001:@00000000") == ""
    assert reason(f"{process}:main:me:000001") == ""
    assert reason(f"no number:{rest}") == ""
    assert not is_running(process)
    assert is_running(os.getpid())
    assert is_running(10**30)
