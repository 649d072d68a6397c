"""Write the pages of `docs/reference` from the code they describe.

`python docs/generate_reference.py` writes them (`make reference`), `--check` names those that are
stale, and a FOLDER as the last argument takes the place of `docs/reference`.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

import holdfast
from holdfast.cli.chat.commands import COMMANDS as SLASH_COMMANDS
from holdfast.cli.root import root
from holdfast.config import KEYS
from holdfast.formats import FORMATS
from holdfast.wiring.assembly import Knobs
from holdfast.wiring.conversations import ConversationOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).resolve().parent / "reference"
HELP_WIDTH = 80
MADE = "Made by `make reference` from the code; edits here are lost."


def main(arguments: list[str]) -> int:
    """Write the pages, or say which of them are stale."""
    names = [each for each in arguments if each != "--check"]
    folder = Path(names[-1]) if names else FOLDER
    stale: list[str] = []
    for name, text in pages().items():
        path = folder / name
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != text:
            stale.append(name)
    if stale:
        sys.stdout.write(f"stale: {', '.join(stale)}; run `make reference`\n")
    return 1 if stale else 0


def pages() -> dict[str, str]:
    """Return every page by its name."""
    made = {
        "cli.md": ("Commands", commands()),
        "configuration.md": ("Settings", settings()),
        "formats.md": ("Formats", formats()),
        "python.md": ("Python names", python_names()),
    }
    return {
        name: "\n".join([f"# {title}", "", MADE, "", *lines]).rstrip() + "\n"
        for name, (title, lines) in made.items()
    }


def commands() -> Iterator[str]:
    """Yield the help of every command, and the slash commands of the chat."""
    yield from ("[cli.md](../cli.md) has exit codes, reports and what commands share.", "")
    for context in _contexts("holdfast", cast("click.Command", root)):
        path = context.command_path
        yield from (f"{'#' * (path.count(' ') + 1)} {path}" if " " in path else f"## {path}", "")
        yield from ("```text", context.get_help().rstrip(), "```", "")
        if path == "holdfast chat":
            yield from ("| typed into the chat | what it does |", "|---|---|")
            for each in SLASH_COMMANDS:
                also = "".join(f", /{alias}" for alias in each.aliases)
                usage = f"/{each.name}{also} {each.argument}".rstrip().replace("|", r"\|")
                yield f"| `{usage}` | {each.about} |"
            yield ""


def _contexts(
    name: str, command: click.Command, parent: click.Context | None = None
) -> Iterator[click.Context]:
    """Yield what a command is run in, which knows its help, then the same of its subcommands."""
    context = click.Context(
        command,
        parent,
        name,
        terminal_width=HELP_WIDTH,
        help_option_names=command.context_settings.get("help_option_names"),
    )
    yield context
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            if found is not None:
                yield from _contexts(each, found, context)


def settings() -> Iterator[str]:
    """Yield the table of settings."""
    yield "[configuration.md](../configuration.md) says where settings come from."
    yield from ("", "| key | default | allowed | meaning |", "|---|---|---|---|")
    for path, key in KEYS.items():
        yield f"| `{path}` | `{json.dumps(key.default)}` | {key.allowed} | {key.about} |"


def formats() -> Iterator[str]:
    """Yield the table of formats."""
    yield "[formats.md](../formats.md) says what each of them keeps."
    yield from ("", "| format | what it is | can be written |", "|---|---|---|")
    for each in FORMATS.values():
        yield f"| `{each.name}` | {each.description} | {'yes' if each.writable else 'no'} |"


def python_names() -> Iterator[str]:
    """Yield everything in `holdfast.__all__`, and the options that its calls take by name."""
    yield "[library.md](../library.md) and [conversation.md](../conversation.md) have examples."
    yield ""
    for name in holdfast.__all__:
        value = getattr(holdfast, name)
        yield from _of_class(name, value) if inspect.isclass(value) else _of_function(name, value)
    yield from _of_class("ConversationOptions", ConversationOptions)
    yield from ("## Knobs", "", "Keyword arguments of `compress`, `compact`, `Compressor` and")
    yield from ("`load_engine`, and `knobs=` of `Conversation.open`; see `Policy`.", "")
    yield from _listed(holdfast.Policy, only=tuple(Knobs.__annotations__))


def _of_function(name: str, function: Callable[..., object]) -> Iterator[str]:
    yield from (f"## {name}", "", "```text", _signature(name, function), "```", "")
    yield from (_described(function), "")


def _of_class(name: str, described: type) -> Iterator[str]:
    yield from (f"## {name}", "", _described(described), "", *_listed(described))
    shared: list[str] = []
    for member in _members(described):
        found = inspect.getattr_static(described, member)
        if isinstance(found, property):
            yield from (f"`{member}`: {_first_line(found.fget)}", "")
            continue
        function = cast("Callable[..., object]", getattr(described, member))
        if member not in vars(described) and member not in vars(described.__mro__[1]):
            # What a base of a base has is mostly for our own drivers.
            yield from (f"`{member}()`: {_first_line(function)}", "")
            continue
        # What checks the names of arguments wraps a function too, and is of the class itself.
        home = inspect.unwrap(function).__qualname__.rpartition(".")[0]
        if home not in {each.__name__ for each in described.__mro__}:
            shared.append(f"`{member}`")
            continue
        shown = name if member == "__init__" else member
        yield from ("```text", _signature(shown, function), "```", "", _described(function), "")
    if shared:
        yield from (f"As in `Conversation`, awaited: {', '.join(shared)}.", "")


def _members(described: type) -> Iterator[str]:
    """Yield the public methods and properties that our own classes define, in their order."""
    made = inspect.unwrap(cast("Callable[..., object]", vars(described).get("__init__")))
    # What a dataclass makes of its fields has no source.
    if inspect.isfunction(made) and made.__code__.co_filename != "<string>":
        yield "__init__"
    seen: set[str] = set()
    for each in described.__mro__:
        if not each.__module__.startswith("holdfast"):
            continue
        for name, value in vars(each).items():
            found = cast("object", getattr(value, "__func__", value))
            if name.startswith("_") or name in seen:
                continue
            if isinstance(found, property) or inspect.isfunction(found):
                seen.add(name)
                # What yields steps is for the drivers of our own loops.
                if isinstance(found, property) or "-> Steps[" not in _signature(name, found):
                    yield name


def _signature(name: str, function: Callable[..., object]) -> str:
    node = _parsed(function)
    given = [each for each in _arguments(ast.unparse(node.args)) if each not in ("self", "cls")]
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    start = f"{'async ' if isinstance(node, ast.AsyncFunctionDef) else ''}{name}("
    line = f"{start}{', '.join(given)}){returned}"
    if len(line) <= HELP_WIDTH:
        return line
    return "\n".join([start, *(f"    {each}," for each in given), f"){returned}"])


def _arguments(text: str) -> list[str]:
    """Return arguments one by one: a comma inside brackets parts nothing."""
    found, depth = [""], 0
    for sign in text:
        depth += (sign in "[({") - (sign in "])}")
        if sign == "," and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    parts = (each.strip().partition("=") for each in found)
    return [f"{before} = {default}" if default else before for before, _, default in parts]


def _parsed(function: Callable[..., object]) -> ast.FunctionDef | ast.AsyncFunctionDef:
    source = textwrap.dedent(inspect.getsource(function))
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return node


def _listed(described: type, only: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the annotated fields of a class as a list, each with the string below it."""
    body = cast("ast.ClassDef", ast.parse(textwrap.dedent(inspect.getsource(described))).body[0])
    for node, after in zip(body.body, [*body.body[1:], None], strict=True):
        if not isinstance(node, ast.AnnAssign) or ast.unparse(node.target).startswith("_"):
            continue
        name = ast.unparse(node.target)
        if only and name not in only:
            continue
        default = f" = {ast.unparse(node.value)}" if node.value else ""
        about = ""
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            about = f": {' '.join(str(after.value.value).split())}"
        yield f"- `{name}: {ast.unparse(node.annotation)}{default}`{about}"
    yield ""


def _described(described: object) -> str:
    """Return a docstring as Markdown: arguments are a list, indented continuations are joined."""
    lines = (inspect.getdoc(described) or "").splitlines()
    told: list[str] = []
    is_code = False
    for line in lines:
        is_code ^= line.startswith("```")
        if is_code or not line.startswith("    "):
            told.append(line if line not in ("Args:", "Raises:", "Returns:") else f"{line}\n")
        elif line.startswith("        "):
            told[-1] += f" {line.strip()}"
        else:
            name, colon, about = line.strip().partition(": ")
            told.append(f"- `{name}`: {about}" if colon else f"- {line.strip()}")
    return "\n".join(told).replace("```python", "```text")


def _first_line(described: object) -> str:
    return " ".join((inspect.getdoc(described) or "").partition("\n\n")[0].split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
