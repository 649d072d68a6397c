"""The chat in the terminal.

Read in this order: `status_line`, `reader`, `terminal`, `words`, `flow`,
`showing`, `room`, `playing`, `picker`, `shaping`, `elsewhere`,
`knowledge`, `commands`, `loop`, `reporting`, `start`.
"""

from holdfast.cli.chat.start import command

__all__ = ["command"]
