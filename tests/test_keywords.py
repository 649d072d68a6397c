"""Whoever misspells a keyword, anywhere in the public API, is told which one exists."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import holdfast
from holdfast.errors import UnknownOption
from holdfast.keywords import names_checked

HELD = (
    holdfast.Conversation,
    holdfast.AsyncConversation,
    holdfast.Compressor,
    holdfast.Conversations,
)
FIRST = {
    "session_search": "query",
    "load_engine": "context_length",
    "Conversation.open": "model",
    "AsyncConversation.open": "model",
    "Conversations": "model",
}
"""A keyword of those that take any and look at them themselves."""
WITHOUT = {"ContextEngine", "HoldfastError", "Conversation", "AsyncConversation", "SessionStamp"}
"""Classes that are not made with keywords, or by whoever they come from."""
TAKES_ANY = {"begin"}
"""What is passed on to engines of others as it is."""


def keyword_of(function: Callable[..., object]) -> str | None:
    """Return a keyword that a callable takes."""
    name = function.__qualname__
    if name in FIRST:
        return FIRST[name]
    named = [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        and each.name not in ("self", "cls")
    ]
    return named[-1] if named else None


def called() -> Iterator[Any]:
    """Yield every public callable with a name for it."""
    for name in holdfast.__all__:
        if name not in WITHOUT:
            yield pytest.param(getattr(holdfast, name), None, id=name)
    for kind in HELD:
        for name in dir(kind):
            member: object = inspect.getattr_static(kind, name)
            if (
                name.startswith("_")
                or name in TAKES_ANY
                or isinstance(member, property)
                or not callable(getattr(kind, name))
            ):
                continue
            yield pytest.param(getattr(kind, name), kind, id=f"{kind.__name__}.{name}")


async def outcome_of(function: Callable[..., object], *args: object, **options: object) -> object:
    found = function(*args, **options)
    if inspect.isawaitable(found):
        found = await found
    if inspect.isasyncgen(found):
        return await anext(found)
    return found


@pytest.mark.parametrize(("function", "kind"), list(called()))
def test_an_unknown_keyword_is_told_with_the_nearest_one(
    function: Callable[..., object], kind: type | None, tmp_path: Path
) -> None:
    keyword = keyword_of(function)
    wrong = f"{keyword or 'wors'}x"
    is_bound = kind is None or inspect.ismethod(function)
    args = () if is_bound else (object.__new__(cast("type[object]", kind)),)
    if function.__name__ in ("compress", "compact", "estimate_tokens") and kind is None:
        args = ([],)
    if function.__name__ == "session_search":
        # It answers a model, which reads what is wrong and never sees an error.
        found = holdfast.session_search(store=tmp_path / "a.db", **cast("Any", {wrong: "x"}))
        assert "did you mean query?" in str(found["error"])
        return
    with pytest.raises(UnknownOption) as told:
        asyncio.run(outcome_of(function, *args, **{wrong: 1}))
    assert isinstance(told.value, TypeError)
    assert f"has no option {wrong}; " in str(told.value)
    hint = "it takes: no options" if keyword is None else f"did you mean {keyword}?"
    assert str(told.value).endswith(hint)


def test_what_is_known_is_passed_on_and_a_coroutine_stays_one() -> None:
    @names_checked
    class Counter:
        def __init__(self, start: int = 0) -> None:
            self.at = start

        async def wait(self, *, seconds: int) -> int:
            return self.at + seconds

        @classmethod
        def of(cls, start: int) -> "Counter":
            return cls(start)

        def any_of(self, **named: int) -> dict[str, int]:
            return named

    counter = Counter.of(start=1)
    assert inspect.iscoroutinefunction(counter.wait)
    assert asyncio.run(counter.wait(seconds=2)) == 3
    assert counter.any_of(a=1) == {"a": 1}
    with pytest.raises(UnknownOption, match="Counter has no option begin; it takes: start"):
        Counter(begin=1)  # type: ignore[call-arg]
