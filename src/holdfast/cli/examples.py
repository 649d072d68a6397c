"""The examples at the end of every command's help."""

from __future__ import annotations

__all__ = ["examples"]

_AS_IT_STANDS = "\b"
"""Tells click not to wrap the paragraph that follows."""


def examples(*commands: str) -> str:
    """Return the examples as the end of a help text."""
    return "\n".join([_AS_IT_STANDS, "Examples:", *(f"  {each}" for each in commands)])
