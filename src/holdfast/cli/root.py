"""The command group: finds commands without importing them all, and is the edge of the program.

Whatever goes wrong below ends here as a sentence and an exit code, never as a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import NoReturn, cast

import click

from holdfast import __version__
from holdfast.cli.commands import Exit, LazyGroup, as_typed, examples
from holdfast.cli.screen import flush_output, forgive, is_interrupt, tell
from holdfast.errors import HoldfastError

__all__ = ["COMMANDS", "RootGroup", "root"]

COMMANDS: dict[str, str] = {
    "sample": "Compact a bundled session, and show what happened.",
    "chat": "Talk with a model; the conversation never runs out of room.",
    "serve": "Keep every conversation of any agent, and let none outgrow its window.",
    "run": "Start an agent with the gateway under it.",
    "gateway": "Ask what the gateway decides, and why.",
    "compress": "Make a transcript smaller.",
    "inspect": "Show where the context went, drawn to scale.",
    "validate": "Check a transcript against a provider's rules.",
    "redact": "Mask the secrets in a text.",
    "import": "Bring sessions of other agents into the store.",
    "search": "Find what was said in stored conversations.",
    "export": "Write a session in another format, or sessions as a training file.",
    "sessions": "Look at stored conversations, and care for them.",
    "trajectories": "Shrink training data: trajectories of agents, in bulk.",
    "memory": "Look at what is remembered, and edit it.",
    "token": "Say who may use the gateway, and whose sessions they see.",
    "models": "List the models that run on this machine, or fetch one.",
    "formats": "List the formats that can be read, or say what files are.",
    "config": "Show the settings, or write a file to edit.",
    "doctor": "Check that everything is in place.",
}
"""Each command with its line in the overview; a command is imported when it is run."""
_MODULES = {"import": "import_command", "export": "sessions.export"}
"""Where a command is that has no module of its name here."""


class RootGroup(LazyGroup):
    """The group of all commands, with the error boundary around them."""

    def main(self, *args: object, **extra: object) -> NoReturn:
        """Run a command line and end the process with its exit code."""
        extra |= {"standalone_mode": False, "prog_name": "holdfast"}
        run = cast("Callable[..., object]", super().main)
        forgive()
        sys.exit(_ended(lambda: run(*args, **extra)))


def _ended(run: Callable[[], object]) -> int:
    """Return the exit code of a run, and say what went wrong if anything did."""
    try:
        code = run()
        flush_output()
    except click.exceptions.NoArgsIsHelpError as error:
        tell(*error.format_message().splitlines())
        return Exit.USAGE
    except click.UsageError as error:
        context = error.ctx
        tell(f"holdfast: {_sentence(error.format_message())}")
        if context is not None:
            tell(f"Try: {context.command_path} --help")
        return Exit.USAGE
    except click.ClickException as error:
        return _failed(error.format_message())
    except (click.Abort, KeyboardInterrupt):
        tell("holdfast: interrupted")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _let_go_of_output()
        return Exit.FAILED
    except (HoldfastError, UnicodeError) as error:
        return _failed(str(error), error)
    except OSError as error:
        _let_go_of_output()
        named = f"{error.filename}: " if error.filename else ""
        words = f"{named}{(error.strerror or str(error)).lower()}"
        return _failed(words, error)
    except Exception as error:  # noqa: BLE001 - the outermost edge
        if is_interrupt(error):
            return Exit.INTERRUPTED
        return _failed(
            f"an unexpected {type(error).__name__}: {error}. This is a bug in holdfast; please "
            "report it with what you ran. HOLDFAST_DEBUG=1 shows where it happened",
            error,
        )
    return code if isinstance(code, int) else Exit.DONE


def _failed(message: str, error: BaseException | None = None) -> int:
    if error is not None and os.environ.get("HOLDFAST_DEBUG"):
        import traceback

        tell(*"".join(traceback.format_exception(error)).splitlines())
    tell(f"holdfast: {as_typed(_sentence(message))}")
    return Exit.FAILED


def _sentence(message: str) -> str:
    """Return a message without the full stop that libraries differ about."""
    return message.strip().removesuffix(".")


def _let_go_of_output() -> None:
    """Point standard output nowhere, so that the interpreter does not fail to flush it."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return


def _load(name: str) -> click.Command:
    module = _MODULES.get(name, name)
    return cast("click.Command", import_module(f"holdfast.cli.{module}").command)


_EXAMPLES = examples(
    "holdfast sample",
    "holdfast inspect session.json",
    "holdfast compress session.json --context-length 128000 -o smaller.json",
    "holdfast import ~/.claude/projects",
    "holdfast search billing port",
    "holdfast redact < server.log",
)
_NOTES = """
Exit codes: 0 done, 1 failed, 2 usage, 3 nothing to do.

Shell completion: eval "$(_HOLDFAST_COMPLETE=bash_source holdfast)"; zsh_source and fish_source
serve the other shells.
"""


@click.group(
    cls=RootGroup,
    lines=COMMANDS,
    load=_load,
    epilog=f"{_EXAMPLES}\n{_NOTES}",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="holdfast", message="%(prog)s %(version)s")
def _group() -> None:
    """Endless conversations in a finite window.

    New here: holdfast sample compacts a bundled session of an agent at work and shows what it kept.
    It needs no key, no model and no setting.
    """


root: Callable[..., NoReturn] = _group
