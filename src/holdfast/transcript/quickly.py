"""Making frozen values quickly, for those that are made once or more for each message.

A frozen dataclass sets each field around its own ban on setting fields, which takes twenty times
as long as a plain assignment. Making the values of a window took longer than reading its rows from
the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["quickly_made"]

_T = TypeVar("_T")
_become: Callable[[object, type], None] = vars(object)["__class__"].__set__


def quickly_made(value: type[_T]) -> type[_T]:
    """Give a frozen dataclass with slots another way to be made, and change nothing else.

    While its fields are set, an object is of a twin class with the same slots that is not frozen.
    Nobody sees it before it is of its own class. Subclasses cannot be made that way, so there are
    none.

    Args:
        value: The class; its fields have plain defaults, and nothing runs after they are set.
    """
    usual = value.__init__
    twin = type(value.__name__, (), {"__slots__": vars(value)["__slots__"]})
    # With underscores, since a field may have any name.
    names: dict[str, Any] = {"_become": _become, "_twin": twin, "_own": value}
    exec("\n".join(_source(usual)), names)
    made = names["__init__"]
    for name in ("__defaults__", "__kwdefaults__", "__annotations__", "__qualname__", "__module__"):
        setattr(made, name, getattr(usual, name))
    type.__setattr__(value, "__init__", made)
    type.__setattr__(value, "__init_subclass__", classmethod(_refuse))
    return value


def _source(usual: Callable[..., None]) -> Iterator[str]:
    """Yield the lines of a method with the parameters of another, which sets them all."""
    code = usual.__code__
    positional = code.co_argcount
    names = code.co_varnames[: positional + code.co_kwonlyargcount]
    keywords = ["*", *names[positional:]] if code.co_kwonlyargcount else []
    yield f"def __init__({', '.join([*names[:positional], *keywords])}):"
    yield "    _become(self, _twin)"
    for name in names[1:]:
        yield f"    self.{name} = {name}"
    yield "    self.__class__ = _own"


def _refuse(parent: type) -> None:
    raise TypeError(f"{parent.__mro__[1].__name__} is a value and has no subclasses")
