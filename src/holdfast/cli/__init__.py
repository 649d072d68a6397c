"""The command line. Nothing is imported until a command is run, so that `--help` is quick.

Read in this order: `exits`, `lines`, `screen`, `files`, `root`, then one module a command.
"""

__all__ = ["main"]


def main() -> None:
    """Run the command line of this process, and end the process."""
    from holdfast.cli.root import root

    root()
