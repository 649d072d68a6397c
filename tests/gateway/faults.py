"""The table of faults: each test of one says what its clients see, and the docs have all of it."""

from collections.abc import Callable
from typing import Any, TypeVar

_Test = TypeVar("_Test", bound=Callable[..., Any])

ROWS: dict[str, str] = {}
"""What a client sees, by what fails, in the order in which the tests tell it."""


def client_sees(fault: str, seen: str) -> Callable[[_Test], _Test]:
    """Make a test a row of the table."""

    def row(test: _Test) -> _Test:
        assert fault not in ROWS, fault
        ROWS[fault] = seen
        return test

    return row


def table() -> str:
    """Return the table as it stands in the operator's page."""
    rows = [f"| {fault} | {seen} |" for fault, seen in ROWS.items()]
    return "\n".join(["| fault | what the client sees |", "|---|---|", *rows]) + "\n"
