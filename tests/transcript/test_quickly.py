"""Values that are made quickly differ in nothing from those that are made in the usual way."""

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.transcript.parts import quickly_made


@dataclass(frozen=True, slots=True)
class Usual:
    name: str
    count: int = 3
    note: str | None = None


@quickly_made
@dataclass(frozen=True, slots=True)
class Quick:
    name: str
    count: int = 3
    note: str | None = None


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    name: str
    count: int = 3


@given(st.text(), st.integers(), st.none() | st.text())
def test_every_field_is_what_was_given(name: str, count: int, note: str | None) -> None:
    usual, quick = Usual(name, count, note), Quick(name, count, note)
    shown = [(each.name, getattr(quick, each.name)) for each in fields(quick)]
    assert shown == [(each.name, getattr(usual, each.name)) for each in fields(usual)]
    assert type(quick) is Quick
    assert hash(quick) == hash(usual)
    assert repr(quick) == repr(usual).replace("Usual", "Quick")


def test_defaults_and_names_of_parameters_stay() -> None:
    assert inspect.signature(Quick).parameters == inspect.signature(Usual).parameters
    assert Quick("a") == Quick(note=None, count=3, name="a")
    assert Named(name="a") == Named(count=3, name="a")


def test_arguments_that_are_missing_or_unknown_are_refused() -> None:
    with pytest.raises(TypeError, match="name"):
        Quick()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="other"):
        Quick("a", other=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional"):
        Named("a")  # type: ignore[misc]


def test_a_value_is_as_frozen_as_before() -> None:
    made = Quick("a")
    with pytest.raises(FrozenInstanceError):
        made.name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del made.name  # type: ignore[misc]


def test_a_value_is_replaced_copied_and_pickled() -> None:
    made = Quick("a", 4)
    assert replace(made, count=5) == Quick("a", 5)
    assert copy.copy(made) == copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made


def test_a_value_has_no_subclasses() -> None:
    with pytest.raises(TypeError, match="Quick is a value"):
        type("Sub", (Quick,), {})
