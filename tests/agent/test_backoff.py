"""How often a model is asked again, and how long is waited in between."""

from holdfast.agent.turn import Backoff
from holdfast.errors import ModelUnavailable


def test_two_pauses_and_then_an_end() -> None:
    backoff = Backoff()
    error = ModelUnavailable("busy")
    assert [backoff.pause(error) for _ in range(4)] == [1.0, 4.0, None, None]


def test_a_provider_s_wish_counts_unless_it_is_longer_than_a_minute() -> None:
    backoff = Backoff()
    assert backoff.pause(ModelUnavailable("busy", retry_after=0.5)) == 0.5
    assert backoff.pause(ModelUnavailable("busy", retry_after=61.0)) is None


def test_a_window_is_shrunk_three_times() -> None:
    backoff = Backoff()
    assert [backoff.may_shrink() for _ in range(4)] == [True, True, True, False]
    assert backoff.overflows == 4
