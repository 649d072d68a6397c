"""The chat in the terminal.

Read in this order: `room`, `terminal`, `turns`, `commands`, `loop`, `rehearsed`, `start`.
"""

from holdfast.cli.chat.start import command

__all__ = ["command"]
