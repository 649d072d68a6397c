"""The command line. Nothing is imported until a command is run, so that `--help` is quick.

Read in this order: `screen`, `files`, `root`, then one module a command.
"""

__all__ = ["main"]

_INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process, and end the process.

    Imports take a moment in which a person may already press Ctrl-C.
    """
    try:
        from holdfast.cli.root import root

        root()
    except KeyboardInterrupt:
        raise SystemExit(_INTERRUPTED) from None
