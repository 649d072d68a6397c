"""The command group: finds commands without importing them all, and is the edge of the program.

Whatever goes wrong below ends here as a sentence and an exit code, never as a traceback.
"""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from enum import IntEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

import click

from holdfast import __version__
from holdfast.cli.screen import flush_output, forgive, is_interrupt, tell
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.config import Settings

_AS_IT_STANDS = "\b"
"""Tells click not to wrap the paragraph that follows."""
_NAME = "holdfast"
_MENTIONED = re.compile(rf"(?<![\w/.-]){_NAME} (?=[a-z]+)")


class Exit(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOTHING_TO_DO = 3
    INTERRUPTED = 130


def examples(*commands: str) -> str:
    """Return the examples as the end of a help text."""
    return "\n".join([_AS_IT_STANDS, "Examples:", *(f"  {each}" for each in commands)])


def to_type(arguments: str, settings: Settings) -> str:
    """Return a command on the same store as a line that works in the shell that began this one.

    Whoever began it may have set the home directory for it alone, as `make run` does.
    """
    home, store = os.environ.get("HOLDFAST_HOME", ""), settings.store
    words = [f"HOLDFAST_HOME={shlex.quote(home)}"] if home and os.name == "posix" else []
    words += [_own_command(), arguments]
    words += [f"--store {shlex.quote(store.url)}"] if store.url != "sqlite" else []
    words += [f"--profile {shlex.quote(store.profile)}"] if store.profile != "default" else []
    return " ".join(words)


def as_typed(text: str) -> str:
    """Return a text with the commands in it as they can be typed here."""
    return _MENTIONED.sub(lambda _: f"{_own_command()} ", text)


def _own_command() -> str:
    """Return what runs this installation in a shell here: our name, where the path leads to it."""
    script = Path(sys.executable).with_name(f"{_NAME}.exe" if os.name == "nt" else _NAME)
    found = shutil.which(_NAME)
    for each in (script, Path(sys.argv[0])):
        if found and each.is_file() and os.path.samefile(found, each):
            return _NAME
    if not script.is_file():
        return f"{shlex.quote(sys.executable)} -m {_NAME}"
    near = script.relative_to(Path.cwd()) if script.is_relative_to(Path.cwd()) else script
    return shlex.quote(str(near))


class LazyGroup(click.Group):
    """Lists commands by their lines and imports one when it is run."""

    def __init__(
        self,
        *args: Any,
        lines: Mapping[str, str],
        load: Callable[[str], click.Command],
        **extra: Any,
    ) -> None:
        """Take the commands with their lines in the overview, and what imports one by name."""
        super().__init__(*args, **extra)
        self.lines = lines
        self.load = load

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order in which a person meets them."""
        return list(self.lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        return self.load(cmd_name) if cmd_name in self.lines else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and name the nearest one when there is none."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            close = difflib.get_close_matches(args[0], list(self.lines), 1)
            if not close:
                raise
            hint = f"there is no command {args[0]!r}; did you mean {close[0]}?"
            raise click.UsageError(hint, ctx) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.lines.items()))


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
_ELSEWHERE = {
    "run": ("serve", "run_command"),
    "token": ("gateway", "token_command"),
    "import": ("import_command", "command"),
    "export": ("sessions.export", "command"),
}
"""Module and name of a command that has no module of its name here."""


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
        if type(error) is click.BadParameter and error.param is not None:
            words = _about_numbers(error.message, error.param.type)
            error = click.BadParameter(words, context, error.param, error.param_hint)
        # What may be chosen comes in lines of its own.
        tell(f"holdfast: {_sentence(' '.join(error.format_message().split()))}")
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


def _about_numbers(message: str, wanted: object) -> str:
    """Return what is wrong with a value, with the numbers that are wanted where it is one."""
    is_whole = isinstance(wanted, click.types.IntParamType)
    if not (is_whole or isinstance(wanted, click.types.FloatParamType)):
        return message
    said, allowed = message.partition(" is not ")[0].strip("'"), "a whole number"
    allowed = allowed if is_whole else "a number"
    if isinstance(wanted, click.IntRange | click.FloatRange):
        allowed += f" from {wanted.min}"
        allowed += " on" if wanted.max is None else f" to {wanted.max}"
    return f"{said} is not {allowed}"


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
    module, attribute = _ELSEWHERE.get(name, (name, "command"))
    return cast("click.Command", getattr(import_module(f"holdfast.cli.{module}"), attribute))


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
