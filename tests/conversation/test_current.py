"""The current session: for this context, for child processes and for logs."""

import contextvars
import logging
import os

import pytest

from holdfast.conversation import (
    SESSION_VARIABLE,
    SessionStamp,
    Switch,
    activate,
    current_session,
)
from holdfast.conversation.live import follow


@pytest.fixture(autouse=True)
def pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SESSION_VARIABLE, "")
    monkeypatch.setattr(SessionStamp, "session", None)


def stamped() -> str:
    record = logging.LogRecord("name", logging.INFO, "path", 1, "said", (), None)
    assert SessionStamp().filter(record)
    return record.__dict__["holdfast_session"]


def alone(function: object) -> None:
    contextvars.Context().run(function)  # type: ignore[arg-type]


def test_without_a_session_logs_say_so() -> None:
    def check() -> None:
        assert current_session() is None
        assert stamped() == "-"

    alone(check)


def test_a_child_process_reads_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SESSION_VARIABLE, "inherited")
    alone(lambda: current_session() == "inherited" or pytest.fail("not inherited"))


def test_a_switch_moves_what_points_at_the_old_session_and_back() -> None:
    def check() -> None:
        activate("old-1")
        follow(Switch("old-1", "next-1", "compression"))
        assert {current_session(), os.environ[SESSION_VARIABLE], stamped()} == {"next-1"}
        follow(Switch("next-1", "old-1", "rollback"))
        assert {current_session(), os.environ[SESSION_VARIABLE], stamped()} == {"old-1"}

    alone(check)


def test_another_session_stays_current() -> None:
    def check() -> None:
        activate("mine")
        follow(Switch("theirs", "theirs-2", "branch"))
        assert {current_session(), os.environ[SESSION_VARIABLE], stamped()} == {"mine"}

    alone(check)


def test_a_switch_on_another_thread_reaches_every_context() -> None:
    def check() -> None:
        activate("old-2")
        alone(lambda: follow(Switch("old-2", "next-2", "compression")))
        assert current_session() == "next-2"

    alone(check)
