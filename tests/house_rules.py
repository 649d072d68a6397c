"""The house rules that ruff and the type checker cannot see, as functions that find breaches."""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY / "src"

FUNCTION_LINES = 50
FILE_LINES = 500

# The core may not call these: with contracts on imports they complete "no clock, no file".
IMPURE_CALLS = frozenset({"open", "print", "input", "breakpoint", "__import__"})
CLOCK_METHODS = frozenset({"now", "utcnow", "today"})
IMPURE_MODULES = frozenset({"importlib", "urllib.request"})

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


def shared_class_names(source: Iterable[Module]) -> dict[str, list[str]]:
    """Return the public class names that stand for several classes, with where each is."""
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for module in source:
        for node in classes(module):
            if not node.name.startswith("_"):
                homes[node.name].append(module.name)
    return {name: found for name, found in homes.items() if len(found) > 1}
