"""What may be done with this process: whether others can be split off from it."""

from __future__ import annotations

import sys
from threading import active_count

__all__ = ["can_fork"]


def can_fork() -> bool:
    """Say whether this process may be split: other threads would be lost with what they hold."""
    return sys.platform == "linux" and active_count() == 1
