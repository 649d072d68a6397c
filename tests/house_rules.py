"""The house rules that ruff and the type checker cannot see, as functions that find breaches."""

import ast
import io
import re
import tokenize
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY / "src"

FUNCTION_LINES = 50
FILE_LINES = 500
STATE_ATTRIBUTES = 7

BANNED_WORDS = frozenset(
    ["manager", "helper", "util", "handler", "processor", "data", "info", "misc", "base", "v2"]
)
BANNED_STARTS = ("do_", "process_", "handle_", "perform_", "new_")
# Words that providers and their SDKs chose: renaming them would hide what they are.
BORROWED_NAMES = frozenset({"base_url", "data", "handle_tool_call"})

# The core may not call these: with contracts on imports they complete "no clock, no file".
IMPURE_CALLS = frozenset({"open", "print", "input", "breakpoint", "__import__"})
CLOCK_METHODS = frozenset({"now", "utcnow", "today"})
IMPURE_MODULES = frozenset({"importlib", "urllib.request"})

LOOSE_COMMENT = re.compile(
    r"\b(TODO|FIXME|XXX)\b|\(#\d+\)|\bissue #?\d+|^#\s*[-=#*─]{3,}|^#\s*step \d", re.IGNORECASE
)

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Module:
    """One source file, read and parsed."""

    name: str
    text: str
    tree: ast.Module
    nodes: tuple[ast.AST, ...]
    """Everything in the tree: going through it takes longer than most rules."""
    is_core: bool


Rule: TypeAlias = Callable[[Module], Iterator[str]]


def parse(name: str, text: str) -> Module:
    tree = ast.parse(text)
    return Module(name, text, tree, tuple(ast.walk(tree)), is_core=is_core(name))


def is_core(name: str) -> bool:
    return any(f"{name}.".startswith(f"{package}.") for package in CORE_PACKAGES)


def core_packages() -> tuple[str, ...]:
    tools = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]
    contracts = tools["importlinter"]["contracts"]
    (core,) = (each for each in contracts if each["id"] == "pure-core")
    return tuple(core["source_modules"])


def modules() -> Iterator[Module]:
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        yield parse(name, path.read_text("utf-8"))


CORE_PACKAGES = core_packages()


def functions(module: Module) -> Iterator[Function]:
    return (node for node in module.nodes if isinstance(node, Function))


def classes(module: Module) -> Iterator[ast.ClassDef]:
    return (node for node in module.nodes if isinstance(node, ast.ClassDef))


def span(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def module_says_why(module: Module) -> Iterator[str]:
    if not ast.get_docstring(module.tree):
        yield "no module docstring"


def module_lists_its_names(module: Module) -> Iterator[str]:
    stored = (node for node in module.nodes if isinstance(node, ast.Name))
    listed = any(node.id == "__all__" and isinstance(node.ctx, ast.Store) for node in stored)
    if not listed and not module.name.endswith("__main__"):
        yield "no __all__"


def file_is_short(module: Module) -> Iterator[str]:
    lines = len(module.text.splitlines())
    if lines > FILE_LINES:
        yield f"{lines} lines"


def functions_are_short(module: Module) -> Iterator[str]:
    for function in functions(module):
        docstring = span(function.body[0]) if ast.get_docstring(function) else 0
        if (lines := span(function) - docstring) > FUNCTION_LINES:
            yield f"{function.name} has {lines} lines"


def privates_stay_private(module: Module) -> Iterator[str]:
    for node in module.nodes:
        match node:
            case ast.Call(
                func=ast.Name("getattr" | "setattr" | "hasattr" | "delattr" as reach),
                args=[_, ast.Constant(str() as name), *_],
            ) if is_private(name):
                yield f"{reach}(…, {name!r})"
            case ast.ImportFrom(names=names):
                yield from (f"imports {each.name}" for each in names if is_private(each.name))
            case _:
                pass


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def names_are_plain(module: Module) -> Iterator[str]:
    for name in (*module.name.split("."), *public_names(module.tree.body)):
        words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])", name)
        banned = BANNED_WORDS.intersection(word.lower().removesuffix("s") for word in words)
        if name not in BORROWED_NAMES and (banned or name.startswith(BANNED_STARTS)):
            yield f"the name {name}"


def public_names(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found = [name]
            case ast.ClassDef(name=name, body=members):
                found = [name, *public_names(members)]
            case ast.AnnAssign(target=ast.Name(name)):
                found = [name]
            case ast.Assign(targets=targets):
                found = [target.id for target in targets if isinstance(target, ast.Name)]
            case _:
                found = []
        yield from (each for each in found if not each.startswith("_"))


def state_is_small(module: Module) -> Iterator[str]:
    for node in classes(module):
        if (size := len(mutable_attributes(node))) > STATE_ATTRIBUTES:
            yield f"{node.name} holds {size} attributes"


def mutable_attributes(node: ast.ClassDef) -> set[str]:
    options = dataclass_options(node)
    found: set[str] = set()
    if options is not None and "frozen" not in options:
        found = {
            member.target.id
            for member in node.body
            if isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name)
        }
    for inner in ast.walk(node):
        match inner:
            case ast.Attribute(value=ast.Name("self"), attr=name, ctx=ast.Store()):
                found.add(name)
            case _:
                pass
    return found


def dataclass_options(node: ast.ClassDef) -> set[str] | None:
    """Return the options a dataclass turns on, or None for another class."""
    for decorator in node.decorator_list:
        match decorator:
            case ast.Name("dataclass"):
                return set()
            case ast.Call(func=ast.Name("dataclass"), keywords=keywords):
                return {str(each.arg) for each in keywords if is_true(each.value)}
            case _:
                pass
    return None


def is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def core_values_are_frozen(module: Module) -> Iterator[str]:
    for node in classes(module):
        options = dataclass_options(node)
        if module.is_core and options is not None and not options >= {"frozen", "slots"}:
            yield f"{node.name} is not frozen with slots"


def core_calls_are_pure(module: Module) -> Iterator[str]:
    if not module.is_core:
        return
    for node in module.nodes:
        match node:
            case ast.Call(func=ast.Name(name)) if name in IMPURE_CALLS:
                yield f"calls {name}"
            case ast.Call(func=ast.Attribute(attr=name)) if name in CLOCK_METHODS:
                yield f"calls {name}"
            case ast.Import(names=names):
                yield from (f"imports {each.name}" for each in names if each.name in IMPURE_MODULES)
            case ast.ImportFrom(module=str() as name) if name in IMPURE_MODULES:
                yield f"imports {name}"
            case _:
                pass


def comments_say_why(module: Module) -> Iterator[str]:
    # Tokens tell a comment from a string, but take long, and most files have nothing to ask about.
    tails = (line[at:] for line in module.text.splitlines() for at in places("#", line))
    if not any(map(LOOSE_COMMENT.search, tails)):
        return
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.COMMENT and LOOSE_COMMENT.search(token.string):
            yield f"the comment {token.string!r}"


def places(mark: str, line: str) -> Iterator[int]:
    return (at for at, character in enumerate(line) if character == mark)
