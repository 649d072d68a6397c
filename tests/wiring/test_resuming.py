"""A stored conversation keeps its model and window unless others are named for it."""

from dataclasses import replace

import pytest

from holdfast.config import Settings
from holdfast.config.settings import ModelSettings
from holdfast.session import WINDOW_KEY, Session
from holdfast.wiring.resuming import Resumption, resumption

TOY = "local", 4_096
LARGE = 246_000


def held(model: str = "", window: int | None = None) -> Session:
    metadata = {} if window is None else {WINDOW_KEY: window}
    return Session(id="s", source="cli", started=1, model=model, metadata=metadata)


def configured(name: str | None = None, window: int | None = None) -> Settings:
    return replace(Settings(), model=ModelSettings(name=name, context_length=window))


@pytest.mark.parametrize(
    ("session", "settings", "tokens", "expected"),
    [
        (held("claude-opus-5", 900_000), configured(), LARGE, ("claude-opus-5", 900_000, False)),
        (held("nobodys", None), configured(), LARGE, ("nobodys", 1_000_000, False)),
        (held("nobodys", None), configured(), 150_000, ("nobodys", 200_000, False)),
        (held("m", 8_000), configured("m", 50_000), 100, ("m", 8_000, False)),
        (held("m", 8_000), configured("openai/m"), 7_900, ("openai/m", 8_000, False)),
        (held("m"), configured("m", 50_000), 100, ("m", 50_000, False)),
        (held("m"), configured("m", 50_000), LARGE, ("m", 50_000, True)),
        (held(), configured(), 100, (*TOY, False)),
        (held(), configured(), LARGE, (*TOY, True)),
        (held("", 900_000), configured("m", 50_000), LARGE, ("m", 50_000, True)),
    ],
)
def test_it_keeps_its_own(
    session: Session, settings: Settings, tokens: int, expected: tuple[str, int, bool]
) -> None:
    model, window, folds = expected
    chosen = resumption(session, tokens, settings)
    assert chosen == Resumption(model=model, window=window, tokens=tokens, folds=folds)


@pytest.mark.parametrize(
    ("session", "settings", "tokens", "expected"),
    [
        (held("claude-opus-5", 900_000), configured("local"), LARGE, (*TOY, True)),
        (held("claude-opus-5", 900_000), configured("local"), 100, (*TOY, False)),
        (held("m", 8_000), configured("m", None), 100, ("m", 8_000, False)),
        (held("m", 8_000), configured("n", 9_000), 7_900, ("n", 9_000, False)),
    ],
)
def test_a_named_model_takes_over_and_folds_only_for_a_smaller_window(
    session: Session, settings: Settings, tokens: int, expected: tuple[str, int, bool]
) -> None:
    chosen = resumption(session, tokens, settings, names_model=True)
    assert (chosen.model, chosen.window, chosen.folds) == expected


def test_a_named_window_is_that_of_its_own_model() -> None:
    session = held("m", 200_000)
    chosen = resumption(session, 100, configured(None, 8_000), names_window=True)
    assert (chosen.model, chosen.window, chosen.folds) == ("m", 8_000, False)
    chosen = resumption(session, LARGE, configured(None, 8_000), names_window=True)
    assert (chosen.model, chosen.window, chosen.folds) == ("m", 8_000, True)
