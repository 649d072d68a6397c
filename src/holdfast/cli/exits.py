"""What the exit codes mean; scripts go by them."""

from enum import IntEnum

__all__ = ["Exit"]


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOTHING_TO_DO = 3
    INTERRUPTED = 130
