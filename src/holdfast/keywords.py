"""Arguments that cannot be meant: keywords that do not exist, values of another type.

Python names what it does not know and not what may have been meant, and where options come as a
mapping it does not even notice. A value of the wrong type fails somewhere else, if it fails.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import CO_COROUTINE, CO_VARKEYWORDS, unwrap
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from holdfast.errors import ConfigError, UnknownOption

if TYPE_CHECKING:
    from collections.abc import Iterable

_MEANT = {"context_window": "context_length", "dialect": "format", "max_tokens": "fit"}
"""What others call a thing, and what it is called here."""
_INIT = "__init__"
_Called = TypeVar("_Called", bound=Callable[..., object])


def check_names(given: Iterable[str], known: Iterable[str], where: str) -> None:
    """Refuse an option that does not exist: a misspelled one would silently do nothing.

    Raises:
        UnknownOption: for the first of them, with the nearest name that exists.
    """
    import difflib

    allowed = list(known)
    for name in given:
        if name not in allowed:
            close = [_MEANT[name]] if _MEANT.get(name) in allowed else []
            close = close or difflib.get_close_matches(name, allowed, 1)
            takes = ", ".join(allowed) or "no options"
            hint = f"did you mean {close[0]}?" if close else f"it takes: {takes}"
            raise UnknownOption(f"{where} has no option {name}; {hint}")


def check_text(name: str, value: object, allowed: str = "a text") -> None:
    """Refuse a value that is no text; it is not repeated, for it may hold a secret."""
    if not isinstance(value, str):
        raise ConfigError(f"{name} is of type {type(value).__name__}; allowed: {allowed}")


def check_count(name: str, value: object, least: int = 0) -> None:
    """Refuse a value that is no whole number, or too small a one."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ConfigError(f"{name} is {value!r:.80}; allowed: a whole number from {least} on")


def names_checked(subject: _Called) -> _Called:
    """Return a function, or a class with its public methods, that says what was meant.

    What takes any keyword is left as it is: only the function itself knows which ones it means.
    """
    if not isinstance(subject, type):
        return cast("_Called", _checked(cast("FunctionType", subject)))
    for name, member in list(vars(subject).items()):
        if name.startswith("_") and name != _INIT:
            continue
        if isinstance(member, classmethod):
            function = cast("classmethod[Any, ..., object]", member).__func__
            checked = classmethod(_checked(cast("FunctionType", function), skipped=1))
            setattr(subject, name, checked)
        elif isinstance(member, FunctionType):
            setattr(subject, name, _checked(member, skipped=1))
    return cast("_Called", subject)


def _checked(function: FunctionType, *, skipped: int = 0) -> Callable[..., object]:
    """Return the function with a look at the keywords before it.

    Args:
        function: What is called.
        skipped: How many of its parameters a caller does not name: `self`, `cls`.
    """
    code = cast("FunctionType", unwrap(function)).__code__
    if code.co_flags & CO_VARKEYWORDS:
        return function
    named = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[max(skipped, code.co_posonlyargcount) : named]
    known = frozenset(names)

    def refused(args: tuple[object, ...], options: Iterable[str]) -> None:
        place = function.__name__
        if skipped:
            kind = args[0] if isinstance(args[0], type) else type(args[0])
            place = kind.__name__ if place == _INIT else f"{kind.__name__}.{place}"
        check_names(options, names, place)

    @wraps(function)
    def call(*args: object, **options: object) -> object:
        if not known.issuperset(options):
            refused(args, options)
        return function(*args, **options)

    @wraps(function)
    async def awaited(*args: object, **options: object) -> object:
        if not known.issuperset(options):
            refused(args, options)
        return await function(*args, **options)

    return awaited if function.__code__.co_flags & CO_COROUTINE else call
