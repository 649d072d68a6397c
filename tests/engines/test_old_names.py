"""Names that the documentation used before still work, and say what they are called now."""

import pytest

import holdfast.engines


@pytest.mark.parametrize(
    ("old", "new"),
    [("Chain", "SummarizerFallback"), ("Setup", "EngineDeps"), ("Gauges", "EngineState")],
)
def test_an_old_name_is_the_new_class(old: str, new: str) -> None:
    with pytest.deprecated_call(match=f"{old} is now {new}"):
        assert getattr(holdfast.engines, old) is getattr(holdfast.engines, new)


def test_other_names_are_unknown() -> None:
    with pytest.raises(AttributeError):
        _ = holdfast.engines.Nothing  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType] - the point
